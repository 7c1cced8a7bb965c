#include "base/quantity.h"

#include <doctest/doctest.h>

using namespace hf;
using namespace std::chrono_literals;

TEST_CASE("Amounts of bytes as people write them") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("500") == 500);
  CHECK(parse_bytes("7b") == 7);
  CHECK(parse_bytes("20M") == 20'000'000);
  CHECK(parse_bytes("1.5 GB") == 1'500'000'000);
  CHECK(parse_bytes("0.1kB") == 100);
  CHECK(parse_bytes("512MiB") == 512u << 20);
  CHECK(parse_bytes("2ti") == 2ull << 40);
  CHECK(parse_bytes("18446744073709551615") == UINT64_MAX);
  CHECK(parse_bytes("9007199254740993") == 9007199254740993u);  // more digits than a double keeps
}

TEST_CASE("What is no amount of bytes") {
  for (const char* bad :
       {"",          "G",  "-1",  "+1", "1.", ".5",  "1..5", "1.5.5", "1 000",
        "1e9",       "5X", "5bb", "5 ", " 5", "1,5", "0x10", "inf",   "18446744073709551616",
        "99999999P", "30d"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_bytes(bad));
  }
}

TEST_CASE("Times as people write them") {
  CHECK(parse_duration("0") == 0s);
  CHECK(parse_duration("90s") == 90s);
  CHECK(parse_duration("15m") == 15min);
  CHECK(parse_duration("1.5h") == 90min);
  CHECK(parse_duration("30d") == 720h);
  CHECK(parse_duration("2W") == 336h);
  CHECK(parse_duration("6mo") == 4320h);
  CHECK(parse_duration("1y") == 8760h);
  for (const char* bad : {"", "30", "d", "-1d", "1dd", "5min", "300y", "99999999999999999999d", "1GB"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_duration(bad));
  }
}
