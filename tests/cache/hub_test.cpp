#include "cache/hub/hub.h"

#include <atomic>

#include "cache/loopback.h"
#include "support/error_of.h"
#include "support/http_server.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kCommit(40, 'c'), kSha1(40, 'a');

std::string entry(const std::string& path) {
  return R"({"type":"file","path":")" + path + R"(","size":3,"oid":")" + kSha1 + "\"}";
}

// A Hub that answers what a function says, and what it was asked.
class Answers {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpReply&)>;
  explicit Answers(Handler handler, const std::string& token = "")
      : server_([this, handler](const HttpRequest& request, HttpReply& reply) {
          {
            const std::lock_guard lock(mutex_);
            asked_.push_back(request.method + " " + request.target);
            body_ = request.body;
          }
          handler(request, reply);
        }),
        client_(quick_options()),
        hub(client_, server_.url(), token) {}

  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::string body() const {
    const std::lock_guard lock(mutex_);
    return body_;
  }
  std::string url() const { return server_.url(); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::string body_;
  HttpServer server_;
  Client client_;

 public:
  Hub hub;
};

void answer(HttpReply& reply, const std::string& text, HttpReply::Fields fields = {}) {
  reply.head(200, fields, text.size());
  reply.write(text);
}

}  // namespace

TEST_CASE("A commit is its own commit, without a request") {
  Answers answers([](const HttpRequest&, HttpReply& reply) { answer(reply, "{}"); });
  CHECK(answers.hub.commit_of({"a/b"}, kCommit) == kCommit);
  CHECK(answers.asked().empty());
  CHECK(error_of([&] { answers.hub.commit_of({"a/../b"}, kCommit); }) == ErrorKind::usage);
}

TEST_CASE("A branch is asked for, its slashes encoded") {
  Answers answers(
      [](const HttpRequest&, HttpReply& reply) { answer(reply, R"({"sha":")" + kCommit + "\"}"); });
  CHECK(answers.hub.commit_of({"a/b", RepoType::dataset}, "refs/pr/1") == kCommit);
  CHECK(answers.asked() == std::vector<std::string>{"GET /api/datasets/a/b/revision/refs%2Fpr%2F1"});
}

TEST_CASE("Named files are asked for by one form") {
  Answers answers([](const HttpRequest&, HttpReply& reply) {
    answer(reply, "[" + entry("dir/a b&c=é.txt") + R"(,{"type":"directory","path":"x","oid":"y"}])");
  });
  const auto files = answers.hub.paths_info({"a/b"}, kCommit, {"dir/a b&c=é.txt", "gone", "x"});
  REQUIRE(files.size() == 1);
  CHECK(files[0].path == "dir/a b&c=é.txt");
  CHECK(answers.asked() == std::vector<std::string>{"POST /api/models/a/b/paths-info/" + kCommit});
  const auto form = parse_form(answers.body());
  REQUIRE(form.size() == 3);
  CHECK(form[0] == std::pair<std::string, std::string>("paths", "dir/a b&c=é.txt"));
}

TEST_CASE("More than fifty named files are asked for in turns, none without a request") {
  Answers answers([](const HttpRequest&, HttpReply& reply) { answer(reply, "[]"); });
  CHECK(answers.hub.paths_info({"a/b"}, kCommit, {}).empty());
  CHECK(answers.asked().empty());
  answers.hub.paths_info({"a/b"}, kCommit, std::vector<std::string>(50, "x"));
  CHECK(answers.asked().size() == 1);
  answers.hub.paths_info({"a/b"}, kCommit, std::vector<std::string>(51, "x"));
  CHECK(answers.asked().size() == 3);
}

TEST_CASE("A file that was not asked for is no answer") {
  Answers answers([](const HttpRequest&, HttpReply& reply) { answer(reply, "[" + entry("other") + "]"); });
  CHECK(error_of([&] { answers.hub.paths_info({"a/b"}, kCommit, {"a"}); }) == ErrorKind::integrity);
}

TEST_CASE("A list that redirects to itself with a slash is read, its next page too") {
  Answers answers([](const HttpRequest& request, HttpReply& reply) {
    if (!request.path.ends_with('/'))
      return void(reply.head(307, {{"Location", request.path + "/?recursive=true"}}, 0));
    if (request.query.contains("cursor")) return answer(reply, "[" + entry("b") + "]");
    answer(reply, "[" + entry("a") + "]", {{"Link", "<?recursive=true&cursor=2>; rel=\"next\""}});
  });
  const auto files = answers.hub.tree({"a/b"}, kCommit);
  REQUIRE(files.size() == 2);
  CHECK(files[1].path == "b");
  CHECK(answers.asked().size() == 3);
}

TEST_CASE("A list that leads back or away is refused") {
  for (const char* next : {"<?recursive=true>; rel=\"next\"", "<http://127.0.0.1:1/x>; rel=\"next\""}) {
    Answers answers([&](const HttpRequest&, HttpReply& reply) { answer(reply, "[]", {{"Link", next}}); });
    CHECK(error_of([&] { answers.hub.tree({"a/b"}, kCommit); }) == ErrorKind::integrity);
    CHECK(answers.asked().size() <= 2);
  }
}

TEST_CASE("A login page is no list") {
  Answers answers([](const HttpRequest&, HttpReply& reply) { answer(reply, "<html>Sign in</html>"); });
  CHECK(error_of([&] { answers.hub.tree({"a/b"}, kCommit); }) == ErrorKind::integrity);
}

TEST_CASE("A refusal says why in its header or its body") {
  Answers answers([](const HttpRequest& request, HttpReply& reply) {
    const bool by_header = request.path.ends_with("main");
    const std::string body = by_header ? "" : R"({"error":"from the body"})";
    HttpReply::Fields fields;
    if (by_header) fields = {{"X-Error-Code", "RevisionNotFound"}, {"X-Error-Message", "from the header"}};
    reply.head(404, fields, body.size());
    reply.write(body);
  });
  CHECK(error_of([&] {
          answers.hub.commit_of({"a/b"}, "main");
        }).says("no such revision (HTTP 404) (from the header)"));
  CHECK(error_of([&] { answers.hub.commit_of({"a/b"}, "dev"); }).says("(from the body)"));
}

TEST_CASE("What the Hub wants to be known is told once a topic") {
  int asked = 0;
  Answers answers([&](const HttpRequest&, HttpReply& reply) {
    const char* warnings[] = {"Rate; slow down", "Rate; again", "Old\x1b; please update", "no topic"};
    answer(reply, "[]", {{"X-HF-Warning", warnings[asked++ % 4]}});
  });
  std::vector<std::string> told;
  answers.hub.on_warning([&](std::string_view text) { told.emplace_back(text); });
  for (int i = 0; i < 8; ++i) answers.hub.tree({"a/b"}, kCommit);
  CHECK(told == std::vector<std::string>{"slow down", "please update", "no topic"});
}

TEST_CASE("An endpoint with a user, a query or another scheme is refused, and no password is shown") {
  Client client(quick_options());
  for (const char* endpoint :
       {"https://user:secret@host", "https://host?x=secret", "ftp://host", "host", ""}) {
    CAPTURE(endpoint);
    const Caught caught = error_of([&] { Hub(client, endpoint, ""); });
    CHECK(caught == ErrorKind::usage);
    CHECK_FALSE(caught.says("secret"));
  }
}
