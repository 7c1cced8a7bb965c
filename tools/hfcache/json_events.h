// What a download tells a program: JSON, one object a line (docs/json-events.md).
#pragma once
#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/mirror/download.h"

namespace hf::cache {

// One a repository; all of a run write to standard output, each line at once.
class JsonEvents : public DownloadEvents {
 public:
  JsonEvents(const DownloadRequest& request, const DownloadPlan& plan);

  void file_started(const TreeFile& file, std::uint64_t resumed_bytes) override;
  void advanced(const TreeFile& file, std::uint64_t bytes) override;  // a line each 200 ms at most
  void file_restarted(const TreeFile& file, std::uint64_t lost_bytes, std::string_view why) override;
  void retrying(const TreeFile* file, std::chrono::milliseconds wait, std::string_view why) override;
  void file_done(const TreeFile& file, std::string_view sha256) override;
  void warned(std::string_view message) override;

 private:
  void tell_progress();

  const DownloadRequest& request_;
  std::uint64_t bytes_ = 0, bytes_to_fetch_ = 0, files_ = 0, files_to_fetch_ = 0;
  std::chrono::steady_clock::time_point told_{};
};

// Lines that are not of one file. `plan` tells the files, `done` what was spent; neither is told twice.
void tell_plan(const DownloadRequest& request, const DownloadPlan& plan);
void tell_done(const DownloadRequest& request, const std::string& commit, const DownloadReport& report);
void tell_error(const DownloadRequest* request, const Error& error);  // null: of the whole run
void tell_warning(const DownloadRequest& request, std::string_view message);
void tell_wait(const DownloadRequest& request, std::chrono::milliseconds wait, std::string_view why);

}  // namespace hf::cache
