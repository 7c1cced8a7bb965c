// A clone, a folder that was downloaded into, or any other folder of files.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/escape.h"
#include "base/path_rules.h"
#include "base/safe_dir.h"
#include "cache/mirror/adopt_sources.h"
#include "cache/store/folder_notes.h"
#include "cache/store/git_attributes.h"
#include "cache/store/lfs_pointer.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/repo_folder.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestAttributes = 1 << 20;

bool is_administrative(std::string_view path) {
  return path == ".git" || path.starts_with(".git/") || path.starts_with(std::string(kNotesFolder) + "/");
}

// The content is taken from git-lfs's own store where the checkout did not bring it out.
void follow_pointer(AdoptedFile& file, const fs::path& folder, const LfsPointer& pointer) {
  const std::string& oid = pointer.sha256;
  const fs::path object = folder / ".git/lfs/objects" / oid.substr(0, 2) / oid.substr(2, 2) / oid;
  struct stat info {};
  if (stat(object.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    file.fault = "is a git-lfs pointer, its content is not in the folder: `git lfs pull` brings it";
    return;
  }
  file.source = object;
  file.file = {file.file.path, pointer.size, git_oid_of(pointer), oid, ""};
  file.is_expected = true;
}

// All files of the folder that can be a revision's; what cannot is told in the plan.
std::vector<AdoptedFile> files_of(const fs::path& folder, AdoptPlan& plan) {
  std::vector<AdoptedFile> files;
  const FolderListing listing = list_below(folder);
  for (const auto& [name, why] : listing.unreadable)
    plan.left.push_back({folder / name, "cannot be read: " + why, true});
  const SafeDir safe(folder);
  for (const std::string& path : listing.files) {
    if (is_administrative(path)) continue;
    const fs::path source = folder / path;
    try {
      check_relative_path(path);
      const QuietFile opened(safe.open(path, O_RDONLY | O_NONBLOCK), source);
      if (!opened.is_regular()) {
        plan.left.push_back({source, "is no file"});
        continue;
      }
      AdoptedFile file{source, {path, opened.size(), "", "", ""}};
      if (opened.size() <= kLargestLfsPointer)
        if (const auto pointer = parse_lfs_pointer(read_quietly(source, kLargestLfsPointer)))
          follow_pointer(file, folder, *pointer);
      files.push_back(std::move(file));
    } catch (const Error& error) {
      plan.left.push_back({source, error.what(), true});
    }
  }
  return files;
}

// The files that the list has; others are left.
void keep_listed(AdoptedRevision& revision, std::vector<AdoptedFile> files, AdoptPlan& plan) {
  for (AdoptedFile& file : files) {
    if (expect(file, *revision.tree))
      revision.files.push_back(std::move(file));
    else
      plan.left.push_back({file.source, "is no file of revision " + revision.commit.substr(0, 12)});
  }
}

std::optional<std::vector<TreeFile>> known_tree(const AdoptContext& context, const Repo& repo,
                                                const FolderNotes& notes, const std::string& commit) {
  if (const auto found = notes.trees.find(commit); found != notes.trees.end()) return found->second;
  try {
    return RepoFolder(context.store, repo).read_tree(commit);
  } catch (const Error&) {
    return std::nullopt;  // verify tells of it
  }
}

// The revision that the user names.
void take_named(const AdoptContext& context, AdoptedRevision revision, std::vector<AdoptedFile> files,
                const FolderNotes& notes, AdoptPlan& plan) {
  revision.tree = known_tree(context, revision.repo, notes, revision.commit);
  if (!revision.tree) revision.tree = ask_tree(context, revision.repo, revision.commit, plan);
  if (revision.tree) {
    keep_listed(revision, std::move(files), plan);
  } else {
    for (AdoptedFile& file : files) {
      const auto noted = notes.files.find(file.file.path);
      if (noted != notes.files.end() && noted->second.commit == revision.commit)
        expect(file, noted->second.etag);
    }
    revision.files = std::move(files);
  }
  plan.revisions.push_back(std::move(revision));
}

// The revisions that were downloaded into the folder, each with the files that are of it; the last one gets
// the ref.
void take_noted(const AdoptContext& context, const AdoptedRevision& model, std::vector<AdoptedFile> files,
                const FolderNotes& notes, AdoptPlan& plan) {
  std::map<std::string, AdoptedRevision> by_commit;
  std::string latest;
  double time = 0;
  for (AdoptedFile& file : files) {
    const auto noted = notes.files.find(file.file.path);
    if (noted == notes.files.end()) {
      plan.left.push_back({file.source, "was not downloaded"});
      continue;
    }
    const LocalMetadata& note = noted->second;
    AdoptedRevision& revision = by_commit.try_emplace(note.commit, model).first->second;
    revision.commit = note.commit;
    if (const auto tree = notes.trees.find(note.commit); tree != notes.trees.end())
      revision.tree = tree->second;
    expect(file, note.etag);
    if (revision.tree) expect(file, *revision.tree);
    file.companions = {context.path / kNotesFolder / "download" / (noted->first + ".metadata")};
    if (note.time >= time) latest = note.commit;
    time = std::max(time, note.time);
    revision.files.push_back(std::move(file));
  }
  for (auto& [commit, revision] : by_commit) {
    if (commit != latest) revision.refs.clear();
    plan.revisions.push_back(std::move(revision));
  }
}

[[noreturn]] void refuse(const AdoptContext& context) {
  std::string hint;
  try {  // of a clone: not believed by itself, since the files may be changed since
    const std::string head = read_quietly(context.path / ".git/HEAD", 4096).substr(0, 40);
    if (is_commit(head)) hint = "; the clone stands at " + head;
  } catch (const Error&) {
  }
  throw Error(ErrorKind::usage,
              shown(context.path) +
                  ": nothing tells of which commit its files are, --revision with 40 hex digits or "
                  "--synthetic-commit is expected" +
                  hint);
}

}  // namespace

