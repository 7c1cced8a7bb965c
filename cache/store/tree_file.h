// trees/<commit>.json: what a revision holds, so that a cache can be checked without a network. The format is
// huggingface_hub's, version 1.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cache/hub/answers.h"

namespace hf::cache {

std::string tree_json(const std::vector<TreeFile>& files);  // sorted by path, as check_tree leaves them

// The file of a list that is sorted by path; nullptr where there is none.
const TreeFile* find_path(const std::vector<TreeFile>& files, std::string_view path);

// Error{integrity} with `subject` in front when it is not such a file.
std::vector<TreeFile> parse_tree_json(std::string_view text, std::string_view subject);

// Whether a list that can be read stands there. `files`: what it should say; where it is that, letter for
// letter, it need not be parsed.
bool is_tree_file(const std::filesystem::path& path, const std::vector<TreeFile>& files);

}  // namespace hf::cache
