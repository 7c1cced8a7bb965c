#include "cache/store/scan_repo.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "cache/store/remnant_names.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

// A folder below the one that is read, and how many lie between.
struct Pending {
  std::string path;  // empty: that one
  std::size_t depth = 0;

  std::string below(const std::string& name) const { return path.empty() ? name : path + "/" + name; }
};

// The blob that a snapshot's link leads to when it is written as all programs write it: one ".." for each
// folder up to the repository's, then "blobs/<name>". Empty for any other link.
std::string_view plain_blob_name(std::string_view target, std::size_t depth) {
  constexpr std::string_view kUp = "../", kBlobs = "blobs/";
  for (std::size_t i = 0; i < depth + 2; ++i) {
    if (!target.starts_with(kUp)) return {};
    target.remove_prefix(kUp.size());
  }
  if (!target.starts_with(kBlobs)) return {};
  target.remove_prefix(kBlobs.size());
  return target.find('/') == target.npos && target != "." && target != ".." ? target : std::string_view();
}

std::string short_commit(const std::string& commit) { return commit.substr(0, 12); }

class RepoScan {
 public:
  RepoScan(const Folder& root, const std::string& name, CachedRepo& found, bool has_shared_store)
      : home_(root, name, Folder::Links::trusted), found_(found), has_shared_store_(has_shared_store) {}

  void read() {
    if (!home_.is_open()) return tell_unreadable(home_, "");
    touch(home_);
    read_blobs();
    read_refs();
    read_snapshots();
    tell_refs_to_nowhere();
    sort_out_blobs();
    read_beside();
    add_up();
  }

 private:
  void tell(std::string problem) { found_.problems.push_back(std::move(problem)); }
  void tell_unreadable(const Folder& folder, const std::string& path) {
    found_.links_are_known = found_.refs_are_known = false;
    const std::string subject = path.empty() ? "" : escaped(path) + ": ";
    tell(folder.error() == ELOOP
             ? subject + "is a link of another user, it is not followed"
             : subject + std::string(system_error("cannot be read", folder.error()).what()));
  }
  void leave(std::string path, Remnant::Kind kind, const EntryInfo& info, std::string commit = {}) {
    found_.remnants.push_back({std::move(path), kind, info, std::move(commit)});
  }

  void touch(const Folder& folder) { found_.touched = std::max(found_.touched, folder.info().newest()); }

  void read_blobs();
  void read_refs();
  void read_ref(const std::string& name);
  void read_snapshots();
  void read_revision(const std::string& commit, CachedRevision& revision);
  void read_snapshot_entry(const Folder& folder, const Pending& at, const FolderEntry& entry,
                           CachedRevision& revision);
  void use_link(const Folder& folder, const Pending& at, const std::string& name, CachedRevision& revision);
  std::size_t content(const std::string& path, const EntryInfo& info);
  void use(CachedRevision& revision, std::size_t content) {
    found_.contents[content].is_linked = true;
    revision.contents.push_back(content);
  }
  void tell_refs_to_nowhere();
  void sort_out_blobs();
  void read_beside();
  void read_lists(const std::string& folder, std::string_view suffix);
  void add_up();
  bool has_revision(const std::string& commit) const;

  Folder home_;
  CachedRepo& found_;
  bool has_shared_store_;
  std::unordered_map<std::string, std::size_t> by_path_;  // of contents
  std::map<std::string, std::string> refs_;               // name -> commit
};

std::size_t RepoScan::content(const std::string& path, const EntryInfo& info) {
  const auto [at, is_new] = by_path_.try_emplace(path, found_.contents.size());
  if (is_new) found_.contents.push_back({path, info, {}, false});
  return at->second;
}

