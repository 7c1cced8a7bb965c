// Gives verified files their names: one by one when they are large, small ones in batches, so that thousands
// of them cost one flush of the disk and not thousands.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cache/mirror/partial.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {

class Publisher {
 public:
  Publisher(const RepoFolder& folder, std::string commit) : folder_(folder), commit_(std::move(commit)) {}

  // `partial` is_right(); `links` are the files of the snapshot with that content. From any thread.
  void add(std::unique_ptr<Partial> partial, std::vector<const TreeFile*> links);
  void flush();

 private:
  struct Item {
    std::unique_ptr<Partial> partial;
    std::vector<const TreeFile*> links;
  };
  void publish(Item& item) const;

  const RepoFolder& folder_;
  const std::string commit_;
  std::mutex mutex_;
  std::vector<Item> waiting_;
};

}  // namespace hf::cache
