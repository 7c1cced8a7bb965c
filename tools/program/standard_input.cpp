#include "tools/program/standard_input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/progress.h"

namespace hf {

namespace {

// A signal that comes just before read() would not end it: it is waited in small steps.
void wait_for_input() {
  constexpr int kStepMs = 100;
  pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  do {
    check_interrupted();
  } while (poll(&ready, 1, kStepMs) <= 0);
}

}  // namespace

std::string read_standard_input(std::size_t limit, Until until) {
  std::string text;
  while (text.size() <= limit) {
    const std::size_t before = text.size();
    wait_for_input();
    text.resize(before + (until == Until::end ? 64 << 10 : 1));
    const ssize_t got = read(STDIN_FILENO, text.data() + before, text.size() - before);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) throw system_error("standard input", errno);
    if (got == 0) return text;
    if (until == Until::line_end && text.ends_with('\n')) return text;
  }
  throw Error(ErrorKind::usage, "standard input: has more than " + std::to_string(limit) + " bytes");
}

}  // namespace hf
