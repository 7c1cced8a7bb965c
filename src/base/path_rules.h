// The one validator of file names that come from a Hub, an archive, an index or external_data.
#pragma once
#include <string_view>

namespace hf {

// Throws Error{integrity} unless `name` is a relative path with "/" between non-empty parts, none of them "."
// or "..", each at most 255 bytes, without NUL, control characters or backslashes, valid UTF-8 and not like
// "C:...".
void check_relative_path(std::string_view name);

// The same for a name that must not have folders.
void check_file_name(std::string_view name);

}  // namespace hf
