#include "cache/mirror/ranges.h"

#include <algorithm>
#include <iterator>

namespace hf::cache {

void Ranges::add(ByteSpan span) {
  if (span.end <= span.first) return;
  auto at = spans_.upper_bound(span.first);
  if (at != spans_.begin() && std::prev(at)->second >= span.first) --at;
  while (at != spans_.end() && at->first <= span.end) {
    span.first = std::min(span.first, at->first);
    span.end = std::max(span.end, at->second);
    at = spans_.erase(at);
  }
  spans_.emplace_hint(at, span.first, span.end);
}

std::uint64_t Ranges::prefix() const {
  return spans_.empty() || spans_.begin()->first != 0 ? 0 : spans_.begin()->second;
}

std::uint64_t Ranges::total() const {
  std::uint64_t bytes = 0;
  for (const auto& [first, end] : spans_) bytes += end - first;
  return bytes;
}

bool Ranges::contains(ByteSpan span) const {
  if (span.end <= span.first) return true;
  auto at = spans_.upper_bound(span.first);
  return at != spans_.begin() && std::prev(at)->second >= span.end;
}

std::optional<ByteSpan> Ranges::gap(std::uint64_t from, std::uint64_t size) const {
  auto at = spans_.upper_bound(from);
  if (at != spans_.begin() && std::prev(at)->second > from) from = std::prev(at)->second;
  const std::uint64_t end = at == spans_.end() ? size : std::min(at->first, size);
  if (from >= end) return std::nullopt;
  return ByteSpan{from, end};
}

}  // namespace hf::cache
