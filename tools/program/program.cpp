#include "tools/program/program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

void on_signal(int signal) {
  caught_signal = signal;
  request_interrupt();
}

// The handler is taken away after its first call: whoever insists is obeyed at once. Calls are not restarted,
// so that waiting for input or the network ends too. Writing into a closed pipe is a result, not a death.
void install_handlers() {
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN)
      continue;  // as nohup and shells want it
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int complain(std::string_view name, std::string_view message, int code) {
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(message.size()), message.data());
  return code;
}

int run_body(std::string_view name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    return complain(name, error.what(), exit_code_of(error));
  } catch (const std::bad_alloc&) {
    return complain(name, "out of memory", exit_code(ErrorKind::internal));
  } catch (const std::exception& error) {
    return complain(name, std::string("internal error: ") + error.what(), exit_code(ErrorKind::internal));
  }
}

int output_error = 0;  // errno of the first write to standard output that failed

// Buffered output reaches the disk or the pipe only now: a full disk must not look like success.
int close_output(std::string_view name, int code) {
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
  if (output_error == 0) return code;
  if (output_error == EPIPE) return code == 0 ? 128 + SIGPIPE : code;
  complain(name, system_error("standard output", output_error).what(), 0);
  return code == 0 ? exit_code(ErrorKind::io) : code;
}

// Shown width, near enough: code points.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

int exit_code_of(const Error& error) {
  const bool by_signal = error.kind() == ErrorKind::interrupted && caught_signal != 0;
  return by_signal ? 128 + caught_signal : exit_code(error.kind());
}

int run_program(std::string_view name, const std::function<int()>& body) {
  install_handlers();
  return close_output(name, run_body(name, body));
}

std::string_view program_version() { return HF_VERSION; }

std::string human_size(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  constexpr std::array<std::string_view, 6> kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ", value);
  return text.data() + std::string(kUnits[unit]);
}

std::string format_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].push_back(column.title);
  for (const auto& row : rows) {
    auto& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(escaped(cell, cell.size()));
  }
  std::vector<std::size_t> widths(columns.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));

  std::string out;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string gap(widths[i] - width(line[i]), ' ');
      if (i != 0) out += "  ";
      out += columns[i].align == Column::Align::right ? gap + line[i] : line[i] + gap;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

void print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && output_error == 0)
    output_error = errno;
}

void print_json(const nlohmann::ordered_json& value) {
  print_out(value.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
  print_out("\n");
}

void print_json_line(const nlohmann::ordered_json& value) {
  print_out(value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
  print_out("\n");
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
}

}  // namespace hf
