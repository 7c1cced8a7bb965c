// A folder that was downloaded into with --local-dir, without a network.
#pragma once
#include <filesystem>
#include <string_view>

#include "cache/mirror/selection.h"
#include "cache/store/store.h"

namespace hf::cache {

struct LocalFolder {
  std::filesystem::path path;
  bool is_certain = false;  // false: no list tells which files the revision has
};

// As huggingface_hub answers: the folder, unless it is empty or a selected file is missing that the list of
// that revision in it names. Which commit `revision` is says the cache's ref. Error{not_found} names what is
// missing.
LocalFolder find_local_folder(const std::filesystem::path& folder, const Store& store, const Repo& repo,
                              std::string_view revision, const Selection& selection);

}  // namespace hf::cache
