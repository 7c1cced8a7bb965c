// Which files of a revision are wanted.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cache/hub/answers.h"

namespace hf::cache {

struct Selection {
  std::vector<std::string> files = {};    // by name, "folder/" for all below it; each must be there
  std::vector<std::string> include = {};  // globs, any of them; none means all
  std::vector<std::string> exclude = {};
};

// Python's fnmatch, as huggingface_hub filters: "*" and "?" also match "/", a pattern that ends in "/" means
// all below.
bool matches_glob(std::string_view path, std::string_view pattern);

// In the tree's order. Error{not_found} names the files that the revision does not have, or says that none
// matches.
std::vector<TreeFile> select(const std::vector<TreeFile>& tree, const Selection& selection,
                             std::string_view subject);

}  // namespace hf::cache
