#include "cache/store/soft_lock.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "support/in_child.h"

using namespace hf::test;
using namespace hf::cache;

namespace {

// Of a process that was there and is gone.
std::string text_of_the_dead() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  in_child([&] {
    const std::string text = soft_lock_text();
    return write(ends[1], text.data(), text.size()) > 0 ? 0 : 1;
  });
  char text[2048];
  const ssize_t size = read(ends[0], text, sizeof text);
  close(ends[0]);
  close(ends[1]);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

TEST_CASE("A process that holds a lock says so of itself") {
  const std::string text = soft_lock_text();
  CHECK(text.starts_with(std::to_string(getpid()) + "\n"));
  CHECK(text.ends_with("\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(soft_lock_holder(text) == SoftLockHolder::alive);
}

TEST_CASE("A process that is gone is dead, and so is one whose number another one has") {
  CHECK(soft_lock_holder(text_of_the_dead()) == SoftLockHolder::dead);
  const std::string ours = soft_lock_text();
  const std::string two_lines = ours.substr(0, ours.find('\n', ours.find('\n') + 1) + 1);
  CHECK(soft_lock_holder(two_lines) == SoftLockHolder::alive);
  CHECK(soft_lock_holder(two_lines + "1\n") == SoftLockHolder::dead);
}

TEST_CASE("The upper bits of when a process began are the machine's boot, and not compared") {
  const std::string ours = soft_lock_text();
  const std::string two_lines = ours.substr(0, ours.find('\n', ours.find('\n') + 1) + 1);
  std::string sum = "18446744073709551616";  // 2^64, and the start added digit by digit
  std::uint64_t carry = std::stoull(ours.substr(two_lines.size()));
  for (auto digit = sum.rbegin(); digit != sum.rend(); ++digit) {
    carry += static_cast<std::uint64_t>(*digit - '0');
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  CHECK(soft_lock_holder(two_lines + sum + "\n") == SoftLockHolder::alive);
}

TEST_CASE("Another host proves nothing") {
  CHECK(soft_lock_holder("1\nanother.example\n") == SoftLockHolder::elsewhere);
  CHECK(soft_lock_holder("1\nanother.example\n77\n") == SoftLockHolder::elsewhere);
}

TEST_CASE("Texts that are no holder's") {
  for (const std::string& text : {std::string(), std::string("\n"), std::string("12\nhost"),
                                  std::string("12\n"), std::string("x\nhost\n"), std::string("0\nhost\n"),
                                  std::string("-5\nhost\n"), std::string("99999999999\nhost\n"),
                                  std::string("1\na\nb\nc\n"), "1\n" + std::string(2000, 'h') + "\n"}) {
    CAPTURE(text);
    CHECK(soft_lock_holder(text) == SoftLockHolder::unknown);
  }
}
