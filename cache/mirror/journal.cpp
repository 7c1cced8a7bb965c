#include "cache/mirror/journal.h"

#include <vector>

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

}  // namespace

std::string journal_head(const Journal& journal) {
  return "hfpart 1 " + journal.etag + " " + std::to_string(journal.size) + "\n";
}

std::string journal_line(const JournalMark& mark) {
  return std::to_string(mark.bytes) + " " + mark.hash + "\n";
}

std::optional<Journal> parse_journal(std::string_view text) {
  const auto head = take_line(text);
  if (!head) return std::nullopt;
  const auto words = words_of(*head);
  if (words.size() != 4 || words[0] != "hfpart" || words[1] != "1" || !is_etag(words[2])) return std::nullopt;
  const auto size = parse_number(words[3]);
  if (!size) return std::nullopt;
  Journal journal{std::string(words[2]), *size, {}};
  while (const auto line = take_line(text)) {
    const auto fields = words_of(*line);
    const auto bytes = parse_number(fields[0]);
    if (fields.size() != 2 || !bytes || *bytes <= journal.last.bytes || *bytes > *size || !is_etag(fields[1]))
      break;
    journal.last = {*bytes, std::string(fields[1])};
  }
  if (journal.last.bytes == 0) return std::nullopt;
  return journal;
}

}  // namespace hf::cache
