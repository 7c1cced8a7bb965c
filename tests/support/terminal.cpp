#include "support/terminal.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace hf::test {
namespace {

std::size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

void Screen::put(std::string_view character, std::size_t columns) {
  if (column_ + columns > size_.columns) {
    ++wrapped_;
    ++row_;
    column_ = 0;
  }
  if (row_ >= lines_.size()) lines_.resize(row_ + 1);
  auto& line = lines_[row_];
  if (line.size() < column_ + columns) line.resize(column_ + columns, " ");
  line[column_] = character;
  for (std::size_t i = 1; i < columns; ++i) line[column_ + i] = "";
  column_ += columns;
}

void Screen::escape(char command, const std::string& parameters) {
  if (command == 'm') return;
  if (row_ >= lines_.size()) lines_.resize(row_ + 1);
  if (command == 'A' && !parameters.empty()) {
    row_ -= std::min<std::size_t>(row_, std::strtoul(parameters.c_str(), nullptr, 10));
  } else if ((command == 'K' || command == 'J') && parameters.empty()) {
    lines_[row_].resize(std::min(lines_[row_].size(), column_));
    if (command == 'J') lines_.resize(row_ + 1);
  } else {
    unknown_ += parameters + command + " ";
  }
}

void Screen::feed(std::string_view bytes) {
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const char c = pending_[at];
    std::size_t length = bytes_of_character(c);
    if (c == '\033') {
      const std::size_t end = pending_.find_first_not_of("[0123456789;?", at + 1);
      if (end == std::string::npos) break;
      escape(pending_[end], pending_.substr(at + 2, end - at - 2));
      length = end + 1 - at;
    } else if (at + length > pending_.size()) {
      break;
    } else if (c == '\r') {
      column_ = 0;
    } else if (c == '\n') {
      ++row_;
      if (row_ >= lines_.size()) lines_.resize(row_ + 1);
    } else {
      put(std::string_view(pending_).substr(at, length), length >= 3 ? 2 : 1);
    }
    at += length;
  }
  pending_.erase(0, at);
}

std::vector<std::string> Screen::lines() const {
  std::vector<std::string> out;
  for (const auto& cells : lines_) {
    std::string& line = out.emplace_back();
    for (const std::string& cell : cells) line += cell;
    line.erase(line.find_last_not_of(' ') + 1);
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

Watched watch(const std::string& name, const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& variables, TerminalSize size,
              const std::string& prompt, const std::string& keys) {
  winsize window{};
  window.ws_col = size.columns;
  window.ws_row = size.rows;
  std::vector<std::string> words = {std::string(HF_PROGRAM_DIR) + "/" + name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "no_proxy=127.0.0.1"};
  if (!variables.contains("TERM")) environment.push_back("TERM=xterm");
  for (const auto& [key, value] : variables) environment.push_back(key + "=" + value);
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& entry : environment) envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &window);
  if (child < 0) throw std::runtime_error("no pseudo terminal");
  if (child == 0) {
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  Watched watched;
  bool typed = keys.empty();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  char buffer[4096];
  while (true) {
    pollfd ready{.fd = terminal, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 100) > 0) {
      const ssize_t got = read(terminal, buffer, sizeof buffer);
      if (got <= 0) break;  // EIO: the program has gone
      watched.shown.append(buffer, static_cast<std::size_t>(got));
    }
    if (!typed && watched.shown.find(prompt) != std::string::npos) {
      typed = write(terminal, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size());
    }
    if (std::chrono::steady_clock::now() > deadline) kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  watched.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return watched;
}

}  // namespace hf::test
