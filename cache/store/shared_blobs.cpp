#include "cache/store/shared_blobs.h"

#include <algorithm>

#include "cache/hub/repo.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = "blobs/.huggingface-shared-blobs";
constexpr std::string_view kMarkerText = "1\n";

bool is_shared_name(std::string_view name) { return name.size() == 64 && is_etag(name); }

}  // namespace

bool has_shared_store(const Folder& root) {
  const auto folder = root.info("blobs");
  return folder && folder->kind == EntryKind::folder && root.text(kMarker, kMarkerText.size()) == kMarkerText;
}

std::vector<SharedBlob> shared_blobs(const Folder& root) {
  std::vector<SharedBlob> found;
  if (!has_shared_store(root)) return found;
  Folder store(root, "blobs");
  for (const FolderEntry& prefix : store.entries()) {
    if (prefix.kind != EntryKind::folder || prefix.name.size() != 2) continue;
    Folder folder(store, prefix.name);
    for (const FolderEntry& entry : folder.entries()) {
      if (!is_shared_name(entry.name) || !entry.name.starts_with(prefix.name)) continue;
      if (const auto info = folder.info(entry.name); info && info->kind == EntryKind::file)
        found.push_back({entry.name, *info});
    }
  }
  return found;
}

std::string shared_name(std::string_view link_target, const fs::path& root) {
  fs::path target(link_target);
  if (target.is_relative()) target = fs::path("/root/repository/blobs") / target;
  const fs::path store = fs::path(link_target).is_relative() ? "/root/blobs" : root / "blobs";
  target = target.lexically_normal();
  const std::string name = target.filename().string();
  const bool is_right = is_shared_name(name) && target.parent_path().filename() == name.substr(0, 2) &&
                        target.parent_path().parent_path() == store.lexically_normal();
  return is_right ? name : std::string();
}

}  // namespace hf::cache
