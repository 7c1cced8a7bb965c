#include "cache/mirror/adopt.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/escape.h"
#include "base/thread_pool.h"
#include "cache/mirror/adopt_sources.h"
#include "cache/store/lfs_pointer.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/repo_folder.h"
#include "cache/store/synthetic_commits.h"
#include "cache/store/tree_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

// What the bytes come to, held against what they should be.
void settle(AdoptedFile& file, const ContentHashes& hashes) {
  file.sha256 = hashes.sha256;
  if (hashes.bytes != file.file.size) {
    file.fault =
        "has " + std::to_string(hashes.bytes) + " bytes, " + std::to_string(file.file.size) + " are expected";
  } else if (!file.is_expected) {
    if (file.is_lfs) file.file.sha256 = hashes.sha256;
    file.file.git_oid = file.is_lfs ? git_oid_of({hashes.sha256, hashes.bytes}) : hashes.git_sha1;
  } else if (const std::string& hash = file.file.sha256.empty() ? hashes.git_sha1 : hashes.sha256;
             hash != file.file.etag()) {
    file.fault = "its bytes have the hash " + hash + ", " + file.file.etag() + " is expected";
  }
}

void hash(AdoptedFile& file, ContentReader& reader) try {
  const QuietFile opened(file.source);
  file.identity = opened.identity();
  const bool needs_sha1 = file.is_expected ? file.file.sha256.empty() : !file.is_lfs;
  settle(file, reader.hash(opened, {.sha256 = true, .git_sha1 = needs_sha1}));
} catch (const Error& error) {
  if (error.kind() == ErrorKind::interrupted) throw;
  file.fault = error.what();
}

// Once a content, though it may stand under several paths and in several revisions of another cache.
void hash_all(AdoptPlan& plan, std::size_t threads, Progress& progress) {
  std::map<std::string, std::vector<AdoptedFile*>> by_source;
  std::uint64_t bytes = 0;
  for (AdoptedRevision& revision : plan.revisions)
    for (AdoptedFile& file : revision.files)
      if (file.fault.empty()) by_source[file.source.string()].push_back(&file);
  std::vector<std::vector<AdoptedFile*>*> work;
  for (auto& [source, files] : by_source) {
    work.push_back(&files);
    bytes += files[0]->file.size;
  }
  if (work.empty()) return;
  progress.begin("hash", bytes);
  struct End {
    Progress& progress;
    ~End() { progress.end(); }
  } const end{progress};
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  ThreadPool pool(std::min(threads, work.size()));
  pool.for_each(work.size(), [&](std::size_t i) {
    ContentReader reader(progress);
    std::vector<AdoptedFile*>& same = *work[i];
    for (AdoptedFile* file : same) {
      const auto is_like = [&](const AdoptedFile* other) {
        return other->file.etag() == file->file.etag() && other->file.size == file->file.size &&
               other->is_expected;
      };
      const auto like = std::find_if(same.begin(), same.end(), is_like);
      if (like != same.end() && *like != file && !(*like)->sha256.empty()) {
        file->sha256 = (*like)->sha256;
        file->identity = (*like)->identity;
        file->fault = (*like)->fault;
      } else {
        hash(*file, reader);
      }
    }
  });
}

std::vector<TreeFile> tree_of(const AdoptedRevision& revision) {
  std::vector<TreeFile> tree;
  for (const AdoptedFile& file : revision.files) tree.push_back(file.file);
  return tree;
}

// A move that was broken off while the source's files went leaves some of them: they are of the revision that
// was made of all.
std::optional<std::string> commit_that_holds(const std::vector<TreeFile>& files, const Repo& repo,
                                             const Store& store) {
  for (const std::string& commit : synthetic_commits(store, repo)) {
    const auto tree = RepoFolder(store, repo).read_tree(commit);
    const auto is_held = [&](const TreeFile& file) {
      const TreeFile* held = find_path(*tree, file.path);
      return held != nullptr && held->etag() == file.etag();
    };
    if (tree && std::all_of(files.begin(), files.end(), is_held)) return commit;
  }
  return std::nullopt;
}

void decide(AdoptedRevision& revision, const Store& store, const AdoptRequest& request, AdoptPlan& plan) {
  std::vector<AdoptedFile> kept;
  std::size_t faults = 0;
  for (AdoptedFile& file : revision.files) {
    if (revision.alone && !file.fault.empty()) {
      plan.left.push_back({file.source, file.fault, true});
      continue;
    }
    faults += file.fault.empty() ? 0 : 1;
    kept.push_back(std::move(file));
  }
  std::sort(kept.begin(), kept.end(),
            [](const AdoptedFile& a, const AdoptedFile& b) { return a.file.path < b.file.path; });
  revision.files = std::move(kept);
  if (faults > 0)
    revision.refusal = std::to_string(faults) + " of its files are not what they should be";
  else if (revision.files.empty())
    revision.refusal = "there is no file of it";
  if (!revision.is_synthetic || !revision.commit.empty() || !revision.is_taken()) return;
  std::vector<TreeFile> tree = tree_of(revision);
  std::optional<std::string> earlier;
  if (request.mode == AdoptMode::move) earlier = commit_that_holds(tree, revision.repo, store);
  revision.commit = earlier.value_or(synthetic_commit(tree));
  if (!earlier) revision.tree = std::move(tree);
}

