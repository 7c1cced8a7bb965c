// Each line of `download --json` against docs/json-events.schema.json.
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cache/loopback.h"
#include "support/child.h"

using namespace hf;
using namespace hf::test;
using nlohmann::json;

namespace {

// What the schema uses of JSON Schema 2020-12. Empty where `value` is right, else why not.
std::string problem(const json& root, const json& schema, const json& value, const std::string& where) {
  if (const auto ref = schema.find("$ref"); ref != schema.end())
    return problem(root, root.at(json::json_pointer(ref->get<std::string>().substr(1))), value, where);
  if (const auto all = schema.find("oneOf"); all != schema.end()) {
    int right = 0;
    std::string why;
    for (const json& one : *all) {
      const std::string text = problem(root, one, value, where);
      right += text.empty() ? 1 : 0;
      if (text.find("/event") == std::string::npos) why += text;
    }
    return right == 1 ? "" : where + " fits " + std::to_string(right) + " of them: " + why;
  }
  if (schema.contains("const") && value != schema["const"]) return where + " is " + value.dump();
  if (const auto choices = schema.find("enum"); choices != schema.end())
    if (std::find(choices->begin(), choices->end(), value) == choices->end())
      return where + " is " + value.dump();
  const std::string type = schema.value("type", "");
  const bool typed = type.empty() || (type == "object" && value.is_object()) ||
                     (type == "array" && value.is_array()) || (type == "string" && value.is_string()) ||
                     (type == "integer" && value.is_number_integer());
  if (!typed) return where + " is no " + type;
  if (schema.contains("minimum") && value < schema["minimum"]) return where + " is too small";
  for (const json& name : schema.value("required", json::array()))
    if (!value.contains(name.get<std::string>())) return where + " lacks " + name.dump();
  if (type == "array")
    for (const json& item : value)
      if (std::string text = problem(root, schema["items"], item, where + "/item"); !text.empty())
        return text;
  if (type != "object") return "";
  for (const auto& [name, member] : value.items()) {
    if (!schema["properties"].contains(name)) return where + " has " + name;
    if (std::string text = problem(root, schema["properties"][name], member, where + "/" + name);
        !text.empty())
      return text;
  }
  return "";
}

std::vector<json> checked_lines(const std::string& text) {
  static const json schema =
      json::parse(read_text(std::string(HF_SOURCE_DIR) + "/docs/json-events.schema.json"));
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    CAPTURE(line);
    lines.push_back(json::parse(line));
    CHECK(problem(schema, schema, lines.back(), "line") == "");
  }
  CHECK((text.empty() || text.ends_with('\n')));
  return lines;
}

std::vector<std::string> names_of(const std::vector<json>& lines) {
  std::vector<std::string> names;
  for (const json& line : lines) names.push_back(line["event"]);
  return names;
}

std::size_t count(const std::vector<json>& lines, const std::string& event) {
  const std::vector<std::string> names = names_of(lines);
  return static_cast<std::size_t>(std::count(names.begin(), names.end(), event));
}

Ended download(Loopback& loopback, std::vector<std::string> words,
               std::map<std::string, std::string> more = {}) {
  words.insert(words.begin(), "download");
  words.emplace_back("--json");
  more.emplace("HF_ENDPOINT", loopback.hub().url());
  more.emplace("HF_HUB_CACHE", loopback.cache_root().string());
  return run("hfcache", words, more);
}

}  // namespace

TEST_CASE("The schema refuses what it should") {
  const auto refused = [](const std::string& text) {
    static const json schema =
        json::parse(read_text(std::string(HF_SOURCE_DIR) + "/docs/json-events.schema.json"));
    return !problem(schema, schema, json::parse(text), "line").empty();
  };
  const std::string good =
      R"({"v":1,"event":"warning","repo_id":"a/b","repo_type":"model","revision":"main","message":"m"})";
  CHECK_FALSE(refused(good));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"\"v\":1", "\"v\":2"},
                                                                                 {"warning", "warnings"},
                                                                                 {"model", "kernel"},
                                                                                 {"\"m\"", "7"},
                                                                                 {"revision", "revisions"}}) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    CHECK(refused(bad));
  }
}

TEST_CASE("A download is told from plan to done") {
  Loopback loopback;
  const Ended ended = download(loopback, {"acme/tiny"});
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  const std::vector<json> lines = checked_lines(ended.out);
  REQUIRE(lines.size() >= 2);
  CHECK(lines.front()["event"] == "plan");
  CHECK(lines.front()["files"].size() == 4);
  CHECK(lines.back()["event"] == "done");
  CHECK(lines.back()["commit"] == loopback.hub().commit("acme/tiny"));
  CHECK(lines.back()["bytes_fetched"] == lines.front()["bytes_to_fetch"]);
  CHECK(count(lines, "file_done") == 4);
  for (const json& line : lines)
    if (line["event"] == "file_done") {
      CHECK(line["sha256"].get<std::string>().size() == 64);
    }
  CHECK(names_of(checked_lines(download(loopback, {"acme/tiny"}).out)) ==
        std::vector<std::string>{"plan", "done"});
  CHECK(names_of(checked_lines(download(loopback, {"acme/tiny"}, {{"HF_HUB_OFFLINE", "1"}}).out)) ==
        std::vector<std::string>{"done"});
  CHECK(names_of(checked_lines(download(loopback, {"acme/tiny", "--dry-run"}).out)) ==
        std::vector<std::string>{"plan"});
}