void RepoScan::read_blobs() {
  Folder blobs(home_, "blobs", Folder::Links::trusted);
  if (!blobs.is_open()) {
    if (blobs.error() != ENOENT) tell_unreadable(blobs, "blobs");
    return;
  }
  const fs::path root = found_.path.parent_path();
  touch(blobs);
  for (const FolderEntry& entry : blobs.entries()) {
    const bool is_link = entry.kind == EntryKind::link;
    const auto info = is_link ? blobs.target_info(entry.name) : blobs.info(entry.name);
    if (!info || (info->kind != EntryKind::file && !is_link)) {
      if (const auto kind = remnant_of_blobs(entry.name); is_link && kind)
        leave("blobs/" + entry.name, *kind, blobs.info(entry.name).value_or(EntryInfo{}));
      else if (!is_litter(entry.name))
        tell("blobs/" + escaped(entry.name) + (is_link ? " leads nowhere" : " is no file"));
      continue;
    }
    const std::size_t at = content("blobs/" + entry.name, *info);
    if (is_link && has_shared_store_)
      found_.contents[at].shared = shared_name(blobs.link_target(entry.name), root);
  }
  if (blobs.error() != 0) tell_unreadable(blobs, "blobs");
}

void RepoScan::read_refs() {
  Folder refs(home_, "refs");
  if (!refs.is_open()) {
    if (refs.error() != ENOENT) tell_unreadable(refs, "refs");
    return;
  }
  std::vector<Pending> pending = {{}};
  while (!pending.empty()) {
    const Pending at = std::move(pending.back());
    pending.pop_back();
    Folder folder(refs, at.path.empty() ? "." : at.path);
    touch(folder);
    const auto entries = folder.entries();
    if (folder.error() != 0) tell_unreadable(folder, "refs/" + at.path);
    if (folder.is_open() && entries.empty() && at.depth > 0)
      leave("refs/" + at.path, Remnant::Kind::empty_folder, folder.info());
    for (const FolderEntry& entry : entries) {
      if (entry.kind == EntryKind::folder)
        pending.push_back({at.below(entry.name), at.depth + 1});
      else if (!is_litter(entry.name))
        read_ref(at.below(entry.name));
    }
  }
}

void RepoScan::read_ref(const std::string& name) {
  const std::string path = "refs/" + name;
  const auto text = home_.text(path, 4096);
  if (!text) {
    found_.refs_are_known = false;
    return tell("ref " + in_quotes(name) + " is no file that can be read");
  }
  const std::string commit = without_line_end(*text);
  if (is_commit(commit)) {
    refs_[name] = commit;
    if (commit.size() != text->size())
      tell("ref " + in_quotes(name) + " ends in a line end, huggingface_hub 0.x finds nothing by it");
  } else {
    const bool is_temporary = is_temporary_ref(name);
    if (!is_temporary) tell("ref " + in_quotes(name) + " holds no commit");
    leave(path, is_temporary ? Remnant::Kind::temporary : Remnant::Kind::dead_ref,
          home_.info(path).value_or(EntryInfo{}));
  }
}

void RepoScan::read_snapshots() {
  Folder snapshots(home_, "snapshots", Folder::Links::trusted);
  if (!snapshots.is_open()) {
    if (snapshots.error() != ENOENT) return tell_unreadable(snapshots, "snapshots");
    return tell("has no folder snapshots");
  }
  touch(snapshots);
  for (const FolderEntry& entry : snapshots.entries()) {
    if (is_litter(entry.name)) continue;
    CachedRevision revision;
    revision.commit = entry.name;
    revision.path = found_.path / "snapshots" / entry.name;
    if (entry.kind == EntryKind::folder)
      read_revision(entry.name, revision);
    else
      found_.links_are_known = found_.links_are_known && entry.kind != EntryKind::link;
    if (is_commit(entry.name) && entry.kind == EntryKind::folder)
      found_.revisions.push_back(std::move(revision));
    else
      tell("snapshots/" + escaped(entry.name) + " is no revision");
  }
  if (snapshots.error() != 0) tell_unreadable(snapshots, "snapshots");
}

