#include "tools/program/help.h"

#include <doctest/doctest.h>

using namespace hf;

TEST_CASE("help shows usage, ranges, defaults and examples") {
  std::string repo, file, kind;
  unsigned workers = 8;
  std::vector<std::string> globs;
  bool secret = false;
  Command get = {.name = "get",
                 .about = "Fetch a thing",
                 .detail = "More about it.",
                 .examples = {"prog get a/b"},
                 .exits = {{0, "Done"}, {3, "Not there"}},
                 .arguments = {positional("REPO", repo, "What").must(), positional("FILE", file, "Which"),
                               option("--kind", "K", kind, "Kind").of({"one", "two", "three"}),
                               option("--glob", "G", globs, "Globs"),
                               number("-w,--workers", "N", workers, "How many", 1, 256),
                               flag("--secret", secret, "Not shown").unseen()},
                 .run = [] { return 0; }};
  const Command program = {.name = "prog", .about = "Do"};
  CHECK(help_text(program, get, "prog get") ==
        "Fetch a thing.\n\n"
        "Usage: prog get [OPTIONS] REPO [FILE]\n\n"
        "More about it.\n\n"
        "Arguments:\n"
        "  REPO                  What\n"
        "  FILE                  Which\n\n"
        "Options:\n"
        "  --kind K              Kind [one, two or three]\n"
        "  --glob G              Globs [may be repeated]\n"
        "  -w, --workers N       How many [1 to 256; default: 8]\n"
        "  -h, --help            Print this text\n\n"
        "Examples:\n"
        "  prog get a/b\n\n"
        "Exit codes:\n"
        "  0                     Done\n"
        "  3                     Not there\n");
}

TEST_CASE("lines are broken at spaces, and words never") {
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("one\n\ntwo", 7) == std::vector<std::string>{"one", "", "two"});
  CHECK(wrapped("incomprehensibilities are long", 8) ==
        std::vector<std::string>{"incomprehensibilities", "are long"});
  CHECK(wrapped("", 8).empty());
}
