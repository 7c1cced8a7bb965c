#include "support/hub_exchange.h"

#include <nlohmann/json.hpp>

#include "cache/http/headers.h"
#include "support/delivery.h"

namespace hf::test {
namespace {

using K = FaultKind;

constexpr std::string_view kHops = "/~hops/";  // "/~hops/3/rest": three more redirects, then /rest
constexpr std::string_view kCached = "/api/resolve-cache";  // where redirect_here leads

// What comes before the first slash after `prefix` as a number, and what comes after it as `rest`.
std::optional<std::uint64_t> take_number(std::string_view text, std::string& rest) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  rest = text.substr(slash);
  return cache::parse_number(text.substr(0, slash));
}

}  // namespace

void FaultHub::Exchange::run(bool away) {
  if (is_refused() || is_sent_elsewhere(away)) return;
  if (away) return answer_storage();
  if (request_.path == "/api/whoami-v2") return answer_whoami();
  const bool here = request_.path.starts_with(std::string(kCached) + "/");
  if (here && !request_.query.contains("etag")) return refuse(404, "", "Not Found");
  const auto file = parse_file(here ? request_.path.substr(kCached.size()) : request_.path);
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

// Every token is somebody's here, with the rights to read.
void FaultHub::Exchange::answer_whoami() {
  if (log_.authorization.empty()) return refuse(401, "", "Invalid username or password.");
  answer_json({{"name", "local"},
               {"type", "user"},
               {"orgs", {{{"name", "acme"}}}},
               {"auth", {{"accessToken", {{"displayName", "laptop"}, {"role", "read"}}}}}});
}

bool FaultHub::Exchange::is_refused() {
  const Fault* fault = take({K::status, K::gated, K::disabled, K::hidden, K::bad_token});
  if (fault == nullptr) return false;
  if (fault->kind == K::gated)
    refuse(log_.authorization.empty() ? 401 : 403, "GatedRepo", "Access to this model is restricted.");
  if (fault->kind == K::disabled) refuse(403, "", "Access to this resource is disabled.");
  if (fault->kind == K::hidden) send(401, {}, "", nullptr);
  if (fault->kind == K::bad_token) refuse(401, "", "Invalid credentials in Authorization header");
  if (fault->kind == K::status) {
    Fields fields;
    if (const std::size_t colon = fault->header.find(": "); colon != std::string::npos)
      fields.emplace_back(fault->header.substr(0, colon), fault->header.substr(colon + 2));
    send(fault->status, std::move(fields), "ordered fault", nullptr);
  }
  return true;
}

bool FaultHub::Exchange::is_sent_elsewhere(bool away) {
  if (request_.path.starts_with(kHops)) {
    std::string rest;
    const auto left = take_number(std::string_view(request_.target).substr(kHops.size()), rest);
    if (left.value_or(0) > 0) {
      redirect(302, std::string(kHops) + std::to_string(*left - 1) + rest);
      return true;
    }
    has_hopped_ = true;
    request_.target = rest;
    request_.path = rest.substr(0, rest.find('?'));
  }
  if (has_hopped_) return false;
  if (take({K::redirect_loop})) {
    redirect(302, request_.target);
  } else if (take({K::no_location})) {
    send(302, {}, "", nullptr);
  } else if (const Fault* chain = away ? nullptr : take({K::redirect_chain})) {
    redirect(302, std::string(kHops) + std::to_string(chain->at - 1) + request_.target);
  } else {
    return false;
  }
  return true;
}

// Answers itself where it says no.
bool FaultHub::Exchange::may_see(const Address& address) {
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

void FaultHub::Exchange::redirect(int status, const std::string& location, Fields fields) {
  fields.emplace_back("Location", location);
  send(status, std::move(fields), "Found. Redirecting", nullptr);
}

void FaultHub::Exchange::refuse(int status, const std::string& code, const std::string& message,
                                Fields fields) {
  if (!code.empty()) fields.emplace_back("X-Error-Code", code);
  fields.emplace_back("X-Error-Message", message);
  fields.emplace_back("Content-Type", "application/json");
  send(status, std::move(fields), nlohmann::json({{"error", message}}).dump(), nullptr);
}

void FaultHub::Exchange::answer_page_to_log_in() {
  send(200, {{"Content-Type", "text/html; charset=utf-8"}},
       "<!doctype html><title>Log in</title><form action=/login method=post><input name=user></form>\n",
       nullptr);
}

void FaultHub::Exchange::send(int status, Fields fields, std::string_view body, const Fault* fault) {
  {
    const std::lock_guard lock(hub_.mutex_);
    log_.status = status;
  }
  if (take({K::warning})) fields.emplace_back("X-HF-Warning", "Loopback; this Hub is for tests");
  const auto sent = [this](std::size_t bytes) {
    const std::lock_guard lock(hub_.mutex_);
    log_.body_bytes += bytes;
  };
  Delivery(reply_, fault, sent).send(status, std::move(fields), body, request_.method != "HEAD");
}

}  // namespace hf::test
