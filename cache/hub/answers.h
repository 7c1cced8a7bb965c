// What the Hub's API answers, parsed. A stranger's text: each function is pure, takes anything and throws
// only Error.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace hf::cache {

// A file of a revision. Its content hash names its blob: sha256 of an LFS file, git's blob sha1 of any other.
struct TreeFile {
  std::string path;  // relative, checked
  std::uint64_t size = 0;
  std::string git_oid;   // of the file, or of the pointer that stands for an LFS file
  std::string sha256;    // LFS only
  std::string xet_hash;  // where the Hub tells one

  const std::string& etag() const { return sha256.empty() ? git_oid : sha256; }
  HashKind hash_kind() const { return sha256.empty() ? HashKind::git_sha1 : HashKind::sha256; }
};

// The commit of `{"sha": "…", …}`. Whatever is malformed is Error{integrity} with `subject` in front.
std::string parse_commit(std::string_view text, std::string_view subject);

// The files of one page of a tree, in its order; folders are left out.
std::vector<TreeFile> parse_tree_page(std::string_view text, std::string_view subject);

// Throws Error{integrity} when a path stands twice, or one is both a file and a folder of another. Sorts by
// path.
void check_tree(std::vector<TreeFile>& files, std::string_view subject);

// The Error of an answer that is not 2xx: `status` with X-Error-Code and X-Error-Message (empty where they
// are not sent). `with_token`: whether one was sent along.
Error refusal(int status, std::string_view code, std::string_view message, std::string_view subject,
              bool with_token);

}  // namespace hf::cache
