// What record_writes writes and replay reads: a record for each call that changes the recorded folder, in the
// order in which they took effect.
#pragma once
#include <cstdint>

namespace hf::test {

enum class RecordedCall : std::uint32_t {
  open,       // fd, first: path, a: bits of OpenBit
  close,      // fd
  write,      // fd, a: offset, first: the bytes
  truncate,   // fd, a: size
  rename,     // first: from, second: to
  link,       // first: from, second: to
  symlink,    // first: target, second: path
  unlink,     // first: path; also of folders
  mkdir,      // first: path
  sync_file,  // fd, a: how many records there were when it began
  sync_all,   // a: as above
  said,       // first: text for standard output
};

enum OpenBit : std::uint64_t { kCreated = 1, kCut = 2, kFolder = 4 };

struct RecordHead {
  RecordedCall call;
  std::int32_t fd = -1;
  std::uint64_t a = 0;
  std::uint32_t first = 0, second = 0;  // bytes of the two texts that follow
};

}  // namespace hf::test
