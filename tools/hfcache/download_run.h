// The downloads of one call, over one client: all are planned before the first byte is fetched, and what
// fails in one does not keep the others from it.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/http/client.h"
#include "cache/hub/hub.h"
#include "cache/mirror/download.h"
#include "tools/hfcache/download_display.h"

namespace hf::cache {

struct DownloadJob {
  std::string where;  // in a list: "models.txt, line 3"; empty: the only one
  DownloadRequest request;
  DownloadPlan plan = {};
};

// The Errors of several jobs, in their order. An interrupted one ends them all.
class Failures {
 public:
  explicit Failures(const std::vector<DownloadJob>& jobs) : all_(jobs.size()) {}

  // True where `work` did not fail.
  bool collect(const DownloadJob& job, const std::function<void()>& work);
  // Where there are any: the Error of the first one's kind that names all. `note`: what that means.
  void raise(const char* note = "") const;
  bool any() const { return !errors_.empty(); }

 private:
  std::size_t all_;
  std::vector<Error> errors_;
};

struct DownloadOutput {
  bool json = false, quiet = false;
};

class DownloadRun {
 public:
  DownloadRun(ClientOptions options, const Store& store, std::vector<DownloadJob> jobs,
              DownloadOutput output);
  ~DownloadRun();

  void plan(const std::string& endpoint, const std::string& token);  // fetches nothing
  void show_plans() const;
  void fetch();

 private:
  void fetch(DownloadJob& job);
  void tell(const DownloadJob& job, const DownloadReport& report) const;
  void warn(std::string_view message);  // of the Hub, while one is planned or fetched
  std::string label(const DownloadJob& job) const;
  void keep_ticking();

  const Store& store_;
  std::vector<DownloadJob> jobs_;
  const DownloadOutput output_;
  std::optional<LiveLines> lines_;
  std::optional<DownloadDisplay> display_;  // where somebody looks
  const DownloadJob* current_ = nullptr;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Hub> hub_;
};

}  // namespace hf::cache
