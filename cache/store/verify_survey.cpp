#include "cache/store/verify_survey.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "cache/store/content_reader.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/sha256_record.h"
#include "cache/store/tree_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestTree = 1u << 30;

std::string brief(std::string_view hash) { return std::string(hash.substr(0, 12)); }

using Tree = std::map<std::string, TreeFile, std::less<>>;  // by path

// Fills in one RepoSurvey: snapshots first, since they tell which blobs are asked for, then blobs and refs.
class Surveyor {
 public:
  Surveyor(const Store& store, const Repo& repo, const VerifyRequest& request)
      : root_(store.root()),
        home_(store.folder(repo)),
        request_(request),
        sha256s_(root_ / ".locks" / home_.filename() / "sha256") {
    survey_.folder = home_.filename().string();
    survey_.repo = repo;
  }

  RepoSurvey run(const Store& store) {
    std::error_code ignored;
    real_blobs_ = fs::weakly_canonical(home_ / "blobs", ignored);
    real_shared_ = fs::weakly_canonical(root_ / "blobs", ignored);
    if (request_.revision)
      see_revision(store, *request_.revision);
    else
      see_all();
    for (const auto& [etag, blob] : blobs_) see_blob(etag, blob);
    return std::move(survey_);
  }

 private:
  struct Blob {
    std::vector<std::string> names;
    std::optional<std::uint64_t> size;  // that a list tells
  };

  Checked& note(std::string path, Verdict verdict, std::string why) {
    return survey_.files.emplace_back(Checked{std::move(path), {}, "", 0, verdict, std::move(why)});
  }

  void see_revision(const Store& store, const std::string& revision) {
    check_revision(revision);
    std::error_code ignored;
    std::optional<std::string> commit;
    if (fs::is_regular_file(home_ / "refs" / revision, ignored)) {
      commit = see_ref(revision);
      if (!commit) return;  // the verdict says it
    } else {
      commit = store.snapshot(*survey_.repo, revision).filename().string();
    }
    if (fs::is_directory(home_ / "snapshots" / *commit, ignored)) see_snapshot(*commit);
  }

  void see_all() {
    for (const std::string& commit : names_in(home_ / "snapshots")) {
      struct stat info {};
      if (is_commit(commit) && lstat((home_ / "snapshots" / commit).c_str(), &info) == 0 &&
          S_ISDIR(info.st_mode))
        see_snapshot(commit);
      else
        note("snapshots/" + commit, Verdict::unverifiable, "is no folder of a revision");
    }
    for (const std::string& name : names_in(home_ / "blobs")) {
      if (is_etag(name))
        blobs_[name];
      else if (name.find('.') == std::string::npos)  // else a file on its way, or left by one
        note("blobs/" + name, Verdict::unverifiable, "its name is no hash");
    }
    for (const std::string& ref : list_below(home_ / "refs").files)
      if (!is_being_written(ref)) see_ref(ref);
  }

  // "main.0123abcd.tmp", as huggingface_hub writes a ref before it renames it.
  static bool is_being_written(std::string_view ref) {
    return ref.ends_with(".tmp") && ref.size() > 13 && ref[ref.size() - 13] == '.';
  }

  // What a ref stands for, also where it is not written as it must be; nothing where it holds no commit.
  std::optional<std::string> see_ref(const std::string& name) {
    std::string text;
    try {
      text = read_quietly(home_ / "refs" / name, 4096);
    } catch (const Error& error) {
      note("refs/" + name, Verdict::wrong, error.what());
      return std::nullopt;
    }
    const std::string commit = without_line_end(text);
    std::error_code ignored;
    if (!is_commit(commit)) {
      note("refs/" + name, Verdict::wrong, "holds " + in_quotes(text, 60) + ", 40 hex digits are expected");
      return std::nullopt;
    }
    Checked& ref = note("refs/" + name, Verdict::ok, "");
    ref.bytes = text.size();
    if (text.size() != 40) {
      ref.verdict = Verdict::wrong;
      ref.why =
          "has " + std::to_string(text.size()) + " bytes, 40 are expected: some clients find no commit in it";
    } else if (!fs::is_directory(home_ / "snapshots" / commit, ignored)) {
      // A download into a folder of the user's leaves a ref here too, but no list.
      const bool was_there = fs::exists(home_ / "trees" / (commit + ".json"), ignored);
      ref.verdict = was_there ? Verdict::missing : Verdict::unverifiable;
      ref.why = "stands for " + brief(commit) + ", " +
                (was_there ? "whose snapshot is not there" : "of which nothing is in the cache");
    }
    return commit;
  }

