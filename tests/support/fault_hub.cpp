#include "support/fault_hub.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.h"
#include "cache/http/url.h"
#include "support/hub_address.h"

namespace hf::test {
namespace {

using nlohmann::json;
using Fields = HttpReply::Fields;

json entry_of(const std::string& path, const HubFile& file) {
  json entry = {{"type", "file"}, {"oid", file.git_oid}, {"size", file.size}, {"path", path}};
  if (file.is_lfs())
    entry["lfs"] = {{"oid", file.sha256}, {"size", file.size}, {"pointerSize", file.pointer_size}};
  if (!file.xet_hash.empty()) entry["xetHash"] = file.xet_hash;
  return entry;
}

json folder_entry(const std::string& path) {
  return {{"type", "directory"}, {"oid", std::string(40, '0')}, {"size", 0}, {"path", path}};
}

}  // namespace

// One request and its answer.
class FaultHub::Exchange {
 public:
  Exchange(FaultHub& hub, const HttpRequest& request, HttpReply& reply, LoggedRequest& log)
      : hub_(hub), request_(request), reply_(reply), log_(log) {}

  void run(bool away) {
    if (const Fault* fault = take({FaultKind::status})) return answer_status(*fault);
    if (take({FaultKind::redirect_loop})) return redirect(302, request_.target);
    if (away) return answer_storage();
    if (request_.path == "/api/whoami-v2")
      return answer_json({{"name", "local"}, {"type", "user"}, {"orgs", json::array()}});
    const std::string cached = "/api/resolve-cache";  // where redirect_here leads
    const bool here = request_.path.starts_with(cached + "/");
    if (here && !request_.query.contains("etag")) return refuse(404, "", "Not Found");
    const auto file = parse_file(here ? request_.path.substr(cached.size()) : request_.path);
    const auto api = here ? std::nullopt : parse_api(request_.path);
    const auto& address = file ? file : api;
    if (!address) return refuse(404, "", "Not Found");
    if (!may_see(*address)) return;
    const auto revision = hub_.repos_.find(address->type, address->id, address->revision);
    if (!revision) return refuse(404, "RevisionNotFound", "Invalid rev id: " + address->revision);
    if (file)
      answer_file(*file, *revision, here);
    else
      answer_api(*api, *revision);
  }

 private:
  const Fault* take(std::initializer_list<FaultKind> kinds) {
    return hub_.take_fault(request_.target, kinds);
  }

  // Answers itself where it says no.
  bool may_see(const Address& address) {
    if (!hub_.repos_.has_repo(address.type, address.id)) {
      refuse(401, "RepoNotFound", "Repository not found");
      return false;
    }
    if (hub_.is_disabled(address.id)) {
      refuse(403, "", "Access to this resource is disabled.");
      return false;
    }
    const std::string token = hub_.token_of_gate(address.id);
    if (token.empty() || log_.authorization == "Bearer " + token) return true;
    refuse(log_.authorization.empty() ? 401 : 403, "GatedRepo",
           "Access to model " + address.id + " is restricted.");
    return false;
  }

  void answer_status(const Fault& fault) {
    Fields fields;
    if (const std::size_t colon = fault.header.find(": "); colon != std::string::npos)
      fields.emplace_back(fault.header.substr(0, colon), fault.header.substr(colon + 2));
    send(fault.status, std::move(fields), "ordered fault", nullptr);
  }

  void redirect(int status, const std::string& location, Fields fields = {}) {
    fields.emplace_back("Location", location);
    send(status, std::move(fields), "Found. Redirecting", nullptr);
  }

  void refuse(int status, const std::string& code, const std::string& message, Fields fields = {}) {
    if (!code.empty()) fields.emplace_back("X-Error-Code", code);
    fields.emplace_back("X-Error-Message", message);
    fields.emplace_back("Content-Type", "application/json");
    send(status, std::move(fields), json({{"error", message}}).dump(), nullptr);
  }

  void answer_json(const json& value, Fields fields = {}) {
    std::string text = value.dump();
    if (take({FaultKind::cut_json})) text.resize(text.size() / 2);
    fields.emplace_back("Content-Type", "application/json; charset=utf-8");
    send(200, std::move(fields), text, take({FaultKind::drop, FaultKind::stall, FaultKind::slow}));
  }

  void answer_api(const Address& address, const HubRevision& revision) {
    if (address.verb == "tree") return answer_tree(address, revision);
    if (address.verb == "paths-info") return answer_paths_info(revision);
    if (address.verb == "refs") return answer_refs(address);
    json siblings = json::array();
    for (const auto& [path, file] : revision.files) siblings.push_back({{"rfilename", path}});
    answer_json({{"_id", "0"},
                 {"id", address.id},
                 {"modelId", address.id},
                 {"sha", revision.commit},
                 {"author", address.id.substr(0, address.id.find('/'))},
                 {"private", false},
                 {"gated", false},
                 {"disabled", false},
                 {"downloads", 0},
                 {"likes", 0},
                 {"tags", json::array()},
                 {"lastModified", "2026-01-01T00:00:00.000Z"},
                 {"createdAt", "2026-01-01T00:00:00.000Z"},
                 {"siblings", std::move(siblings)}});
  }

