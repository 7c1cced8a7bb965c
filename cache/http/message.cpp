#include "cache/http/message.h"

#include <ctime>

namespace hf::cache {

bool Response::is_passing() const {
  if (!failure.empty()) return true;
  return status() == 408 || status() == 429 || (status() >= 500 && status() != 501 && status() != 505);
}

std::optional<std::string_view> Response::find(std::string_view header) const {
  for (const Hop& hop : hops)
    if (const auto value = hop.headers.find(header)) return value;
  return std::nullopt;
}

std::optional<unsigned> Response::requested_wait() const {
  if (hops.empty()) return std::nullopt;
  return cache::requested_wait(hops.back().headers, std::time(nullptr));
}

const std::string& Response::last_url() const {
  static const std::string none;
  return hops.empty() ? none : hops.back().url;
}

}  // namespace hf::cache
