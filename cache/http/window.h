// How many exchanges at a time a server takes, by what is seen of it: more while answers begin as quickly as
// ever, fewer when they are late or the server says that it is too much.
#pragma once
#include <chrono>
#include <cstddef>

namespace hf::cache {

class Window {
 public:
  // From `first` on, `most` at the most. `by_delay`: whether late answers count.
  Window(std::size_t first, std::size_t most, bool by_delay);

  std::size_t size() const { return static_cast<std::size_t>(size_); }
  // An exchange went well; its first byte came so long after it was asked for.
  void completed(std::chrono::microseconds first_byte);
  // An exchange that began in `epoch` was refused or torn. What began before the last such event does not
  // count again: it is the same one.
  void pushed_back(unsigned epoch);
  // The server serves so many at a time, and lets others wait.
  void cap(std::size_t most);
  unsigned epoch() const { return epoch_; }

 private:
  double growth(std::chrono::microseconds first_byte) const;

  double size_, most_;
  bool by_delay_;
  bool opening_ = true;  // nothing has spoken against growing yet
  std::chrono::microseconds least_ = std::chrono::microseconds::max();
  unsigned epoch_ = 0;
};

}  // namespace hf::cache
