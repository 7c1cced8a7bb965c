// A cache put together file by file, as programs leave it: for tests of what reads and clears one.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "cache/hub/repo.h"
#include "cache/store/folder.h"
#include "cache/store/store.h"
#include "support/temp_dir.h"

namespace hf::test {

class CacheByHand {
 public:
  std::filesystem::path root() const { return dir_ / "hub"; }
  cache::Store store() const { return cache::Store(root()); }
  std::filesystem::path folder(const std::string& repo) const { return root() / ("models--acme--" + repo); }

  static std::string etag(std::string_view content) { return sha256_hex(std::as_bytes(std::span(content))); }
  static std::string commit(char digit) { return std::string(40, digit); }

  void write(const std::filesystem::path& path, std::string_view text) const {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  // A blob, its link in a snapshot, and what the path of the blob is.
  std::filesystem::path add(const std::string& repo, char revision, const std::string& name,
                            std::string_view content) const {
    const std::filesystem::path blob = folder(repo) / "blobs" / etag(content);
    if (!std::filesystem::exists(std::filesystem::symlink_status(blob))) write(blob, content);
    link(repo, revision, name, etag(content));
    return blob;
  }

  void link(const std::string& repo, char revision, const std::string& name, const std::string& blob) const {
    const std::filesystem::path path = folder(repo) / "snapshots" / commit(revision) / name;
    std::filesystem::create_directories(path.parent_path());
    std::string target = "../../blobs/" + blob;
    for (const char c : name)
      if (c == '/') target.insert(0, "../");
    std::filesystem::create_symlink(target, path);
  }

  void ref(const std::string& repo, const std::string& name, char revision) const {
    write(folder(repo) / "refs" / name, commit(revision));
  }

  // The content in the shared store, the repository's blob a link to it, and the line that says so.
  std::filesystem::path share(const std::string& repo, char revision, const std::string& name,
                              std::string_view content, char xet_digit) const {
    const std::string xet(64, xet_digit), prefix(2, xet_digit);
    write(root() / "blobs/.huggingface-shared-blobs", "1\n");
    const std::filesystem::path payload = root() / "blobs" / prefix / xet;
    if (!std::filesystem::exists(payload)) write(payload, content);
    const std::filesystem::path blob = folder(repo) / "blobs" / etag(content);
    std::filesystem::create_directories(blob.parent_path());
    std::ofstream(payload.string() + ".refs", std::ios::app)
        << blob.lexically_relative(root()).generic_string() << "\n";
    std::filesystem::create_symlink("../../blobs/" + prefix + "/" + xet, blob);
    link(repo, revision, name, etag(content));
    return payload;
  }

  // Sets the times of access and modification.
  static void age(const std::filesystem::path& path, std::chrono::seconds used,
                  std::chrono::seconds modified) {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    const timespec times[2] = {{now - used.count(), 0}, {now - modified.count(), 0}};
    utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }

 private:
  TempDir dir_;
};

}  // namespace hf::test
