// Which bytes of a file there are.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

namespace hf::cache {

struct ByteSpan {
  std::uint64_t first = 0, end = 0;  // end: one after the last

  std::uint64_t size() const { return end - first; }
  bool operator==(const ByteSpan&) const = default;
};

class Ranges {
 public:
  void add(ByteSpan span);
  void clear() { spans_.clear(); }

  std::uint64_t prefix() const;  // the end of the run that begins with byte 0
  std::uint64_t total() const;
  bool contains(ByteSpan span) const;
  // The first run of missing bytes at or after `from`, up to `size`.
  std::optional<ByteSpan> gap(std::uint64_t from, std::uint64_t size) const;

 private:
  std::map<std::uint64_t, std::uint64_t> spans_;  // first -> end; they neither overlap nor touch
};

}  // namespace hf::cache
