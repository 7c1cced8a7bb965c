#include "converters/convert.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_guard.h"
#include "base/path_rules.h"
#include "converters/staging.h"

namespace hf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kManifest = "hfconvert.json";

// What loaders want beside the weights, by the names that transformers and sentence-transformers give them.
constexpr std::array<std::string_view, 22> kCarried{"config.json",
                                                    "generation_config.json",
                                                    "tokenizer.json",
                                                    "tokenizer_config.json",
                                                    "special_tokens_map.json",
                                                    "added_tokens.json",
                                                    "vocab.json",
                                                    "vocab.txt",
                                                    "merges.txt",
                                                    "bpe.codes",
                                                    "spiece.model",
                                                    "sentencepiece.bpe.model",
                                                    "tokenizer.model",
                                                    "chat_template.jinja",
                                                    "chat_template.json",
                                                    "preprocessor_config.json",
                                                    "processor_config.json",
                                                    "modules.json",
                                                    "sentence_bert_config.json",
                                                    "config_sentence_transformers.json",
                                                    "1_Pooling/config.json",
                                                    "2_Normalize/config.json"};

constexpr std::size_t kBlock = 4u << 20;

template <class F>
void for_blocks(const MappedFile& file, F&& f) {
  const auto bytes = file.bytes();
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    check_interrupted();
    f(bytes.subspan(at, std::min(kBlock, bytes.size() - at)));
    file.drop(at, kBlock);
  }
}

void carry(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  const MappedFile source(from);
  AtomicFile copy(to);
  for_blocks(source, [&](std::span<const std::byte> block) { copy.write(block); });
  copy.commit();
}

std::vector<std::string> carry_all(const fs::path& source, const fs::path& to) {
  std::vector<std::string> names;
  for (const std::string_view name : kCarried) {
    std::error_code code;
    if (!fs::is_regular_file(source / name, code)) continue;
    carry(source / name, to / name);
    names.emplace_back(name);
  }
  return names;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The cache names a large file's blob by its sha256 and checked that when it arrived.
std::string sha256_of(const fs::path& file) {
  std::error_code code;
  const fs::path target = fs::read_symlink(file, code);
  if (!code && is_sha256(target.filename().string())) return target.filename().string();
  const MappedFile mapped(file);
  Hasher hasher(HashKind::sha256, mapped.bytes().size());
  for_blocks(mapped, [&](std::span<const std::byte> block) { hasher.update(block); });
  return hasher.hex();
}

bool is_weight_file(const std::string& name) {
  return name.starts_with("model") &&
         (name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json"));
}

json described_sources(const fs::path& source, const std::vector<std::string>& carried) {
  std::vector<std::string> names = carried;
  for (const fs::directory_entry& entry : fs::directory_iterator(source))
    if (entry.is_regular_file() && is_weight_file(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  json out = json::array();
  for (const std::string& name : names)
    out.push_back(
        {{"file", name}, {"bytes", fs::file_size(source / name)}, {"sha256", sha256_of(source / name)}});
  return out;
}

void write_manifest(const fs::path& folder, const json& sources, const Model& model, const Format& format,
                    const std::vector<std::string>& files, const std::string& version) {
  json list = json::array();
  for (const std::string& name : files)
    list.push_back({{"file", name}, {"bytes", fs::file_size(folder / name)}});
  const json manifest{{"program", {{"name", "hfconvert"}, {"version", version}}},
                      {"format", {{"name", format.name}, {"version", format.version}}},
                      {"model_type", model.model_type},
                      {"class", model.class_name},
                      {"task", model.task},
                      {"sources", sources},
                      {"files", list}};
  write_file(folder / kManifest, manifest.dump(2, ' ', true, json::error_handler_t::replace) + "\n");
}

// What an earlier conversion wrote into `folder`, by its manifest, which comes first.
std::vector<std::string> earlier_files(const fs::path& folder) {
  std::error_code code;
  if (!fs::is_regular_file(folder / kManifest, code)) return {};
  const std::string subject = shown(folder / kManifest);
  const json manifest = parse_json(read_text(folder / kManifest), subject);
  std::vector<std::string> out{std::string(kManifest)};
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_array()) return out;
  for (const json& file : manifest["files"]) {
    if (!file.is_object() || !file.contains("file") || !file["file"].is_string()) continue;
    out.push_back(file["file"].get<std::string>());
    with_context(subject, [&] { check_relative_path(out.back()); });
  }
  return out;
}

}  // namespace

Conversion convert(const fs::path& source, const Format& format, const fs::path& output,
                   const ConvertOptions& options) {
  std::error_code code;
  if (fs::equivalent(source, output, code))
    throw Error(ErrorKind::usage, shown(output) + ": is the source's folder, another one is expected");
  const Model model = load_model(source, options.load);

  Staging staging(output, options.overwrite ? Staging::Existing::replaced : Staging::Existing::refused);
  const std::vector<std::string> outdated = earlier_files(output);
  std::vector<std::string> written =
      format.write(model, staging.path(), options.progress != nullptr ? *options.progress : no_progress());
  const std::vector<std::string> carried = carry_all(source, staging.path());

  Conversion done{carried, unexpected_names(model), model.class_name, model.task};
  std::reverse(written.begin(), written.end());  // what is referred to goes before what refers to it
  done.files.insert(done.files.end(), written.begin(), written.end());
  write_manifest(staging.path(), described_sources(source, carried), model, format, done.files,
                 options.version);
  done.files.emplace_back(kManifest);

  std::vector<std::string> gone = outdated;  // a model from elsewhere must not meet our data either
  gone.insert(gone.end(), written.rbegin(), written.rend());
  staging.publish(done.files, gone);
  return done;
}

}  // namespace hf
