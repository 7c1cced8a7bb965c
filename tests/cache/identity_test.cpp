#include "cache/hub/identity.h"

#include <doctest/doctest.h>

using namespace hf::cache;

namespace {

Hop hop(const std::string& url, int status, std::initializer_list<const char*> lines) {
  Hop out{url, status, {}};
  for (const char* line : lines) out.headers.add_line(line);
  return out;
}

Identity of(std::vector<Hop> hops) { return identity_of({std::move(hops), "", ""}); }

}  // namespace

TEST_CASE("The Hub's redirect to a storage host says which file it is, not the storage host") {
  const Identity identity = of({hop("https://hub/a", 302,
                                    {"X-Linked-Etag: \"abc\"", "X-Linked-Size: 7", "X-Repo-Commit: c0ffee",
                                     "ETag: \"page\"", "Content-Length: 99"}),
                                hop("https://storage/x", 200, {"ETag: \"other\"", "Content-Length: 8"})});
  CHECK(identity.etag == "abc");
  CHECK(identity.size == 7);
  CHECK(identity.commit == "c0ffee");
}

TEST_CASE("Without such words from the Hub, the storage host's do not count") {
  const Identity identity =
      of({hop("https://hub/a", 302, {"Content-Length: 99"}),
          hop("https://storage/x", 200, {"ETag: \"other\"", "Content-Length: 8", "X-Repo-Commit: evil"})});
  CHECK(identity.etag == "");
  CHECK_FALSE(identity.size);
  CHECK(identity.commit == "");
}

TEST_CASE("A small file is found after redirects within the Hub") {
  const Identity identity = of({hop("https://hub/old", 307, {"Content-Length: 20"}),
                                hop("https://hub:443/a", 307, {"X-Repo-Commit: c0ffee"}),
                                hop("https://hub/b?etag=x", 200, {"ETag: W/\"abc\"", "Content-Length: 5"})});
  CHECK(identity.etag == "abc");
  CHECK(identity.size == 5);
  CHECK(identity.commit == "c0ffee");
}

TEST_CASE("Of a part, the whole file's size counts") {
  CHECK(of({hop("http://h/", 206, {"Content-Range: bytes 5-6/10", "Content-Length: 2"})}).size == 10);
  CHECK_FALSE(of({hop("http://h/", 206, {"Content-Range: bytes 5-6/*", "Content-Length: 2"})}).size);
  CHECK_FALSE(of({hop("http://h/", 206, {"Content-Length: 2"})}).size);
}

TEST_CASE("A length of encoded bytes is not the file's") {
  CHECK_FALSE(of({hop("http://h/", 200, {"Content-Encoding: gzip", "Content-Length: 2"})}).size);
  CHECK(of({hop("http://h/", 200, {"Content-Encoding: identity", "Content-Length: 2"})}).size == 2);
}

TEST_CASE("Nothing is told where nothing answered") {
  CHECK(of({}).etag == "");
  CHECK_FALSE(of({hop("http://h/", 0, {})}).size);
}
