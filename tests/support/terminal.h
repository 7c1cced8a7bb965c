// A pseudo terminal: what a program shows to someone who looks, and the keys that they press.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/child.h"

namespace hf::test {

struct TerminalSize {
  unsigned short columns = 80, rows = 24;
};

// A screen that knows what the programs send: text, \r, \n, CSI n A (up), CSI K (erase to the line's end),
// CSI J (erase below), CSI m (colours). Text beyond the last column goes on in the next line, as on a real
// one. Anything else is an escape sequence that a program should not send: kept in unknown().
class Screen {
 public:
  explicit Screen(TerminalSize size) : size_(size), lines_(1) {}

  void feed(std::string_view bytes);
  std::vector<std::string> lines() const;  // without blanks at their ends, and without empty ones below
  const std::string& unknown() const { return unknown_; }
  std::size_t wrapped() const { return wrapped_; }  // lines that were too long

 private:
  void put(std::string_view character, std::size_t columns);
  void escape(char command, const std::string& parameters);

  TerminalSize size_;
  std::vector<std::vector<std::string>> lines_;  // of cells
  std::size_t row_ = 0, column_ = 0, wrapped_ = 0;
  std::string unknown_, pending_;
};

// Runs a program of the build's bin folder with the terminal as its three streams, and `variables` as in
// Child, with TERM=xterm. `keys` are typed once the program has shown `prompt`. `shown` is all that it wrote.
// A program that takes longer than 30 s is killed.
struct Watched {
  int code = 0;
  std::string shown;
};
Watched watch(const std::string& name, const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& variables = {}, TerminalSize size = {},
              const std::string& prompt = "", const std::string& keys = "");

}  // namespace hf::test
