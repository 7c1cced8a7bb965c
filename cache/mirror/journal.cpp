#include "cache/mirror/journal.h"

#include <algorithm>
#include <map>

#include "cache/http/headers.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// The next whole line, taken off `text`.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool parse_head(std::string_view line, Journal& journal) {
  const auto words = words_of(line);
  if (words.size() != 4 || words[0] != "hfpart" || words[1] != "2" || !is_etag(words[2])) return false;
  const auto size = parse_number(words[3]);
  if (!size) return false;
  journal.etag = words[2];
  journal.size = *size;
  return true;
}

void parse_owner(const std::vector<std::string_view>& words, Journal& journal) {
  if (words.size() != 6) return;
  const auto process = parse_number(words[4]), started = parse_number(words[5]);
  if (process && started)
    journal.owner = {std::string(words[1]), std::string(words[2]), std::string(words[3]), *process, *started};
}

void parse_block(const std::vector<std::string_view>& words, Journal& journal) {
  if (words.size() != 4 || words[3].size() != 64 || !is_etag(words[3])) return;
  const auto first = parse_number(words[1]), length = parse_number(words[2]);
  if (first && length && *length > 0 && *first <= journal.size && *length <= journal.size - *first)
    journal.blocks.push_back({{*first, *first + *length}, std::string(words[3])});
}

}  // namespace

std::uint64_t Journal::vouched_bytes() const {
  Ranges ranges;
  if (!prefixes.empty()) ranges.add({0, prefixes.back().bytes});
  for (const BlockMark& block : blocks) ranges.add(block.span);
  return ranges.total();
}

std::string journal_head(std::string_view etag, std::uint64_t size) {
  return "hfpart 2 " + std::string(etag) + " " + std::to_string(size) + "\n";
}

std::string owner_line(const PartOwner& owner) {
  return "owner " + owner.host + " " + owner.boot + " " + owner.pid_space + " " +
         std::to_string(owner.process) + " " + std::to_string(owner.started) + "\n";
}

std::string prefix_line(const PrefixMark& mark) {
  return "prefix " + std::to_string(mark.bytes) + " " + mark.hash + "\n";
}

std::string block_line(const BlockMark& mark) {
  return "block " + std::to_string(mark.span.first) + " " + std::to_string(mark.span.size()) + " " +
         mark.sha256 + "\n";
}

std::optional<Journal> parse_journal(std::string_view text) {
  Journal journal;
  const auto head = take_line(text);
  if (!head || !parse_head(*head, journal)) return std::nullopt;
  std::map<std::uint64_t, std::string_view> prefixes;  // of two for one place the later one counts
  while (const auto line = take_line(text)) {
    const auto words = words_of(*line);
    if (words[0] == "owner") parse_owner(words, journal);
    if (words[0] == "block") parse_block(words, journal);
    if (words[0] != "prefix" || words.size() != 3 || words[2].size() != journal.etag.size()) continue;
    const auto bytes = parse_number(words[1]);
    if (bytes && *bytes > 0 && *bytes <= journal.size && is_etag(words[2])) prefixes[*bytes] = words[2];
  }
  for (const auto& [bytes, hash] : prefixes) journal.prefixes.push_back({bytes, std::string(hash)});
  return journal;
}

}  // namespace hf::cache
