#include "cache/mirror/preflight.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/escape.h"
#include "cache/mirror/odd_names.h"

namespace hf::cache {
namespace {

constexpr std::size_t kMostTold = 1000;
constexpr std::uint64_t kNamesBytes = 4096;  // a file's inode, and its entries and links in folders
constexpr std::size_t kLongestOwnName = 64 + 1 + 8 + std::string_view(".part.journal").size();

struct Problem {
  ErrorKind kind;
  std::string text;
};

class Check {
 public:
  Check(const PreflightNeeds& needs, const DiskFacts& disk) : needs_(needs), disk_(disk) {}

  std::vector<std::string> run() {
    find_clashes();
    for (std::size_t i = 0; i < needs_.files.size(); ++i) check_file(i);
    check_disk();
    if (!problems_.empty()) refuse();
    return std::move(warnings_);
  }

 private:
  void problem(ErrorKind kind, std::string text) { problems_.push_back({kind, std::move(text)}); }
  void odd(std::string text) {
    if (needs_.portable)
      problem(ErrorKind::integrity, std::move(text));
    else
      warnings_.push_back(std::move(text));
  }

  void find_clashes();
  template <class Key>
  void find_clashes(bool exact, Key&& key);
  void check_file(std::size_t index);
  void check_lengths(const PreflightFile& file);
  void check_clash(std::size_t index);
  void check_disk();
  [[noreturn]] void refuse() const;
  std::string where() const { return "the file system at " + shown(disk_.folder); }

  const PreflightNeeds& needs_;
  const DiskFacts& disk_;
  std::vector<Problem> problems_;
  std::vector<std::string> warnings_;
  struct Clash {
    std::string_view with;
    bool exact = false;  // a file where another path has a folder, whatever the file system
  };
  std::map<std::size_t, Clash> clashes_;  // by the index of the later file
};

// A clash is between two files of one name, or a file and a folder of one name. The exact ones go first: they
// hold on any file system.
void Check::find_clashes() {
  find_clashes(true, [](std::string_view name) { return std::string(name); });
  find_clashes(false, [](std::string_view name) { return case_folded(name); });
}

template <class Key>
void Check::find_clashes(bool exact, Key&& key) {
  struct Owner {
    std::size_t index;
    bool folder;
  };
  std::unordered_map<std::string, Owner> names;
  const auto claim = [&](std::size_t index, std::string_view spelled, bool folder) {
    const auto [at, is_new] = names.try_emplace(key(spelled), Owner{index, folder});
    const Owner& other = at->second;
    if (is_new || (folder && other.folder)) return;
    const auto [first, later] = std::minmax(index, other.index);
    clashes_.try_emplace(later, Clash{needs_.files[first].path, exact});
  };
  for (std::size_t i = 0; i < needs_.files.size(); ++i) {
    const std::string_view path = needs_.files[i].path;
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      claim(i, path.substr(0, slash), true);
    claim(i, path, false);
  }
}

void Check::check_file(std::size_t index) {
  const PreflightFile& file = needs_.files[index];
  if (!file.fault.empty()) return problem(ErrorKind::integrity, std::string(file.fault));
  const std::string name = in_quotes(file.path, 4096);
  if (const std::string oddity = oddity_of(file.path); !oddity.empty()) odd(name + ": " + oddity);
  check_clash(index);
  check_lengths(file);
  if (file.is_new && file.size > disk_.largest_file)
    problem(ErrorKind::io, name + ": has " + std::to_string(file.size) + " bytes, " + where() +
                               " takes files of at most " + std::to_string(disk_.largest_file) + " (" +
                               disk_.largest_file_by + ")");
}

void Check::check_clash(std::size_t index) {
  const auto clash = clashes_.find(index);
  if (clash == clashes_.end()) return;
  const std::string both =
      in_quotes(needs_.files[index].path, 4096) + " and " + in_quotes(clash->second.with, 4096);
  if (clash->second.exact)
    problem(ErrorKind::integrity, both + ": one needs a folder where the other is a file");
  else if (disk_.ignores_case)
    problem(ErrorKind::io, both + ": are one name to " + where() + ", which ignores case");
  else
    odd(both + ": are one name where case is ignored");
}

void Check::check_lengths(const PreflightFile& file) {
  const std::string name = in_quotes(file.path, 4096);
  for (std::size_t at = 0; at <= file.path.size();) {
    const std::size_t end = std::min(file.path.find('/', at), file.path.size());
    const std::size_t length = end - at + (end == file.path.size() ? needs_.longest_suffix : 0);
    if (length > disk_.longest_name)
      problem(ErrorKind::io, name + ": needs a name of " + std::to_string(length) + " bytes, " + where() +
                                 " takes at most " + std::to_string(disk_.longest_name));
    at = end + 1;
  }
  const std::size_t length =
      needs_.names_below.native().size() + 1 + file.path.size() + needs_.longest_suffix + 1;
  if (length > disk_.longest_path)
    problem(ErrorKind::io, name + ": its whole path would have " + std::to_string(length - 1) +
                               " bytes, at most " + std::to_string(disk_.longest_path - 1) +
                               " can be opened");
}

void Check::check_disk() {
  std::uint64_t bytes = 0, files = 0;
  const auto add = [&](std::uint64_t more) { bytes = bytes > UINT64_MAX - more ? UINT64_MAX : bytes + more; };
  for (const PreflightFile& file : needs_.files) {
    if (!file.is_new) continue;
    ++files;
    const std::uint64_t over = file.bytes_left % disk_.block_bytes;
    add(file.bytes_left);
    add(over == 0 ? 0 : disk_.block_bytes - over);
    add(kNamesBytes);
  }
  if (files > 0 && disk_.longest_name < kLongestOwnName)
    problem(ErrorKind::io, where() + ": takes names of at most " + std::to_string(disk_.longest_name) +
                               " bytes, " + std::to_string(kLongestOwnName) + " are needed");
  if (disk_.free_bytes && bytes > *disk_.free_bytes)
    problem(ErrorKind::io, where() + ": has room for " + std::to_string(*disk_.free_bytes) +
                               " bytes, the download needs " + std::to_string(bytes));
  // Each content is a file, and each path a link or a file of its own.
  const std::uint64_t inodes = files == 0 ? 0 : files + needs_.files.size();
  if (disk_.free_files && inodes > *disk_.free_files)
    problem(ErrorKind::io, where() + ": has room for " + std::to_string(*disk_.free_files) +
                               " files, the download needs " + std::to_string(inodes));
}

void Check::refuse() const {
  if (problems_.size() == 1) throw Error(problems_[0].kind, problems_[0].text);
  std::string text = std::to_string(problems_.size()) + " things stand against this download";
  for (std::size_t i = 0; i < std::min(problems_.size(), kMostTold); ++i) text += "\n  " + problems_[i].text;
  if (problems_.size() > kMostTold) text += "\n  …";
  throw Error(problems_[0].kind, text);
}

}  // namespace

std::vector<std::string> preflight(const PreflightNeeds& needs, const DiskFacts& disk) {
  return Check(needs, disk).run();
}

}  // namespace hf::cache