void RepoScan::read_revision(const std::string& commit, CachedRevision& revision) {
  const std::string top = "snapshots/" + commit;
  std::vector<Pending> pending = {{}};
  while (!pending.empty()) {
    const Pending at = std::move(pending.back());
    pending.pop_back();
    const std::string path = at.path.empty() ? top : top + "/" + at.path;
    Folder folder(home_, path);
    for (const FolderEntry& entry : folder.entries()) {
      if (entry.kind == EntryKind::folder)
        pending.push_back({at.below(entry.name), at.depth + 1});
      else
        read_snapshot_entry(folder, at, entry, revision);
    }
    if (folder.error() != 0) {
      tell_unreadable(folder, path);
      continue;
    }
    const EntryInfo info = folder.info();
    revision.touched = std::max(revision.touched, info.newest());
    if (at.depth == 0) {
      revision.last_used = info.used;
      revision.last_modified = info.modified;
    }
  }
  std::sort(revision.contents.begin(), revision.contents.end());
  revision.contents.erase(std::unique(revision.contents.begin(), revision.contents.end()),
                          revision.contents.end());
}

void RepoScan::read_snapshot_entry(const Folder& folder, const Pending& at, const FolderEntry& entry,
                                   CachedRevision& revision) {
  const std::string path = "snapshots/" + revision.commit + "/" + at.below(entry.name);
  if (entry.kind == EntryKind::link && is_temporary_link(entry.name))
    return leave(path, Remnant::Kind::temporary, folder.info(entry.name).value_or(EntryInfo{}));
  if (entry.kind == EntryKind::link) return use_link(folder, at, entry.name, revision);
  ++revision.files;
  const auto info = folder.info(entry.name);
  if (info && info->kind == EntryKind::file)
    use(revision, content(path, *info));
  else
    tell("revision " + short_commit(revision.commit) + ": " + in_quotes(at.below(entry.name)) +
         " is no file");
}

void RepoScan::use_link(const Folder& folder, const Pending& at, const std::string& name,
                        CachedRevision& revision) {
  const std::string target = folder.link_target(name);
  const std::string subject = "revision " + short_commit(revision.commit) + ": " + in_quotes(at.below(name));
  std::string path;
  if (const std::string_view blob = plain_blob_name(target, at.depth); !blob.empty()) {
    path = "blobs/" + std::string(blob);
  } else {
    const fs::path here = revision.path / at.path;
    path = (here / target).lexically_normal().lexically_relative(found_.path.lexically_normal()).string();
  }
  if (const auto known = by_path_.find(path); known != by_path_.end()) {
    ++revision.files;
    use(revision, known->second);
    return;
  }
  const auto info = folder.target_info(name);
  if (info && info->kind == EntryKind::folder) {  // it may hold links to our blobs, and is not looked into
    found_.links_are_known = false;
    return tell(subject + " is a link to a folder");
  }
  ++revision.files;
  if (!info || info->kind != EntryKind::file) return tell(subject + " leads nowhere");
  if (!path.starts_with("blobs/") && !path.starts_with("snapshots/"))
    tell(subject + " leads out of the repository");
  use(revision, content(path, *info));
}

bool RepoScan::has_revision(const std::string& commit) const {
  return std::any_of(found_.revisions.begin(), found_.revisions.end(),
                     [&](const CachedRevision& revision) { return revision.commit == commit; });
}

void RepoScan::tell_refs_to_nowhere() {
  for (const auto& ref : refs_) {
    const auto& [name, commit] = ref;
    const auto at =
        std::find_if(found_.revisions.begin(), found_.revisions.end(),
                     [&](const CachedRevision& revision) { return revision.commit == ref.second; });
    if (at != found_.revisions.end()) {
      at->refs.push_back(name);
      continue;
    }
    tell("ref " + in_quotes(name) + " stands for " + short_commit(commit) + ", which is not there");
    leave("refs/" + name, Remnant::Kind::lone_ref, home_.info("refs/" + name).value_or(EntryInfo{}), commit);
  }
}

