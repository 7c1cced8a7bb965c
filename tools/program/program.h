// What the three programs share: one place where errors become messages and exit codes, a progress line on
// the terminal, tables and sizes as people read them.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/progress.h"

namespace hf {

// Runs `body` and returns what main() returns: body's own value, or, after `name: message` on stderr, the
// exit code of the Error that left it (70 for any other exception). SIGINT and SIGTERM ask the body to stop
// (check_interrupted(); a second one kills) and end in 130 and 143. A reader that closed the pipe ends the
// program silently with 141; any other failure to write standard output is an I/O error.
//
//   int main(int argc, char** argv) {
//     return hf::run_program("hfcache", [&] { return parse_and_run(argc, argv); });
//   }
int run_program(std::string_view name, const std::function<int()>& body);

// The project's version, "0.1.0".
std::string_view program_version();

// A line on stderr that shows how far the work is, or no_progress() where nobody would see it: `quiet`,
// stderr is not a terminal (or a dumb one), or HF_HUB_DISABLE_PROGRESS_BARS is set to a true value. NO_COLOR
// takes the colour away. Amounts are shown as bytes, unless the label ends in a unit in brackets: "compare
// [layers]".
Progress& terminal_progress(bool quiet);

// A check for options of CLI11 that name a file: "" would be taken for an option that is absent.
inline std::string not_empty(const std::string& value) {
  return value.empty() ? "is empty, a name is expected" : std::string();
}

// 87314 -> "87.3 kB", decimal units as the Hub shows them.
std::string human_size(std::uint64_t bytes);

struct Column {
  std::string title;
  enum class Align { left, right } align = Align::left;
};

// Rows under their titles, columns two spaces apart, no spaces at line ends. Cells are shown escaped(); a row
// has one cell a column.
std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows);

// Text and JSON for standard output. JSON is indented, ASCII only (what is not is \u-escaped, so that no byte
// of a stranger reaches the terminal) and ends in a newline.
void print_out(std::string_view text);
void print_json(const nlohmann::ordered_json& value);
void print_json_line(const nlohmann::ordered_json& value);  // on one line, written at once

int exit_code_of(const Error& error);  // what the program would end with: 143 where SIGTERM interrupted it

}  // namespace hf
