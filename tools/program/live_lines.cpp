#include "tools/program/live_lines.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/environment.h"
#include "base/escape.h"

namespace hf {
namespace {

constexpr std::size_t kWidestBar = 24, kLeastBar = 6;  // columns inside the brackets
constexpr unsigned char kFirstWide = 0xE1;  // lead byte of U+1000: East Asian and what comes behind

winsize size_of_terminal() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  return size;
}

// As many whole characters as fit.
std::string_view cut(std::string_view text, std::size_t width) {
  std::size_t columns = 0, at = 0;
  while (at < text.size()) {
    std::size_t next = at + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    columns += static_cast<unsigned char>(text[at]) >= kFirstWide ? 2 : 1;
    if (columns > width) break;
    at = next;
  }
  return text.substr(0, at);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) columns += byte >= kFirstWide ? 2 : 1;
  }
  return columns;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::min(seconds, 359999.0));
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

bool shows_progress(bool quiet) {
  const Environment environment = Environment::of_process();
  return !quiet && isatty(STDERR_FILENO) != 0 && environment.get("TERM") != "dumb" &&
         !environment.is_on("HF_HUB_DISABLE_PROGRESS_BARS");
}

bool shows_colour() { return !Environment::of_process().get("NO_COLOR"); }

std::size_t LiveLines::rows() { return size_of_terminal().ws_row; }

std::string LiveLines::line(const LiveLine& line, std::size_t width, std::size_t& columns) const {
  std::string out(cut(escaped(line.text, 1000), width));
  columns = columns_of(out);
  const std::size_t room = width - columns;
  if (!line.share || room < kLeastBar + 4) return out;
  const std::size_t inside = std::min(kWidestBar, room - 4);  // two blanks and the brackets
  const double share = std::clamp(*line.share, 0.0, 1.0);
  const std::string done(static_cast<std::size_t>(share * static_cast<double>(inside)), '=');
  const std::string rest(inside - done.size(), ' ');
  columns += inside + 4;
  return out + "  [" + (coloured_ ? "\033[32m" + done + "\033[0m" : done) + rest + "]";
}

// The terminal may have become narrower since: then what was drawn takes more rows.
std::string LiveLines::back_to_first(std::size_t width) const {
  std::size_t up = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t taken = std::max<std::size_t>(1, (columns_[i] + width - 1) / width);
    up += i + 1 < columns_.size() ? taken : taken - 1;  // the cursor stands at the end of the last one
  }
  return up == 0 ? "\r" : "\r\033[" + std::to_string(up) + "A";
}

std::string LiveLines::render(const std::vector<LiveLine>& lines, std::size_t width) {
  std::string frame = columns_.empty() ? "\r" : back_to_first(width);
  columns_.clear();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) frame += '\n';
    frame += line(lines[i], width - 1, columns_.emplace_back()) + "\033[K";
  }
  return frame + "\033[J";
}

void LiveLines::draw(const std::vector<LiveLine>& lines) {
  write_out(render(lines, size_of_terminal().ws_col));
}

void LiveLines::leave(const std::vector<LiveLine>& lines) {
  if (lines.empty()) return clear();
  write_out(render(lines, size_of_terminal().ws_col) + "\n");
  columns_.clear();
}

void LiveLines::clear() {
  if (columns_.empty()) return;
  write_out(back_to_first(size_of_terminal().ws_col) + "\033[J");
  columns_.clear();
}

}  // namespace hf