TEST_CASE("Progress is told at most each 200 ms") {
  Loopback loopback;
  put(loopback.root() / "acme/slow/weights", noise(4 << 20, 9));
  loopback.hub().forget();
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = download(loopback, {"acme/slow", "--limit-rate", "4MB/s"});
  const auto took = std::chrono::steady_clock::now() - begin;
  const std::vector<json> lines = checked_lines(ended.out);
  CHECK(count(lines, "progress") >= 2);
  CHECK(count(lines, "progress") <= static_cast<std::size_t>(took / std::chrono::milliseconds(200)));
  std::uint64_t last = 0;
  for (const json& line : lines) {
    if (line["event"] != "progress") continue;
    CHECK(line["bytes_done"] > last);
    CHECK(line["bytes_done"] <= line["bytes_to_fetch"]);
    last = line["bytes_done"];
  }
}

TEST_CASE("What is tried again is told, and what fails, with the exit code") {
  Loopback loopback;
  loopback.hub().order({.kind = FaultKind::status, .target = "/resolve/", .status = 503});
  const Ended retried = download(loopback, {"acme/tiny"});
  CHECK(retried.code == 0);
  CHECK(count(checked_lines(retried.out), "retry") == 1);

  loopback.hub().order({.kind = FaultKind::wrong_content, .target = "model.safetensors", .times = -1});
  const Ended wrong = download(loopback, {"acme/tiny", "--force-download"});
  CHECK(wrong.code == 6);
  const std::vector<json> lines = checked_lines(wrong.out);
  CHECK(lines.back()["event"] == "error");
  CHECK(lines.back()["kind"] == "integrity");
  CHECK(lines.back()["exit_code"] == 6);
  CHECK(wrong.err.starts_with("hfcache: "));

  const Ended usage = download(loopback, {"acme/tiny", "x", "--include", "y"});
  CHECK(usage.code == 2);
  CHECK(checked_lines(usage.out).back()["kind"] == "usage");
}

TEST_CASE("Of a list all plans come first, and what failed is told of its repository") {
  Loopback loopback;
  put(loopback.root() / "acme/other/config.json", "{}");
  put(loopback.root() / "acme/third/config.json", "{\"a\": 1}");
  put(loopback.cache_root().parent_path() / "list", "acme/tiny config.json\nacme/other\nacme/third\n");
  loopback.hub().forget();
  loopback.hub().order({.kind = FaultKind::wrong_content, .target = "/acme/other/resolve/", .times = -1});
  const std::string list = (loopback.cache_root().parent_path() / "list").string();
  const Ended ended = download(loopback, {"--from", list});
  CHECK(ended.code == 6);
  const std::vector<json> lines = checked_lines(ended.out);
  const std::vector<std::string> names = names_of(lines);
  CHECK(std::vector<std::string>(names.begin(), names.begin() + 3) ==
        std::vector<std::string>{"plan", "plan", "plan"});
  CHECK(std::find(names.begin() + 3, names.end(), "plan") == names.end());
  CHECK(count(lines, "done") == 2);
  CHECK(count(lines, "error") == 2);
  const auto first =
      std::find_if(lines.begin(), lines.end(), [](const json& l) { return l["event"] == "error"; });
  CHECK((*first)["repo_id"] == "acme/other");
  CHECK_FALSE(lines.back().contains("repo_id"));
  CHECK(ended.err.find(list + ", line 2: ") != std::string::npos);
}

TEST_CASE("A list with a repository that is not there fetches nothing") {
  Loopback loopback;
  put(loopback.cache_root().parent_path() / "list", "acme/tiny\n\nacme/none\nacme/none2 # too\n");
  const std::string list = (loopback.cache_root().parent_path() / "list").string();
  const Ended ended =
      run("hfcache", {"download", "--from", list},
          {{"HF_ENDPOINT", loopback.hub().url()}, {"HF_HUB_CACHE", loopback.cache_root().string()}});
  CHECK(ended.code == 3);
  CHECK(ended.err.find("line 3: ") != std::string::npos);
  CHECK(ended.err.find("line 4: ") != std::string::npos);
  CHECK(ended.err.find("nothing was fetched") != std::string::npos);
  CHECK(loopback.hub().bytes_served("/resolve/") == 0);
}
