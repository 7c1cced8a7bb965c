#include "base/environment.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

TEST_CASE("An empty variable counts as not set") {
  const Environment environment(Environment::Values{{"A", ""}, {"B", "b"}});
  CHECK_FALSE(environment.get("A"));
  CHECK_FALSE(environment.get("C"));
  CHECK(environment.first_of({"A", "C", "B"}) == "b");
  CHECK_FALSE(environment.first_of({"A", "C"}));
}

TEST_CASE("Switches are on as in huggingface_hub") {
  const Environment environment(
      {{"A", "1"}, {"B", "yes"}, {"C", "True"}, {"D", "oN"}, {"E", "0"}, {"F", "2"}});
  for (const char* on : {"A", "B", "C", "D"}) CHECK(environment.is_on(on));
  for (const char* off : {"E", "F", "G"}) CHECK_FALSE(environment.is_on(off));
}

TEST_CASE("Seconds are whole numbers") {
  const Environment environment(
      {{"A", "30"}, {"B", "3.5"}, {"C", "0"}, {"D", "10s"}, {"E", "-1"}, {"F", "86401"}});
  CHECK(environment.seconds("A", 10) == 30);
  CHECK(environment.seconds("Z", 10) == 10);
  for (const char* wrong : {"B", "C", "D", "E", "F"}) {
    const Caught caught = error_of([&] { environment.seconds(wrong, 10); });
    CHECK(caught == ErrorKind::usage);
    CHECK(caught.says(wrong));
  }
}

TEST_CASE("Paths are expanded as a shell does") {
  const Environment environment(Environment::Values{{"HOME", "/home/ann"}, {"A", "x"}, {"EMPTY", ""}});
  const auto expanded = [&](const char* path) { return environment.expand(path).string(); };
  CHECK(expanded("~/cache") == "/home/ann/cache");
  CHECK(expanded("~") == "/home/ann");
  CHECK(expanded("/a/~/b") == "/a/~/b");
  CHECK(expanded("~root/x") == "/root/x");
  CHECK(expanded("~no_such_user_here/x") == "~no_such_user_here/x");
  CHECK(expanded("$A/$A") == "x/x");
  CHECK(expanded("${A}y/$EMPTY.") == "xy/.");
  CHECK(expanded("$UNKNOWN/${UNKNOWN}/$") == "$UNKNOWN/${UNKNOWN}/$");
  CHECK(expanded("${A") == "${A");
  CHECK(expanded("") == "");
}

TEST_CASE("The process's own variables are seen") {
  setenv("HF_TEST_VARIABLE", "a=b", 1);
  CHECK(Environment::of_process().get("HF_TEST_VARIABLE") == "a=b");
}
