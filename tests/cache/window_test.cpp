#include "cache/http/window.h"

#include <doctest/doctest.h>

using namespace hf::cache;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

void complete(Window& window, int times, microseconds first_byte) {
  for (int i = 0; i < times; ++i) window.completed(first_byte);
}

}  // namespace

TEST_CASE("A window opens while answers begin as quickly as ever") {
  Window window(8, 64, true);
  CHECK(window.size() == 8);
  complete(window, 8, microseconds(300));
  CHECK(window.size() == 24);
  complete(window, 1000, microseconds(300));
  CHECK(window.size() == 64);
}

TEST_CASE("A far server's window is open after two round trips") {
  Window window(8, 64, true);
  complete(window, 8, milliseconds(80));
  CHECK(window.size() == 64);
}

TEST_CASE("Late answers close a window slowly and never below four") {
  Window window(8, 64, true);
  complete(window, 1, milliseconds(5));
  const std::size_t open = window.size();
  complete(window, 1, milliseconds(50));
  CHECK(window.size() >= open - 1);
  complete(window, 1000, milliseconds(50));
  CHECK(window.size() == 4);
  complete(window, 10, milliseconds(6));
  CHECK(window.size() == 14);
}

TEST_CASE("What one event refuses halves a window once") {
  Window window(32, 64, true);
  const unsigned before = window.epoch();
  for (int i = 0; i < 10; ++i) window.pushed_back(before);
  CHECK(window.size() == 16);
  for (int i = 0; i < 10; ++i) window.pushed_back(window.epoch());
  CHECK(window.size() == 1);
}

TEST_CASE("After a refusal a window grows by one a round trip") {
  Window window(16, 64, true);
  window.pushed_back(window.epoch());
  complete(window, 8, milliseconds(5));
  CHECK(window.size() == 8);
  complete(window, 2, milliseconds(5));
  CHECK(window.size() == 9);
}

TEST_CASE("A window of streams does not mind delays") {
  Window window(100, 100, false);
  complete(window, 1, microseconds(1));
  complete(window, 1000, milliseconds(500));
  CHECK(window.size() == 100);
  window.pushed_back(window.epoch());
  CHECK(window.size() == 50);
}

TEST_CASE("A window that is capped does not open again") {
  Window window(100, 100, false);
  window.cap(8);
  complete(window, 100, microseconds(1));
  CHECK(window.size() == 8);
  window.cap(0);
  CHECK(window.size() == 1);
}

TEST_CASE("A window of no exchange would never open") {
  CHECK(Window(8, 0, true).size() == 1);
  CHECK(Window(8, 2, true).size() == 2);
}
