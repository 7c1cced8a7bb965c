#include "cache/http/url.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/error.h"
#include "base/escape.h"

namespace hf::cache {
namespace {

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

Handle parsed(std::string_view url) {
  Handle handle(curl_url(), &curl_url_cleanup);
  const std::string text(url);
  if (handle == nullptr || text.find('\0') != std::string::npos ||
      curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) !=
          CURLUE_OK)
    throw Error(ErrorKind::network,
                "URL " + in_quotes(url) + ": malformed, http://… or https://… is expected");
  return handle;
}

std::string part(const Handle& handle, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(handle.get(), which, &text, flags) != CURLUE_OK) return "";
  std::string out(text);
  curl_free(text);
  return out;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string origin(const Handle& handle, std::string_view url) {
  const std::string scheme = lower(part(handle, CURLUPART_SCHEME));
  if (scheme != "http" && scheme != "https")
    throw Error(ErrorKind::network, "URL " + in_quotes(url) + ": scheme is not http or https");
  return scheme + "://" + lower(part(handle, CURLUPART_HOST)) + ":" +
         part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

}  // namespace

std::string origin_of(std::string_view url) { return origin(parsed(url), url); }

bool has_user(std::string_view url) {
  const Handle handle = parsed(url);
  return !part(handle, CURLUPART_USER).empty() || !part(handle, CURLUPART_PASSWORD).empty();
}

std::string resolve_url(std::string_view base, std::string_view location) {
  const Handle handle = parsed(base);
  const std::string text(location);
  if (location.empty() || text.find('\0') != std::string::npos ||
      curl_url_set(handle.get(), CURLUPART_URL, text.c_str(), CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME) !=
          CURLUE_OK)
    throw Error(ErrorKind::network, "redirect to " + in_quotes(location) + ": not a URL");
  // A stranger's user name and password would be sent as ours.
  for (const CURLUPart which : {CURLUPART_FRAGMENT, CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS})
    curl_url_set(handle.get(), which, nullptr, 0);
  std::string target = part(handle, CURLUPART_URL);
  if (origin_of(base).starts_with("https:") && origin(handle, target).starts_with("http:"))
    throw Error(ErrorKind::network, "redirect to " + in_quotes(location) + ": leads from https to http");
  return target;
}

std::string percent_encoded(std::string_view text, bool keep_slash) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && std::isalnum(byte) != 0;
    if (plain || c == '-' || c == '.' || c == '_' || c == '~' || (keep_slash && c == '/'))
      out += c;
    else
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

std::string shown_url(std::string_view url) {
  std::string text(url.substr(0, url.find_first_of("?#")));
  const std::size_t host = text.find("//");
  const std::size_t path = host == std::string::npos ? host : text.find('/', host + 2);
  const std::size_t at = text.rfind('@', path);
  if (host != std::string::npos && at != std::string::npos && at > host) text.erase(host + 2, at - host - 1);
  return escaped(text, 500);
}

}  // namespace hf::cache
