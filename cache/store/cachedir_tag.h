// CACHEDIR.TAG, word for word what huggingface_hub writes: backup programs know its first line.
#pragma once
#include <string_view>

namespace hf::cache {

inline constexpr std::string_view kCachedirTagName = "CACHEDIR.TAG";
inline constexpr std::string_view kCachedirTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file is a cache directory tag created by huggingface_hub.\n"
    "# For information about cache directory tags, see:\n"
    "#\thttps://bford.info/cachedir/\n";

}  // namespace hf::cache
