// What the tests of the cache share: a Hub on loopback over a folder of our own, a cache, and what must hold
// of it.
#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "cache/hub/repo.h"
#include "cache/mirror/download.h"
#include "support/fault_hub.h"
#include "support/temp_dir.h"

namespace hf::test {

inline std::string noise(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

inline void put(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Short waits, so that a test of six attempts takes no minute.
inline cache::ClientOptions quick_options() {
  setenv("no_proxy", "127.0.0.1", 1);
  cache::ClientOptions options;
  options.stall_timeout = std::chrono::milliseconds(1000);
  options.retry = {4, std::chrono::milliseconds(2), std::chrono::milliseconds(10), std::chrono::seconds(3)};
  return options;
}

class Loopback {
 public:
  static constexpr const char* kRepo = "acme/tiny";

  explicit Loopback(HubOptions options = {}, const std::string& token = "")
      : hub_(make_root(dir_ / "root"), options),
        client_(quick_options()),
        remote_(client_, hub_.url(), token) {}

  FaultHub& hub() { return hub_; }
  cache::Client& client() { return client_; }
  const cache::Hub& remote() const { return remote_; }
  std::filesystem::path root() const { return dir_ / "root"; }
  std::filesystem::path cache_root() const { return dir_ / "cache"; }
  cache::Store store() const { return cache::Store(cache_root()); }
  std::filesystem::path repo_folder() const { return cache_root() / "models--acme--tiny"; }

  cache::DownloadRequest request() const {
    cache::DownloadRequest request{.repo = {kRepo}};
    request.workers = 3;
    request.large_bytes = 64 << 10;
    request.block_bytes = 16 << 10;
    return request;
  }
  std::filesystem::path download(const cache::DownloadRequest& request) {
    cache::DownloadEvents nobody;
    return download(request, nobody).path;
  }
  cache::DownloadReport download(const cache::DownloadRequest& request, cache::DownloadEvents& events) {
    const auto plan = plan_download(remote_, store(), request);
    const auto target = make_target(store(), request, plan);
    return cache::download(remote_, *target, request, plan, events);
  }
  std::filesystem::path download() { return download(request()); }

 private:
  // A small file, one with folders in its path, an empty one, and an LFS file of 20 blocks.
  static std::filesystem::path make_root(const std::filesystem::path& root) {
    put(root / kRepo / "config.json", "{\"model_type\": \"bert\"}\n");
    put(root / kRepo / "onnx/int8/notes \xc3\xa9.txt", "notes");
    put(root / kRepo / "empty", "");
    put(root / kRepo / "model.safetensors", noise(320 << 10, 1));
    return root;
  }

  TempDir dir_;
  FaultHub hub_;
  cache::Client client_;
  cache::Hub remote_;
};

// Whatever happened: what stands under an etag is that content.
inline void check_no_wrong_blob(const std::filesystem::path& repo_folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(repo_folder / "blobs", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find('.') != std::string::npos) continue;
    CAPTURE(name);
    REQUIRE(cache::is_etag(name));
    const MappedFile file(entry.path());
    Hasher hasher(name.size() == 64 ? HashKind::sha256 : HashKind::git_sha1, file.bytes().size());
    hasher.update(file.bytes());
    CHECK(hasher.hex() == name);
  }
}

// The snapshot holds exactly the repository's files.
inline void check_same_files(const std::filesystem::path& source, const std::filesystem::path& snapshot) {
  const auto files_of = [](const std::filesystem::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (std::filesystem::is_regular_file(entry.path()))
        files[entry.path().lexically_relative(folder).string()] = read_text(entry.path());
    return files;
  };
  CHECK(files_of(source) == files_of(snapshot));
}

inline std::filesystem::path name_of_part(const std::filesystem::path& journal) {
  return std::filesystem::path(journal).replace_extension();
}

// A journal alone is left for a while where a process was killed between that and its file.
inline std::size_t count_leftovers(const std::filesystem::path& repo_folder) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(repo_folder / "blobs", error))
    if (const std::string name = entry.path().filename().string(); name.find('.') != std::string::npos)
      count +=
          name.ends_with(".part.journal") && !std::filesystem::exists(name_of_part(entry.path())) ? 0 : 1;
  return count;
}

}  // namespace hf::test
