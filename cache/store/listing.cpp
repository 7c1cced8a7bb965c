#include "cache/store/listing.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/quantity.h"

namespace hf::cache {
namespace {

struct Condition {
  std::string_view key, comparison, value;
};

// The words that are there longest first, so that ">=" is not taken for ">".
constexpr std::string_view kComparisons[] = {"==", "!=", ">=", "<=", "=", ">", "<"};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<Condition> split(std::string_view text) {
  const std::size_t at = text.find_first_of("=!<>");
  if (at == text.npos) return std::nullopt;
  for (const std::string_view comparison : kComparisons)
    if (text.substr(at).starts_with(comparison))
      return Condition{trimmed(text.substr(0, at)), comparison, trimmed(text.substr(at + comparison.size()))};
  return std::nullopt;
}

template <class T>
bool compares(const T& a, std::string_view comparison, const T& b) {
  if (comparison == "=" || comparison == "==") return a == b;
  if (comparison == "!=") return a != b;
  if (comparison == ">") return a > b;
  if (comparison == "<") return a < b;
  return comparison == ">=" ? a >= b : a <= b;
}

bool matches(const std::string& text, const std::string& glob) {
  return fnmatch(glob.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

[[noreturn]] void refuse(std::string_view text, const std::string& expectation) {
  throw Error(ErrorKind::usage, "filter " + in_quotes(text) + ": " + expectation + " is expected");
}

using Test = std::function<bool(const ListedLine&, FileTime)>;

Test test_of_bytes(const Condition& condition, std::string_view text) {
  const auto bytes = parse_bytes(condition.value);
  if (!bytes) refuse(text, "an amount like 500MB or 1.5GB");
  return [compare = std::string(condition.comparison), bytes = *bytes, is_size = condition.key == "size"](
             const ListedLine& line, FileTime) {
    return compares(is_size ? line.bytes() : line.files(), compare, bytes);
  };
}

Test test_of_age(const Condition& condition, std::string_view text) {
  const auto age = parse_duration(condition.value);
  if (!age) refuse(text, "an age like 12h, 30d or 2w");
  return [compare = std::string(condition.comparison), age = *age, is_use = condition.key != "modified"](
             const ListedLine& line, FileTime now) {
    const FileTime time = is_use ? line.last_used() : line.last_modified();
    return compares(std::chrono::floor<std::chrono::seconds>(now - time), compare, age);
  };
}

std::vector<std::string> texts_of(const ListedLine& line, std::string_view key) {
  if (key == "type") return {std::string(name_of(line.repo->repo.type))};
  if (key == "id") return {line.repo->repo.id};
  if (key == "refs" || key == "ref") return line.refs();
  if (line.revision != nullptr) return {line.revision->commit};
  std::vector<std::string> commits;
  for (const CachedRevision& revision : line.repo->revisions) commits.push_back(revision.commit);
  return commits;
}

Test test_of_text(const Condition& condition, std::string_view text) {
  const bool wanted = condition.comparison != "!=";
  if (wanted && condition.comparison[0] != '=') refuse(text, "= or !=");
  return [key = std::string(condition.key), glob = std::string(condition.value), wanted](
             const ListedLine& line, FileTime) {
    const auto texts = texts_of(line, key);
    return std::any_of(texts.begin(), texts.end(), [&](const auto& t) { return matches(t, glob); }) == wanted;
  };
}

bool is_detached(const ListedLine& line, FileTime) { return line.refs().empty(); }
bool has_partial(const ListedLine& line, FileTime) { return line.repo->partial_bytes > 0; }
bool is_synthetic(const ListedLine& line, FileTime) { return line.is_synthetic(); }
bool has_problems(const ListedLine& line, FileTime) { return !line.repo->problems.empty(); }

}  // namespace

std::vector<std::string> ListedLine::refs() const {
  if (revision != nullptr) return revision->refs;
  std::set<std::string> all;
  for (const CachedRevision& each : repo->revisions) all.insert(each.refs.begin(), each.refs.end());
  return {all.begin(), all.end()};
}

bool ListedLine::is_synthetic() const {
  if (revision != nullptr) return revision->is_synthetic;
  return std::any_of(repo->revisions.begin(), repo->revisions.end(),
                     [](const CachedRevision& each) { return each.is_synthetic; });
}

LineFilter LineFilter::parse(std::string_view text) {
  constexpr std::pair<std::string_view, bool (*)(const ListedLine&, FileTime)> kWords[] = {
      {"detached", is_detached},
      {"partial", has_partial},
      {"problems", has_problems},
      {"synthetic", is_synthetic}};
  constexpr std::pair<std::string_view, Test (*)(const Condition&, std::string_view)> kKeys[] = {
      {"size", test_of_bytes},   {"files", test_of_bytes}, {"used", test_of_age}, {"accessed", test_of_age},
      {"modified", test_of_age}, {"type", test_of_text},   {"id", test_of_text},  {"ref", test_of_text},
      {"refs", test_of_text},    {"commit", test_of_text}};
  for (const auto& [word, test] : kWords)
    if (trimmed(text) == word) return LineFilter(test);
  if (const auto condition = split(text); condition && !condition->value.empty())
    for (const auto& [key, make] : kKeys)
      if (condition->key == key) return LineFilter(make(*condition, text));
  refuse(text,
         "size, files, used, modified, type, id, refs or commit with a comparison and a value, or detached, "
         "partial or problems");
}

LineOrder LineOrder::parse(std::string_view text) {
  constexpr std::pair<std::string_view, Key> kKeys[] = {{"name", Key::name},     {"size", Key::size},
                                                        {"files", Key::files},   {"used", Key::used},
                                                        {"accessed", Key::used}, {"modified", Key::modified}};
  const std::size_t colon = text.find(':');
  const std::string_view order = colon == text.npos ? "" : text.substr(colon + 1);
  if (order == "asc" || order == "desc" || colon == text.npos)
    for (const auto& [name, key] : kKeys)
      if (text.substr(0, colon) == name) return {key, order.empty() ? key != Key::name : order == "desc"};
  throw Error(ErrorKind::usage,
              "sort " + in_quotes(text) +
                  ": name, size, files, used or modified is expected, with :asc or :desc or without");
}

bool LineOrder::is_less(const ListedLine& a, const ListedLine& b) const {
  switch (key_) {
    case Key::size:
      return a.bytes() < b.bytes();
    case Key::files:
      return a.files() < b.files();
    case Key::used:
      return a.last_used() < b.last_used();
    case Key::modified:
      return a.last_modified() < b.last_modified();
    case Key::name:
      break;
  }
  return std::tie(a.repo->repo.id, a.repo->repo.type) < std::tie(b.repo->repo.id, b.repo->repo.type);
}

void LineOrder::sort(std::vector<ListedLine>& lines) const {
  std::stable_sort(lines.begin(), lines.end(), [&](const ListedLine& a, const ListedLine& b) {
    return is_descending_ ? is_less(b, a) : is_less(a, b);
  });
}

std::vector<ListedLine> lines_of(const std::vector<CachedRepo>& repos, LineOf kind) {
  std::vector<ListedLine> lines;
  for (const CachedRepo& repo : repos) {
    if (kind == LineOf::repo) lines.push_back({&repo, nullptr});
    if (kind == LineOf::revision)
      for (const CachedRevision& revision : repo.revisions) lines.push_back({&repo, &revision});
  }
  return lines;
}

}  // namespace hf::cache
