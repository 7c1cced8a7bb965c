// What a cache holds as lines to look at: a repository or a revision each, those that are asked for, in the
// order that is asked for.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/scan.h"

namespace hf::cache {

struct ListedLine {
  const CachedRepo* repo = nullptr;
  const CachedRevision* revision = nullptr;  // nullptr: the repository's own line

  std::uint64_t bytes() const { return revision != nullptr ? revision->bytes : repo->bytes; }
  std::uint64_t files() const { return revision != nullptr ? revision->files : repo->files; }
  FileTime last_used() const { return revision != nullptr ? revision->last_used : repo->last_used; }
  FileTime last_modified() const {
    return revision != nullptr ? revision->last_modified : repo->last_modified;
  }
  std::vector<std::string> refs() const;  // sorted
  bool is_synthetic() const;              // the revision, or one of the repository's
};

// One condition on a line. "size>1GB", "files<=3", "used>30d" (not used for longer), "modified<2h",
// "type=model", "id=acme/*", "refs=main" (any of them), "commit=0a1b*"; texts take = and != with globs,
// amounts =, !=, <, <=, > and
// >=. Or one of the words "detached" (a revision, or all of the repository's, that no ref stands for),
// "partial" (unfinished downloads) and "problems".
class LineFilter {
 public:
  static LineFilter parse(std::string_view text);  // Error{usage}
  bool matches(const ListedLine& line, FileTime now) const { return test_(line, now); }

 private:
  using Test = std::function<bool(const ListedLine&, FileTime)>;
  explicit LineFilter(Test test) : test_(std::move(test)) {}

  Test test_;
};

// "size", "files", "used", "modified" (the greatest and the latest first) or "name", with ":asc" or ":desc"
// behind it for the other order.
class LineOrder {
 public:
  static LineOrder parse(std::string_view text);    // Error{usage}
  void sort(std::vector<ListedLine>& lines) const;  // lines that are equal in it stay as they are

 private:
  enum class Key { name, size, files, used, modified };
  LineOrder(Key key, bool is_descending) : key_(key), is_descending_(is_descending) {}
  bool is_less(const ListedLine& a, const ListedLine& b) const;

  Key key_;
  bool is_descending_;
};

enum class LineOf { repo, revision };
std::vector<ListedLine> lines_of(const std::vector<CachedRepo>& repos, LineOf kind);

}  // namespace hf::cache
