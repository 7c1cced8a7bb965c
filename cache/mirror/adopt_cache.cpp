// Another cache of the same layout, as a courier brings one; with links or, after a copy that followed them,
// without.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/escape.h"
#include "base/path_rules.h"
#include "cache/mirror/adopt_sources.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/synthetic_commits.h"
#include "cache/store/tree_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// One repository's folder of the other cache.
class SourceRepo {
 public:
  SourceRepo(const AdoptContext& context, Repo repo, AdoptPlan& plan)
      : context_(context), repo_(std::move(repo)), plan_(plan) {
    std::error_code ignored;
    root_ = fs::weakly_canonical(fs::absolute(context.path, ignored).parent_path(), ignored);
  }

  void run() {
    const auto refs = read_refs();
    const auto synthetic = synthetic_commits(Store(root_), repo_);
    for (const std::string& commit : names_in(context_.path / "snapshots")) {
      if (!is_commit(commit) || !is_folder(context_.path / "snapshots" / commit)) continue;
      if (context_.request.commit && *context_.request.commit != commit) continue;
      AdoptedRevision revision{.repo = repo_, .commit = commit, .is_synthetic = synthetic.contains(commit)};
      for (const auto& [name, target] : refs) {
        if (target != commit) continue;
        revision.refs.push_back(name);
        revision.spent.push_back(context_.path / "refs" / name);
      }
      if (context_.request.ref) revision.refs = {*context_.request.ref};
      fill(revision);
      plan_.revisions.push_back(std::move(revision));
    }
  }

 private:
  std::map<std::string, std::string> read_refs() const {
    std::map<std::string, std::string> refs;
    for (const std::string& name : list_below(context_.path / "refs").files) try {
        const std::string commit = without_line_end(read_quietly(context_.path / "refs" / name, 4096));
        check_revision(name);
        if (is_commit(commit)) refs[name] = commit;
      } catch (const Error&) {  // verify tells of it
      }
    return refs;
  }

  void fill(AdoptedRevision& revision) {
    const fs::path snapshot = context_.path / "snapshots" / revision.commit;
    const fs::path tree = context_.path / "trees" / (revision.commit + ".json");
    std::error_code ignored;
    if (fs::exists(tree, ignored)) try {
        revision.tree = parse_tree_json(read_quietly(tree, 1u << 30), tree.filename().string());
        revision.spent.push_back(tree);
      } catch (const Error& error) {
        plan_.warnings.push_back(escaped(repo_.id) + ": " + error.what());
      }
    for (const std::string& path : list_below(snapshot).files) {
      AdoptedFile file = source_of(snapshot, path);
      if (file.fault.empty() && revision.tree) {
        const std::string etag = file.is_expected ? file.file.etag() : "";
        if (expect(file, *revision.tree) && !etag.empty() && etag != file.file.etag())
          file.fault = "stands for other content than the revision's list says";
      }
      if (file.source != snapshot / path) revision.spent.push_back(snapshot / path);
      revision.files.push_back(std::move(file));
    }
    mark_lfs_files(revision.files);
    for (const std::string& path : list_below(context_.path / ".no_exist" / revision.commit).files)
      revision.absent.push_back(path);
  }

  AdoptedFile source_of(const fs::path& snapshot, const std::string& path) const {
    AdoptedFile file{snapshot / path, {path, 0, "", "", ""}};
    try {
      check_relative_path(path);
      struct stat info {};
      if (lstat(file.source.c_str(), &info) != 0) throw system_error("", errno);
      if (S_ISLNK(info.st_mode)) {
        const std::string name = fs::read_symlink(file.source).filename().string();
        const fs::path real = fs::canonical(file.source);  // through the blob, perhaps into the shared ones
        if (!real.string().starts_with(root_.string() + "/"))
          throw Error(ErrorKind::integrity, "leads out of the cache that it is in");
        if (is_etag(name)) expect(file, name);
        file.source = real;
      }
      if (stat(file.source.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        throw Error(ErrorKind::integrity, "is no file");
      file.file.size = static_cast<std::uint64_t>(info.st_size);
    } catch (const fs::filesystem_error&) {
      file.fault = "leads nowhere";
    } catch (const Error& error) {
      file.fault = error.what();
    }
    return file;
  }

  const AdoptContext& context_;
  const Repo repo_;
  AdoptPlan& plan_;
  fs::path root_;  // of the other cache
};

}  // namespace

bool is_repo_folder(const fs::path& path) {
  Repo ignored;
  return parse_folder_name(path.filename().string(), ignored) && is_folder(path / "snapshots");
}

bool has_repo_folders(const fs::path& path) {
  const std::vector<std::string> names = names_in(path);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_repo_folder(path / name); });
}

void find_in_repo_folder(const AdoptContext& context, AdoptPlan& plan) {
  Repo repo;
  parse_folder_name(context.path.filename().string(), repo);
  if (!context.request.repo || *context.request.repo == repo)
    SourceRepo(context, std::move(repo), plan).run();
}

void find_in_cache(const AdoptContext& context, AdoptPlan& plan) {
  for (const std::string& name : names_in(context.path)) {
    AdoptContext inner = context;
    inner.path /= name;
    if (is_repo_folder(inner.path)) find_in_repo_folder(inner, plan);
  }
}

}  // namespace hf::cache
