#include "cache/store/git_attributes.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace hf::cache {
namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// Takes one character of the pattern ("?", a set, "\x" or the character itself) off its front: does it match
// c?
bool take_one(std::string_view& pattern, char c) {
  const char first = pattern.front();
  if (first == '[') {
    const std::size_t close =
        pattern.find(']', pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^') ? 3 : 2);
    if (close != std::string_view::npos) {
      std::string_view set = pattern.substr(1, close - 1);
      pattern.remove_prefix(close + 1);
      const bool negated = set.front() == '!' || set.front() == '^';
      if (negated) set.remove_prefix(1);
      bool found = false;
      for (std::size_t i = 0; i < set.size(); ++i) {
        const bool is_range = i + 2 < set.size() && set[i + 1] == '-';
        found |= is_range ? set[i] <= c && c <= set[i + 2] : set[i] == c;
        if (is_range) i += 2;
      }
      return found != negated;
    }
  }
  if (first == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
  const char literal = pattern.front();
  pattern.remove_prefix(1);
  return first == '?' || literal == c;
}

// Within one folder's name. Only the last "*" is ever gone back to: enough, and no pattern takes long.
bool matches_name(std::string_view name, std::string_view pattern) {
  std::optional<std::pair<std::string_view, std::string_view>> star;  // name and pattern behind it
  while (!name.empty()) {
    if (pattern.starts_with('*')) {
      pattern.remove_prefix(1);
      star = {name, pattern};
      continue;
    }
    std::string_view rest = pattern;
    if (!rest.empty() && take_one(rest, name.front())) {
      name.remove_prefix(1);
      pattern = rest;
    } else if (star) {
      star->first.remove_prefix(1);
      std::tie(name, pattern) = *star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*') == std::string_view::npos;
}

bool matches_path(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern) {
  std::vector<char> reached(path.size() + 1,
                            0);  // by parts of the path that the pattern so far can stand for
  reached[0] = 1;
  for (std::size_t p = 0; p < pattern.size(); ++p) {
    std::vector<char> next(path.size() + 1, 0);
    const bool any = pattern[p] == "**";
    const bool is_last = p + 1 == pattern.size();
    for (std::size_t i = 0; i <= path.size(); ++i) {
      if (!reached[i]) continue;
      const std::size_t begin = i + (any && is_last ? 1 : 0);  // "a/**" is what is below a
      if (any && begin <= path.size())
        std::fill(next.begin() + static_cast<std::ptrdiff_t>(begin), next.end(), 1);
      if (!any && i < path.size() && matches_name(path[i], pattern[p])) next[i + 1] = 1;
    }
    reached = std::move(next);
  }
  return reached[path.size()] != 0;
}

// The pattern at the front of a line, which may stand in quotes; the attributes behind it stay in `line`.
std::string take_pattern(std::string_view& line) {
  std::string pattern;
  if (!line.starts_with('"')) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    pattern = line.substr(0, end);
    line.remove_prefix(end);
    return pattern;
  }
  std::size_t at = 1;
  for (; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    pattern += line[at];
  }
  line.remove_prefix(std::min(at + 1, line.size()));
  return pattern;
}

// What a line says of the attribute "filter"; nothing where it does not name it.
std::optional<bool> filter_is_lfs(std::string_view attributes) {
  std::optional<bool> found;
  for (const std::string_view attribute : split(attributes, " \t")) {
    if (attribute == "filter=lfs")
      found = true;
    else if (attribute == "filter" || attribute == "-filter" || attribute == "!filter" ||
             attribute.starts_with("filter="))
      found = false;
  }
  return found;
}

}  // namespace

bool matches_git_pattern(std::string_view path, std::string_view pattern) {
  if (pattern.empty() || pattern.ends_with('/')) return false;  // of folders
  if (pattern.find('/') == std::string_view::npos)
    return matches_name(path.substr(path.rfind('/') + 1), pattern);
  return matches_path(split(path, "/"), split(pattern, "/"));
}

void GitAttributes::add(std::string_view text, std::string_view folder) {
  for (std::string_view line : split(text, "\r\n")) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with('!') || line.starts_with("[attr]"))
      continue;
    std::string pattern = take_pattern(line);
    if (const auto is_lfs = filter_is_lfs(line))
      lines_.push_back({std::string(folder), std::move(pattern), *is_lfs});
  }
  std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) {
    return std::count(a.folder.begin(), a.folder.end(), '/') <
           std::count(b.folder.begin(), b.folder.end(), '/');
  });
}

bool GitAttributes::is_lfs(std::string_view path) const {
  const auto found = std::find_if(lines_.rbegin(), lines_.rend(), [&](const Line& line) {
    return path.starts_with(line.folder) &&
           matches_git_pattern(path.substr(line.folder.size()), line.pattern);
  });
  return found != lines_.rend() && found->is_lfs;
}

}  // namespace hf::cache
