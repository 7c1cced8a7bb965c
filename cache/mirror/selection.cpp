#include "cache/mirror/selection.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/escape.h"

namespace hf::cache {
namespace {

bool names(std::string_view wanted, std::string_view path) {
  return wanted.ends_with('/') ? path.starts_with(wanted) : path == wanted;
}

bool matches_any(std::string_view path, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return matches_glob(path, p); });
}

// Each named file must exist: a typing error must not look like a finished download.
void check_named(const std::vector<TreeFile>& tree, const Selection& selection, std::string_view subject) {
  std::string missing;
  for (const std::string& wanted : selection.files)
    if (std::none_of(tree.begin(), tree.end(), [&](const TreeFile& f) { return names(wanted, f.path); }))
      missing += (missing.empty() ? "" : ", ") + in_quotes(wanted);
  if (!missing.empty())
    throw Error(ErrorKind::not_found, std::string(subject) + ": the revision has no file " + missing);
}

}  // namespace

bool matches_glob(std::string_view path, std::string_view pattern) {
  std::string glob(pattern);
  if (glob.ends_with('/')) glob += '*';
  return fnmatch(glob.c_str(), std::string(path).c_str(), FNM_NOESCAPE) == 0;
}

std::vector<TreeFile> select(const std::vector<TreeFile>& tree, const Selection& selection,
                             std::string_view subject) {
  check_named(tree, selection, subject);
  std::vector<TreeFile> chosen;
  for (const TreeFile& file : tree) {
    const bool named =
        selection.files.empty() || std::any_of(selection.files.begin(), selection.files.end(),
                                               [&](const auto& f) { return names(f, file.path); });
    if (named && (selection.include.empty() || matches_any(file.path, selection.include)) &&
        !matches_any(file.path, selection.exclude))
      chosen.push_back(file);
  }
  if (chosen.empty() && !tree.empty())
    throw Error(ErrorKind::not_found, std::string(subject) + ": no file of the revision matches");
  return chosen;
}

}  // namespace hf::cache