// What nothing links to and is not called by a hash is a partial file or a stranger's.
void RepoScan::sort_out_blobs() {
  std::vector<CachedContent> kept;
  std::vector<std::size_t> moved(found_.contents.size());
  for (std::size_t i = 0; i < found_.contents.size(); ++i) {
    CachedContent& content = found_.contents[i];
    const std::string name = content.path.substr(content.path.find('/') + 1);
    moved[i] = kept.size();
    if (content.is_linked || !content.is_blob() || is_etag(name)) {
      kept.push_back(std::move(content));
    } else if (const auto kind = remnant_of_blobs(name)) {
      leave(content.path, *kind, content.info);
    } else if (!is_litter(name)) {
      tell("blobs/" + escaped(name) + " is no blob");
    }
  }
  for (CachedRevision& revision : found_.revisions)
    for (std::size_t& at : revision.contents) at = moved[at];
  found_.contents = std::move(kept);
}

void RepoScan::read_beside() {
  for (const FolderEntry& entry : home_.entries()) {
    const std::string& name = entry.name;
    if (name == "blobs" || name == "refs" || name == "snapshots" || is_litter(name)) continue;
    if (name == "trees") {
      read_lists(name, ".json");
    } else if (name == ".no_exist") {
      read_lists(name, "");
    } else if (const auto kind = remnant_of_repo(name)) {
      leave(name, *kind, home_.info(name).value_or(EntryInfo{}));
    } else {
      tell(escaped(name) + " does not belong there");
    }
  }
}

// trees/<commit>.json and .no_exist/<commit>
void RepoScan::read_lists(const std::string& folder, std::string_view suffix) {
  Folder lists(home_, folder);
  for (const FolderEntry& entry : lists.entries()) {
    const std::string path = folder + "/" + entry.name;
    const EntryInfo info = lists.info(entry.name).value_or(EntryInfo{});
    if (entry.name.ends_with(suffix)) {
      const std::string commit = entry.name.substr(0, entry.name.size() - suffix.size());
      if (is_commit(commit)) {
        if (!has_revision(commit)) leave(path, Remnant::Kind::list, info, commit);
        continue;
      }
    }
    if (is_temporary_file(entry.name))
      leave(path, Remnant::Kind::temporary, info);
    else if (!is_litter(entry.name))
      tell(escaped(path) + " does not belong there");
  }
}

void RepoScan::add_up() {
  const EntryInfo home = home_.info();
  for (CachedRevision& revision : found_.revisions) {
    if (!revision.contents.empty()) revision.last_used = revision.last_modified = FileTime();
    for (const std::size_t at : revision.contents) {
      const EntryInfo& info = found_.contents[at].info;
      revision.bytes += info.bytes;
      revision.last_used = std::max(revision.last_used, info.used);
      revision.last_modified = std::max(revision.last_modified, info.modified);
    }
  }
  for (const CachedContent& content : found_.contents) {
    if (!content.is_linked) {
      found_.unreferenced_bytes += content.info.bytes;
      continue;
    }
    ++found_.files;
    found_.bytes += content.info.bytes;
    found_.last_used = std::max(found_.last_used, content.info.used);
    found_.last_modified = std::max(found_.last_modified, content.info.modified);
  }
  if (found_.files == 0) {
    found_.last_used = home.used;
    found_.last_modified = home.modified;
  }
  for (const Remnant& remnant : found_.remnants)
    if (remnant.kind == Remnant::Kind::partial || remnant.kind == Remnant::Kind::incomplete)
      found_.partial_bytes += remnant.info.bytes;
}

}  // namespace

bool is_litter(std::string_view name) {
  return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini";
}

CachedRepo scan_repo(const Folder& root, const std::string& name, Repo repo, const fs::path& path,
                     bool has_shared_store) {
  CachedRepo found;
  found.repo = std::move(repo);
  found.path = path;
  RepoScan(root, name, found, has_shared_store).read();
  return found;
}

}  // namespace hf::cache
