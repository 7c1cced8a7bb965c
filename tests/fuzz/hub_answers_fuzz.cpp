#include "base/path_rules.h"
#include "cache/hub/account.h"
#include "cache/hub/answers.h"
#include "cache/hub/repo.h"
#include "cache/store/tree_file.h"
#include "fuzz/fuzz.h"

using namespace hf;
using namespace hf::cache;

// What a Hub's list lets through can be named, hashed, kept as a tree file and read back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::only_errors([&] { fuzz::require(is_commit(parse_commit(text, "info")), "a commit that is none"); });
  fuzz::only_errors([&] { parse_tree_json(text, "tree file"); });
  fuzz::only_errors([&] { parse_account(text, "whoami"); });
  parse_error_text(text);
  return fuzz::only_errors([&] {
    std::vector<TreeFile> files = parse_tree_page(text, "page");
    check_tree(files, "tree");
    for (const TreeFile& file : files) {
      if (file.fault.empty()) check_relative_path(file.path);
      fuzz::require(is_etag(file.etag()), "an etag that is none");
    }
    const std::string kept = tree_json(files);
    fuzz::require(tree_json(parse_tree_json(kept, "tree file")) == kept, "a tree file that reads otherwise");
  });
}
