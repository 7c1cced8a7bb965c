#include "cache/store/link_support.h"

#include <fcntl.h>

#include <cerrno>

#include "cache/loopback.h"
#include "cache/store/open_file.h"

using namespace hf;
using namespace hf::test;
using namespace hf::cache;

TEST_CASE("Links are used unless the variable says no") {
  CHECK(links_of(Environment(Environment::Values{})) == Links::where_possible);
  CHECK(links_of(Environment(Environment::Values{{"HF_HUB_DISABLE_SYMLINKS", "0"}})) ==
        Links::where_possible);
  CHECK(links_of(Environment(Environment::Values{{"HF_HUB_DISABLE_SYMLINKS", "1"}})) == Links::never);
  CHECK(links_of(Environment(Environment::Values{{"HF_HUB_DISABLE_SYMLINKS", "true"}})) == Links::never);
  CHECK(Store::of(Environment(Environment::Values{{"HF_HUB_DISABLE_SYMLINKS", "1"}, {"HF_HUB_CACHE", "/c"}}))
            .links() == Links::never);
}

TEST_CASE("A folder that can have links is tried and left as it was") {
  const TempDir dir;
  const OpenFile folder(open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  CHECK(can_link_in(folder.get(), ".try"));
  CHECK(std::filesystem::is_empty(dir.path()));
}

TEST_CASE("Only what says that there can be no links counts as that") {
  CHECK(means_no_links(EPERM));
  CHECK(means_no_links(EOPNOTSUPP));
  CHECK(means_no_links(ENOSYS));
  for (const int code : {EROFS, ENOSPC, EACCES, EEXIST, ENOENT}) CHECK_FALSE(means_no_links(code));
}
