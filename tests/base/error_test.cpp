#include "base/error.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "support/error_of.h"

using namespace hf;
using hf::test::error_of;

TEST_CASE("each kind of error has the exit code of the manual") {
  const std::pair<ErrorKind, int> expected[] = {{ErrorKind::usage, 2},     {ErrorKind::not_found, 3},
                                                {ErrorKind::denied, 4},    {ErrorKind::network, 5},
                                                {ErrorKind::integrity, 6}, {ErrorKind::unsupported, 7},
                                                {ErrorKind::io, 8},        {ErrorKind::out_of_memory, 9},
                                                {ErrorKind::internal, 70}, {ErrorKind::interrupted, 130}};
  for (const auto& [kind, code] : expected) {
    CHECK(exit_code(kind) == code);
    CHECK_FALSE(name_of(kind).empty());
  }
}

TEST_CASE("with_context puts where it happened in front and keeps the kind") {
  const auto caught = error_of([] {
    with_context("a.json",
                 [] { with_context("layers", []() -> int { throw Error(ErrorKind::denied, "no"); }); });
  });
  CHECK(caught == ErrorKind::denied);
  CHECK(caught.message == "a.json: layers: no");
  CHECK(with_context("a", [] { return 3; }) == 3);
}

TEST_CASE("with_context hands on a reference") {
  int value = 1;
  with_context("a", [&]() -> int& { return value; }) = 5;
  CHECK(value == 5);
}

TEST_CASE("a failed system call is not_found or io by its code") {
  CHECK(system_error("f", ENOENT).kind() == ErrorKind::not_found);
  CHECK(system_error("f", ENOSPC).kind() == ErrorKind::io);
  CHECK(std::string(system_error("f", ENOSPC).what()) == "f: No space left on device");
}
