// What the tests of adopting share: a folder of files to adopt, and an empty cache.
#pragma once
#include <string>

#include "cache/loopback.h"
#include "cache/mirror/adopt.h"
#include "cache/store/verify.h"

namespace hf::test {

inline const std::string kCommit(40, 'c');
inline const cache::Repo kRepo{"acme/mine"};

inline std::string sha256_of(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }
inline std::string git_sha1_of(const std::string& text) {
  Hasher hasher(HashKind::git_sha1, text.size());
  hasher.update(std::as_bytes(std::span(text)));
  return hasher.hex();
}

// A folder of files to adopt, and an empty cache.
struct Foreign {
  TempDir dir;
  std::filesystem::path source = dir / "source";
  cache::Store store{dir / "cache"};
  const std::string config = "{}\n", weights = noise(3 << 20, 1);

  Foreign() {
    put(source / ".gitattributes", "*.safetensors filter=lfs diff=lfs merge=lfs -text\n");
    put(source / "config.json", config);
    put(source / "sub/model.safetensors", weights);
    put(source / "sub/same.safetensors", weights);
    put(source / "empty", "");
  }

  std::filesystem::path home() const { return store.folder(kRepo); }
  std::filesystem::path snapshot(const std::string& commit = kCommit) const {
    return home() / "snapshots" / commit;
  }
  cache::AdoptPlan plan(cache::AdoptRequest request) const {
    if (!request.repo) request.repo = kRepo;
    return cache::plan_adopt(source, store, request, nullptr, no_progress());
  }
  cache::AdoptPlan adopt(const cache::AdoptRequest& request) const {
    cache::AdoptPlan made = plan(request);
    cache::adopt(made, store, request.mode, no_progress());
    return made;
  }
  bool is_right() const {
    const cache::VerifyReport report = cache::verify(store, {}, no_progress());
    return report.count(cache::Verdict::ok) > 0 && report.count(cache::Verdict::wrong) == 0 &&
           report.count(cache::Verdict::missing) == 0 && report.count(cache::Verdict::unverifiable) == 0;
  }
  void note(const std::string& path, const std::string& etag, const std::string& commit = kCommit,
            const std::string& time = "1700000000.5") const {
    put(source / ".cache/huggingface/download" / (path + ".metadata"),
        commit + "\n" + etag + "\n" + time + "\n");
  }
  void note_all() const {
    note(".gitattributes", git_sha1_of(read_text(source / ".gitattributes")));
    note("config.json", git_sha1_of(config));
    note("empty", git_sha1_of(""));
    for (const char* path : {"sub/model.safetensors", "sub/same.safetensors"}) note(path, sha256_of(weights));
  }
};

inline std::size_t count_files(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    count += entry.is_directory() ? 0 : 1;
  return count;
}

inline std::string why_of(const cache::AdoptPlan& plan, const std::filesystem::path& source) {
  for (const cache::AdoptedRevision& revision : plan.revisions)
    for (const cache::AdoptedFile& file : revision.files)
      if (file.source == source) return file.fault;
  for (const cache::LeftFile& file : plan.left)
    if (file.source == source) return file.why;
  return "not there";
}

}  // namespace hf::test
