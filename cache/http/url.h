// The few things that are done to URLs; libcurl's own parser does them.
#pragma once
#include <string>
#include <string_view>

namespace hf::cache {

// "scheme://host:port" in lower case with the port always there: what decides whether a token may go along.
// Anything but http and https, and what is not a URL, is Error{network}.
std::string origin_of(std::string_view url);

// Whether a user name or a password stands before the host.
bool has_user(std::string_view url);

// `location` as seen from `base`, query kept, fragment, user and password dropped; from https to http is
// refused.
std::string resolve_url(std::string_view base, std::string_view location);

// Percent-encodes all but letters, digits and "-._~", and "/" where it is kept.
std::string percent_encoded(std::string_view text, bool keep_slash);

// The URL as it may be shown: escaped, without query (a signature may stand there) and without user.
std::string shown_url(std::string_view url);

}  // namespace hf::cache
