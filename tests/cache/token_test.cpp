// hfcache token as its users see it.
#include <nlohmann/json.hpp>

#include "cache/loopback.h"
#include "support/child.h"

namespace fs = std::filesystem;
using namespace hf;
using namespace hf::test;

namespace {

class Desk {
 public:
  Ended token(std::vector<std::string> words, std::map<std::string, std::string> variables = {}) {
    words.insert(words.begin(), "token");
    variables.emplace("HF_ENDPOINT", loopback_.hub().url());
    variables.emplace("HF_HOME", home().string());
    return run("hfcache", words, variables);
  }
  fs::path home() const { return dir_ / "home"; }
  std::string file_with(const std::string& token) {
    put(dir_ / "given", token + "\n");
    return (dir_ / "given").string();
  }
  FaultHub& hub() { return loopback_.hub(); }

 private:
  TempDir dir_;
  Loopback loopback_;
};

}  // namespace

TEST_CASE("Login asks whose the token is, stores it, and logout removes it") {
  Desk desk;
  const Ended login = desk.token({"login", "--token-file", desk.file_with("hf_secret")});
  CHECK(login.code == 0);
  CHECK(login.out == "logged in as local with token \"laptop\", which may read\n");
  CHECK(read_text(desk.home() / "token") == "hf_secret");
  CHECK(read_text(desk.home() / "stored_tokens") == "[laptop]\nhf_token = hf_secret\n\n");
  CHECK(desk.hub().log().back().authorization == "Bearer hf_secret");

  const Ended who = desk.token({"whoami"});
  CHECK(who.code == 0);
  for (const char* text : {"local", "acme", "laptop", "read"}) CHECK(who.out.find(text) != std::string::npos);
  CHECK(nlohmann::json::parse(desk.token({"whoami", "--json"}).out)["user"] == "local");
  CHECK(desk.token({}).out == "NAME    IN USE  EXPIRES\nlaptop  yes\n");
  const auto list = nlohmann::json::parse(desk.token({"--json"}).out);
  CHECK(list["tokens"][0]["name"] == "laptop");
  CHECK(list["has_token"] == true);

  CHECK(desk.token({"logout", "other"}).code == 3);
  CHECK(desk.token({"logout"}).code == 0);
  CHECK_FALSE(fs::exists(desk.home() / "token"));
  CHECK_FALSE(fs::exists(desk.home() / "stored_tokens"));
  CHECK(desk.token({"logout"}).code == 3);
  CHECK(desk.token({"whoami"}).code == 4);
}

TEST_CASE("A token that the Hub does not know is not stored") {
  Desk desk;
  desk.hub().order({.kind = FaultKind::bad_token, .target = "whoami", .times = -1});
  const Ended ended = desk.token({"login", "--token-file", desk.file_with("hf_secret")});
  CHECK(ended.code == 4);
  CHECK(ended.err.find("is not valid") != std::string::npos);
  CHECK(ended.err.find("hf_secret") == std::string::npos);
  CHECK_FALSE(fs::exists(desk.home()));
}

TEST_CASE("A token comes by a file or by hand, never by an argument") {
  Desk desk;
  CHECK(desk.token({"login", "hf_secret"}).code == 2);
  const Ended nobody = desk.token({"login"});  // its input is /dev/null
  CHECK(nobody.code == 2);
  CHECK(nobody.err.find("--token-file -") != std::string::npos);
  CHECK(desk.token({"login", "--token-file", "-"}).code == 2);  // empty
  CHECK(desk.token({"login", "--token-file", "/"}).code == 2);
  CHECK(desk.token({"login", "--token-file", "/none"}).code == 3);
  CHECK(desk.token({"login", "--token-file", desk.file_with("two words")}).code == 2);
  CHECK(desk.token({"login", "--token-file", desk.file_with("api_org_x")}).code == 2);
  CHECK_FALSE(fs::exists(desk.home()));
}

TEST_CASE("Offline nobody is asked whose a token is") {
  Desk desk;
  for (const char* variable : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    const Ended ended = desk.token({"whoami"}, {{variable, "1"}, {"HF_TOKEN", "hf_x"}});
    CHECK(ended.code == 2);
    CHECK(ended.err.find(variable) != std::string::npos);
  }
  CHECK(desk.hub().log().empty());
  CHECK(desk.token({}, {{"HF_HUB_OFFLINE", "1"}}).code == 0);
}

TEST_CASE("A variable goes before what is stored, and that is told") {
  Desk desk;
  desk.token({"login", "--token-file", desk.file_with("hf_secret")});
  const Ended list = desk.token({}, {{"HF_TOKEN", "hf_other"}});
  CHECK(list.out.find("yes") == std::string::npos);
  CHECK(list.err.find("HF_TOKEN: is set") != std::string::npos);
  desk.token({"whoami"}, {{"HF_TOKEN", "hf_other"}});
  CHECK(desk.hub().log().back().authorization == "Bearer hf_other");
  CHECK((list.out + list.err).find("hf_other") == std::string::npos);
}
