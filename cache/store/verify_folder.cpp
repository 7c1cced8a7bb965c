// The survey of a folder that was downloaded into, by what huggingface_hub or hfcache noted in it:
//
//   D/.cache/huggingface/download/<path>.metadata   "<commit>\n<etag>\n<unix time>\n"
//                        trees/<commit>.json
#include <sys/stat.h>

#include <set>

#include "base/error.h"
#include "base/escape.h"
#include "cache/store/folder_notes.h"
#include "cache/store/quiet_folder.h"
#include "cache/store/tree_file.h"
#include "cache/store/verify_survey.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

class FolderSurveyor {
 public:
  FolderSurveyor(const fs::path& folder, const VerifyRequest& request) : folder_(folder), request_(request) {
    survey_.folder = folder.string();
  }

  RepoSurvey run() {
    std::error_code ignored;
    if (!fs::is_directory(folder_ / kNotesFolder, ignored))
      throw Error(ErrorKind::not_found, shown(folder_) + ": has no folder " + std::string(kNotesFolder) +
                                            ", nothing tells what it should hold");
    const FolderNotes notes = read_folder_notes(folder_);
    for (const auto& [path, why] : notes.malformed) note(path, Verdict::unverifiable, why);
    for (const auto& [path, noted] : notes.files)
      see(path, noted.commit, noted.etag, size_of(notes, noted, path));
    for (const auto& [commit, tree] : notes.trees) see_list(commit, tree, notes);
    for (const std::string& path : list_below(folder_).files)
      if (!notes.files.contains(path) && !seen_.contains(path) && !is_administrative(path))
        note(path, Verdict::unverifiable, "nothing was noted of it");
    return std::move(survey_);
  }

 private:
  Checked& note(const std::string& path, Verdict verdict, std::string why) {
    seen_.insert(path);
    return survey_.files.emplace_back(Checked{path, {}, "", 0, verdict, std::move(why)});
  }

  static std::optional<std::uint64_t> size_of(const FolderNotes& notes, const LocalMetadata& noted,
                                              const std::string& path) {
    const auto tree = notes.trees.find(noted.commit);
    if (tree == notes.trees.end()) return std::nullopt;
    const TreeFile* file = find_path(tree->second, path);
    if (file != nullptr && file->etag() == noted.etag) return file->size;
    return std::nullopt;
  }

  void see(const std::string& path, const std::string& commit, const std::string& etag,
           std::optional<std::uint64_t> size) {
    const fs::path full = folder_ / path;
    Checked& checked = note(path, Verdict::ok, "");
    checked.names = {commit + "/" + path};
    checked.etag = etag;
    struct stat info {};
    if (stat(full.c_str(), &info) != 0) {
      checked.verdict = Verdict::missing;
      checked.why = "is not there";
      return;
    }
    checked.identity = FileIdentity::of(info);
    checked.bytes = checked.identity.bytes;
    checked.verdict = Verdict::wrong;  // until it is to be read
    if (!S_ISREG(info.st_mode)) {
      checked.why = "is no file";
    } else if (size && *size != checked.bytes) {
      checked.why = "has " + std::to_string(checked.bytes) + " bytes, the revision's list says " +
                    std::to_string(*size);
    } else {
      checked.verdict = Verdict::ok;
      survey_.to_read.push_back({&checked, full, ""});
    }
  }

  // A list vouches for files whose notes were lost, where no other revision's are in the folder.
  void see_list(const std::string& commit, const std::vector<TreeFile>& tree, const FolderNotes& notes) {
    std::error_code ignored;
    for (const TreeFile& file : tree) {
      if (notes.files.contains(file.path) || seen_.contains(file.path)) continue;
      if (notes.trees.size() == 1 && (request_.complete || fs::exists(folder_ / file.path, ignored)))
        see(file.path, commit, file.etag(), file.size);
      else if (notes.trees.size() == 1)
        ++survey_.left_out[commit];
    }
  }

  static bool is_administrative(std::string_view path) {
    return path.starts_with(".cache/huggingface/") || path.starts_with(".git/");
  }

  const fs::path folder_;
  const VerifyRequest& request_;
  RepoSurvey survey_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace

RepoSurvey survey_folder(const fs::path& folder, const VerifyRequest& request) {
  return FolderSurveyor(folder, request).run();
}

}  // namespace hf::cache
