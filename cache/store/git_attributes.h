// Which files of a repository git-lfs keeps, by its .gitattributes. A stranger's text: any text is taken, and
// matching takes time in proportion to pattern times path at most.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hf::cache {

class GitAttributes {
 public:
  // The text of the .gitattributes in `folder`: "" for the repository's own, else "weights/".
  void add(std::string_view text, std::string_view folder);

  // As git decides: the last line that matches counts, those of deeper folders before those above.
  bool is_lfs(std::string_view path) const;

 private:
  struct Line {
    std::string folder, pattern;
    bool is_lfs = false;
  };
  std::vector<Line> lines_;  // by depth of their folder
};

// git's glob: "*" and "?" stay within a folder, "**" goes over folders; a pattern without "/" is of names in
// any folder.
bool matches_git_pattern(std::string_view path, std::string_view pattern);

}  // namespace hf::cache
