#include "tools/program/command.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace hf {

const Command* Command::find(std::string_view command) const {
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == command; });
  return found == commands.end() ? nullptr : &*found;
}

const Argument* Command::find_option(std::string_view option) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(), [&](const Argument& argument) {
    if (argument.is_positional()) return false;
    return option == argument.name || (argument.short_name != 0 && option.size() == 2 && option[0] == '-' &&
                                       option[1] == argument.short_name);
  });
  return found == arguments.end() ? nullptr : &*found;
}

Argument& Argument::of(std::vector<std::string> all) {
  choices = std::move(all);
  expected.clear();
  for (std::size_t i = 0; i < choices.size(); ++i)
    expected += (i == 0 ? "" : i + 1 < choices.size() ? ", " : " or ") + choices[i];
  return *this;
}

std::vector<Exit> exits_of(std::initializer_list<int> codes, std::vector<Exit> special) {
  static const std::vector<Exit> kMeanings = {
      {0, "Done"},
      {1, "A difference was found"},
      {2, "The command line or a variable is wrong"},
      {3, "Not found: a repository, revision or file; or not in the cache while offline"},
      {4, "Not allowed: the token, a gated or a disabled repository"},
      {5, "Network: no answer, also after repetition; a certificate or a proxy"},
      {6, "Wrong content: a hash that does not match, a malformed file or answer"},
      {7, "Not supported: an architecture, operator or data type"},
      {8, "Local input or output: a full disk, a permission"},
      {9, "Out of a device's memory"},
      {130, "Interrupted (SIGINT); 143 where terminated (SIGTERM)"},
  };
  std::vector<Exit> out;
  for (const int code : codes) {
    const auto has_code = [&](const Exit& exit) { return exit.code == code; };
    const auto own = std::find_if(special.begin(), special.end(), has_code);
    const auto shared = std::find_if(kMeanings.begin(), kMeanings.end(), has_code);
    if (own != special.end())
      out.push_back(*own);
    else if (shared != kMeanings.end())
      out.push_back(*shared);
  }
  return out;
}

std::vector<Argument> joined(std::initializer_list<std::vector<Argument>> lists) {
  std::vector<Argument> out;
  for (const auto& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

bool read_value(std::string& field, const std::string& text) {
  field = text;
  return true;
}

bool read_value(std::filesystem::path& field, const std::string& text) {
  field = text;
  return !text.empty();
}

bool read_value(double& field, const std::string& text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(field);
}

Argument named(std::string_view names, std::string value, std::string help) {
  Argument row;
  if (const std::size_t comma = names.find(','); comma != std::string_view::npos) {
    row.short_name = names[1];
    names.remove_prefix(comma + 1);
  }
  row.name = names;
  row.value = std::move(value);
  row.help = std::move(help);
  return row;
}

Argument flag(std::string_view names, bool& field, std::string help) {
  Argument row = named(names, "", std::move(help));
  row.take = [&field](const std::string&) { return field = true; };
  return row;
}

std::string whole_number_from(std::int64_t least, std::uint64_t greatest) {
  std::string to = std::to_string(greatest);
  if (greatest == std::uint64_t{std::numeric_limits<std::int64_t>::max()}) to = "2^63 - 1";
  if (greatest == std::numeric_limits<std::uint64_t>::max()) to = "2^64 - 1";
  return "a whole number from " + std::to_string(least) + " to " + to;
}

}  // namespace hf
