#include "cache/store/synthetic_commits.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "cache/store/content_reader.h"

namespace hf::cache {
namespace {

std::filesystem::path record(const Store& store, const Repo& repo) {
  return store.root() / ".locks" / store.folder(repo).filename() / "synthetic";
}

}  // namespace

std::string synthetic_commit(std::span<const TreeFile> files) {
  std::vector<const TreeFile*> sorted;
  for (const TreeFile& file : files) sorted.push_back(&file);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->path < b->path; });
  std::string text;
  for (const TreeFile* file : sorted) text += file->path + '\0' + file->etag() + '\n';
  Hasher hasher(HashKind::git_sha1, text.size());
  hasher.update(std::as_bytes(std::span(text)));
  return hasher.hex();
}

std::set<std::string, std::less<>> synthetic_commits(const Store& store, const Repo& repo) {
  std::set<std::string, std::less<>> commits;
  std::error_code ignored;
  const std::filesystem::path path = record(store, repo);
  if (!std::filesystem::is_regular_file(path, ignored)) return commits;
  const std::string text = read_quietly(path, 1u << 20);
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size()) + 1)
    if (const std::string line = text.substr(at, text.find('\n', at) - at); is_commit(line))
      commits.insert(line);
  return commits;
}

void note_synthetic_commit(const Store& store, const Repo& repo, std::string_view commit) {
  auto commits = synthetic_commits(store, repo);
  if (!commits.emplace(commit).second) return;
  std::string text;
  for (const std::string& line : commits) text += line + "\n";
  std::error_code error;
  std::filesystem::create_directories(record(store, repo).parent_path(), error);  // write_file tells the rest
  write_file(record(store, repo), text);
}

}  // namespace hf::cache
