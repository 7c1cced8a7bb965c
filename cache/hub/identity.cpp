#include "cache/hub/identity.h"

#include <span>

#include "cache/http/url.h"

namespace hf::cache {
namespace {

std::span<const Hop> hops_at_home(const Response& response) {
  const std::span<const Hop> hops = response.hops;
  if (hops.empty()) return hops;
  const std::string home = origin_of(hops.front().url);
  std::size_t count = 1;
  while (count < hops.size() && origin_of(hops[count].url) == home) ++count;
  return hops.first(count);
}

std::optional<std::string_view> first_of(std::span<const Hop> hops, std::string_view header) {
  for (const Hop& hop : hops)
    if (const auto value = hop.headers.find(header)) return value;
  return std::nullopt;
}

// What the last hop says of the whole file, where it is the file and not a redirect.
std::optional<std::uint64_t> told_size(const Hop& hop) {
  if (hop.headers.find("content-encoding").value_or("identity") != "identity") return std::nullopt;
  if (hop.status == 200) return parse_number(hop.headers.find("content-length").value_or(""));
  if (hop.status != 206 && hop.status != 416) return std::nullopt;
  const auto range = parse_content_range(hop.headers.find("content-range").value_or(""));
  return range ? range->total : std::nullopt;
}

}  // namespace

Identity identity_of(const Response& response) {
  Identity identity;
  const std::span<const Hop> hops = hops_at_home(response);
  if (hops.empty()) return identity;
  const Hop& last = hops.back();
  const auto linked = first_of(hops, "x-linked-etag");
  identity.etag = plain_etag(linked ? *linked : last.headers.find("etag").value_or(""));
  identity.size = parse_number(first_of(hops, "x-linked-size").value_or(""));
  if (!identity.size) identity.size = told_size(last);
  identity.commit = first_of(hops, "x-repo-commit").value_or("");
  return identity;
}

}  // namespace hf::cache