  void answer_refs(const Address& address) {
    json branches = json::array();
    for (const auto& [name, commit] : hub_.repos_.refs(address.type, address.id))
      branches.push_back({{"name", name}, {"ref", "refs/heads/" + name}, {"targetCommit", commit}});
    answer_json({{"branches", std::move(branches)}, {"converts", json::array()}, {"tags", json::array()}});
  }

  void answer_paths_info(const HubRevision& revision) {
    json entries = json::array();
    for (const auto& [name, path] : parse_form(request_.body)) {
      const auto file = revision.files.find(path);
      if (name == "paths" && file != revision.files.end()) entries.push_back(entry_of(path, file->second));
    }
    answer_json(entries);
  }

  // All entries below address.path; only its own ones unless the whole tree is asked for.
  std::vector<json> entries_of(const Address& address, const HubRevision& revision) {
    const std::string prefix = address.path.empty() ? "" : address.path + "/";
    const auto asked = request_.query.find("recursive");
    const bool all = asked != request_.query.end() && (asked->second == "true" || asked->second == "True");
    std::map<std::string, json> entries;
    const Fault* lie = take({FaultKind::other_size});
    for (const auto& [path, file] : revision.files) {
      if (!path.starts_with(prefix)) continue;
      for (std::size_t slash = path.find('/', prefix.size()); slash != path.npos;
           slash = path.find('/', slash + 1)) {
        entries.emplace(path.substr(0, slash), folder_entry(path.substr(0, slash)));
        if (!all) break;
      }
      if (!all && path.find('/', prefix.size()) != path.npos) continue;
      HubFile told = file;
      if (lie != nullptr) told.size = lie->at;
      entries.emplace(path, entry_of(path, told));
    }
    std::vector<json> out;
    for (auto& [path, entry] : entries) out.push_back(std::move(entry));
    return out;
  }

  void answer_tree(const Address& address, const HubRevision& revision) {
    const std::vector<json> entries = entries_of(address, revision);
    if (entries.empty() && !address.path.empty())
      return refuse(404, "EntryNotFound", address.path + " does not exist on \"" + address.revision + "\"");
    std::size_t first = 0;
    if (const auto cursor = request_.query.find("cursor"); cursor != request_.query.end())
      first = std::min<std::size_t>(std::strtoul(cursor->second.c_str(), nullptr, 10), entries.size());
    const std::size_t last = std::min(first + hub_.options_.page_size, entries.size());
    Fields fields;
    if (last < entries.size()) {
      std::string next = hub_.url() + request_.path + "?cursor=" + std::to_string(last);
      for (const auto& [name, value] : request_.query)
        if (name != "cursor") next += "&" + name + "=" + value;
      fields.emplace_back("Link", "<" + next + ">; rel=\"next\"");
    }
    answer_json(std::vector<json>(entries.begin() + static_cast<std::ptrdiff_t>(first),
                                  entries.begin() + static_cast<std::ptrdiff_t>(last)),
                fields);
  }

  void answer_file(const Address& address, const HubRevision& revision, bool here) {
    const auto found = revision.files.find(address.path);
    if (found == revision.files.end())
      return refuse(404, "EntryNotFound", "Entry not found", {{"X-Repo-Commit", revision.commit}});
    const HubFile& file = found->second;
    std::string etag = file.etag();
    if (take({FaultKind::wrong_etag})) etag[0] = etag[0] == 'f' ? '0' : 'f';
    Fields fields = {{"X-Repo-Commit", revision.commit}, {"Accept-Ranges", "bytes"}};
    if (!file.xet_hash.empty()) fields.emplace_back("X-Xet-Hash", file.xet_hash);
    const std::string source = cache::percent_encoded(file.source.string(), false);
    if (!here && take({FaultKind::redirect_here}))
      return redirect(307, "/api/resolve-cache" + request_.path + "?etag=%22" + etag + "%22", fields);
    fields.emplace_back("X-Linked-Etag", "\"" + etag + "\"");
    fields.emplace_back("X-Linked-Size", std::to_string(file.size));
    if (take({FaultKind::redirect_away}))
      return redirect(302, hub_.other_origin() + "/" + source + "?signature=valid", fields);
    if (take({FaultKind::expired_link}))
      return redirect(302, hub_.other_origin() + "/" + source + "?signature=old", fields);
    if (!file.is_lfs()) fields.erase(fields.end() - 2, fields.end());
    fields.emplace_back("ETag", "\"" + etag + "\"");
    send_file(file.source, std::move(fields));
  }

