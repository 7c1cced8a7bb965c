// What stands in a lock file whose being there is the lock, in the words of the Python package filelock,
// which huggingface_hub uses:
//
//   <process id>\n<host>\n<when the process began, in clock ticks since the machine did>\n
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hf::cache {

inline constexpr std::size_t kLongestSoftLockText = 1024;

std::string soft_lock_text();  // of this process

// What is known of the process that wrote the text.
enum class SoftLockHolder {
  alive,      // or cannot be proved to be gone
  dead,       // it ran on this host and is gone
  elsewhere,  // on another host, or in another container
  unknown,    // the text is not of that form
};
SoftLockHolder soft_lock_holder(std::string_view text);

}  // namespace hf::cache
