#include "cache/mirror/disk_facts.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

struct FileSystem {
  unsigned long type;  // statfs.f_type
  const char* kind;
  std::uint64_t largest_file;
  bool ignores_case;
};
constexpr FileSystem kFileSystems[] = {
    {0x4d44, "vfat", 4 * kGiB - 1, true},     {0x2011bab0, "exfat", kNoLimit, true},
    {0x4244, "hfs", 2 * kGiB - 1, true},      {0x482b, "hfsplus", kNoLimit, true},
    {0xff534d42, "cifs", kNoLimit, true},     {0xfe534d42, "smb2", kNoLimit, true},
    {0x517b, "smb", kNoLimit, true},          {0xef53, "ext4", 16384 * kGiB, false},
    {0x58465342, "xfs", kNoLimit, false},     {0x9123683e, "btrfs", kNoLimit, false},
    {0xf2f52010, "f2fs", 4032 * kGiB, false}, {0x52654973, "reiserfs", 8192 * kGiB, false},
    {0x137f, "minix", kGiB / 4, false},       {0x2468, "minix", kGiB / 4, false},
    {0xf15f, "ecryptfs", kNoLimit, false},    {0x01021994, "tmpfs", kNoLimit, false},
    {0x6969, "nfs", kNoLimit, false},         {0x794c7630, "overlay", kNoLimit, false},
};

fs::path nearest_there(fs::path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder.empty() ? "." : folder, ignored).lexically_normal();
  while (!fs::is_directory(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

void at_most(std::optional<std::uint64_t>& value, std::uint64_t most) {
  value = value ? std::min(*value, most) : most;
}

// What the quotas of the user and the group leave, where the kernel tells.
void apply_quota([[maybe_unused]] int fd, [[maybe_unused]] DiskFacts& facts) {
#ifdef SYS_quotactl_fd
  const auto apply = [&](int kind, unsigned id) {
    dqblk quota{};
    if (syscall(SYS_quotactl_fd, fd, QCMD(Q_GETQUOTA, kind), id, &quota) != 0) return;
    const std::uint64_t bytes = quota.dqb_bhardlimit * 1024;  // its unit
    if (bytes > 0) at_most(facts.free_bytes, bytes - std::min(bytes, std::uint64_t{quota.dqb_curspace}));
    const std::uint64_t files = quota.dqb_ihardlimit;
    if (files > 0) at_most(facts.free_files, files - std::min(files, std::uint64_t{quota.dqb_curinodes}));
  };
  apply(USRQUOTA, geteuid());
  apply(GRPQUOTA, getegid());
#endif
}

bool has_casefold_flag(int fd) {
  int flags = 0;
  return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0;
}

// Whether the folder is also found under its own name in the other case.
bool is_found_in_other_case(const fs::path& folder) {
  std::string name = folder.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return static_cast<char>(std::islower(c) != 0 ? std::toupper(c) : std::tolower(c));
  });
  if (name.empty() || name == folder.filename().string()) return false;
  struct stat one {
  }, other{};
  return stat(folder.c_str(), &one) == 0 && stat((folder.parent_path() / name).c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

void apply_kind(int fd, DiskFacts& facts) {
  struct statfs disk {};
  if (fstatfs(fd, &disk) != 0) return;
  const auto type = static_cast<unsigned long>(disk.f_type) & 0xffffffff;
  for (const FileSystem& row : kFileSystems) {
    if (row.type != type) continue;
    facts.kind = facts.largest_file_by = row.kind;
    facts.largest_file = row.largest_file;
    facts.ignores_case = row.ignores_case;
  }
}

}  // namespace

DiskFacts disk_facts(const fs::path& folder) {
  DiskFacts facts;
  facts.folder = nearest_there(folder);
  const int fd = open(facts.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return facts;
  apply_kind(fd, facts);
  struct statvfs disk {};
  if (fstatvfs(fd, &disk) == 0) {
    facts.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (disk.f_files > 0) facts.free_files = disk.f_favail;
    if (disk.f_frsize > 0) facts.block_bytes = disk.f_frsize;
  }
  apply_quota(fd, facts);
  if (const long name = fpathconf(fd, _PC_NAME_MAX); name > 0)
    facts.longest_name = static_cast<std::size_t>(name);
  if (const long path = fpathconf(fd, _PC_PATH_MAX); path > 0)
    facts.longest_path = static_cast<std::size_t>(path);
  facts.ignores_case = facts.ignores_case || has_casefold_flag(fd) || is_found_in_other_case(facts.folder);
  close(fd);
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < facts.largest_file) {
    facts.largest_file = limit.rlim_cur;
    facts.largest_file_by = "the limit of this process (ulimit -f)";
  }
  return facts;
}

}  // namespace hf::cache
