// Files that nobody ever sees half written.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "cache/store/folders.h"

namespace hf::cache {

// A name that no other process and no killed one has given: ".hf-<process>-<random>-<count>". What bears such
// a name for an hour was left behind.
std::string temporary_name();
// Removes from a folder what was left behind.
void remove_left_behind(const std::filesystem::path& folder);

// Writes `text` as `temporary`, which must be new and on the same file system, makes it durable, and renames
// it to `path`, which is replaced. Error{io} with `path` in it; then nothing is left behind.
void write_whole(const Folders::Place& temporary, const std::filesystem::path& path, std::string_view text);

}  // namespace hf::cache
