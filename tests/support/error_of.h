// What a call throws, as values to check: CHECK(error_of([&] { parse(text); }) == ErrorKind::integrity).
#pragma once
#include <optional>
#include <string>

#include "base/error.h"

namespace hf::test {

struct Caught {
  std::optional<ErrorKind> kind;  // none: nothing was thrown
  std::string message;

  bool operator==(ErrorKind expected) const { return kind == expected; }
  bool says(std::string_view part) const { return message.find(part) != std::string::npos; }
};

// Only Error is caught: anything else that comes out fails the test.
template <class F>
Caught error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

}  // namespace hf::test
