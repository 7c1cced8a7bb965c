#include "cache/store/repo_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/safe_dir.h"
#include "cache/store/tree_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

// Word for word what huggingface_hub writes: backup programs know the first line.
constexpr std::string_view kCachedirTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file is a cache directory tag created by huggingface_hub.\n"
    "# For information about cache directory tags, see:\n"
    "#\thttps://bford.info/cachedir/\n";

std::string shown(const fs::path& path) { return escaped(path.string(), 4096); }

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_error(shown(folder), error.value());
}

struct Descriptor {
  int fd;
  ~Descriptor() { close(fd); }
};

int open_folder(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw system_error(shown(folder), errno);
  return fd;
}

// "../../blobs/<etag>", with one more ".." for each folder of the path.
std::string link_target(const TreeFile& file) {
  std::string target = "../../";
  for (char c : file.path)
    if (c == '/') target += "../";
  return target + "blobs/" + file.etag();
}

std::string target_of_link(int folder, const char* name) {
  std::string target(4096, '\0');
  const ssize_t length = readlinkat(folder, name, target.data(), target.size());
  target.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return target;
}

}  // namespace

RepoFolder::RepoFolder(const Store& store, const Repo& repo)
    : root_(store.root()), home_(store.folder(repo)) {}

void RepoFolder::make() const {
  make_folder(blobs());
  make_folder(home_ / "refs");
  make_folder(home_ / "snapshots");
  make_folder(root_ / ".locks" / home_.filename());
  std::error_code ignored;
  if (const fs::path tag = root_ / "CACHEDIR.TAG"; !fs::exists(tag, ignored)) write_file(tag, kCachedirTag);
}

bool RepoFolder::has_blob(const TreeFile& file) const {
  const fs::path path = blob(file);
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  if (S_ISLNK(info.st_mode)) {
    std::error_code error;
    const std::string target = fs::canonical(path, error).string();
    const std::string shared = (fs::canonical(root_, error) / "blobs").string() + "/";
    if (error || !target.starts_with(shared) || stat(path.c_str(), &info) != 0) return false;
  }
  return S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == file.size;
}

bool RepoFolder::has_file(std::string_view commit, const TreeFile& file) const {
  const fs::path path = snapshot(commit) / file.path;
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return false;
  if (S_ISREG(info.st_mode)) return static_cast<std::uint64_t>(info.st_size) == file.size;
  return target_of_link(AT_FDCWD, path.c_str()) == link_target(file) && has_blob(file);
}

FileLock RepoFolder::lock(const TreeFile& file) const {
  return FileLock(root_ / ".locks" / home_.filename() / (file.etag() + ".lock"));
}

void RepoFolder::make_snapshot(std::string_view commit) const { make_folder(snapshot(commit)); }

void RepoFolder::link(std::string_view commit, const TreeFile& file) const {
  const fs::path top = snapshot(commit);
  make_snapshot(commit);
  const SafeDir safe(top);
  safe.make_folders(file.path);
  const std::size_t slash = file.path.rfind('/');
  const Descriptor folder{slash == std::string::npos
                              ? open_folder(top)
                              : safe.open(file.path.substr(0, slash), O_RDONLY | O_DIRECTORY)};
  const std::string name = slash == std::string::npos ? file.path : file.path.substr(slash + 1);
  const std::string target = link_target(file);
  if (symlinkat(target.c_str(), folder.fd, name.c_str()) == 0) return;
  if (errno == EEXIST && target_of_link(folder.fd, name.c_str()) == target) return;
  if (errno != EEXIST) throw system_error(shown(top / file.path), errno);
  // Something else stands there: replaced in one step.
  const std::string temporary = ".hf-" + std::to_string(getpid()) + "-" + file.etag();
  if (symlinkat(target.c_str(), folder.fd, temporary.c_str()) != 0 && errno != EEXIST)
    throw system_error(shown(top / file.path), errno);
  if (renameat(folder.fd, temporary.c_str(), folder.fd, name.c_str()) == 0) return;
  const int code = errno;
  unlinkat(folder.fd, temporary.c_str(), 0);
  throw system_error(shown(top / file.path), code);
}

void RepoFolder::write_tree(std::string_view commit, const std::vector<TreeFile>& files) const {
  make_folder(home_ / "trees");
  write_file(home_ / "trees" / (std::string(commit) + ".json"), tree_json(files));
}

std::optional<std::vector<TreeFile>> RepoFolder::read_tree(std::string_view commit) const {
  const fs::path path = home_ / "trees" / (std::string(commit) + ".json");
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  return parse_tree_json(read_text(path, 1u << 30), shown(path));
}

void RepoFolder::write_ref(std::string_view revision, std::string_view commit) const {
  check_revision(revision);
  if (revision == commit) return;
  const fs::path ref = home_ / "refs" / revision;
  make_folder(ref.parent_path());
  std::error_code ignored;
  if (fs::is_regular_file(ref, ignored) && fs::file_size(ref, ignored) == commit.size() &&
      read_text(ref, commit.size()) == commit)
    return;
  // Written outside refs/: a half written file of a killed process would count there as a ref to nowhere.
  const fs::path written = home_ / (".ref-" + std::to_string(getpid()));
  write_file(written, commit);
  if (rename(written.c_str(), ref.c_str()) != 0) throw system_error(shown(ref), errno);
  sync_folder(ref.parent_path());
}

void RepoFolder::sync() const {
  const Descriptor folder{open_folder(home_)};
  if (syncfs(folder.fd) != 0) throw system_error(shown(home_), errno);
}

}  // namespace hf::cache
