// A Hub on loopback with one repository, a cache, and downloads of the one into the other with short waits.
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "campaign/made_repo.h"
#include "campaign/runs.h"
#include "support/child.h"
#include "support/fault_hub.h"
#include "support/temp_dir.h"

namespace hf::test {

// Where the campaigns put their folders: in memory where there is room, so that a flush of the disk costs
// nothing and wears nothing. To be called once, before the first World.
void use_memory_for_folders();

struct Finish {
  std::optional<ErrorKind> kind;  // none: complete
  std::string message;
};

class World {
 public:
  static constexpr const char* kRepo = "acme/made";

  World(std::mt19937_64& random, HubOptions options = {}, const MadeRepoOptions& repo = {});

  FaultHub& hub() { return hub_; }
  const std::vector<MadeFile>& files() const { return files_; }
  std::filesystem::path source() const { return dir_ / "root" / kRepo; }
  std::filesystem::path cache_root() const { return dir_ / "cache"; }
  std::filesystem::path repo_folder() const { return cache_root() / "models--acme--made"; }
  std::filesystem::path snapshot();
  const std::filesystem::path& folder() const { return dir_.path(); }

  // In this process, with the waits of the client shortened. `stall`: how long without a byte is too long.
  Finish download(std::chrono::milliseconds stall = std::chrono::milliseconds(250));
  Finish download_into(const std::filesystem::path& cache_root, std::chrono::milliseconds stall);

  // Files come, go and change; main is the next commit then.
  void change_source(std::mt19937_64& random);

  // The variables of a program that shall use this Hub and this cache.
  std::map<std::string, std::string> variables() const;

 private:
  TempDir dir_;
  std::vector<MadeFile> files_;
  FaultHub hub_;
};

}  // namespace hf::test
