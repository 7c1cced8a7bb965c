// The cache of transformers before 4.22, one folder of files:
//
//   <sha256 of the URL>.<sha256 of the ETag>[.h5]         content
//   <the same>.json                                       {"url": "…", "etag": "\"…\""}
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/escape.h"
#include "base/hash.h"
#include "base/json_guard.h"
#include "base/path_rules.h"
#include "cache/http/url.h"
#include "cache/mirror/adopt_sources.h"
#include "cache/store/quiet_folder.h"

namespace hf::cache {
namespace {

namespace fs = std::filesystem;

// Before there were repositories, a file was called "<model>-<one of these>".
constexpr std::string_view kOldNames[] = {"config.json",
                                          "pytorch_model.bin",
                                          "tf_model.h5",
                                          "flax_model.msgpack",
                                          "rust_model.ot",
                                          "vocab.txt",
                                          "vocab.json",
                                          "merges.txt",
                                          "spiece.model",
                                          "sentencepiece.bpe.model",
                                          "tokenizer.json",
                                          "tokenizer_config.json",
                                          "special_tokens_map.json",
                                          "added_tokens.json",
                                          "modelcard.json"};

// "<64 hex>[.<64 hex>][.h5].json"
bool is_flat_note(std::string_view name) {
  if (!name.ends_with(".json")) return false;
  name.remove_suffix(5);
  if (name.ends_with(".h5")) name.remove_suffix(3);
  const auto is_hash = [](std::string_view text) { return text.size() == 64 && is_etag(text); };
  return is_hash(name) ||
         (name.size() == 129 && name[64] == '.' && is_hash(name.substr(0, 64)) && is_hash(name.substr(65)));
}

std::optional<FlatOrigin> checked(std::string_view id, std::string_view revision, std::string_view path) {
  std::optional<FlatOrigin> origin(std::in_place);
  origin->repo.id = id;
  origin->revision = revision;
  origin->path = path;
  try {
    check_repo(origin->repo);
    check_revision(origin->revision);
    check_relative_path(origin->path);
  } catch (const Error&) {
    origin.reset();
  }
  return origin;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      const std::size_t value = std::string_view("0123456789abcdef")
                                    .find(static_cast<char>(at < text.size() ? text[at] | 0x20 : 0));
      return value == std::string_view::npos ? -1 : static_cast<int>(value);
    };
    if (text[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      out += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// "ORG/NAME/FILE", or "NAME-FILE" with a file name that is known.
std::optional<FlatOrigin> parse_old_path(std::string_view path) {
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string_view::npos ? first : path.find('/', first + 1);
  if (second != std::string_view::npos)
    return checked(path.substr(0, second), "main", path.substr(second + 1));
  if (first != std::string_view::npos) return std::nullopt;
  for (const std::string_view name : kOldNames)
    if (path.size() > name.size() + 1 && path.ends_with(name) && path[path.size() - name.size() - 1] == '-')
      return checked(path.substr(0, path.size() - name.size() - 1), "main", name);
  return std::nullopt;
}

struct FlatFile {
  AdoptedFile file;
  FlatOrigin origin;
  fs::file_time_type time;
};

class FlatCache {
 public:
  FlatCache(const AdoptContext& context, AdoptPlan& plan) : context_(context), plan_(plan) {}

  void run() {
    for (const std::string& name : names_in(context_.path))
      if (is_flat_note(name)) read(name);
    for (auto& [key, files] : by_revision_) take(key.first, key.second, std::move(files));
  }

 private:
  void leave(const fs::path& source, std::string why, bool is_fault = false) {
    plan_.left.push_back({source, std::move(why), is_fault});
  }

  void read(const std::string& name) {
    const fs::path note = context_.path / name, source = context_.path / name.substr(0, name.size() - 5);
    std::error_code error;
    if (!fs::is_regular_file(source, error)) return;  // only the note of it is left
    try {
      const nlohmann::json object = parse_json(read_quietly(note, 1 << 20), in_quotes(name));
      const auto url = object.find("url"), etag = object.find("etag");
      if (!object.is_object() || url == object.end() || !url->is_string())
        return leave(source, "its note does not tell where it is from");
      const auto origin = parse_flat_url(url->get<std::string>());
      if (!origin ||
          !name.starts_with(sha256_hex(std::as_bytes(std::span(url->get_ref<const std::string&>())))))
        return leave(source, "is from " + in_quotes(url->get<std::string>()) +
                                 ", which tells no file of a repository");
      if (context_.request.repo && *context_.request.repo != origin->repo)
        return leave(source, "is of " + escaped(origin->repo.id));
      FlatFile found{
          {source, {origin->path, fs::file_size(source), "", "", ""}}, *origin, fs::last_write_time(source)};
      std::string hash = etag != object.end() && etag->is_string() ? etag->get<std::string>() : "";
      if (hash.starts_with("W/")) hash.erase(0, 2);
      std::erase(hash, '"');
      found.file.companions = {note, source.string() + ".lock"};
      if (is_etag(hash)) expect(found.file, hash);
      by_revision_[{origin->repo.id, origin->revision}].push_back(std::move(found));
    } catch (const Error& failure) {
      leave(source, failure.what(), true);
    } catch (const fs::filesystem_error& failure) {
      leave(source, failure.code().message(), true);
    }
  }

  // Of several versions of a path the newest; where a list tells which one is right, that.
  void take(const std::string& id, const std::string& name, std::vector<FlatFile> files) {
    AdoptedRevision revision{.repo = {id}, .alone = true};
    if (!find_commit(revision, name)) {
      for (const FlatFile& file : files) leave(file.file.source, "nothing tells of which commit it is", true);
      return;
    }
    if (!is_commit(name) || is_only_revision(id))
      revision.refs = {context_.request.ref.value_or(is_commit(name) ? "main" : name)};
    std::sort(files.begin(), files.end(), [](const FlatFile& a, const FlatFile& b) {
      return std::tie(a.origin.path, b.time) < std::tie(b.origin.path, a.time);
    });
    for (FlatFile& found : files) {
      AdoptedFile& file = found.file;
      const std::string etag = file.is_expected ? file.file.etag() : "";
      if (revision.tree && !expect(file, *revision.tree))
        leave(file.source, "is no file of revision " + revision.commit.substr(0, 12));
      else if (revision.tree && !etag.empty() && etag != file.file.etag())
        leave(file.source, "is another version of " + in_quotes(file.file.path));
      else if (!revision.files.empty() && revision.files.back().file.path == file.file.path)
        leave(file.source, "is an older version of " + in_quotes(file.file.path));
      else if (!file.is_expected)
        leave(file.source, "its ETag is no hash of its content, and there is no list that tells one", true);
      else
        revision.files.push_back(std::move(file));
    }
    if (!revision.files.empty()) plan_.revisions.push_back(std::move(revision));
  }

  bool is_only_revision(const std::string& id) const {
    return std::count_if(by_revision_.begin(), by_revision_.end(),
                         [&](const auto& entry) { return entry.first.first == id; }) == 1;
  }

  bool find_commit(AdoptedRevision& revision, const std::string& name) {
    const AdoptRequest& request = context_.request;
    if (is_commit(name) || request.commit)
      revision.commit = is_commit(name) ? name : *request.commit;
    else if (const auto commit = ask_commit(context_, revision.repo, name, plan_))
      revision.commit = *commit;
    if (!revision.commit.empty()) revision.tree = ask_tree(context_, revision.repo, revision.commit, plan_);
    revision.is_synthetic = revision.commit.empty() && request.synthetic;
    return !revision.commit.empty() || revision.is_synthetic;
  }

  const AdoptContext& context_;
  AdoptPlan& plan_;
  std::map<std::pair<std::string, std::string>, std::vector<FlatFile>> by_revision_;  // by id and revision
};

}  // namespace

bool has_flat_files(const fs::path& path) {
  const std::vector<std::string> names = names_in(path);
  return std::any_of(names.begin(), names.end(), is_flat_note);
}

std::optional<FlatOrigin> parse_flat_url(std::string_view url) {
  constexpr std::string_view kHub = "https://huggingface.co/", kCdn = "https://cdn.huggingface.co/",
                             kS3 = "https://s3.amazonaws.com/models.huggingface.co/bert/";
  if (url.find_first_of("?#") != std::string_view::npos) return std::nullopt;
  if (url.starts_with(kCdn)) return parse_old_path(url.substr(kCdn.size()));
  if (url.starts_with(kS3)) return parse_old_path(url.substr(kS3.size()));
  if (!url.starts_with(kHub)) return std::nullopt;
  url.remove_prefix(kHub.size());
  constexpr std::string_view kResolve = "/resolve/";
  const std::size_t resolve = url.find(kResolve);
  if (resolve == std::string_view::npos) return std::nullopt;
  const std::string_view rest = url.substr(resolve + kResolve.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return checked(url.substr(0, resolve), decoded(rest.substr(0, slash)), decoded(rest.substr(slash + 1)));
}

void find_in_flat_cache(const AdoptContext& context, AdoptPlan& plan) { FlatCache(context, plan).run(); }

}  // namespace hf::cache
