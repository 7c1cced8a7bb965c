#include "tools/program/command_line.h"

#include <doctest/doctest.h>

#include <memory>

#include "base/error.h"

using namespace hf;

namespace {

struct Seen {
  std::string repo, revision = "main", kind;
  std::vector<std::string> files, globs;
  std::optional<std::filesystem::path> output;
  bool json = false, quiet = false;
  unsigned workers = 8;
  std::int64_t offset = 0;
  double ratio = 0;
  std::string ran;
};

Command program_over(Seen& seen) {
  const auto mark = [&seen](const char* name) { return [&seen, name] { return seen.ran = name, 7; }; };
  Command get = {
      .name = "get",
      .about = "Fetch",
      .arguments = {positional("REPO", seen.repo, "What").must(), positional("FILE", seen.files, "Which"),
                    option("--revision", "R", seen.revision, "Revision"),
                    option("--kind", "K", seen.kind, "Kind").of({"one", "other"}),
                    option("--glob", "G", seen.globs, "Globs"),
                    option("-o,--output", "DIR", seen.output, "Where"), flag("--json", seen.json, "JSON"),
                    flag("-q,--quiet", seen.quiet, "Quiet"),
                    number("--workers", "N", seen.workers, "How many", 1, 256),
                    number("--offset", "N", seen.offset, "Where", -5, 5),
                    option("--ratio", "X", seen.ratio, "Ratio")},
      .run = mark("get")};
  for (Argument& row : get.arguments)
    if (row.name == "--ratio") row.expected = "a number";
  Command in = {.name = "in", .about = "Log in", .run = mark("token in")};
  return {
      .name = "prog",
      .about = "Do",
      .commands = {std::move(get),
                   {.name = "token", .about = "Tokens", .commands = {std::move(in)}, .run = mark("token")}}};
}

int parse(Seen& seen, const std::vector<std::string>& words) {
  const Command program = program_over(seen);
  return parse_command_line(program, words)();
}

// The message, its hint checked and cut off; empty where nothing is wrong.
std::string complaint(const std::vector<std::string>& words, const std::string& hint = "prog get") {
  Seen seen;
  const Command program = program_over(seen);
  try {
    parse_command_line(program, words);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    const std::string text = error.what(), tail = "\nSee `" + hint + " --help`.";
    CHECK(text.ends_with(tail));
    return text.substr(0, text.size() - tail.size());
  }
  return "";
}

}  // namespace

TEST_CASE("options stand anywhere after their command, in each spelling") {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"get", "--revision", "v2", "-o", "out", "-q", "--json", "a/b", "x", "y"},
           {"get", "a/b", "--revision=v2", "-oout", "x", "-q", "y", "--json"},
           {"get", "a/b", "x", "y", "-qoout", "--json", "--revision=v2"},
           {"get", "-qo", "out", "--json", "--revision=v2", "--", "a/b", "x", "y"}}) {
    Seen seen;
    CHECK(parse(seen, words) == 7);
    CHECK(seen.ran == "get");
    CHECK(seen.repo == "a/b");
    CHECK(seen.files == std::vector<std::string>{"x", "y"});
    CHECK(seen.revision == "v2");
    CHECK(seen.output == "out");
    CHECK((seen.quiet && seen.json));
  }
}

TEST_CASE("values are taken as they are written") {
  Seen seen;
  parse(seen, {"get", "--", "-r", "[a,b]", "--json", "-"});
  CHECK(seen.repo == "-r");
  CHECK(seen.files == std::vector<std::string>{"[a,b]", "--json", "-"});
  CHECK_FALSE(seen.json);
  Seen globs;
  parse(globs, {"get", "r", "--glob", "[a,b]", "--glob", "-x*", "--glob=", "--glob=a=b"});
  CHECK(globs.globs == std::vector<std::string>{"[a,b]", "-x*", "", "a=b"});
  Seen revision;
  parse(revision, {"get", "r", "--revision=--json", "--offset", "-5"});
  CHECK(revision.revision == "--json");
  CHECK(revision.offset == -5);
}

