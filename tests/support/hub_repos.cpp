#include "support/hub_repos.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/hash.h"
#include "support/http_server.h"

namespace hf::test {
namespace {

namespace fs = std::filesystem;

std::string hash_of(HashKind kind, std::span<const std::byte> bytes) {
  Hasher hasher(kind, bytes.size());
  hasher.update(bytes);
  return hasher.hex();
}

bool is_lfs(const fs::path& path, std::uint64_t size, std::uint64_t threshold) {
  constexpr std::array<std::string_view, 5> kSuffixes = {".safetensors", ".bin", ".h5", ".onnx", ".msgpack"};
  const std::string suffix = path.extension().string();
  return size > threshold || std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

HubFile describe(const fs::path& path, std::uint64_t threshold) {
  const MappedFile file(path);
  HubFile out{path, file.bytes().size(), "", "", 0, ""};
  if (!is_lfs(path, out.size, threshold)) {
    out.git_oid = hash_of(HashKind::git_sha1, file.bytes());
    return out;
  }
  out.sha256 = hash_of(HashKind::sha256, file.bytes());
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + out.sha256 +
                              "\nsize " + std::to_string(out.size) + "\n";
  out.pointer_size = pointer.size();
  out.git_oid = hash_of(HashKind::git_sha1, std::as_bytes(std::span(pointer)));
  if (path.stem().extension() == ".xet") out.xet_hash = sha256_hex(std::as_bytes(std::span(out.sha256)));
  return out;
}

}  // namespace

HubRepos::HubRepos(fs::path root, std::uint64_t lfs_threshold)
    : root_(std::move(root)), lfs_threshold_(lfs_threshold) {}

fs::path HubRepos::folder(const std::string& type, const std::string& id) const {
  const fs::path owner = type == "models" ? root_ : root_ / type;
  return id.find('/') == std::string::npos ? owner / "_" / id : owner / id;
}

bool HubRepos::has_repo(const std::string& type, const std::string& id) const {
  return id.find("..") == std::string::npos && std::count(id.begin(), id.end(), '/') <= 1 &&
         fs::is_directory(folder(type, id));
}

std::map<std::string, std::string> HubRepos::refs(const std::string& type, const std::string& id) {
  std::map<std::string, std::string> out;
  const fs::path main = folder(type, id);
  const std::string prefix = main.filename().string() + "@";
  out["main"] = load(main)->commit;
  for (const fs::directory_entry& entry : fs::directory_iterator(main.parent_path()))
    if (const std::string name = entry.path().filename().string(); name.starts_with(prefix))
      out[percent_decoded(std::string_view(name).substr(prefix.size()))] = load(entry.path())->commit;
  return out;
}

std::shared_ptr<const HubRevision> HubRepos::find(const std::string& type, const std::string& id,
                                                  const std::string& revision) {
  if (!has_repo(type, id)) return nullptr;
  if (revision == "main") return load(folder(type, id));
  const fs::path main = folder(type, id);
  const std::string prefix = main.filename().string() + "@";
  for (const fs::directory_entry& entry : fs::directory_iterator(main.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (name != main.filename() && !name.starts_with(prefix)) continue;
    const auto loaded = load(entry.path());
    const bool named = name.starts_with(prefix) && percent_decoded(name.substr(prefix.size())) == revision;
    if (named || loaded->commit == revision) return loaded;
  }
  return nullptr;
}

void HubRepos::forget() {
  const std::lock_guard lock(mutex_);
  loaded_.clear();
}

std::shared_ptr<const HubRevision> HubRepos::load(const fs::path& folder) {
  const std::lock_guard lock(mutex_);
  auto& kept = loaded_[folder.string()];
  if (kept != nullptr) return kept;
  auto revision = std::make_shared<HubRevision>();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      revision->files[entry.path().lexically_relative(folder).generic_string()] =
          describe(entry.path(), lfs_threshold_);
  std::string all;
  for (const auto& [path, file] : revision->files) all += path + '\0' + file.etag() + '\n';
  revision->commit = sha256_hex(std::as_bytes(std::span(all))).substr(0, 40);
  kept = revision;
  return kept;
}

}  // namespace hf::test
