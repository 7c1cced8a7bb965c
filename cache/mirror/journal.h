// What stands beside a partial file: who writes it, and what hash its bytes had when they were written.
// Nothing in it is believed before the bytes were hashed again. docs/partial-files.md tells the format.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/mirror/part_owner.h"
#include "cache/mirror/ranges.h"

namespace hf::cache {

// The first `bytes` of the file have this hash, of the kind that the etag is.
struct PrefixMark {
  std::uint64_t bytes = 0;
  std::string hash;
};

// Bytes that came ahead of those before them.
struct BlockMark {
  ByteSpan span;
  std::string sha256;
};

struct Journal {
  std::string etag;
  std::uint64_t size = 0;
  PartOwner owner;                        // the last one
  std::vector<PrefixMark> prefixes = {};  // ascending
  std::vector<BlockMark> blocks = {};

  std::uint64_t vouched_bytes() const;  // that it speaks of
};

std::string journal_head(std::string_view etag, std::uint64_t size);
std::string owner_line(const PartOwner& owner);
std::string prefix_line(const PrefixMark& mark);
std::string block_line(const BlockMark& mark);

// Nothing where the text is no journal. A line that is damaged, as the end of a broken disk may be, is left
// out: each line stands for itself.
std::optional<Journal> parse_journal(std::string_view text);

}  // namespace hf::cache
