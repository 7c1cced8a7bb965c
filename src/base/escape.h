// Untrusted text (file names, headers, tensor names) made safe to show on a terminal or in a log.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace hf {

// Control characters, DEL and bytes that are not UTF-8 as \xNN, backslash doubled; at most `limit` bytes of
// input, then "...". Valid UTF-8 stays, except C1 controls and the characters that reorder text.
std::string escaped(std::string_view text, std::size_t limit = 200);

// The same between double quotes, with quotes inside escaped.
std::string in_quotes(std::string_view text, std::size_t limit = 200);

// A path, escaped and long enough to be found.
std::string shown(const std::filesystem::path& path);

}  // namespace hf
