// The content of one file into another.
#pragma once
#include <filesystem>

namespace hf::cache {

// From the beginning of `from` to its end into the empty file `to`: as a clone that shares the blocks where
// the file system can do that, else copied. `path` is of `to`, for the Error{io}; Error{interrupted} when the
// user stops the program.
void copy_content(int from, int to, const std::filesystem::path& path);

}  // namespace hf::cache
