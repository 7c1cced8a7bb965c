#include "cache/store/shared_blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <set>

#include "base/error.h"
#include "base/escape.h"
#include "cache/hub/repo.h"
#include "cache/store/file_lock.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = "blobs/.huggingface-shared-blobs";
constexpr std::string_view kMarkerText = "1\n";
constexpr std::string_view kList = ".refs";
constexpr std::size_t kLongestList = 64u << 20;

bool is_shared_name(std::string_view name) { return name.size() == 64 && is_etag(name); }

// One content of the store and its list, under its lock.
class Sweep {
 public:
  Sweep(const Folder& cache, const fs::path& root, const std::string& name)
      : cache_(cache), root_(root), name_(name), path_(root / "blobs" / name.substr(0, 2) / name) {}

  std::uint64_t run() {
    const auto info = cache_.info("blobs/" + name_.substr(0, 2) + "/" + name_);
    if (!info || info->kind != EntryKind::file || !lock()) return 0;
    const auto links = valid_links();
    if (!links) return 0;
    if (!links->empty()) {
      write_list(*links);
      return 0;
    }
    if (unlink(path_.c_str()) != 0 && errno != ENOENT) throw system_error(shown(path_), errno);
    unlink(list().c_str());
    return info->bytes;
  }

 private:
  fs::path list() const { return path_.string() + std::string(kList); }

  // For all who share the cache whatever the umask is, as huggingface_hub makes it; never deleted. False when
  // it is taken, or when locks do not work here: then nobody knows who is about to link the content.
  bool lock() {
    const std::string file = path_.string() + ".lock";
    lock_ = OpenFile(open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (!lock_.is_open() && (errno == EACCES || errno == EPERM)) return false;
    if (!lock_.is_open()) throw system_error(shown(file), errno);
    static_cast<void>(fchmod(lock_.get(), 0666));
    return claim(lock_.get()) == Claim::ours;
  }

  // The lines of the list whose link is there and leads here; nothing where that cannot be told.
  std::optional<std::set<std::string>> valid_links() const {
    const auto text =
        cache_.text("blobs/" + name_.substr(0, 2) + "/" + name_ + std::string(kList), kLongestList);
    if (!text) return std::nullopt;
    std::set<std::string> links;
    for (std::size_t begin = 0; begin < text->size();) {
      const std::size_t end = std::min(text->find('\n', begin), text->size());
      const std::string line = text->substr(begin, end - begin);
      begin = end + 1;
      if (!is_blob_of_repository(line)) continue;
      const std::string target = cache_.link_target(line);
      if (target.empty() && errno != ENOENT && errno != EINVAL && errno != ENOTDIR) return std::nullopt;
      if (shared_name(target, root_) == name_) links.insert(line);
    }
    return links;
  }

  // "models--org--name/blobs/<etag>"
  static bool is_blob_of_repository(const std::string& line) {
    const std::size_t slash = line.find('/');
    Repo repo;
    return slash != std::string::npos && parse_folder_name(line.substr(0, slash), repo) &&
           line.substr(slash).starts_with("/blobs/") && line.find('/', slash + 7) == std::string::npos &&
           line.size() > slash + 7;
  }

  void write_list(const std::set<std::string>& links) const {
    std::string text;
    for (const std::string& link : links) text += link + "\n";
    if (text == cache_.text("blobs/" + name_.substr(0, 2) + "/" + name_ + std::string(kList), kLongestList))
      return;
    std::random_device random;
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), ".%08x.tmp", static_cast<unsigned>(random()));
    const std::string temporary = list().string() + digits.data();
    const OpenFile file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    const bool is_written =
        file.is_open() && fchmod(file.get(), 0666) == 0 &&
        write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        fsync(file.get()) == 0 && rename(temporary.c_str(), list().c_str()) == 0;
    const int code = errno;
    if (is_written) return;
    unlink(temporary.c_str());
    throw system_error(shown(list()), code);
  }

  const Folder& cache_;
  const fs::path& root_;
  const std::string& name_;
  fs::path path_;
  OpenFile lock_;
};

}  // namespace

bool has_shared_store(const Folder& root) {
  const auto folder = root.info("blobs");
  return folder && folder->kind == EntryKind::folder && root.text(kMarker, kMarkerText.size()) == kMarkerText;
}

std::vector<SharedBlob> shared_blobs(const Folder& root) {
  std::vector<SharedBlob> found;
  if (!has_shared_store(root)) return found;
  Folder store(root, "blobs");
  for (const FolderEntry& prefix : store.entries()) {
    if (prefix.kind != EntryKind::folder || prefix.name.size() != 2) continue;
    Folder folder(store, prefix.name);
    for (const FolderEntry& entry : folder.entries()) {
      if (!found.empty() && entry.name == found.back().name + std::string(kList))
        found.back().has_list = true;
      if (!is_shared_name(entry.name) || !entry.name.starts_with(prefix.name)) continue;
      if (const auto info = folder.info(entry.name); info && info->kind == EntryKind::file)
        found.push_back({entry.name, *info});
    }
  }
  return found;
}

std::uint64_t sweep_shared_blob(const fs::path& root, const std::string& name) {
  const Folder cache(root.string(), Folder::Links::follow);
  if (!is_shared_name(name) || !has_shared_store(cache)) return 0;
  return Sweep(cache, root, name).run();
}

std::string shared_name(std::string_view link_target, const fs::path& root) {
  fs::path target(link_target);
  if (target.is_relative()) target = fs::path("/root/repository/blobs") / target;
  const fs::path store = fs::path(link_target).is_relative() ? "/root/blobs" : root / "blobs";
  target = target.lexically_normal();
  const std::string name = target.filename().string();
  const bool is_right = is_shared_name(name) && target.parent_path().filename() == name.substr(0, 2) &&
                        target.parent_path().parent_path() == store.lexically_normal();
  return is_right ? name : std::string();
}

}  // namespace hf::cache
