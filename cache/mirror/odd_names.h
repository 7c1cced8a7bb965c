// File names that Linux takes but other systems, or other names beside them, do not.
#pragma once
#include <string>
#include <string_view>

namespace hf::cache {

// What is odd about a path that check_relative_path lets through, empty where nothing is: characters or
// device names that Windows reserves, names that end in a dot or a blank, letters that another system would
// spell with other bytes (not NFC). Commas between several.
std::string oddity_of(std::string_view path);

// The path as a file system that ignores case compares it: Latin, Greek and Cyrillic letters in lower case.
std::string case_folded(std::string_view path);

}  // namespace hf::cache
