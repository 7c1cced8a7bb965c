#include "cache/store/scan.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

using Inode = std::pair<dev_t, ino_t>;
using Inodes = std::map<Inode, std::uint64_t>;  // of contents, with their bytes

std::uint64_t sum_of(const Inodes& inodes) {
  std::uint64_t sum = 0;
  for (const auto& [inode, bytes] : inodes) sum += bytes;
  return sum;
}

// All refs below refs/, also those in folders ("refs/pr/1").
std::map<std::string, std::string> refs_of(const fs::path& refs, std::vector<std::string>& problems) {
  std::map<std::string, std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(refs, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    const std::string name = at->path().lexically_relative(refs).string();
    std::string commit;
    try {
      commit = read_text(at->path(), 4096);
    } catch (const Error& failure) {
      problems.push_back(failure.what());
      continue;
    }
    commit.erase(commit.find_last_not_of(" \t\r\n") + 1);
    if (is_commit(commit))
      found[name] = commit;
    else
      problems.push_back("ref " + in_quotes(name) + " holds no commit");
  }
  return found;
}

CachedRevision revision_of(const fs::path& snapshot, Inodes& repo, std::vector<std::string>& problems) {
  CachedRevision revision{snapshot.filename().string(), {}, 0, 0, snapshot};
  Inodes inodes;
  std::error_code error;
  for (fs::recursive_directory_iterator at(snapshot, error), end; !error && at != end; at.increment(error)) {
    struct stat info {};
    if (at->is_directory(error) && !at->is_symlink(error)) continue;
    ++revision.files;
    if (stat(at->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      problems.push_back("revision " + revision.commit.substr(0, 12) + ": " +
                         in_quotes(at->path().lexically_relative(snapshot).string()) + " leads nowhere");
    else
      inodes[{info.st_dev, info.st_ino}] = static_cast<std::uint64_t>(info.st_size);
  }
  revision.bytes = sum_of(inodes);
  repo.merge(inodes);
  return revision;
}

std::uint64_t partial_bytes_of(const fs::path& blobs) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(blobs, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".hfpart") && !name.ends_with(".incomplete")) continue;
    const std::uint64_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

CachedRepo scan_repo(const fs::path& folder, Repo repo) {
  CachedRepo found{std::move(repo), {}, 0, partial_bytes_of(folder / "blobs"), {}};
  const auto refs = refs_of(folder / "refs", found.problems);
  Inodes inodes;
  std::set<std::string> commits;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "snapshots", error)) {
    const std::string commit = entry.path().filename().string();
    if (!is_commit(commit) || !entry.is_directory(error)) {
      found.problems.push_back("snapshots/" + escaped(commit) + " is no revision");
      continue;
    }
    commits.insert(commit);
    CachedRevision& revision =
        found.revisions.emplace_back(revision_of(entry.path(), inodes, found.problems));
    for (const auto& [name, target] : refs)
      if (target == commit) revision.refs.push_back(name);
  }
  for (const auto& [name, target] : refs)
    if (!commits.contains(target))
      found.problems.push_back("ref " + in_quotes(name) + " stands for " + target.substr(0, 12) +
                               ", which is not there");
  std::sort(found.revisions.begin(), found.revisions.end(),
            [](const CachedRevision& a, const CachedRevision& b) { return a.commit < b.commit; });
  found.bytes = sum_of(inodes);
  return found;
}

}  // namespace

std::vector<CachedRepo> scan(const Store& store) {
  std::vector<CachedRepo> repos;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(store.root(), error)) {
    Repo repo;
    if (entry.is_directory(error) && parse_folder_name(entry.path().filename().string(), repo))
      repos.push_back(scan_repo(entry.path(), std::move(repo)));
  }
  std::sort(repos.begin(), repos.end(), [](const CachedRepo& a, const CachedRepo& b) {
    return std::tie(a.repo.type, a.repo.id) < std::tie(b.repo.type, b.repo.id);
  });
  return repos;
}

}  // namespace hf::cache