  std::optional<Tree> tree_of(const std::string& commit) {
    const std::string name = "trees/" + commit + ".json";
    std::error_code ignored;
    if (!fs::exists(home_ / name, ignored)) return std::nullopt;
    try {
      Tree tree;
      for (TreeFile& file : parse_tree_json(read_quietly(home_ / name, kLargestTree), name))
        tree.emplace(file.path, file);
      return tree;
    } catch (const Error& error) {
      note(name, Verdict::wrong, error.what());
      return std::nullopt;
    }
  }

  void see_snapshot(const std::string& commit) {
    const std::optional<Tree> tree = tree_of(commit);
    const FolderListing listing = list_below(home_ / "snapshots" / commit);
    for (const auto& [folder, why] : listing.unreadable)
      note("snapshots/" + commit + "/" + folder, Verdict::unverifiable, "cannot be read: " + why);
    for (const std::string& path : listing.files) {
      const auto entry = tree ? tree->find(path) : Tree::const_iterator{};
      const TreeFile* expected = tree && entry != tree->end() ? &entry->second : nullptr;
      see_file(commit, path, expected, tree.has_value());
    }
    if (!tree) return;
    for (const auto& [path, file] : *tree) {
      if (std::binary_search(listing.files.begin(), listing.files.end(), path)) continue;
      if (!request_.complete) {
        ++survey_.left_out[commit];
        continue;
      }
      Checked& missing =
          note("snapshots/" + commit + "/" + path, Verdict::missing, "is on the revision's list");
      missing.names = {commit + "/" + path};
      missing.etag = file.etag();
    }
  }

  void see_file(const std::string& commit, const std::string& path, const TreeFile* expected, bool has_tree) {
    const std::string name = commit + "/" + path;
    const fs::path full = home_ / "snapshots" / name;
    struct stat info {};
    if (lstat(full.c_str(), &info) != 0) return;  // gone meanwhile
    const auto complain = [&](Verdict verdict, const std::string& why) -> Checked& {
      Checked& checked = note("snapshots/" + name, verdict, why);
      checked.names = {name};
      if (expected != nullptr) checked.etag = expected->etag();
      return checked;
    };
    if (S_ISLNK(info.st_mode)) {
      std::string why;
      const std::string etag = etag_of_link(full, path, why);
      if (etag.empty())
        complain(why.starts_with("leads nowhere") ? Verdict::missing : Verdict::wrong, why);
      else if (expected != nullptr && expected->etag() != etag)
        complain(Verdict::wrong,
                 "stands for " + brief(etag) + ", the revision's list says " + brief(expected->etag()));
      else if (expected == nullptr && has_tree)
        complain(Verdict::unverifiable, "is not on the revision's list");
      if (etag.empty() || (expected != nullptr && expected->etag() != etag)) return;
      Blob& blob = blobs_[etag];
      blob.names.push_back(name);
      if (expected != nullptr) blob.size = expected->size;
    } else if (!S_ISREG(info.st_mode)) {
      complain(Verdict::wrong, "is neither a file nor a link");
    } else if (expected == nullptr) {
      complain(Verdict::unverifiable, has_tree ? "is not on the revision's list"
                                               : "is no link, and there is no list that tells its hash");
    } else {
      Checked& checked = complain(Verdict::ok, "");
      to_read(checked, full, info, expected->size);
    }
  }

