// Whether a snapshot's files can be symbolic links.
#pragma once
#include "base/environment.h"

namespace hf::cache {

enum class Links {
  where_possible,
  never,  // HF_HUB_DISABLE_SYMLINKS: files instead, moved or copied
};

Links links_of(const Environment& environment);

// Tries with a link in the folder, of a name that begins with `name`, and removes it. What fails for other
// reasons than that there can be none counts as yes: the first link that matters tells.
bool can_link_in(int folder, const std::string& name);

// Whether `code`, of symlink(2), says that this file system has no links.
bool means_no_links(int code);

}  // namespace hf::cache
