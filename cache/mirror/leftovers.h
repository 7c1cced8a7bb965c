// The partial files of a folder: ours, and what other programs and earlier versions left.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/mirror/journal.h"

namespace hf::cache {

struct Leftover {
  std::filesystem::path path;
  std::uint64_t bytes = 0;  // that its journal speaks of
};
using Leftovers = std::multimap<std::string, Leftover, std::less<>>;  // by etag

// Partial files of this program, of living processes too.
Leftovers find_leftovers(const std::filesystem::path& folder);

// Whether the process that wrote the partial file `path`, open as `fd`, is certainly gone; `journal`: what it
// said of itself, nothing where there is none. If so and locks work, it is locked by us now.
bool is_left(int fd, const std::filesystem::path& path, const std::optional<Journal>& journal);

std::optional<Journal> read_journal(const std::filesystem::path& part);

// What nobody will go on with by itself: a partial file whose process is gone, or a journal without one.
struct DeadPartial {
  std::filesystem::path path;
  std::uint64_t bytes = 0;      // that it takes on the disk, its journal included
  std::chrono::seconds age{0};  // since it was last written to
};

// Those in `folder` of this program, of its earlier versions (*.hfpart) too. Sorted by path.
std::vector<DeadPartial> dead_partials(const std::filesystem::path& folder);

// Removes one with its journal unless a process has it (again); whether it is gone now.
bool remove_dead_partial(const std::filesystem::path& path);

// Removes the dead ones that no later run can go on from: no bytes are vouched for, or `has(etag)`.
void remove_worthless_leftovers(const std::filesystem::path& folder,
                                const std::function<bool(const std::string&)>& has);

}  // namespace hf::cache
