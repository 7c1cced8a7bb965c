#include "support/fault_hub.h"

#include <algorithm>

#include "support/hub_exchange.h"

namespace hf::test {

FaultHub::FaultHub(std::filesystem::path root, HubOptions options)
    : options_(std::move(options)), repos_(std::move(root), options_.lfs_threshold), random_(options_.seed) {
  HttpServerOptions server{.bytes_per_second = options_.bytes_per_second};
  storage_ = std::make_unique<HttpServer>(
      [this](const auto& request, auto& reply) { answer(request, reply, true); }, server);
  server.port = options_.port;
  hub_ = std::make_unique<HttpServer>(
      [this](const auto& request, auto& reply) { answer(request, reply, false); }, server);
}

FaultHub::~FaultHub() {
  hub_.reset();
  storage_.reset();
}

void FaultHub::answer(const HttpRequest& request, HttpReply& reply, bool away) {
  LoggedRequest* logged = nullptr;
  {
    const std::lock_guard lock(mutex_);
    log_.push_back(std::make_unique<LoggedRequest>(
        LoggedRequest{request.method, request.target, request.header("authorization"),
                      request.header("range"), request.header("user-agent"), away, 0, 0, request.headers}));
    logged = log_.back().get();
  }
  if (options_.delay_ms > 0 && !reply.pause(options_.delay_ms)) return;
  Exchange(*this, request, reply, *logged).run(away);
  if (!options_.answered) return;
  const std::lock_guard lock(mutex_);
  options_.answered(*logged);
}

const Fault* FaultHub::take_fault(const std::string& target, std::initializer_list<FaultKind> kinds) {
  const std::lock_guard lock(mutex_);
  for (const auto& fault : faults_) {
    if (fault->times == 0 || std::find(kinds.begin(), kinds.end(), fault->kind) == kinds.end() ||
        target.find(fault->target) == std::string::npos)
      continue;
    if (fault->times > 0) --fault->times;
    return fault.get();
  }
  return nullptr;
}

void FaultHub::order(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::make_unique<Fault>(std::move(fault)));
}

void FaultHub::cancel_faults() {
  const std::lock_guard lock(mutex_);
  for (const auto& fault : faults_) fault->times = 0;  // kept: an exchange may still read one
}

void FaultHub::gate(const std::string& repo_id, const std::string& token) {
  const std::lock_guard lock(mutex_);
  gates_[repo_id] = token;
}

void FaultHub::disable(const std::string& repo_id) {
  const std::lock_guard lock(mutex_);
  disabled_.insert(repo_id);
}

std::uint64_t FaultHub::draw() {
  const std::lock_guard lock(mutex_);
  return random_();
}

std::string FaultHub::new_link(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::string signature = "s" + std::to_string(links_.size());
  links_[signature] = bytes;
  return signature;
}

std::uint64_t FaultHub::spend_link(const std::string& signature, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (signature == "valid") return std::max<std::uint64_t>(bytes, 1);
  const auto link = links_.find(signature);
  if (link == links_.end()) return 0;
  if (bytes == 0) return link->second;
  const std::uint64_t given = std::min(link->second, bytes);
  link->second -= given;
  return given;
}

bool FaultHub::is_disabled(const std::string& repo_id) const {
  const std::lock_guard lock(mutex_);
  return disabled_.contains(repo_id);
}

std::string FaultHub::token_of_gate(const std::string& repo_id) const {
  const std::lock_guard lock(mutex_);
  const auto gate = gates_.find(repo_id);
  return gate == gates_.end() ? "" : gate->second;
}

void FaultHub::forget() { repos_.forget(); }

std::string FaultHub::commit(const std::string& repo_id, const std::string& revision) {
  const auto found = repos_.find("models", repo_id, revision);
  return found == nullptr ? "" : found->commit;
}

std::vector<LoggedRequest> FaultHub::log() const {
  const std::lock_guard lock(mutex_);
  std::vector<LoggedRequest> copy;
  for (const auto& request : log_) copy.push_back(*request);
  return copy;
}

std::uint64_t FaultHub::bytes_served(std::string_view target_part) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& request : log_)
    if (request->target.find(target_part) != std::string::npos) bytes += request->body_bytes;
  return bytes;
}

void FaultHub::clear_log() {
  const std::lock_guard lock(mutex_);
  for (auto& request : log_) cleared_.push_back(std::move(request));  // an exchange may still write to it
  log_.clear();
}

}  // namespace hf::test
