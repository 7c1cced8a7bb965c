// Manual pages and completion of the programs themselves: all that --help shows stands in them, and the tools
// that read them have nothing to complain of.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "support/child.h"
#include "support/skip.h"
#include "support/temp_dir.h"

namespace fs = std::filesystem;
using namespace hf::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The first words of a section's entries in the text of --help: "--json", "download".
std::vector<std::string> entries(const std::string& help, const std::string& section) {
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string& line : lines_of(help)) {
    if (!line.starts_with(' ')) inside = line == section + ":";
    if (!inside || !line.starts_with("  ") || line[2] == ' ') continue;
    std::string word = line.substr(2, line.find("  ", 2) - 2);
    if (const std::size_t comma = word.find(", "); comma != std::string::npos) word = word.substr(comma + 2);
    out.push_back(word.substr(0, word.find(' ')));
  }
  return out;
}

// Each command of a program as the words that call it.
void collect(const std::string& program, std::vector<std::string> words,
             std::vector<std::vector<std::string>>& out) {
  out.push_back(words);
  std::vector<std::string> asked = words;
  asked.push_back("--help");
  for (const std::string& command : entries(run(program, asked).out, "Commands")) {
    std::vector<std::string> next = words;
    next.push_back(command);
    collect(program, std::move(next), out);
  }
}

std::vector<std::vector<std::string>> commands_of(const std::string& program) {
  std::vector<std::vector<std::string>> out;
  collect(program, {}, out);
  return out;
}

std::string without_backslashes(std::string text) {
  std::erase(text, '\\');
  return text;
}

const char* const kPrograms[] = {"hfcache", "hfconvert", "hfvalidate"};

// What bash offers for a line of words whose last one is being written.
std::vector<std::string> bash_offers(const std::string& script, const std::vector<std::string>& words,
                                     const std::map<std::string, std::string>& variables = {}) {
  std::vector<std::string> arguments = {
      "--norc",
      "-c",
      "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _hfcache; printf '%s\\n' "
      "\"${COMPREPLY[@]}\"",
      "bash",
      script,
      std::string(HF_PROGRAM_DIR) + "/hfcache"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Ended ended = run("/bin/bash", arguments, variables);
  CHECK(ended.err.empty());
  std::vector<std::string> lines = lines_of(ended.out);
  std::erase(lines, "");
  std::sort(lines.begin(), lines.end());
  return lines;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("manual pages name each option of --help") {
  for (const char* program : kPrograms) {
    for (const Words& words : commands_of(program)) {
      Words help = words, man = {"man"};
      help.push_back("--help");
      man.insert(man.end(), words.begin(), words.end());
      const std::string page = without_backslashes(run(program, man).out), text = run(program, help).out;
      CHECK(page.starts_with(".TH "));
      for (const char* section : {"Options", "Arguments", "Commands", "Exit codes", "Variables"})
        for (const std::string& entry : entries(text, section)) {
          CAPTURE(entry);
          CHECK(page.find(entry + "fR") != std::string::npos);
        }
    }
  }
}

TEST_CASE("groff has nothing to complain of in any page") {
  if (!fs::exists("/usr/bin/groff")) return skip("groff is not installed");
  const TempDir dir;
  for (const char* program : kPrograms) {
    CHECK(run(program, {"man", "--output", dir / program}).code == 0);
    std::size_t pages = 0;
    for (const auto& entry : fs::directory_iterator(dir / program)) {
      const Ended ended = run("/usr/bin/groff", {"-man", "-ww", "-Tutf8", entry.path()});
      CHECK(ended.code == 0);
      CHECK(ended.err.empty());
      CHECK(ended.out.size() > 300);
      ++pages;
    }
    CHECK(pages == commands_of(program).size());
  }
  CHECK(fs::exists(dir / "hfcache/hfcache.1"));
  CHECK(fs::exists(dir / "hfcache/hfcache-download.1"));
}

TEST_CASE("completion of each shell knows each option of --help") {
  for (const char* program : kPrograms) {
    const std::string bash = run(program, {"completion", "bash"}).out,
                      zsh = run(program, {"completion", "zsh"}).out,
                      fish = run(program, {"completion", "fish"}).out;
    for (const Words& words : commands_of(program)) {
      Words help = words;
      help.push_back("--help");
      const std::string text = run(program, help).out;
      for (const std::string& option : entries(text, "Options")) {
        CAPTURE(option);
        CHECK(bash.find(option) != std::string::npos);
        CHECK(zsh.find(option) != std::string::npos);
        CHECK(fish.find(" -l " + option.substr(2)) != std::string::npos);
      }
      for (const std::string& command : entries(text, "Commands")) {
        CAPTURE(command);
        CHECK(bash.find(command) != std::string::npos);
        CHECK(zsh.find("'" + command + ":") != std::string::npos);
        CHECK(fish.find(" -a " + command + " ") != std::string::npos);
      }
    }
  }
}

TEST_CASE("bash completes commands, options, choices, files and what the cache has") {
  if (!fs::exists("/bin/bash")) return skip("bash is not installed");
  const TempDir dir;
  const std::string script = dir / "script";
  std::ofstream(script) << run("hfcache", {"completion", "bash"}).out;
  CHECK(run("/bin/bash", {"-n", script}).code == 0);
  fs::create_directories(dir / "cache/models--acme--tiny");
  fs::create_directories(dir / "cache/datasets--acme--rows");
  fs::create_directories(dir / "a folder");
  std::ofstream(dir / "a file") << "x";
  const std::map<std::string, std::string> cache = {{"HF_HUB_CACHE", dir / "cache"}};

  CHECK(bash_offers(script, {"dow"}) == Words{"download"});
  CHECK(bash_offers(script, {"download", "x", "--re"}) == Words{"--ref", "--repo-type", "--revision"});
  CHECK(bash_offers(script, {"download", "--repo-type", ""}) == Words{"dataset", "model", "space"});
  CHECK(bash_offers(script, {"download", "--repo-type", "=", "d"}) == Words{"dataset"});
  CHECK(bash_offers(script, {"download", "--repo-type", "="}) == Words{"dataset", "model", "space"});
  CHECK(bash_offers(script, {"download", ""}, cache) == Words{"acme/tiny", "datasets/acme/rows"});
  CHECK(bash_offers(script, {"download", "-q", "--revision", "x", "ac"}, cache) == Words{"acme/tiny"});
  CHECK(bash_offers(script, {"download", "acme/tiny", ""}, cache).empty());
  CHECK(bash_offers(script, {"download", "--token-file", dir / "a f"}) ==
        Words{dir / "a file", dir / "a folder"});
  CHECK(bash_offers(script, {"ls", "--cache-dir", dir / "a f"}) == Words{dir / "a folder"});
  CHECK(bash_offers(script, {"man", "down"}) == Words{"download"});
}

TEST_CASE("an unknown shell or page is a usage error") {
  CHECK(run("hfcache", {"completion", "csh"}).code == 2);
  CHECK(run("hfcache", {"completion"}).code == 2);
  CHECK(run("hfcache", {"man", "none"}).code == 2);
  CHECK(run("hfcache", {"man", "--output", "/proc/none"}).code == 8);
}
