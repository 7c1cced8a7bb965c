#include "cache/mirror/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "cache/hub/repo.h"
#include "cache/mirror/part_file.h"
#include "cache/store/file_lock.h"
#include "cache/store/open_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLongestJournal = 256u << 20;
constexpr std::time_t kLongSilence = 600;  // seconds after which what nobody vouches for counts as left
constexpr std::string_view kOldSuffix = ".hfpart";  // of earlier versions
constexpr std::string_view kJournal = ".journal";

OpenFile opened(const fs::path& path) {
  return OpenFile(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  DIR* handle = opendir(folder.c_str());
  if (handle == nullptr) return names;
  while (const dirent* entry = readdir(handle)) {
    const std::string_view name = entry->d_name;
    if (name.find(".hfpart") != name.npos || name.find(kPartSuffix) != name.npos) names.emplace_back(name);
  }
  closedir(handle);
  std::sort(names.begin(), names.end());
  return names;
}

std::string etag_of(std::string_view name) {
  const std::string etag(name.substr(0, name.find('.')));
  return is_etag(etag) ? etag : "";
}

std::string_view digits_of(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == name.npos ? "" : name.substr(dot + 1, name.find('.', dot + 1) - dot - 1);
}

fs::path journal_of(const fs::path& part) { return part.string() + std::string(kJournal); }

bool is_there(const fs::path& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// A journal whose file has gone, or was never made.
bool is_dead_journal(const fs::path& path) {
  const std::string text = path.string();
  const fs::path part = text.substr(0, text.size() - kJournal.size());
  struct stat info {};
  if (is_there(part) || lstat(path.c_str(), &info) != 0) return false;
  const auto journal = read_journal(part);
  const Life life = journal ? life_of(journal->owner) : Life::unknown;
  return life == Life::gone || (life == Life::unknown && std::time(nullptr) - info.st_mtime > kLongSilence);
}

bool is_dead(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(kJournal)) return is_dead_journal(path);
  const OpenFile file = opened(path);
  return is_left(file.get(), path, read_journal(path));
}

DeadPartial described(const fs::path& path) {
  DeadPartial dead{path};
  std::time_t last = 0;
  for (const fs::path& part : {path, journal_of(path)}) {
    struct stat info {};
    if (lstat(part.c_str(), &info) != 0) continue;
    dead.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    last = std::max(last, info.st_mtime);
  }
  dead.age = std::chrono::seconds(std::max<std::time_t>(std::time(nullptr) - last, 0));
  return dead;
}

}  // namespace

std::optional<Journal> read_journal(const fs::path& part) {
  try {
    return parse_journal(read_text(journal_of(part), kLongestJournal));
  } catch (const Error&) {
    return std::nullopt;  // a leftover without a readable journal is worth nothing
  }
}

Leftovers find_leftovers(const fs::path& folder) {
  Leftovers found;
  for (const std::string& name : names_in(folder)) {
    const std::string etag = etag_of(name);
    if (etag.empty() || !name.ends_with(kPartSuffix)) continue;
    const auto journal = read_journal(folder / name);
    if (journal && journal->etag == etag)
      found.emplace(etag, Leftover{folder / name, journal->vouched_bytes()});
    else
      found.emplace(etag, Leftover{folder / name, 0});
  }
  return found;
}

bool is_left(int fd, const fs::path& path, const std::optional<Journal>& journal) {
  struct stat ours {
  }, named{};
  if (fd < 0 || fstat(fd, &ours) != 0 || !S_ISREG(ours.st_mode)) return false;
  const Claim claimed = claim(fd);
  if (claimed == Claim::taken) return false;
  if (lstat(path.c_str(), &named) != 0 || ours.st_ino != named.st_ino || ours.st_dev != named.st_dev)
    return false;
  const bool silent = std::time(nullptr) - ours.st_mtime > kLongSilence;
  if (journal && claimed == Claim::ours) {
    // A file system that grants the same lock twice proves nothing.
    const OpenFile again = opened(path);
    const bool locks_work = again.is_open() && claim(again.get()) == Claim::taken;
    if (locks_work && (silent || shares_locks(journal->owner))) return true;
  }
  const Life life = journal ? life_of(journal->owner) : life_of_digits(digits_of(path.filename().string()));
  return life == Life::gone || (life == Life::unknown && silent);
}

std::vector<DeadPartial> dead_partials(const fs::path& folder) {
  std::vector<DeadPartial> dead;
  for (const std::string& name : names_in(folder)) {
    const bool known = name.ends_with(kPartSuffix) || name.ends_with(kPartJournalSuffix) ||
                       name.ends_with(kOldSuffix) || name.ends_with(std::string(kOldSuffix) + ".journal");
    if (known && !etag_of(name).empty() && is_dead(folder / name)) dead.push_back(described(folder / name));
  }
  return dead;
}

bool remove_dead_partial(const fs::path& path) {
  if (path.filename().string().ends_with(kJournal)) return is_dead_journal(path) && unlink(path.c_str()) == 0;
  const OpenFile file = opened(path);  // its lock is kept until both are gone
  if (!is_left(file.get(), path, read_journal(path)) || unlink(path.c_str()) != 0) return false;
  unlink(journal_of(path).c_str());
  return true;
}

void remove_worthless_leftovers(const fs::path& folder, const std::function<bool(const std::string&)>& has) {
  for (const DeadPartial& dead : dead_partials(folder)) {
    const std::string name = dead.path.filename().string();
    const auto journal = name.ends_with(kPartSuffix) ? read_journal(dead.path) : std::nullopt;
    if (!journal || journal->vouched_bytes() == 0 || has(etag_of(name))) remove_dead_partial(dead.path);
  }
}

}  // namespace hf::cache
