// A list of repositories to download, one a line:
//
//   # a comment
//   sentence-transformers/all-MiniLM-L6-v2
//   openai-community/gpt2@main  config.json tokenizer.json
//   datasets/stanfordnlp/imdb@refs/pr/1  plain_text/*.parquet
//
// [TYPE/]NAMESPACE/NAME[@REVISION], then either names of files ("folder/" for all in it) or globs. A word
// with blanks or "#" stands between double quotes, where \" and \\ mean themselves.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hf::cache {

struct ListedRepo {
  std::size_t line = 0;                     // from 1 on
  std::string repo_id = {}, revision = {};  // no revision: the default one
  std::vector<std::string> files = {}, globs = {};
};

// Error{usage} with `subject` and the line's number in front; all lines that are wrong are told.
std::vector<ListedRepo> parse_repo_list(std::string_view text, std::string_view subject);

}  // namespace hf::cache
