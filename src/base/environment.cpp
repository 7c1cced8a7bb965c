#include "base/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

// The home of a user by the password database; empty where there is none.
std::string home_of(const std::string& user) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const int code = user.empty() ? getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found)
                                : getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return code == 0 && found != nullptr ? found->pw_dir : "";
}

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

Environment Environment::of_process() {
  Values values;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view line = *at;
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos)
      values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return Environment(std::move(values));
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Environment::first_of(std::initializer_list<std::string_view> names) const {
  for (std::string_view name : names)
    if (auto value = get(name)) return value;
  return std::nullopt;
}

bool Environment::is_on(std::string_view name) const {
  std::string value = get(name).value_or("");
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  constexpr std::array<std::string_view, 4> kTrue = {"1", "ON", "YES", "TRUE"};
  return std::find(kTrue.begin(), kTrue.end(), value) != kTrue.end();
}

unsigned Environment::seconds(std::string_view name, unsigned otherwise) const {
  const auto value = get(name);
  if (!value) return otherwise;
  unsigned number = 0;
  const auto [end, code] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (code != std::errc() || end != value->data() + value->size() || number == 0 || number > 86400)
    throw Error(ErrorKind::usage, std::string(name) + ": is " + in_quotes(*value) +
                                      ", a whole number of seconds from 1 to 86400 is expected");
  return number;
}

std::filesystem::path Environment::home() const { return get("HOME").value_or(home_of("")); }

std::filesystem::path Environment::expand(std::string_view path) const {
  std::string out;
  std::size_t at = 0;
  if (path.starts_with('~')) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string user(path.substr(1, end - 1));
    out = user.empty() ? home().string() : home_of(user);
    at = out.empty() ? 0 : end;
  }
  while (at < path.size()) {
    const std::size_t dollar = std::min(path.find('$', at), path.size());
    out += path.substr(at, dollar - at);
    at = dollar;
    if (at == path.size()) break;
    const bool braced = path.substr(at).starts_with("${");
    const std::size_t begin = at + (braced ? 2 : 1);
    std::size_t end = begin;
    while (end < path.size() && is_name_part(path[end])) ++end;
    const auto value = values_.find(path.substr(begin, end - begin));
    const bool known =
        end > begin && value != values_.end() && (!braced || path.substr(end).starts_with('}'));
    if (known) end += braced ? 1 : 0;
    out += known ? std::string_view(value->second) : path.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace hf
