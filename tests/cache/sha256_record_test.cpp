#include "cache/store/sha256_record.h"

#include <sys/stat.h>

#include "cache/loopback.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

namespace {

const std::string kSha1(40, 'a'), kOther(40, 'c'), kSha256(64, 'b'), kLater(64, 'd');

}  // namespace

TEST_CASE("A sha256 is noted once and found by any process") {
  const TempDir dir;
  Sha256Record record(dir / "sha256");
  CHECK_FALSE(record.find(kSha1));
  record.add(kSha1, kSha256);
  record.add(kSha1, kSha256);
  CHECK(record.find(kSha1) == kSha256);
  CHECK(read_text(dir / "sha256") == kSha1 + " " + kSha256 + "\n");
  Sha256Record other(dir / "sha256");
  CHECK(other.find(kSha1) == kSha256);
  CHECK_FALSE(other.find(kOther));
  other.add(kSha1, kSha256);
  CHECK(read_text(dir / "sha256").size() == 106);
}

TEST_CASE("The last sha256 that was noted counts") {
  const TempDir dir;
  Sha256Record(dir / "sha256").add(kSha1, kSha256);
  Sha256Record(dir / "sha256").add(kSha1, kLater);
  CHECK(Sha256Record(dir / "sha256").find(kSha1) == kLater);
}

TEST_CASE("Lines that are damaged are passed over and not continued") {
  const TempDir dir;
  const std::string torn = kOther + " " + kSha256.substr(0, 10);
  put(dir / "sha256", "\n" + kSha1 + "\n" + kSha1 + " " + std::string(64, 'g') + "\n" + torn);
  Sha256Record record(dir / "sha256");
  CHECK_FALSE(record.find(kSha1));
  CHECK_FALSE(record.find(kOther));
  record.add(kSha1, kSha256);
  CHECK(read_text(dir / "sha256").ends_with(torn + "\n" + kSha1 + " " + kSha256 + "\n"));
  CHECK(Sha256Record(dir / "sha256").find(kSha1) == kSha256);
}

TEST_CASE("What is no pair of hashes is not noted") {
  const TempDir dir;
  Sha256Record record(dir / "sha256");
  CHECK(error_of([&] { record.add(kSha256, kSha1); }) == ErrorKind::usage);
  CHECK(error_of([&] { record.add(kSha1, ""); }) == ErrorKind::usage);
  CHECK_FALSE(std::filesystem::exists(dir / "sha256"));
}

TEST_CASE("The record can be written by the group whatever the umask is") {
  const TempDir dir;
  const mode_t before = umask(077);
  Sha256Record(dir / "sha256").add(kSha1, kSha256);
  umask(before);
  struct stat info {};
  REQUIRE(stat((dir / "sha256").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0664);
}