  // Of a snapshot's link, where it leads into the repository's blobs; else empty, and why.
  std::string etag_of_link(const fs::path& link, const std::string& path, std::string& why) const {
    std::error_code error;
    const std::string target = fs::read_symlink(link, error).string();
    std::string up = "../../";
    for (char c : path)
      if (c == '/') up += "../";
    if (target.starts_with(up + "blobs/") && is_etag(std::string_view(target).substr(up.size() + 6)))
      return target.substr(up.size() + 6);
    const fs::path real = fs::weakly_canonical(link.parent_path() / target, error);
    if (real.parent_path() == real_blobs_ && is_etag(real.filename().string()))
      return real.filename().string();
    const bool is_there = fs::exists(link, error);
    why = std::string(is_there ? "leads out of the repository's blobs, to " : "leads nowhere, to ") +
          in_quotes(target);
    return "";
  }

  void see_blob(const std::string& etag, const Blob& blob) {
    const fs::path path = home_ / "blobs" / etag;
    Checked& checked = note("blobs/" + etag, Verdict::ok, "");
    checked.names = blob.names;
    checked.etag = etag;
    const auto complain = [&](Verdict verdict, std::string why) {
      checked.verdict = verdict;
      checked.why = std::move(why);
    };
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0)
      return errno == ENOENT ? complain(Verdict::missing, "is not there")
                             : complain(Verdict::unverifiable, std::strerror(errno));
    const bool is_link = S_ISLNK(info.st_mode);
    if (is_link) {
      std::error_code error;
      const fs::path real = fs::weakly_canonical(path.parent_path() / fs::read_symlink(path, error), error);
      if (error || !real.string().starts_with(real_shared_.string() + "/"))
        return complain(Verdict::wrong, "leads out of the blobs that repositories share");
      if (stat(path.c_str(), &info) != 0)
        return complain(Verdict::missing, "leads nowhere, to " + in_quotes(real.string(), 4096));
    }
    if (!S_ISREG(info.st_mode)) return complain(Verdict::wrong, "is no file");
    if (is_link) survey_.shared.push_back(FileIdentity::of(info));
    to_read(checked, path, info, blob.size);
  }

  void to_read(Checked& checked, const fs::path& path, const struct stat& info,
               std::optional<std::uint64_t> size) {
    checked.identity = FileIdentity::of(info);
    checked.bytes = checked.identity.bytes;
    if (size && *size != checked.bytes) {
      checked.verdict = Verdict::wrong;
      checked.why = "has " + std::to_string(checked.bytes) + " bytes, the revision's list says " +
                    std::to_string(*size);
      return;
    }
    const auto recorded = checked.etag.size() == 40 ? sha256s_.find(checked.etag) : std::nullopt;
    survey_.to_read.push_back({&checked, path, recorded.value_or("")});
  }

  const fs::path root_, home_;
  const VerifyRequest& request_;
  RepoSurvey survey_;
  Sha256Record sha256s_;
  std::map<std::string, Blob> blobs_;  // by etag
  fs::path real_blobs_, real_shared_;
};

}  // namespace

RepoSurvey survey_repo(const Store& store, const Repo& repo, const VerifyRequest& request) {
  std::error_code ignored;
  if (const fs::path home = store.folder(repo); !fs::is_directory(home, ignored))
    throw Error(ErrorKind::not_found, std::string(name_of(repo.type)) + " " + escaped(repo.id) +
                                          ": not in the cache, there is no folder " + shown(home));
  return Surveyor(store, repo, request).run(store);
}

RepoSurvey survey_shared(const Store& store, const std::vector<RepoSurvey>& repos) {
  std::set<FileIdentity> vouched;
  for (const RepoSurvey& repo : repos) vouched.insert(repo.shared.begin(), repo.shared.end());
  RepoSurvey survey;
  survey.folder = "blobs";
  for (const std::string& path : list_below(store.root() / "blobs").files) {
    const std::string name = fs::path(path).filename().string();
    struct stat info {};
    if (name.find('.') != std::string::npos || stat((store.root() / "blobs" / path).c_str(), &info) != 0)
      continue;
    if (!S_ISREG(info.st_mode) || vouched.contains(FileIdentity::of(info))) continue;
    Checked checked{path, {}, "", static_cast<std::uint64_t>(info.st_size), Verdict::unverifiable, ""};
    checked.why = "no repository has it, and its name is no hash of its bytes";
    survey.files.push_back(std::move(checked));
  }
  return survey;
}

}  // namespace hf::cache
