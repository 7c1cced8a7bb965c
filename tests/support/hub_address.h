// What a request to a Hub names.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hf::test {

struct Address {
  std::string type;  // "models", "datasets", "spaces"
  std::string id, verb, revision, path;
};

// "/api/models/[org/]name[/verb[/revision[/path]]]".
std::optional<Address> parse_api(const std::string& path);

// "/[datasets/][org/]name/resolve/revision/path".
std::optional<Address> parse_file(const std::string& path);

struct ByteRange {
  std::uint64_t first = 0, last = 0;
};

// "bytes=N-" and "bytes=N-M" of a file of `size` bytes, M cut to its end; first is beyond it where the file
// has no such byte. Nothing for other ranges, which are not served.
std::optional<ByteRange> parse_range(const std::string& range, std::uint64_t size);

}  // namespace hf::test
