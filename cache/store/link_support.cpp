#include "cache/store/link_support.h"

#include <unistd.h>

#include <cerrno>

namespace hf::cache {

Links links_of(const Environment& environment) {
  return environment.is_on("HF_HUB_DISABLE_SYMLINKS") ? Links::never : Links::where_possible;
}

bool can_link_in(int folder, const std::string& name) {
  if (symlinkat("nowhere", folder, name.c_str()) != 0) return !means_no_links(errno);
  unlinkat(folder, name.c_str(), 0);
  return true;
}

bool means_no_links(int code) {
  return code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL;
}

}  // namespace hf::cache
