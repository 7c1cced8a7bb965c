#include "tools/program/program.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/in_child.h"

using namespace hf;
using namespace hf::test;

namespace {

// What run_program makes of `body`, in a process of its own with stderr into `message`.
int ended(const std::function<int()>& body, std::string* message = nullptr) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  std::fflush(stdout);
  const int code = in_child([&] {
    dup2(ends[1], STDERR_FILENO);
    return run_program("prog", body);
  });
  close(ends[1]);
  std::array<char, 4096> text{};
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  if (message != nullptr) *message = std::string(text.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  return code;
}

}  // namespace

TEST_CASE("An error becomes a message and its exit code") {
  std::string message;
  CHECK(ended([]() -> int { throw Error(ErrorKind::denied, "a/b: is gated"); }, &message) == 4);
  CHECK(message == "prog: a/b: is gated\n");
  CHECK(ended([] { return 1; }, &message) == 1);
  CHECK(message.empty());
  CHECK(ended([]() -> int { throw std::bad_alloc(); }, &message) == 70);
  CHECK(message == "prog: out of memory\n");
  CHECK(ended([]() -> int { throw std::runtime_error("x"); }, &message) == 70);
  CHECK(message == "prog: internal error: x\n");
}

TEST_CASE("A signal asks to stop and decides the exit code") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CHECK(ended([&] {
            raise(signal);
            check_interrupted();
            return 0;
          }) == 128 + signal);
  }
  CHECK(ended([] {
          raise(SIGTERM);
          raise(SIGTERM);  // who insists is obeyed at once
          return 0;
        }) == -SIGTERM);
}

TEST_CASE("A full disk does not look like success") {
  std::string message;
  CHECK(ended(
            [] {
              dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
              print_out("result\n");
              return 0;
            },
            &message) == 8);
  CHECK(message.starts_with("prog: standard output: "));
}

TEST_CASE("A reader that has gone ends the program silently") {
  std::string message;
  CHECK(ended(
            [] {
              std::array<int, 2> ends{};
              if (pipe(ends.data()) != 0) return 1;
              close(ends[0]);
              dup2(ends[1], STDOUT_FILENO);
              print_out("result\n");
              return 0;
            },
            &message) == 141);
  CHECK(message.empty());
}

TEST_CASE("Sizes as people read them") {
  CHECK(human_size(0) == "0 B");
  CHECK(human_size(999) == "999 B");
  CHECK(human_size(1000) == "1.0 kB");
  CHECK(human_size(87'314'000) == "87.3 MB");
  CHECK(human_size(999'949) == "999.9 kB");
  CHECK(human_size(999'950) == "1.0 MB");
  CHECK(human_size(~std::uint64_t{0}) == "18.4 EB");
}

TEST_CASE("Tables are aligned and escaped") {
  CHECK(format_table({{"NAME"}, {"SIZE", Column::Align::right}, {"KIND"}},
                     {{"a\x1b", "8", "x"}, {"\xc3\xa9\xc3\xa9", "1000", ""}}) ==
        "NAME   SIZE  KIND\n"
        "a\\x1b     8  x\n"
        "\xc3\xa9\xc3\xa9     1000\n");
  CHECK(format_table({{"A"}}, {}) == "A\n");
}

TEST_CASE("JSON is ASCII whatever a stranger wrote") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  std::fflush(stdout);  // else the child prints it again
  in_child([&] {
    dup2(ends[1], STDOUT_FILENO);
    print_json({{"name", "\xe2\x80\xae \xff \x1b"}});
    std::fflush(stdout);
    return 0;
  });
  std::array<char, 4096> text{};
  const ssize_t got = read(ends[0], text.data(), text.size());
  REQUIRE(got > 0);
  CHECK(std::string(text.data(), static_cast<std::size_t>(got)) ==
        "{\n  \"name\": \"\\u202e \\ufffd \\u001b\"\n}\n");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("Nobody sees progress where stderr is no terminal") {
  CHECK(&terminal_progress(true) == &no_progress());
  CHECK(ended([] { return &terminal_progress(false) == &no_progress() ? 0 : 1; }) == 0);
}
