// A file or folder that is open, closed with its scope.
#pragma once
#include <unistd.h>

#include <utility>

namespace hf::cache {

class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int fd) : fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int take() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace hf::cache
