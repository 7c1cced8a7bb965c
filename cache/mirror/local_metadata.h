// What huggingface_hub notes of a file that it downloaded into a folder of the user's:
//
//   <folder>/.cache/huggingface/download/<path>.metadata     "<commit>\n<etag>\n<seconds since 1970>\n"
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hf::cache {

struct LocalMetadata {
  std::string commit, etag;
  double time = 0;  // when the file was known to have that content; we write when it was last changed

  // Whether a file that was last changed then, in seconds since 1970, still has it. One second is allowed for
  // file systems that do not keep the parts of one.
  bool holds_for(double changed) const { return changed - 1 <= time; }
};

std::string metadata_text(const LocalMetadata& metadata);
std::optional<LocalMetadata> parse_metadata(std::string_view text);  // nothing where it is none

}  // namespace hf::cache
