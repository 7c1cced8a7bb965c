#include "cache/store/soft_lock.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/hash.h"

namespace hf::cache {
namespace {

constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;  // its inode, fixed by the kernel
constexpr std::size_t kLongestHost = 253;

// As filelock names it: what is no printable ASCII is "?" and two hex digits, and a process in a container
// adds the inode of its namespace of process numbers.
std::string host_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string name;
  constexpr char kHex[] = "0123456789abcdef";
  for (const char* at = host.data(); *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte > 0x20 && byte < 0x7F && byte != '?')
      name += *at;
    else
      name += {'?', kHex[byte >> 4], kHex[byte & 15]};
  }
  struct stat pids {};
  if (stat("/proc/self/ns/pid", &pids) == 0 && pids.st_ino != kFirstPidNamespace) {
    std::array<char, 20> hex{};
    const auto end = std::to_chars(hex.data(), hex.data() + hex.size(), pids.st_ino, 16).ptr;
    name += "?pidns-" + std::string(hex.data(), end);
  }
  if (name.size() > kLongestHost) {
    const std::size_t keep = kLongestHost - 9;
    const std::string rest = name.substr(keep);
    name = name.substr(0, keep) + "-" + sha256_hex(std::as_bytes(std::span(rest))).substr(0, 8);
  }
  return name.empty() ? "?" : name;
}

// Field 22 of /proc/<pid>/stat; the name of the program, in parentheses, may hold anything.
std::optional<std::uint64_t> start_of(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return std::nullopt;
  std::array<char, 4096> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size() - 1, file);
  std::fclose(file);
  std::string_view rest(text.data(), size);
  rest.remove_prefix(std::min(rest.rfind(')') + 1, rest.size()));  // before field 3
  for (int field = 2; field < 22; ++field) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  std::uint64_t start = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), start);
  return error == std::errc() ? std::optional(start) : std::nullopt;
}

// filelock puts the machine's boot id above the lower 64 bits, which are compared here.
std::optional<std::uint64_t> low_bits(std::string_view digits) {
  std::uint64_t value = 0;
  for (char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return digits.empty() ? std::nullopt : std::optional(value);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};  // the last line is half written
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

std::string soft_lock_text() {
  std::string text = std::to_string(getpid()) + "\n" + host_name() + "\n";
  if (const auto start = start_of(getpid())) text += std::to_string(*start) + "\n";
  return text;
}

SoftLockHolder soft_lock_holder(std::string_view text) {
  const auto lines = lines_of(text);
  if (text.size() > kLongestSoftLockText || (lines.size() != 2 && lines.size() != 3))
    return SoftLockHolder::unknown;
  std::int32_t pid = 0;
  const char* const end = lines[0].data() + lines[0].size();
  if (const auto [at, error] = std::from_chars(lines[0].data(), end, pid);
      error != std::errc() || at != end || pid < 1)
    return SoftLockHolder::unknown;
  if (lines[1] != host_name()) return SoftLockHolder::elsewhere;
  if (kill(pid, 0) != 0 && errno == ESRCH) return SoftLockHolder::dead;
  if (lines.size() == 2) return SoftLockHolder::alive;
  const auto said = low_bits(lines[2]), now = start_of(pid);
  // Another process has its number by now.
  return said && now && *said != *now ? SoftLockHolder::dead : SoftLockHolder::alive;
}

}  // namespace hf::cache
