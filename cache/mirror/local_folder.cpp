#include "cache/mirror/local_folder.h"

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "cache/store/tree_file.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 5;

// The files that the revision has by the list of it in the folder. Nothing where there is none, or one that
// is damaged.
std::optional<std::vector<TreeFile>> list_of(const fs::path& folder,
                                             const std::optional<std::string>& commit) {
  if (!commit) return std::nullopt;
  const fs::path list = folder / ".cache/huggingface/trees" / (*commit + ".json");
  std::error_code ignored;
  if (!fs::is_regular_file(list, ignored)) return std::nullopt;
  try {
    return parse_tree_json(read_text(list, 1u << 30), shown(list));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

LocalFolder find_local_folder(const fs::path& folder, const Store& store, const Repo& repo,
                              std::string_view revision, const Selection& selection) {
  const std::string subject =
      std::string(name_of(repo.type)) + " " + escaped(repo.id) + ", revision " + escaped(revision);
  std::error_code error;
  if (fs::is_empty(folder, error) || error || !fs::is_directory(folder, error))
    throw Error(ErrorKind::not_found,
                subject + ": is not in " + shown(folder) +
                    ", which is no folder or an empty one, and the Hub may not be asked");
  const auto list = list_of(folder, store.commit_of(repo, revision));
  std::vector<std::string> wanted;
  if (list) {
    for (const TreeFile& file : select(*list, selection, subject)) wanted.push_back(file.path);
  } else {  // only what is named can be looked for
    wanted = selection.files;
  }
  std::string missing;
  std::size_t count = 0;
  for (const std::string& path : wanted)
    if (!fs::exists(folder / path, error) && ++count <= kMostNamed)
      missing += (missing.empty() ? "" : ", ") + in_quotes(path);
  if (count > 0)
    throw Error(ErrorKind::not_found, subject + ": " + std::to_string(count) + " files are not in " +
                                          shown(folder) + ": " + missing + (count > kMostNamed ? ", …" : ""));
  const fs::path path = fs::canonical(folder, error);
  return {error ? folder : path, list.has_value()};
}

}  // namespace hf::cache