TEST_CASE("commands have commands, and a command's name is a value where no command can be") {
  Seen seen;
  parse(seen, {"token", "in"});
  CHECK(seen.ran == "token in");
  parse(seen, {"token"});
  CHECK(seen.ran == "token");
  parse(seen, {"get", "get"});
  CHECK(seen.repo == "get");
}

TEST_CASE("what is wrong is named before what is missing") {
  CHECK(complaint({}, "prog") == "a command is expected: get, token");
  CHECK(complaint({"gte"}, "prog") == "\"gte\": is no command of prog, did you mean get?");
  CHECK(complaint({"something-else"}, "prog") == "\"something-else\": is no command of prog");
  CHECK(complaint({"--json", "get"}, "prog") == "--json: is no option of prog");
  CHECK(complaint({"get", "--revison", "x"}) ==
        "--revison: is no option of prog get, did you mean --revision?");
  CHECK(complaint({"get", "-qx", "r"}) == "-qx: is no option of prog get");
  CHECK(complaint({"get", "--\x1b[2J=1"}) == "--\\x1b[2J: is no option of prog get");
  CHECK(complaint({"get", "--json"}) == "REPO: is missing");
  CHECK(complaint({"token", "in", "x"}, "prog token in") ==
        "\"x\": is one argument too many for prog token in");
  CHECK(complaint({"token", "out"}, "prog token") == "\"out\": is one argument too many for prog token");
}

TEST_CASE("a value that does not fit is shown with what does") {
  const auto value = [](const std::string& option, const std::string& text) {
    return complaint({"get", "r", option, text});
  };
  for (const char* text :
       {"0", "257", "-1", "1.5", "0x10", "1e2", " 1", "1 ", "", "+1", "99999999999999999999"})
    CHECK(value("--workers", text) ==
          "--workers: is \"" + std::string(text) + "\", a whole number from 1 to 256 is expected");
  CHECK(value("--workers", "256").empty());
  CHECK(value("--offset", "-6") == "--offset: is \"-6\", a whole number from -5 to 5 is expected");
  CHECK(value("--kind", "neither") == "--kind: is \"neither\", one or other is expected");
  CHECK(value("--ratio", "nan") == "--ratio: is \"nan\", a number is expected");
  CHECK(value("--ratio", "0.5").empty());
  CHECK(value("-o", "") == "--output: is \"\", a name is expected");
  CHECK(complaint({"get", "r", "--output="}) == "--output: is \"\", a name is expected");
}

TEST_CASE("a forgotten value, a value too many, an option twice") {
  CHECK(complaint({"get", "r", "--revision"}) == "--revision: a value is expected (R)");
  CHECK(complaint({"get", "r", "-o"}) == "-o: a value is expected (DIR)");
  CHECK(
      complaint({"get", "r", "--revision", "--json"}) ==
      "--revision: a value is expected (R), --json is an option; --revision=--json would take it as a value");
  CHECK(complaint({"get", "r", "--json=yes"}) == "--json: takes no value");
  CHECK(complaint({"get", "r", "--revision", "a", "--revision", "b"}) == "--revision: is given twice");
  CHECK(complaint({"get", "r", "--json", "--json"}).empty());
}

TEST_CASE("help is given wherever it is asked for, and not inside of values") {
  Seen seen;
  const Command program = program_over(seen);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"get", "--help"}, {"get", "r", "-h"}, {"--help"}, {"--version"}})
    CHECK(parse_command_line(program, words));
  CHECK(complaint({"get", "r", "--revision", "--help"}).starts_with("--revision: a value is expected"));
  CHECK(complaint({"get", "--version"}) == "--version: is no option of prog get, did you mean --revision?");
  parse(seen, {"get", "--", "--help"});
  CHECK(seen.repo == "--help");
}
