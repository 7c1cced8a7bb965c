// What stands beside a partial file: how much of it is on the disk for good, and the hash of that much.
//
//   hfpart 1 <etag> <size>
//   <bytes> <hash of the first so many bytes>
//   …
// A line counts once it ends in a newline; the last one counts.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hf::cache {

struct JournalMark {
  std::uint64_t bytes = 0;
  std::string hash;
};

struct Journal {
  std::string etag;
  std::uint64_t size = 0;
  JournalMark last;
};

std::string journal_head(const Journal& journal);
std::string journal_line(const JournalMark& mark);

// Nothing where the text is no journal, or says nothing yet. A line that is damaged ends the reading.
std::optional<Journal> parse_journal(std::string_view text);

}  // namespace hf::cache
