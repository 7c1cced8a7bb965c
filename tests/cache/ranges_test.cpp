#include "cache/mirror/ranges.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using hf::cache::ByteSpan;
using hf::cache::Ranges;

TEST_CASE("Spans that touch or overlap become one") {
  Ranges ranges;
  CHECK(ranges.prefix() == 0);
  ranges.add({10, 20});
  CHECK(ranges.prefix() == 0);
  ranges.add({0, 5});
  CHECK(ranges.prefix() == 5);
  ranges.add({5, 10});
  CHECK(ranges.prefix() == 20);
  ranges.add({30, 30});
  ranges.add({40, 39});
  CHECK(ranges.total() == 20);
  CHECK(ranges.contains({3, 20}));
  CHECK_FALSE(ranges.contains({3, 21}));
  CHECK(ranges.contains({99, 99}));
}

TEST_CASE("The first gap is found from any place on") {
  Ranges ranges;
  CHECK(ranges.gap(0, 100) == ByteSpan{0, 100});
  CHECK_FALSE(ranges.gap(0, 0));
  ranges.add({0, 10});
  ranges.add({20, 30});
  CHECK(ranges.gap(0, 100) == ByteSpan{10, 20});
  CHECK(ranges.gap(10, 100) == ByteSpan{10, 20});
  CHECK(ranges.gap(25, 100) == ByteSpan{30, 100});
  CHECK(ranges.gap(15, 18) == ByteSpan{15, 18});
  CHECK_FALSE(ranges.gap(0, 10));
  CHECK_FALSE(ranges.gap(20, 30));
}

TEST_CASE("Ranges are what a list of bytes says") {
  constexpr std::uint64_t kSize = 64;
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Ranges ranges;
    std::vector<bool> bytes(kSize);
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t first = random() % kSize, end = first + random() % (kSize - first + 1);
      ranges.add({first, end});
      for (std::uint64_t at = first; at < end; ++at) bytes[at] = true;
      std::uint64_t prefix = 0, total = 0, gap = kSize;
      while (prefix < kSize && bytes[prefix]) ++prefix;
      for (const bool there : bytes) total += there ? 1 : 0;
      const std::uint64_t from = random() % kSize;
      for (std::uint64_t at = kSize; at > from; --at)
        if (!bytes[at - 1]) gap = at - 1;
      REQUIRE(ranges.prefix() == prefix);
      REQUIRE(ranges.total() == total);
      const auto found = ranges.gap(from, kSize);
      REQUIRE(found.has_value() == (gap < kSize));
      if (found) REQUIRE(found->first == gap);
      if (found) REQUIRE((found->end == kSize || bytes[found->end]));
    }
  }
}
