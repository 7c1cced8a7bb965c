// What the Hub's API answers, parsed. A stranger's text: each function is pure, takes anything and throws
// only Error.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace hf::cache {

// A file of a revision. Its content hash names its blob: sha256 of an LFS file, git's blob sha1 of any other.
struct TreeFile {
  std::string path;  // relative
  std::uint64_t size = 0;
  std::string git_oid = {};   // of the file, or of the pointer that stands for an LFS file
  std::string sha256 = {};    // LFS only
  std::string xet_hash = {};  // where the Hub tells one
  // Why `path` must not become one, empty where it may (check_relative_path). Such a file stays in the list,
  // so that a filter can leave it out; preflight() refuses it where none does.
  std::string fault = {};

  const std::string& etag() const { return sha256.empty() ? git_oid : sha256; }
  HashKind hash_kind() const { return sha256.empty() ? HashKind::git_sha1 : HashKind::sha256; }
};

// The commit of `{"sha": "…", …}`. Whatever is malformed is Error{integrity} with `subject` in front.
std::string parse_commit(std::string_view text, std::string_view subject);

// The files of one page of a tree, in its order; folders are left out.
std::vector<TreeFile> parse_tree_page(std::string_view text, std::string_view subject);

// Sorts by path; throws Error{integrity} when one stands twice.
void check_tree(std::vector<TreeFile>& files, std::string_view subject);

// The "error" of `{"error": "…"}`; empty where there is none.
std::string parse_error_text(std::string_view text);

// An answer that is not 2xx, as far as it says why.
struct RefusedAnswer {
  int status = 0;
  std::string_view code = {}, message = {};     // X-Error-Code and X-Error-Message; empty: not sent
  std::optional<unsigned> requested_wait = {};  // seconds
};
Error refusal(const RefusedAnswer& answer, std::string_view subject);

}  // namespace hf::cache
