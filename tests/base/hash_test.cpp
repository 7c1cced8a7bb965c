#include "base/hash.h"

#include <doctest/doctest.h>

#include <string_view>

using namespace hf;

namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string git(std::string_view text) {
  Hasher hasher(HashKind::git_sha1, text.size());
  hasher.update(bytes(text));
  return hasher.hex();
}

}  // namespace

TEST_CASE("sha256 gives FIPS 180-4's examples") {
  CHECK(sha256_hex(bytes("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex(bytes("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex(bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(bytes(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("git_sha1 gives what git hash-object prints") {
  CHECK(git("") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  CHECK(git("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST_CASE("the same bytes in any pieces give the same hash, which may be asked for on the way") {
  Hasher hasher(HashKind::sha256, 0);
  hasher.update(bytes("a"));
  hasher.update(bytes(""));
  CHECK(hasher.hex() == sha256_hex(bytes("a")));
  hasher.update(bytes("bc"));
  CHECK(hasher.hex() == sha256_hex(bytes("abc")));
  CHECK(hasher.hex() == sha256_hex(bytes("abc")));
}

TEST_CASE("a moved hasher goes on") {
  Hasher first(HashKind::sha256, 0);
  first.update(bytes("ab"));
  Hasher second(std::move(first));
  second.update(bytes("c"));
  CHECK(second.hex() == sha256_hex(bytes("abc")));
}

TEST_CASE("several hashes of one pass are those of a pass each") {
  std::string text(100'001, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  Hasher sha256(HashKind::sha256, text.size()), git_sha1(HashKind::git_sha1, text.size());
  Hasher* const both[] = {&sha256, &git_sha1};
  update_all(both, bytes(text).first(1));
  update_all(both, bytes(text).subspan(1));
  update_all(both, {});
  CHECK(sha256.hex() == sha256_hex(bytes(text)));
  CHECK(git_sha1.hex() == git(text));
}
