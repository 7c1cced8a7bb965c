#include "base/quantity.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

namespace hf {
namespace {

struct Unit {
  std::string_view name;  // lower case
  std::uint64_t amount;
};

constexpr Unit kByteUnits[] = {{"", 1},
                               {"k", 1'000},
                               {"m", 1'000'000},
                               {"g", 1'000'000'000},
                               {"t", 1'000'000'000'000},
                               {"p", 1'000'000'000'000'000},
                               {"ki", 1ull << 10},
                               {"mi", 1ull << 20},
                               {"gi", 1ull << 30},
                               {"ti", 1ull << 40},
                               {"pi", 1ull << 50}};

constexpr std::uint64_t kDay = 24 * 60 * 60;
constexpr Unit kTimeUnits[] = {{"s", 1},        {"m", 60},         {"h", 60 * 60},   {"d", kDay},
                               {"w", 7 * kDay}, {"mo", 30 * kDay}, {"y", 365 * kDay}};

struct Written {
  std::string number, unit;  // "1.5", "gb"
};

// Digits with at most one point inside, then perhaps a space, then letters; nothing where it is not so.
std::optional<Written> split(std::string_view text) {
  Written written;
  std::size_t at = 0;
  bool has_point = false;
  for (; at < text.size(); ++at) {
    const bool is_point = text[at] == '.' && !has_point && at > 0;
    if (!is_point && (text[at] < '0' || text[at] > '9')) break;
    has_point = has_point || is_point;
    written.number += text[at];
  }
  if (written.number.empty() || written.number.back() == '.') return std::nullopt;
  if (at + 1 < text.size() && text[at] == ' ') ++at;
  for (; at < text.size(); ++at) {
    const char lower = static_cast<char>(text[at] | 0x20);
    if (lower < 'a' || lower > 'z') return std::nullopt;
    written.unit += lower;
  }
  return written;
}

// Whole numbers exactly, others as near as a double comes.
std::optional<std::uint64_t> product(const std::string& number, std::uint64_t unit) {
  const char* const end = number.data() + number.size();
  std::uint64_t whole = 0, bytes = 0;
  if (const auto read = std::from_chars(number.data(), end, whole); read.ptr == end) {
    if (read.ec != std::errc() || __builtin_mul_overflow(whole, unit, &bytes)) return std::nullopt;
    return bytes;
  }
  double value = 0;
  if (std::from_chars(number.data(), end, value).ec != std::errc()) return std::nullopt;
  value *= static_cast<double>(unit);
  if (!(value < 0x1p63)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value));
}

std::optional<std::uint64_t> amount_of(const Written& written, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (unit.name == written.unit) return product(written.number, unit.amount);
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  auto written = split(text);
  if (!written) return std::nullopt;
  if (written->unit.ends_with('b')) written->unit.pop_back();
  return amount_of(*written, kByteUnits);
}

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  const auto written = split(text);
  if (!written) return std::nullopt;
  if (written->number == "0" && written->unit.empty()) return std::chrono::seconds(0);
  const auto seconds = amount_of(*written, kTimeUnits);
  if (!seconds || *seconds > 9'000'000'000) return std::nullopt;  // nanoseconds of it fit 64 bits
  return std::chrono::seconds(*seconds);
}

}  // namespace hf
