#include "cache/hub/credentials.h"

#include <doctest/doctest.h>

#include "base/file.h"
#include "support/error_of.h"
#include "support/temp_dir.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("The endpoint loses its slashes") {
  CHECK(endpoint(Environment(Environment::Values{})) == "https://huggingface.co");
  CHECK(endpoint(Environment(Environment::Values{{"HF_ENDPOINT", "http://hub.lan:8080//"}})) ==
        "http://hub.lan:8080");
}

TEST_CASE("Hugging Face's home") {
  CHECK(hf_home(Environment(Environment::Values{{"HOME", "/h"}})) == "/h/.cache/huggingface");
  CHECK(hf_home(Environment(Environment::Values{{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}})) ==
        "/x/huggingface");
  CHECK(hf_home(Environment(
            Environment::Values{{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "~/y"}})) == "/h/y");
}

TEST_CASE("Tokens by their precedence") {
  const TempDir dir;
  write_file(dir / "token", " hf_home\r\n");
  write_file(dir / "other", "hf_other\n");
  write_file(dir / "named", "hf_named\n");
  Environment::Values variables = {{"HF_HOME", dir.path().string()}};
  const auto found = [&] { return token(Environment(variables), std::nullopt); };
  CHECK(found() == "hf_home");
  variables["HF_TOKEN_PATH"] = (dir / "other").string();
  CHECK(found() == "hf_other");
  variables["HUGGING_FACE_HUB_TOKEN"] = "hf_old";
  CHECK(found() == "hf_old");
  variables["HF_TOKEN"] = "hf_new\n";
  CHECK(found() == "hf_new");
  CHECK(token(Environment(variables), dir / "named") == "hf_named");
  variables["HF_HUB_DISABLE_IMPLICIT_TOKEN"] = "1";
  CHECK(found().empty());
  CHECK(token(Environment(variables), dir / "named") == "hf_named");
}

TEST_CASE("No token is no error unless a file is named") {
  const TempDir dir;
  const Environment environment(Environment::Values{{"HF_HOME", dir.path().string()}});
  CHECK(token(environment, std::nullopt).empty());
  CHECK(error_of([&] { token(environment, dir / "absent"); }) == ErrorKind::not_found);
}

TEST_CASE("A token that would break out of its header is refused") {
  for (const char* bad : {"hf_a b", "hf_\x01", "hf_\xc3\xa9"})
    CHECK(error_of([&] {
            token(Environment(Environment::Values{{"HF_TOKEN", bad}}), std::nullopt);
          }) == ErrorKind::usage);
}

TEST_CASE("Offline by either variable") {
  CHECK_FALSE(is_offline(Environment(Environment::Values{})));
  CHECK(is_offline(Environment(Environment::Values{{"HF_HUB_OFFLINE", "1"}})));
  CHECK(is_offline(Environment(Environment::Values{{"TRANSFORMERS_OFFLINE", "yes"}})));
  CHECK_FALSE(
      is_offline(Environment(Environment::Values{{"HF_HUB_OFFLINE", "0"}, {"TRANSFORMERS_OFFLINE", "1"}})));
}
