#include "cache/mirror/part_owner.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "cache/http/headers.h"

namespace hf::cache {
namespace {

std::string short_hash(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text))).substr(0, 16);
}

// One word of the journal: what is there, or the hash of it.
std::string word(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const bool plain = !text.empty() && text.size() <= 64 &&
                     std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return plain ? text : short_hash(text);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? word(name.data()) : "unknown";
}

// Files of /proc tell no size: read as they come.
std::string text_of_proc(const char* path) {
  std::string text(1024, '\0');
  FILE* file = fopen(path, "re");
  if (file == nullptr) return "";
  text.resize(fread(text.data(), 1, text.size(), file));
  fclose(file);
  return text;
}

std::string boot_id() {
  const std::string id = text_of_proc("/proc/sys/kernel/random/boot_id");
  return id.empty() ? "unknown" : word(id);
}

std::string pid_space() {
  std::array<char, 64> target{};
  const ssize_t length = readlink("/proc/self/ns/pid", target.data(), target.size());
  return length <= 0 ? "unknown" : word(std::string(target.data(), static_cast<std::size_t>(length)));
}

// Field 22 of its stat; 0 where there is no such process.
std::uint64_t start_of(std::uint64_t process) {
  const std::string text = text_of_proc(("/proc/" + std::to_string(process) + "/stat").c_str());
  std::size_t at = text.rfind(')');  // the name before it may hold anything
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  const std::string_view rest = std::string_view(text).substr(at + 1);
  return parse_number(rest.substr(0, rest.find(' '))).value_or(0);
}

constexpr std::uint32_t kProcessBits = (1u << 22) - 1;  // Linux counts no further

std::uint32_t kernel_bits() {
  static const std::uint32_t bits = [] {
    const std::string hash = short_hash(boot_id() + " " + pid_space()).substr(0, 8);
    std::uint32_t value = 0;
    std::from_chars(hash.data(), hash.data() + hash.size(), value, 16);
    return value & ~kProcessBits;
  }();
  return bits;
}

}  // namespace

PartOwner this_process() {
  const auto number = static_cast<std::uint64_t>(getpid());
  return {host_name(), boot_id(), pid_space(), number, start_of(number)};
}

Life life_of(const PartOwner& owner) {
  static const PartOwner here = this_process();
  if (owner.process == 0 || owner.boot != here.boot || owner.pid_space != here.pid_space ||
      here.boot == "unknown" || here.pid_space == "unknown")
    return Life::unknown;
  if (kill(static_cast<pid_t>(owner.process), 0) != 0 && errno == ESRCH) return Life::gone;
  const std::uint64_t started = start_of(owner.process);
  return started != 0 && owner.started != 0 && started != owner.started ? Life::gone : Life::alive;
}

bool shares_locks(const PartOwner& owner) {
  static const PartOwner here = this_process();
  return !owner.boot.empty() && (owner.host == here.host || owner.boot == here.boot);
}

std::string process_digits() {
  std::array<char, 9> digits{};
  const auto process = static_cast<std::uint32_t>(getpid()) & kProcessBits;
  snprintf(digits.data(), digits.size(), "%08x", kernel_bits() | process);
  return digits.data();
}

Life life_of_digits(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() != 8)
    return Life::unknown;
  if ((value & ~kProcessBits) != kernel_bits() || (value & kProcessBits) == 0) return Life::unknown;
  const bool gone = kill(static_cast<pid_t>(value & kProcessBits), 0) != 0 && errno == ESRCH;
  return gone ? Life::gone : Life::alive;
}

}  // namespace hf::cache
