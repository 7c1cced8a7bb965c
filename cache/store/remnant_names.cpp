#include "cache/store/remnant_names.h"

#include <algorithm>

#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool starts_with_digit(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

// "….0123abcd.tmp", and what stands before that.
bool ends_in_random_tmp(std::string_view name) {
  constexpr std::size_t kDigits = 8;
  constexpr std::string_view kSuffix = ".tmp";
  if (!name.ends_with(kSuffix) || name.size() < kSuffix.size() + kDigits + 2) return false;
  name.remove_suffix(kSuffix.size());
  const std::string_view digits = name.substr(name.size() - kDigits);
  return name[name.size() - kDigits - 1] == '.' && std::all_of(digits.begin(), digits.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::optional<Remnant::Kind> remnant_of_blobs(std::string_view name) {
  if (name.ends_with(".incomplete")) return Remnant::Kind::incomplete;
  if (const std::size_t dot = name.find('.'); dot != name.npos && is_etag(name.substr(0, dot)))
    for (const std::string_view suffix : {".part", ".hfpart", ".journal"})
      if (name.ends_with(suffix)) return Remnant::Kind::partial;
  if (is_temporary_file(name) || (name.starts_with('.') && name.ends_with(".shared")))
    return Remnant::Kind::temporary;
  return std::nullopt;
}

std::optional<Remnant::Kind> remnant_of_repo(std::string_view name) {
  if (name.starts_with(kRemovedPrefix)) return Remnant::Kind::removed;
  for (const std::string_view prefix :
       {std::string_view(".hf-"), std::string_view(".ref-"), kTakenRefPrefix})  // and a process
    if (name.starts_with(prefix) && starts_with_digit(name.substr(prefix.size())))
      return Remnant::Kind::temporary;
  return is_temporary_file(name) ? std::optional(Remnant::Kind::temporary) : std::nullopt;
}

bool is_temporary_ref(std::string_view name) { return ends_in_random_tmp(name.substr(name.rfind('/') + 1)); }

bool is_temporary_link(std::string_view name) {
  constexpr std::string_view kPrefix = ".hf-";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const std::size_t dash = name.find('-');
  return dash != name.npos && is_number(name.substr(0, dash)) && is_etag(name.substr(dash + 1));
}

bool is_temporary_file(std::string_view name) {
  if (name.starts_with("tmp_"))
    return true;  // huggingface_hub asks with such a file which mode new files get
  return name.ends_with(".tmp") &&
         (name.starts_with('.') || name.starts_with("tmp") || ends_in_random_tmp(name));
}

}  // namespace hf::cache
