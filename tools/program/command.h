// The command table: what a program can be asked, row by row. From the same rows come the parser
// (command_line.h), the texts of --help (help.h), the man pages (man_page.h) and the shells' completion
// (completion.h), so that none of them can know an option that another does not.
//
//   Command ls_command() {
//     const auto o = std::make_shared<LsOptions>();
//     return {.name = "ls",
//             .about = "List what is in the cache",
//             .examples = {"hfcache ls", "hfcache ls --json"},
//             .arguments = {flag("--json", o->json, "Print JSON")},
//             .run = [o] { return run_ls(*o); }};
//   }
#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hf {

// What a value names, for the shell that completes it. A kind that is not a path is asked of
// Command::suggest.
enum class Completes { nothing, file, folder, path, repo, model, command };  // model: a repository or a path

// An option ("--output", perhaps with "-o"), a flag (an option without a value) or a positional ("REPO_ID").
struct Argument {
  std::string name;     // "--output"; "REPO_ID"
  char short_name = 0;  // 'o'
  std::string value;    // what stands for the value in texts: "DIR"; empty for flags and positionals
  std::string help;
  std::string fallback;                   // the value where none is given, as texts show it
  std::string expected;                   // "a whole number from 1 to 256"; empty: any text
  std::vector<std::string> choices = {};  // all values there are; empty: others as well
  Completes completes = Completes::nothing;
  bool required = false, repeated = false, hidden = false;
  // Takes one value ("" for a flag); false where it is not what `expected` says.
  std::function<bool(const std::string&)> take = {};

  bool is_positional() const { return !name.starts_with('-'); }
  bool is_flag() const { return !is_positional() && value.empty(); }

  // To write rows with.
  Argument& must() { return required = true, *this; }
  Argument& of(std::vector<std::string> all);
  Argument& completed_as(Completes kind) { return completes = kind, *this; }
  Argument& unseen() { return hidden = true, *this; }
  Argument& shown_default(std::string text) { return fallback = std::move(text), *this; }
};

struct Exit {
  int code;
  std::string meaning;
};

struct Variable {  // of the environment
  std::string name, meaning;
};

struct Command {
  std::string name;         // of the program, at the root
  std::string about;        // one line, no full stop
  std::string detail = {};  // paragraphs, each a line of its own; "\n\n" between them
  std::vector<std::string> examples = {};
  std::vector<Exit> exits = {};
  std::vector<Variable> variables = {};
  std::vector<Argument> arguments = {};
  std::vector<Command> commands = {};
  std::function<int()> run = {};  // absent: one of `commands` must be named
  // At the root: the values of a kind that this machine knows, such as the cache's repositories.
  std::function<std::vector<std::string>(Completes)> suggest = {};

  const Command* find(std::string_view command) const;
  const Argument* find_option(std::string_view option) const;  // "--output" or "-o"
};

// The meanings that these codes have everywhere, `special` has others for this command.
std::vector<Exit> exits_of(std::initializer_list<int> codes, std::vector<Exit> special = {});

// The rows of several lists in one.
std::vector<Argument> joined(std::initializer_list<std::vector<Argument>> lists);

// How a value is read into a field: false where it is no such value. Numbers are decimal and nothing else.
bool read_value(std::string& field, const std::string& text);
bool read_value(std::filesystem::path& field, const std::string& text);  // not empty
bool read_value(double& field, const std::string& text);                 // finite

template <std::integral Number>
bool read_value(Number& field, const std::string& text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
  return error == std::errc() && end == text.data() + text.size();
}

template <class T>
bool read_value(std::optional<T>& field, const std::string& text) {
  T value{};
  if (!read_value(value, text)) return false;
  field = std::move(value);
  return true;
}

template <class T>
bool read_value(std::vector<T>& field, const std::string& text) {
  return read_value(field.emplace_back(), text);
}

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

// Rows. `names` is "--output" or "-o,--output"; the field must live as long as the row.
Argument named(std::string_view names, std::string value, std::string help);
Argument flag(std::string_view names, bool& field, std::string help);

template <class Field>
Argument option(std::string_view names, std::string value, Field& field, std::string help) {
  Argument row = named(names, std::move(value), std::move(help));
  row.repeated = kIsList<Field>;
  if constexpr (std::same_as<Field, std::string>) row.fallback = field;
  if constexpr (std::same_as<Field, std::filesystem::path> ||
                std::same_as<Field, std::optional<std::filesystem::path>>) {
    row.expected = "a name";
    row.completes = Completes::path;
  }
  row.take = [&field](const std::string& text) { return read_value(field, text); };
  return row;
}

template <class Field>
Argument positional(std::string name, Field& field, std::string help) {
  return option(name, "", field, std::move(help));
}

// A whole number within bounds; the field's own value is the default that is shown, unless it is optional.
std::string whole_number_from(std::int64_t least, std::uint64_t greatest);

template <class Field>
Argument number(std::string_view names, std::string value, Field& field, std::string help,
                std::int64_t least = 0, std::uint64_t greatest = std::numeric_limits<std::int64_t>::max()) {
  Argument row = named(names, std::move(value), std::move(help));
  row.expected = whole_number_from(least, greatest);
  if constexpr (std::integral<Field>) row.fallback = std::to_string(field);
  row.take = [&field, least, greatest](const std::string& text) {
    std::int64_t small = 0;
    std::uint64_t great = 0;
    const bool fits = text.starts_with('-') ? read_value(small, text) && small >= least
                                            : read_value(great, text) && great <= greatest &&
                                                  (least < 0 || great >= static_cast<std::uint64_t>(least));
    return fits && read_value(field, text);
  };
  return row;
}

}  // namespace hf
