// What a fuzz target is made of.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "base/error.h"

// The target itself, by libFuzzer's name; replay.cpp calls it too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hf::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Runs f on foreign bytes. An Error is the right answer to them, unless it says that the bug is ours; any
// other exception leaves and ends the program.
template <class F>
int only_errors(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) throw;
  }
  return 0;
}

// What must be so whatever the bytes are.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace hf::fuzz
