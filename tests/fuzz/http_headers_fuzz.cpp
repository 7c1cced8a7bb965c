#include "cache/http/headers.h"
#include "cache/http/url.h"
#include "fuzz/fuzz.h"

using namespace hf;
using namespace hf::cache;

// Header lines as they come, and each as a redirect's target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  Headers headers;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size()));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    headers.add_line(line);
    next_link(line);
    plain_etag(line);
    if (const auto range = parse_content_range(line))
      fuzz::require(range->first <= range->last && (!range->total || range->last < *range->total), "a range");
    fuzz::only_errors([&] {
      const std::string target = resolve_url("https://hub.example:8443/a/b?c", line);
      fuzz::require(origin_of(target).starts_with("https://"), "a redirect that loses its encryption");
    });
    for (const char c : shown_url(line))
      fuzz::require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "a control");
  }
  if (const auto wait = requested_wait(headers, 1'764'517'800)) fuzz::require(*wait <= 3600, "a wait");
  return 0;
}