void mark_lfs_files(std::vector<AdoptedFile>& files) {
  GitAttributes attributes;
  for (const AdoptedFile& file : files) {
    const std::string& path = file.file.path;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    if (path != folder + ".gitattributes" || file.file.size > kLargestAttributes) continue;
    attributes.add(read_quietly(file.source, kLargestAttributes), folder);
  }
  for (AdoptedFile& file : files) file.is_lfs = attributes.is_lfs(file.file.path);
}

void find_in_folder(const AdoptContext& context, AdoptPlan& plan) {
  const AdoptRequest& request = context.request;
  if (!request.repo)
    throw Error(ErrorKind::usage,
                shown(context.path) + ": is a folder of files, --repo-id is expected with it");
  AdoptedRevision revision{.repo = *request.repo, .refs = {request.ref.value_or("main")}};
  std::vector<AdoptedFile> files = files_of(context.path, plan);
  mark_lfs_files(files);
  const FolderNotes notes = read_folder_notes(context.path);
  if (request.commit && !context.by_content) {
    revision.commit = *request.commit;
    return take_named(context, std::move(revision), std::move(files), notes, plan);
  }
  if (!notes.files.empty() && !context.by_content) {
    return take_noted(context, revision, std::move(files), notes, plan);
  }
  if (!context.by_content) {
    if (const auto commit = ask_commit(context, revision.repo, revision.refs[0], plan)) {
      revision.commit = *commit;
      revision.tree = ask_tree(context, revision.repo, *commit, plan);
    }
    if (revision.tree) {
      keep_listed(revision, std::move(files), plan);
      plan.revisions.push_back(std::move(revision));
      return;
    }
  }
  if (!request.synthetic) refuse(context);
  revision.commit.clear();
  revision.is_synthetic = true;
  revision.files = std::move(files);
  plan.revisions.push_back(std::move(revision));
}

}  // namespace hf::cache