  // The other origin: objects by the path of their source, for whoever has a signature.
  void answer_storage() {
    const auto signature = request_.query.find("signature");
    if (signature == request_.query.end() || signature->second != "valid")
      return send(403, {}, "Request has expired", nullptr);
    send_file(percent_decoded(request_.path.substr(1)), {{"ETag", "\"0123456789abcdef-1\""}});
  }

  void send_file(const std::filesystem::path& source, Fields fields) {
    const MappedFile file(source);
    const auto bytes = file.bytes();
    std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::optional<std::string> other = spoiled(content);
    if (other) content = *other;
    const std::uint64_t size = content.size();
    fields.emplace_back("Content-Type", "application/octet-stream");
    auto range = parse_range(log_.range, size);
    if (range && take({FaultKind::ignored_range})) range.reset();
    if (range && range->first >= size) {
      fields.emplace_back("Content-Range", "bytes */" + std::to_string(size));
      return send(416, std::move(fields), "", nullptr);
    }
    if (range && take({FaultKind::wrong_range})) range->first = range->first == 0 ? 1 : range->first - 1;
    if (range) {
      fields.emplace_back("Content-Range", "bytes " + std::to_string(range->first) + "-" +
                                               std::to_string(range->last) + "/" + std::to_string(size));
      content = content.substr(range->first, range->last - range->first + 1);
    }
    send(range ? 206 : 200, std::move(fields), content,
         take({FaultKind::drop, FaultKind::stall, FaultKind::slow}));
  }

  // What is sent instead of the content, where a fault of it is due.
  std::optional<std::string> spoiled(std::string_view content) {
    if (request_.method == "HEAD") return std::nullopt;
    const Fault* fault = take({FaultKind::short_file, FaultKind::long_file, FaultKind::wrong_content});
    if (fault == nullptr) return std::nullopt;
    std::string out(content);
    if (fault->kind == FaultKind::short_file)
      out.resize(out.size() - std::min<std::uint64_t>(fault->at, out.size()));
    if (fault->kind == FaultKind::long_file) out.append(fault->at, '\0');
    if (fault->kind == FaultKind::wrong_content && !out.empty()) out[hub_.draw() % out.size()] ^= 1;
    return out;
  }

  void send(int status, Fields fields, std::string_view body, const Fault* fault) {
    {
      const std::lock_guard lock(hub_.mutex_);
      log_.status = status;
    }
    if (!reply_.head(status, fields, body.size()) || request_.method == "HEAD") return;
    const std::uint64_t stop = fault != nullptr && fault->kind != FaultKind::slow ? fault->at : body.size();
    const bool is_slow = fault != nullptr && fault->kind == FaultKind::slow;
    const std::size_t step = is_slow ? std::max<std::size_t>(fault->at / 50, 1) : 64u << 10;
    for (std::size_t at = 0; at < body.size() && at < stop;) {
      const std::string_view piece =
          body.substr(at, std::min<std::size_t>(step, std::min(stop, body.size()) - at));
      if (!reply_.write(piece)) return;
      at += piece.size();
      {
        const std::lock_guard lock(hub_.mutex_);
        log_.body_bytes += piece.size();
      }
      if (is_slow && !reply_.pause(20)) return;
    }
    if (fault != nullptr && fault->kind == FaultKind::drop) reply_.reset();
    if (fault != nullptr && fault->kind == FaultKind::stall) reply_.wait_until_gone();
  }

  FaultHub& hub_;
  const HttpRequest& request_;
  HttpReply& reply_;
  LoggedRequest& log_;
};

FaultHub::FaultHub(std::filesystem::path root, HubOptions options)
    : options_(options), repos_(std::move(root), options.lfs_threshold), random_(options.seed) {
  storage_ = std::make_unique<HttpServer>(
      [this](const auto& request, auto& reply) { answer(request, reply, true); });
  hub_ = std::make_unique<HttpServer>(
      [this](const auto& request, auto& reply) { answer(request, reply, false); }, options.port);
}

FaultHub::~FaultHub() {
  hub_.reset();
  storage_.reset();
}

void FaultHub::answer(const HttpRequest& request, HttpReply& reply, bool away) {
  LoggedRequest* logged = nullptr;
  if (options_.watch) options_.watch(request, away);
  {
    const std::lock_guard lock(mutex_);
    log_.push_back(std::make_unique<LoggedRequest>(
        LoggedRequest{request.method, request.target, request.header("authorization"),
                      request.header("range"), request.header("user-agent"), away, 0, 0}));
    logged = log_.back().get();
  }
  Exchange(*this, request, reply, *logged).run(away);
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
  std::uint64_t bytes = 0;
  for (const LoggedRequest& request : log())
    if (request.target.find(target_part) != std::string::npos) bytes += request.body_bytes;
  return bytes;
}

void FaultHub::clear_log() {
  const std::lock_guard lock(mutex_);
  for (auto& request : log_) cleared_.push_back(std::move(request));  // an exchange may still write to it
  log_.clear();
}

}  // namespace hf::test
