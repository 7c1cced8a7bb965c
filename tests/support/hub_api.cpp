// How the Hub on loopback answers requests to its API.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "support/delivery.h"
#include "support/hub_exchange.h"

namespace hf::test {
namespace {

using nlohmann::json;
using K = FaultKind;

json folder_entry(const std::string& path) {
  return {{"type", "directory"}, {"oid", std::string(40, '0')}, {"size", 0}, {"path", path}};
}

// Names that no file of a repository may have, as JSON writes them.
constexpr const char* kUnsafePaths[] = {
    R"("../../outside")",
    R"("/etc/outside")",
    R"("a/../../../outside")",
    R"("a//b")",
    R"("./a")",
    R"(".")",
    R"("..")",
    R"("")",
    R"("a/")",
    R"("a\u0000b")",
    R"("a\nb")",
    R"("a\u001b[2Jb")",
    R"("a/.")",
    "\"a\xff"
    "b\"",
};

// What stands in an entry for a value that json cannot hold.
constexpr std::string_view kHugeSize = "\"@huge size@\"", kUnsafePath = "\"@unsafe path@\"";

void flip(json& hash) {
  auto text = hash.get<std::string>();
  text[0] = text[0] == 'f' ? '0' : 'f';
  hash = text;
}

bool is_file(const json& entry) { return entry["type"] == "file"; }

}  // namespace

void FaultHub::Exchange::answer_json(const json& value, Fields fields) {
  answer_text(value.dump(), std::move(fields));
}

void FaultHub::Exchange::answer_text(std::string text, Fields fields) {
  if (take({K::cut_json})) text.resize(text.size() / 2);
  if (take({K::no_json})) text = "Service is being updated\n";
  if (take({K::empty_answer})) text.clear();
  if (take({K::deep_json})) text = std::string(100'000, '[');
  if (take({K::html_page})) return answer_page_to_log_in();
  fields.emplace_back("Content-Type", "application/json; charset=utf-8");
  send(200, std::move(fields), text, take(Delivery::kinds()));
}

void FaultHub::Exchange::answer_api(const Address& address, const HubRevision& revision) {
  const Fault* elsewhere = has_hopped_ ? nullptr : take({K::redirect_to});
  if (elsewhere != nullptr) {
    std::string location = elsewhere->header;
    const std::string away = hub_.other_origin();
    if (const std::size_t at = location.find("{away}"); at != std::string::npos)
      location.replace(at, 6, away.substr(away.find("//") + 2));
    return redirect(302, location);
  }
  if (address.verb == "tree") return answer_tree(address, revision);
  if (address.verb == "paths-info") return answer_paths_info(revision);
  if (address.verb == "refs") return answer_refs(address);
  json siblings = json::array();
  for (const auto& [path, file] : revision.files) siblings.push_back({{"rfilename", path}});
  json info = {{"_id", "0"},
               {"id", address.id},
               {"modelId", address.id},
               {"sha", revision.commit},
               {"author", address.id.substr(0, address.id.find('/'))},
               {"private", false},
               {"gated", false},
               {"disabled", false},
               {"downloads", 0},
               {"likes", 0},
               {"tags", json::array()},
               {"lastModified", "2026-01-01T00:00:00.000Z"},
               {"createdAt", "2026-01-01T00:00:00.000Z"},
               {"siblings", std::move(siblings)}};
  if (take({K::no_sha})) info.erase("sha");
  answer_json(info);
}

void FaultHub::Exchange::answer_refs(const Address& address) {
  json branches = json::array();
  for (const auto& [name, commit] : hub_.repos_.refs(address.type, address.id))
    branches.push_back({{"name", name}, {"ref", "refs/heads/" + name}, {"targetCommit", commit}});
  answer_json({{"branches", std::move(branches)}, {"converts", json::array()}, {"tags", json::array()}});
}

json FaultHub::Exchange::entry_of(const std::string& path, const HubFile& file) const {
  json entry = {{"type", "file"}, {"oid", file.git_oid}, {"size", file.size}, {"path", path}};
  if (!file.is_lfs()) return entry;
  entry["lfs"] = {{"oid", file.sha256}, {"size", file.size}, {"pointerSize", file.pointer_size}};
  const std::string made_up = "xet " + file.sha256;
  if (!file.xet_hash.empty())
    entry["xetHash"] = file.xet_hash;
  else if (hub_.options_.xet_hashes)
    entry["xetHash"] = sha256_hex(std::as_bytes(std::span(made_up)));
  return entry;
}

void FaultHub::Exchange::answer_paths_info(const HubRevision& revision) {
  std::vector<json> entries;
  for (const auto& [name, path] : parse_form(request_.body)) {
    const auto file = revision.files.find(path);
    if (name == "paths" && file != revision.files.end()) entries.push_back(entry_of(path, file->second));
  }
  spoil(entries);
  answer_json(entries);
}

// All entries below address.path; only its own ones unless the whole tree is asked for.
std::vector<json> FaultHub::Exchange::entries_of(const Address& address, const HubRevision& revision) {
  const std::string prefix = address.path.empty() ? "" : address.path + "/";
  const auto asked = request_.query.find("recursive");
  const bool all = asked != request_.query.end() && (asked->second == "true" || asked->second == "True");
  std::map<std::string, json> entries;
  for (const auto& [path, file] : revision.files) {
    if (!path.starts_with(prefix)) continue;
    for (std::size_t slash = path.find('/', prefix.size()); slash != path.npos;
         slash = path.find('/', slash + 1)) {
      entries.emplace(path.substr(0, slash), folder_entry(path.substr(0, slash)));
      if (!all) break;
    }
    if (all || path.find('/', prefix.size()) == path.npos) entries.emplace(path, entry_of(path, file));
  }
  std::vector<json> out;
  for (auto& [path, entry] : entries) out.push_back(std::move(entry));
  return out;
}

// The faults of a list of files.
void FaultHub::Exchange::spoil(std::vector<json>& entries) {
  if (entries.empty()) return;
  const Fault* size = take({K::other_size});
  const bool oid = take({K::wrong_oid}) != nullptr, plain = take({K::no_lfs}) != nullptr,
             no_xet = take({K::no_xet}) != nullptr;
  for (json& entry : entries) {
    if (!is_file(entry)) continue;
    if (size != nullptr) entry["size"] = size->at;
    if (entry.contains("lfs")) {
      if (size != nullptr) entry["lfs"]["size"] = size->at;
      if (oid) flip(entry["lfs"]["oid"]);
    } else if (oid) {
      flip(entry["oid"]);
    }
    if (plain) entry.erase("lfs");
    if (plain || no_xet) entry.erase("xetHash");
  }
  const auto file = std::find_if(entries.begin(), entries.end(), is_file);
  if (file == entries.end()) return;
  if (take({K::huge_number})) (*file)["size"] = "@huge size@";
  if (take({K::unsafe_path})) (*file)["path"] = "@unsafe path@";
  if (take({K::duplicate_path}))
    entries.push_back(json(*file));
  else if (take({K::file_and_folder})) {
    json inner = *file;
    inner["path"] = inner["path"].get<std::string>() + "/inner";
    entries.push_back(std::move(inner));
  }
}

HttpReply::Fields FaultHub::Exchange::link_to_next(std::size_t cursor, std::size_t entries) {
  const bool endless = take({K::endless_pages}) != nullptr;
  const Fault* elsewhere = take({K::next_elsewhere});
  if (cursor >= entries && !endless && elsewhere == nullptr) return {};
  std::string next = (elsewhere != nullptr ? hub_.other_origin() : hub_.url()) + request_.path +
                     "?cursor=" + std::to_string(cursor);
  for (const auto& [name, value] : request_.query)
    if (name != "cursor") next += "&" + name + "=" + value;
  return {{"Link", "<" + next + ">; rel=\"next\""}};
}

void FaultHub::Exchange::answer_tree(const Address& address, const HubRevision& revision) {
  if (!request_.path.ends_with('/') && take({K::redirect_slash})) {
    const std::size_t query = std::min(request_.target.find('?'), request_.target.size());
    return redirect(307, hub_.url() + request_.path + "/" + request_.target.substr(query));
  }
  const std::vector<json> entries = entries_of(address, revision);
  if (entries.empty() && !address.path.empty())
    return refuse(404, "EntryNotFound", address.path + " does not exist on \"" + address.revision + "\"");
  std::size_t first = 0;
  if (const auto cursor = request_.query.find("cursor"); cursor != request_.query.end())
    first = std::min<std::size_t>(std::strtoul(cursor->second.c_str(), nullptr, 10), entries.size());
  const std::size_t last = std::min(first + hub_.options_.page_size, entries.size());
  std::vector<json> page(entries.begin() + static_cast<std::ptrdiff_t>(first),
                         entries.begin() + static_cast<std::ptrdiff_t>(last));
  spoil(page);
  std::string text = json(page).dump();
  const auto replace = [&](std::string_view mark, std::string_view by) {
    if (const std::size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), by);
  };
  replace(kHugeSize, "1" + std::string(40, '0'));
  replace(kUnsafePath, kUnsafePaths[hub_.draw() % std::size(kUnsafePaths)]);
  answer_text(std::move(text), link_to_next(last, entries.size()));
}

}  // namespace hf::test
