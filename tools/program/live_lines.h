// Lines at the bottom of the terminal that change in place: how far work is. Each frame is one write, so that
// nothing flickers; no line is ever wider than the terminal, since one that wraps could not be taken back.
#pragma once
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hf {

struct LiveLine {
  std::string text;                            // shown escaped, cut where it is too long
  std::optional<double> share = std::nullopt;  // of a bar behind it, 0 to 1, where there is room for one
};

// On stderr, unless a test says otherwise. Not for several threads.
class LiveLines {
 public:
  explicit LiveLines(bool coloured, std::FILE* out = stderr) : coloured_(coloured), out_(out) {}
  ~LiveLines() { clear(); }
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

  void draw(const std::vector<LiveLine>& lines);        // instead of those that are there
  void leave(const std::vector<LiveLine>& lines = {});  // the same, and they stay: the next come below
  void clear();                                         // none are there

  static std::size_t rows();  // of the terminal

 private:
  std::string render(const std::vector<LiveLine>& lines, std::size_t width);
  std::string line(const LiveLine& line, std::size_t width, std::size_t& columns) const;
  std::string back_to_first(std::size_t width) const;
  void write_out(const std::string& text) { std::fwrite(text.data(), 1, text.size(), out_); }

  const bool coloured_;
  std::FILE* const out_;
  std::vector<std::size_t> columns_;  // of the lines that are drawn
};

// Whether anybody would see such lines: stderr is a terminal that is not dumb, and neither `quiet` nor
// HF_HUB_DISABLE_PROGRESS_BARS says no.
bool shows_progress(bool quiet);
bool shows_colour();  // NO_COLOR is not set

// How many columns text takes at most: one a character, two where it may be a wide one.
std::size_t columns_of(std::string_view text);

std::string clock_text(double seconds);  // "0:07", "1:02:03"

}  // namespace hf
