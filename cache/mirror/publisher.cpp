#include "cache/mirror/publisher.h"

namespace hf::cache {
namespace {

constexpr std::uint64_t kLarge = 1 << 20;
constexpr std::size_t kBatch = 256;

}  // namespace

void Publisher::add(std::unique_ptr<Partial> partial, std::vector<const TreeFile*> links) {
  Item item{std::move(partial), std::move(links)};
  if (item.partial->size() >= kLarge) {
    item.partial->sync();
    publish(item);
    return;
  }
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(item));
    full = waiting_.size() >= kBatch;
  }
  if (full) flush();
}

void Publisher::flush() {
  std::vector<Item> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(waiting_);
  }
  if (batch.empty()) return;
  folder_.sync();  // a name on the disk before its bytes would be a wrong blob after a power failure
  for (Item& item : batch) publish(item);
}

void Publisher::publish(Item& item) const {
  item.partial->publish();
  for (const TreeFile* file : item.links) folder_.link(commit_, *file);
}

}  // namespace hf::cache