AdoptPlan plan_of(AdoptContext context, Progress& progress) {
  AdoptPlan plan;
  std::error_code ignored;
  const bool is_itself = fs::equivalent(context.path, context.store.root(), ignored);
  const bool has_repos = has_repo_folders(context.path), has_flat = has_flat_files(context.path);
  if (is_itself && !has_flat) throw Error(ErrorKind::usage, shown(context.path) + ": is the cache itself");
  if (has_flat) find_in_flat_cache(context, plan);
  if (has_repos && !is_itself) find_in_cache(context, plan);
  if (is_repo_folder(context.path)) find_in_repo_folder(context, plan);
  if (!has_flat && !has_repos && !is_repo_folder(context.path)) find_in_folder(context, plan);
  hash_all(plan, context.request.threads, progress);
  for (AdoptedRevision& revision : plan.revisions) decide(revision, context.store, context.request, plan);
  return plan;
}

// A revision's folder in a cache is links: its repository's folder is what is meant, and this one of it.
bool is_snapshot(const fs::path& path) {
  return is_commit(path.filename().string()) && path.parent_path().filename() == "snapshots" &&
         is_repo_folder(path.parent_path().parent_path());
}

void check_plan(const AdoptPlan& plan, const AdoptRequest& request, const fs::path& path) {
  if (plan.revisions.empty() && plan.is_whole())
    throw Error(ErrorKind::not_found, shown(path) + ": holds nothing that can be taken over");
  if (!request.ref) return;
  std::map<std::string, std::size_t> revisions;
  for (const AdoptedRevision& revision : plan.revisions)
    if (!revision.refs.empty() && ++revisions[revision.repo.id] > 1)
      throw Error(ErrorKind::usage, "--ref: would stand for several revisions of " +
                                        escaped(revision.repo.id) + ", --revision names one");
}

}  // namespace

bool AdoptPlan::is_whole() const {
  return std::none_of(left.begin(), left.end(), [](const LeftFile& file) { return file.is_fault; }) &&
         std::all_of(revisions.begin(), revisions.end(),
                     [](const auto& revision) { return revision.is_taken(); });
}

bool expect(AdoptedFile& file, const std::vector<TreeFile>& tree) {
  const TreeFile* found = find_path(tree, file.file.path);
  if (found == nullptr) return false;
  if (file.fault.empty() && file.file.size != found->size)
    file.fault = "has " + std::to_string(file.file.size) + " bytes, the revision's list says " +
                 std::to_string(found->size);
  file.file = *found;
  file.is_expected = true;
  return true;
}

void expect(AdoptedFile& file, const std::string& etag) {
  const bool is_lfs = etag.size() == 64;
  file.file.sha256 = is_lfs ? etag : "";
  file.file.git_oid = is_lfs ? git_oid_of({etag, file.file.size}) : etag;
  file.is_expected = true;
}

std::optional<std::vector<TreeFile>> ask_tree(const AdoptContext& context, const Repo& repo,
                                              const std::string& commit, AdoptPlan& plan) {
  if (context.hub == nullptr) return std::nullopt;
  try {
    return context.hub->tree(repo, commit);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    plan.warnings.push_back(error.what());
    return std::nullopt;
  }
}

std::optional<std::string> ask_commit(const AdoptContext& context, const Repo& repo,
                                      const std::string& revision, AdoptPlan& plan) {
  if (context.hub == nullptr) return std::nullopt;
  try {
    return context.hub->commit_of(repo, revision);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    plan.warnings.push_back(error.what());
    return std::nullopt;
  }
}

AdoptPlan plan_adopt(const fs::path& path, const Store& store, const AdoptRequest& request, const Hub* hub,
                     Progress& progress) {
  std::error_code error;
  AdoptRequest wanted = request;
  fs::path source = fs::absolute(path, error).lexically_normal();
  if (!source.has_filename()) source = source.parent_path();
  if (!fs::is_directory(source, error))
    throw Error(ErrorKind::not_found, shown(path) + ": there is no such folder");
  if (is_snapshot(source)) {
    wanted.commit = source.filename().string();
    source = source.parent_path().parent_path();
  }
  AdoptContext context{source, store, wanted, hub, false};
  AdoptPlan plan = plan_of(context, progress);
  const bool is_refused = std::any_of(plan.revisions.begin(), plan.revisions.end(), [](const auto& revision) {
    return !revision.is_taken() && !revision.alone;
  });
  const bool is_folder = !has_repo_folders(source) && !has_flat_files(source) && !is_repo_folder(source);
  // The files are not what they were said to be: then they are a revision of their own, where that is
  // allowed.
  if (is_refused && request.synthetic && is_folder && !request.commit) {
    context.by_content = true;
    plan = plan_of(context, progress);
  }
  check_plan(plan, request, path);
  return plan;
}

}  // namespace hf::cache
