#include "base/progress.h"

#include <doctest/doctest.h>

#include "support/error_of.h"
#include "support/in_child.h"

using namespace hf;
using hf::test::error_of;
using hf::test::in_child;

TEST_CASE("an interrupt that was asked for ends the next check") {
  CHECK_NOTHROW(check_interrupted());
  const auto interrupt = [] {  // in a child: the request stays for the life of a process
    request_interrupt();
    return error_of([] { check_interrupted(); }) == ErrorKind::interrupted ? 0 : 1;
  };
  CHECK(in_child(interrupt) == 0);
}

TEST_CASE("progress that nobody sees takes every call") {
  Progress& progress = no_progress();
  progress.begin("a", 0);
  progress.advance(1);
  progress.end();
}
