#include "base/path_rules.h"
#include "cache/mirror/adopt_sources.h"
#include "cache/mirror/local_metadata.h"
#include "cache/store/git_attributes.h"
#include "cache/store/lfs_pointer.h"
#include "fuzz/fuzz.h"

using namespace hf;
using namespace hf::cache;

// The texts that lie beside files which are taken over: what they let through can be a hash, a path, a
// repository.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto pointer = parse_lfs_pointer(text)) {
    fuzz::require(pointer->sha256.size() == 64 && is_etag(pointer->sha256), "a hash that is none");
    fuzz::require(is_commit(git_oid_of(*pointer)), "an id that is none");
  }
  if (const auto origin = parse_flat_url(text)) {
    check_repo(origin->repo);
    check_relative_path(origin->path);
    check_revision(origin->revision);
  }
  GitAttributes attributes;
  attributes.add(text, "");
  attributes.add(text, "folder/");
  attributes.is_lfs("folder/model.safetensors");
  attributes.is_lfs(text);
  if (const auto noted = parse_metadata(text)) fuzz::require(is_etag(noted->etag), "a note of no hash");
  return 0;
}
