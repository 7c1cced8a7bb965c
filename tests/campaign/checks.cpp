#include "campaign/checks.h"

#include <map>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "cache/hub/repo.h"

namespace hf::test {
namespace {

namespace fs = std::filesystem;

std::string hash_of(const fs::path& path, HashKind kind) {
  const MappedFile file(path);
  Hasher hasher(kind, file.bytes().size());
  hasher.update(file.bytes());
  return hasher.hex();
}

void check_blobs(const fs::path& blobs, Problems& problems) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(blobs, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find('.') != std::string::npos) continue;
    if (!cache::is_etag(name))
      problems.push_back("blobs/" + name + ": is no etag");
    else if (hash_of(entry.path(), name.size() == 64 ? HashKind::sha256 : HashKind::git_sha1) != name)
      problems.push_back("blobs/" + name + ": has wrong content");
  }
}

void check_ref(const fs::path& repo_folder, const fs::path& ref, Problems& problems) {
  const std::string commit = read_text(ref), name = ref.lexically_relative(repo_folder).string();
  if (!cache::is_commit(commit)) {
    problems.push_back(name + ": is torn, it holds " + std::to_string(commit.size()) + " bytes");
    return;
  }
  const fs::path snapshot = repo_folder / "snapshots" / commit;
  if (!fs::is_directory(snapshot)) {
    problems.push_back(name + ": leads to no snapshot");
    return;
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(snapshot))
    if (entry.is_symlink() && !fs::exists(entry.path()))
      problems.push_back(name + ": its snapshot has a link to nowhere, " + entry.path().filename().string());
}

std::map<std::string, fs::path> files_of(const fs::path& folder) {
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file() || entry.is_symlink())
      files[entry.path().lexically_relative(folder).string()] = entry.path();
  return files;
}

bool is_same(const fs::path& a, const fs::path& b) {
  if (!fs::is_regular_file(a) || !fs::is_regular_file(b)) return false;
  const MappedFile first(a), second(b);
  return std::equal(first.bytes().begin(), first.bytes().end(), second.bytes().begin(), second.bytes().end());
}

}  // namespace

void check_cache(const fs::path& repo_folder, Problems& problems) {
  check_blobs(repo_folder / "blobs", problems);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(repo_folder / "refs", error))
    if (entry.is_regular_file()) check_ref(repo_folder, entry.path(), problems);
}

void check_snapshot(const fs::path& source, const fs::path& snapshot, Problems& problems) {
  const auto expected = files_of(source), found = files_of(snapshot);
  for (const auto& [name, path] : expected)
    if (!found.contains(name))
      problems.push_back("snapshot: has no " + name);
    else if (!is_same(path, found.at(name)))
      problems.push_back("snapshot: other content in " + name);
  for (const auto& [name, path] : found)
    if (!expected.contains(name)) problems.push_back("snapshot: has " + name + ", which the source has not");
}

void check_nothing_left(const fs::path& repo_folder, Problems& problems) {
  constexpr std::string_view kJournal = ".journal";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(repo_folder / "blobs", error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t dot = name.find('.');
    // What a list that lied has begun may be gone on with when another says the same.
    if (dot == std::string::npos || !fs::exists(repo_folder / "blobs" / name.substr(0, dot))) continue;
    // A journal alone stays where a process was killed between that and its file, and goes with the next
    // prune.
    if (name.ends_with(kJournal) && !fs::exists(fs::path(entry.path()).replace_extension())) continue;
    problems.push_back("blobs/" + name + ": is left");
  }
}

}  // namespace hf::test
