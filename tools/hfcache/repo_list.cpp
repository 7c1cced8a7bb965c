#include "tools/hfcache/repo_list.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

constexpr std::string_view kBlank = " \t\r";

// The next word of a line, taken off it; empty at its end or at a comment. Error{usage} says what is wrong.
std::string take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  if (line.empty() || line[0] == '#') return "";
  if (line[0] != '"') {
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    std::string word(line.substr(0, end));
    line.remove_prefix(end);
    return word;
  }
  std::string word;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"') {
      line.remove_prefix(i + 1);
      if (!line.empty() && kBlank.find(line[0]) == std::string_view::npos)
        throw Error(ErrorKind::usage, "a blank is expected behind " + in_quotes(word));
      if (word.empty()) throw Error(ErrorKind::usage, "\"\": is empty, a name is expected");
      return word;
    }
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    word += line[i];
  }
  throw Error(ErrorKind::usage, "a double quote is not closed");
}

bool is_glob(std::string_view word) { return word.find_first_of("*?[") != std::string_view::npos; }

ListedRepo parse_line(std::size_t number, std::string word, std::string_view rest) {
  ListedRepo repo{.line = number};
  if (const std::size_t at = word.find('@'); at != std::string::npos) {
    repo.revision = word.substr(at + 1);
    check_revision(repo.revision);
    word.resize(at);
  }
  repo.repo_id = std::move(word);
  while (!(word = take_word(rest)).empty()) (is_glob(word) ? repo.globs : repo.files).push_back(word);
  if (!repo.files.empty() && !repo.globs.empty())
    throw Error(ErrorKind::usage, "names of files and globs cannot stand in one line, " +
                                      in_quotes(repo.files[0]) + " and " + in_quotes(repo.globs[0]));
  return repo;
}

}  // namespace

std::vector<ListedRepo> parse_repo_list(std::string_view text, std::string_view subject) {
  std::vector<ListedRepo> repos;
  std::string problems;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    try {
      if (std::string word = take_word(line); !word.empty())
        repos.push_back(parse_line(number, std::move(word), line));
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\n") + std::string(subject) + ", line " + std::to_string(number) +
                  ": " + error.what();
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems);
  if (repos.empty()) throw Error(ErrorKind::usage, std::string(subject) + ": names no repository");
  return repos;
}

}  // namespace hf::cache
