// Amounts as people write them on a command line.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hf {

// "500", "20M", "1.5 GB", "512MiB": k, M, G, T and P are powers of 1000, Ki, Mi, … of 1024, in any case, a
// "B" may follow. Nothing where it is no such amount, or one of more than 64 bits.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// "90s", "15m", "12h", "30d", "2w", "6mo" (of 30 days), "1y" (of 365); a number alone is no time, except 0.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);

}  // namespace hf
