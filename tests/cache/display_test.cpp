// What a download shows on a terminal, recorded from a pseudo terminal.
#include <algorithm>

#include "cache/loopback.h"
#include "support/terminal.h"

using namespace hf;
using namespace hf::test;

namespace {

// A repository with a file that is large enough to be shown, served slowly enough to be seen.
class Slow {
 public:
  Slow() {
    put(loopback_.root() / "acme/slow/config.json", "{}");
    put(loopback_.root() / "acme/slow/weights.safetensors", noise(3 << 20, 9));
    loopback_.hub().forget();
  }
  FaultHub& hub() { return loopback_.hub(); }
  Watched watch(std::vector<std::string> words, std::map<std::string, std::string> variables = {},
                TerminalSize size = {}) {
    words.insert(words.begin(), "download");
    words.emplace_back("--limit-rate");
    words.emplace_back("4M");
    variables.emplace("HF_ENDPOINT", loopback_.hub().url());
    variables.emplace("HF_HUB_CACHE", loopback_.cache_root().string());
    return test::watch("hfcache", words, variables, size);
  }

 private:
  Loopback loopback_;
};

std::vector<std::string> screen_after(const Watched& watched, TerminalSize size = {}) {
  Screen screen(size);
  screen.feed(watched.shown);
  CHECK(screen.unknown().empty());
  CHECK(screen.wrapped() == 0);
  return screen.lines();
}

// The most lines that stood on the screen at once, looked at after each frame.
std::vector<std::string> fullest(const Watched& watched, TerminalSize size = {}) {
  Screen screen(size);
  std::vector<std::string> best;
  std::size_t at = 0;
  while (at < watched.shown.size()) {
    const std::size_t frame = std::min(watched.shown.find("\033[J", at), watched.shown.size() - 1) + 1;
    screen.feed(std::string_view(watched.shown).substr(at, frame - at));
    at = frame;
    if (screen.lines().size() > best.size()) best = screen.lines();
  }
  return best;
}

}  // namespace

TEST_CASE("On a terminal all of a download and its large files are shown, and the path stays") {
  Slow slow;
  const TerminalSize wide{.columns = 400};  // the path that is printed at the end fits as well
  const Watched watched = slow.watch({"acme/slow"}, {}, wide);
  CHECK(watched.code == 0);
  const std::vector<std::string> during = fullest(watched, wide);
  REQUIRE(during.size() >= 2);
  CHECK(during[0].starts_with("acme/slow  "));
  CHECK(during[0].find("/2 files  ") != std::string::npos);
  CHECK(during[0].find(" of 3.1 MB") != std::string::npos);
  CHECK(during[1].starts_with("  weights.safetensors  "));
  CHECK(during[1].ends_with("]"));
  CHECK(watched.shown.find("\033[32m") != std::string::npos);
  const std::vector<std::string> after = screen_after(watched, wide);
  REQUIRE(after.size() == 2);  // nothing of the display but its last line
  CHECK(after[0].starts_with("acme/slow  2 files  3.1 MB in 0:0"));
  CHECK(after[1].find("/snapshots/") != std::string::npos);
}

TEST_CASE("Nothing of a frame is wider than a narrow terminal") {
  Slow slow;
  const TerminalSize narrow{.columns = 30, .rows = 10};
  const Watched watched = slow.watch({"acme/slow", "--json"}, {}, narrow);
  CHECK(watched.code == 0);
  Screen wide({.columns = 10000, .rows = 10});  // where a line would wrap it is still seen to be longer
  std::size_t at = 0;
  while ((at = watched.shown.find("\033[K", at)) != std::string::npos) {
    const std::size_t begin = watched.shown.find_last_of("\r\n", at) + 1;
    std::string line = watched.shown.substr(begin, at - begin);
    while (line.find('\033') != std::string::npos)
      line.erase(line.find('\033'), line.find_first_of("mA", line.find('\033')) + 1 - line.find('\033'));
    CHECK(line.size() <= 29);
    at += 3;
  }
}

TEST_CASE("NO_COLOR, a dumb terminal, --quiet and HF_HUB_DISABLE_PROGRESS_BARS are heeded") {
  Slow slow;
  const Watched plain = slow.watch({"acme/slow"}, {{"NO_COLOR", "1"}});
  CHECK(plain.shown.find("\033[32m") == std::string::npos);
  CHECK(plain.shown.find("[=") != std::string::npos);
  const std::map<std::string, std::string> none[] = {{{"TERM", "dumb"}},
                                                     {{"HF_HUB_DISABLE_PROGRESS_BARS", "1"}}};
  for (const auto& variables : none) {
    const Watched silent = slow.watch({"acme/slow", "--force-download"}, variables);
    CHECK(silent.code == 0);
    CHECK(silent.shown.find('\033') == std::string::npos);
    CHECK(silent.shown.find("acme/slow  ") == std::string::npos);
  }
  CHECK(slow.watch({"acme/slow", "--force-download", "-q"}).shown.find('\033') == std::string::npos);
}

TEST_CASE("What a server asks to wait is shown") {
  Slow slow;
  slow.hub().order(
      {.kind = FaultKind::status, .target = "/resolve/", .status = 429, .header = "Retry-After: 2"});
  const Watched watched = slow.watch({"acme/slow"});
  CHECK(watched.code == 0);
  CHECK(watched.shown.find("the server asks to wait, ") != std::string::npos);
}

TEST_CASE("An error stands on a line of its own below nothing") {
  Slow slow;
  slow.hub().order({.kind = FaultKind::wrong_content, .target = "weights", .times = -1});
  const Watched watched = slow.watch({"acme/slow"});
  CHECK(watched.code == 6);
  const std::vector<std::string> after = screen_after(watched, {.columns = 400});
  REQUIRE_FALSE(after.empty());
  CHECK(after[0].starts_with("hfcache: "));
}

TEST_CASE("A token that is typed is not shown") {
  Loopback loopback;
  TempDir home;
  const std::map<std::string, std::string> variables = {{"HF_ENDPOINT", loopback.hub().url()},
                                                        {"HF_HOME", (home / "h").string()}};
  const Watched typed =
      watch("hfcache", {"token", "login"}, variables, {}, "Token (it is not shown): ", "hf_typed\n");
  CHECK(typed.code == 0);
  CHECK(typed.shown.find("hf_typed") == std::string::npos);
  CHECK(read_text(home / "h/token") == "hf_typed");
  const Watched stopped = watch("hfcache", {"token", "login"}, variables, {}, "Token", "hf_\x03");
  CHECK(stopped.code == 130);
  CHECK(stopped.shown.find("hf_") == std::string::npos);
}
