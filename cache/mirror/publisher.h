// Gives verified files their names, on a thread of its own: first their bytes are on the disk, then they are
// named, then the names are on the disk, and only then a file is told done. Small files wait for each other,
// so that thousands of them cost a flush for each few hundred.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cache/mirror/part_file.h"
#include "cache/mirror/target.h"

namespace hf::cache {

struct VerifiedFile {
  std::size_t job = 0;              // which, for who is told
  std::filesystem::path part = {};  // empty: the content is in the target, only its names are missing
  std::vector<const TreeFile*> links = {};
  std::string sha256 = {};
  std::optional<FileLock> lock = {};     // kept until it has its name
  std::unique_ptr<PartFile> large = {};  // of a file with a journal
  std::optional<Error> failure = {};     // why it has no name after all
};

class Publisher {
 public:
  // `done` is called on this class's own thread with files that are named for good, or failed.
  Publisher(Target& target, std::function<void(std::vector<VerifiedFile>)> done);
  ~Publisher();  // what was handed over is finished
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void add(std::vector<VerifiedFile> files);

 private:
  using Files = std::vector<VerifiedFile>;

  void work();
  void flush(Files& fresh);
  void place(VerifiedFile& file);
  void deliver();

  Target& target_;
  const std::function<void(Files)> done_;
  std::mutex mutex_;
  std::condition_variable ready_;
  Files waiting_;
  bool ended_ = false;
  Files named_;         // not yet for good; of the thread
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace hf::cache
