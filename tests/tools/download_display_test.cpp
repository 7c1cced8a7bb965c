#include "tools/hfcache/download_display.h"

#include <doctest/doctest.h>

using namespace hf;
using namespace hf::cache;

namespace {

using namespace std::chrono_literals;

TreeFile file(const std::string& path, std::uint64_t size) {
  TreeFile out;
  out.path = path;
  out.size = size;
  out.git_oid = std::string(40, 'a' + static_cast<char>(path.size() % 6));
  return out;
}

// A display over a clock that is set by hand. It draws nowhere: what it would draw is asked for.
class Shown {
 public:
  explicit Shown(std::vector<TreeFile> files) {
    for (TreeFile& one : files) plan.files.push_back({std::move(one), FileState::missing, 0});
    display.begin("acme/x", plan);
  }
  ~Shown() {
    lines.clear();
    std::fclose(nowhere);
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  std::vector<std::string> text(std::size_t rows = 24) const {
    std::vector<std::string> out;
    for (const LiveLine& line : display.frame(rows)) out.push_back(line.text);
    return out;
  }
  const TreeFile& operator[](std::size_t i) const { return plan.files[i].file; }

  DownloadDisplay::Clock::time_point now{100s};
  DownloadPlan plan;
  std::FILE* nowhere = std::fopen("/dev/null", "w");
  LiveLines lines{false, nowhere};
  DownloadDisplay display{lines, [this] { return now; }};
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a line for all of it, and one for each large file that is under way") {
  Shown shown({file("a.json", 1000), file("b.bin", 4'000'000), file("long-name.bin", 8'000'000)});
  CHECK(shown.text() == Lines{"acme/x  0/3 files  0 B of 12.0 MB"});
  shown.display.file_started(shown[0], 0);
  shown.display.file_started(shown[1], 0);
  shown.display.file_started(shown[2], 0);
  shown.now += 1s;
  shown.display.advanced(shown[1], 2'000'000);
  CHECK(shown.text() == Lines{"acme/x  0/3 files  2.0 MB of 12.0 MB  2.0 MB/s  0:05 left",
                              "  b.bin  2.0 MB of 4.0 MB", "  long-name.bin  0 B of 8.0 MB"});
  CHECK(shown.display.frame(24)[1].share == 0.5);
  shown.display.advanced(shown[1], 2'000'000);
  shown.display.file_done(shown[1], "");
  shown.display.file_done(shown[0], "");
  CHECK(shown.text()[0].starts_with("acme/x  2/3 files  4.0 MB of 12.0 MB"));
  CHECK(shown.text().size() == 2);
}

TEST_CASE("a small terminal shows fewer files, the smallest none") {
  std::vector<TreeFile> files;
  for (int i = 0; i < 20; ++i) files.push_back(file("f" + std::to_string(i), 2'000'000));
  Shown shown(files);
  for (std::size_t i = 0; i < files.size(); ++i) shown.display.file_started(shown[i], 0);
  CHECK(shown.text(24).size() == 9);
  CHECK(shown.text(8).size() == 5);
  CHECK(shown.text(4).size() == 1);
}

TEST_CASE("what is waited for counts down, the longest wait of several") {
  Shown shown({file("b.bin", 4'000'000)});
  shown.display.retrying(nullptr, 55s, "HTTP 429");
  shown.display.retrying(&shown[0], 2s, "HTTP 503");
  CHECK(shown.text()[1] == "  acme/x: the server asks to wait, 55 s more");
  shown.now += 30s;
  CHECK(shown.text()[1] == "  acme/x: the server asks to wait, 25 s more");
  shown.now += 26s;
  shown.display.tick();
  CHECK(shown.text().size() == 1);
  shown.display.retrying(&shown[0], 1500ms, "b.bin: HTTP 503");
  CHECK(shown.text()[1] == "  b.bin: HTTP 503, again in 2 s");
}

TEST_CASE("what is lost is taken back, and a resumed file begins where it was") {
  Shown shown({file("b.bin", 4'000'000)});
  shown.display.file_started(shown[0], 1'000'000);
  CHECK(shown.text()[1] == "  b.bin  1.0 MB of 4.0 MB");
  shown.display.advanced(shown[0], 500'000);
  shown.display.file_restarted(shown[0], 500'000, "another identity");
  CHECK(shown.text()[0].starts_with("acme/x  0/1 files  0 B of"));
}

TEST_CASE("the speed is that of the last seconds") {
  Shown shown({file("b.bin", 4'000'000'000)});
  for (int i = 0; i < 40; ++i) {
    shown.now += 500ms;
    shown.display.advanced(shown[0], 50'000'000);
  }
  for (int i = 0; i < 20; ++i) {
    shown.now += 500ms;
    shown.display.advanced(shown[0], 1'000'000);
  }
  CHECK(shown.text()[0].find("  2.0 MB/s") != std::string::npos);
}

TEST_CASE("widths and times") {
  CHECK(columns_of("abc") == 3);
  CHECK(columns_of("\xc3\xa9") == 1);
  CHECK(columns_of("\xe6\xbc\xa2\xe5\xad\x97") == 4);
  CHECK(columns_of("\xf0\x9f\x98\x80") == 2);
  CHECK(clock_text(7.9) == "0:07");
  CHECK(clock_text(3723) == "1:02:03");
  CHECK(clock_text(1e12) == "99:59:59");
}
