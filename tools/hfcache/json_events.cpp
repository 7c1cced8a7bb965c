#include "tools/hfcache/json_events.h"

#include <nlohmann/json.hpp>

#include "tools/program/program.h"

namespace hf::cache {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressEvery = std::chrono::milliseconds(200);
constexpr std::string_view kStates[] = {"missing", "in blobs", "present"};  // by FileState

std::string_view name_for_programs(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::denied:
      return "denied";
    case ErrorKind::network:
      return "network";
    case ErrorKind::integrity:
      return "integrity";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::io:
      return "io";
    case ErrorKind::out_of_memory:
      return "out_of_memory";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::internal:
      break;
  }
  return "internal";
}

void tell(std::string_view event, const DownloadRequest* request, Json fields) {
  Json line = {{"v", 1}, {"event", event}};
  if (request != nullptr) {
    line["repo_id"] = request->repo.id;
    line["repo_type"] = name_of(request->repo.type);
    line["revision"] = request->revision;
  }
  line.update(fields);
  print_json_line(line);
}

}  // namespace

JsonEvents::JsonEvents(const DownloadRequest& request, const DownloadPlan& plan)
    : request_(request), bytes_to_fetch_(plan.bytes_to_fetch()), told_(Clock::now()) {
  for (const PlannedFile& planned : plan.files) files_to_fetch_ += planned.state != FileState::present;
}

void JsonEvents::file_started(const TreeFile& file, std::uint64_t resumed_bytes) {
  tell("file_start", &request_, {{"path", file.path}, {"size", file.size}, {"resumed_bytes", resumed_bytes}});
}

void JsonEvents::advanced(const TreeFile&, std::uint64_t bytes) {
  bytes_ += bytes;
  if (Clock::now() - told_ >= kProgressEvery) tell_progress();
}

void JsonEvents::tell_progress() {
  told_ = Clock::now();
  tell("progress", &request_,
       {{"bytes_done", bytes_},
        {"bytes_to_fetch", bytes_to_fetch_},
        {"files_done", files_},
        {"files_to_fetch", files_to_fetch_}});
}

void JsonEvents::file_restarted(const TreeFile& file, std::uint64_t lost_bytes, std::string_view why) {
  bytes_ -= std::min(bytes_, lost_bytes);
  tell("retry", &request_, {{"path", file.path}, {"wait_ms", 0}, {"lost_bytes", lost_bytes}, {"why", why}});
}

void JsonEvents::retrying(const TreeFile* file, std::chrono::milliseconds wait, std::string_view why) {
  Json fields = {{"wait_ms", wait.count()}, {"why", why}};
  if (file != nullptr) fields["path"] = file->path;
  tell("retry", &request_, std::move(fields));
}

void JsonEvents::file_done(const TreeFile& file, std::string_view sha256) {
  ++files_;
  Json fields = {{"path", file.path}, {"size", file.size}, {"etag", file.etag()}};
  if (!sha256.empty()) fields["sha256"] = sha256;
  tell("file_done", &request_, std::move(fields));
}

void JsonEvents::warned(std::string_view message) { tell_warning(request_, message); }

void tell_plan(const DownloadRequest& request, const DownloadPlan& plan) {
  Json files = Json::array();
  for (const PlannedFile& planned : plan.files)
    files.push_back({{"path", planned.file.path},
                     {"size", planned.file.size},
                     {"etag", planned.file.etag()},
                     {"state", kStates[static_cast<std::size_t>(planned.state)]},
                     {"resumable_bytes", planned.resumable_bytes}});
  tell("plan", &request,
       {{"commit", plan.commit},
        {"total_bytes", plan.total_bytes()},
        {"bytes_to_fetch", plan.bytes_to_fetch()},
        {"files", std::move(files)}});
}

void tell_done(const DownloadRequest& request, const std::string& commit, const DownloadReport& report) {
  tell("done", &request,
       {{"commit", commit},
        {"path", report.path.string()},
        {"bytes_fetched", report.bytes_fetched},
        {"bytes_resumed", report.bytes_resumed},
        {"requests",
         {{"api", report.api_requests},
          {"resolves", report.resolves},
          {"redirects", report.redirects},
          {"range_parts", report.range_parts},
          {"re_resolves", report.re_resolves}}}});
}

void tell_error(const DownloadRequest* request, const Error& error) {
  tell("error", request,
       {{"kind", name_for_programs(error.kind())},
        {"exit_code", exit_code_of(error)},
        {"message", std::string(error.what())}});
}

void tell_warning(const DownloadRequest& request, std::string_view message) {
  tell("warning", &request, {{"message", message}});
}

void tell_wait(const DownloadRequest& request, std::chrono::milliseconds wait, std::string_view why) {
  tell("retry", &request, {{"wait_ms", wait.count()}, {"why", why}});
}

}  // namespace hf::cache
