#include "campaign/replay.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace hf::test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error("log of writes: " + why); }

}  // namespace

// What is on the disk: the names of each folder and the content of each file.
struct Replay::State {
  std::vector<std::map<std::string, int>> names;
  std::vector<std::string> contents;
  std::map<int, fs::path> made;  // files that have a name already: the next one is a hard link

  void write(const fs::path& path, int node, const std::vector<Node>& nodes);
};

Replay::Replay(fs::path root) : root_(std::move(root)) { scan(root_); }

int Replay::new_node(Node::Kind kind, std::string content) {
  nodes_.push_back({kind, std::move(content), {}, {}});
  return static_cast<int>(nodes_.size()) - 1;
}

int Replay::scan(const fs::path& path) {
  if (fs::is_symlink(path)) return new_node(Node::Kind::link, fs::read_symlink(path).string());
  if (!fs::is_directory(path)) return new_node(Node::Kind::file, content_of(path));
  const int folder = new_node(Node::Kind::folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    const int node = scan(entry.path());
    nodes_[folder].before[entry.path().filename().string()] = node;
  }
  nodes_[folder].now = nodes_[folder].before;
  return folder;
}

void Replay::read(const fs::path& log) {
  log_ = content_of(log);
  for (std::size_t at = 0; at + sizeof(RecordHead) <= log_.size();) {
    Record record;
    std::memcpy(&record.head, log_.data() + at, sizeof record.head);
    at += sizeof record.head;
    if (record.head.first + std::uint64_t{record.head.second} > log_.size() - at) break;  // killed meanwhile
    record.first = std::string_view(log_).substr(at, record.head.first);
    record.second = std::string_view(log_).substr(at + record.head.first, record.head.second);
    at += record.head.first + std::size_t{record.head.second};
    records_.push_back(record);
  }
  for (std::size_t i = 0; i < records_.size(); ++i) take(i);
}

std::pair<int, std::string> Replay::place(std::string_view path) const {
  const std::string root = root_.string();
  if (!path.starts_with(root)) refuse(std::string(path) + " lies elsewhere");
  path.remove_prefix(root.size());
  int folder = 0;
  while (true) {
    while (path.starts_with('/')) path.remove_prefix(1);
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return {folder, std::string(path)};
    const auto next = nodes_[folder].now.find(std::string(path.substr(0, slash)));
    if (next == nodes_[folder].now.end()) refuse(std::string(path) + " is in no folder");
    folder = next->second;
    path.remove_prefix(slash);
  }
}

int Replay::find(std::string_view path) const {
  const auto [folder, name] = place(path);
  if (name.empty()) return folder;
  const auto entry = nodes_[folder].now.find(name);
  if (entry == nodes_[folder].now.end()) refuse(std::string(path) + " is not there");
  return entry->second;
}

void Replay::set_name(std::size_t record, std::string_view path, int node) {
  auto [folder, name] = place(path);
  if (node < 0)
    nodes_[folder].now.erase(name);
  else
    nodes_[folder].now[name] = node;
  effects_.push_back(
      {.kind = Effect::Kind::name, .record = record, .node = folder, .name = name, .to = node});
}

void Replay::take_open(std::size_t index) {
  const Record& record = records_[index];
  if ((record.head.a & kCreated) != 0) set_name(index, record.first, new_node(Node::Kind::file));
  const int node = find(record.first);
  open_[record.head.fd] = node;
  if ((record.head.a & kCut) != 0 && (record.head.a & kCreated) == 0)
    effects_.push_back({.kind = Effect::Kind::size, .record = index, .node = node});
}

void Replay::take_rename(std::size_t index) {
  const Record& record = records_[index];
  const int node = find(record.first);
  set_name(index, record.first, -1);
  set_name(index, record.second, node);
  Effect &from = effects_[effects_.size() - 2], &to = effects_.back();
  if (from.node != to.node) return;
  from.with = static_cast<int>(effects_.size()) - 1;
  to.with = static_cast<int>(effects_.size()) - 2;
}

void Replay::sync(std::size_t index, int node) {
  const std::uint64_t before = records_[index].head.a;
  for (Effect& effect : effects_)
    if ((node < 0 || effect.node == node) && effect.record < before)
      effect.durable = std::min(effect.durable, index);
}

void Replay::take(std::size_t index) {
  const Record& record = records_[index];
  const auto opened = open_.find(record.head.fd);
  const int node = opened == open_.end() ? -1 : opened->second;
  switch (record.head.call) {
    case RecordedCall::open:
      return take_open(index);
    case RecordedCall::close:
      open_.erase(record.head.fd);
      return;
    case RecordedCall::write:
      effects_.push_back({.kind = Effect::Kind::bytes,
                          .record = index,
                          .node = node,
                          .at = record.head.a,
                          .bytes = record.first});
      return;
    case RecordedCall::truncate:
      effects_.push_back({.kind = Effect::Kind::size, .record = index, .node = node, .at = record.head.a});
      return;
    case RecordedCall::rename:
      return take_rename(index);
    case RecordedCall::link:
      return set_name(index, record.second, find(record.first));
    case RecordedCall::symlink:
      return set_name(index, record.second, new_node(Node::Kind::link, std::string(record.first)));
    case RecordedCall::unlink:
      return set_name(index, record.first, -1);
    case RecordedCall::mkdir:
      return set_name(index, record.first, new_node(Node::Kind::folder));
    case RecordedCall::sync_file:
      return sync(index, node);
    case RecordedCall::sync_all:
      return sync(index, -1);
    case RecordedCall::said:
      return;
  }
}

std::string Replay::said(std::size_t cut) const {
  std::string out;
  for (std::size_t i = 0; i < cut; ++i)
    if (records_[i].head.call == RecordedCall::said) out += records_[i].first;
  return out;
}

std::size_t Replay::draw_cut(std::mt19937_64& random) const {
  if (random() % 3 == 0) return random() % (records_.size() + 1);
  std::vector<std::size_t> places = {records_.size()};
  for (std::size_t i = 0; i < records_.size(); ++i)
    if (const RecordedCall call = records_[i].head.call;
        call != RecordedCall::write && call != RecordedCall::open && call != RecordedCall::close) {
      places.push_back(i);
      places.push_back(i + 1);
    }
  return places[random() % places.size()];
}

std::vector<Replay::Fate> Replay::draw_fates(std::size_t cut, std::mt19937_64& random) const {
  // How likely bytes and names are kept that nothing has made durable, in tenths.
  const std::uint64_t bytes = random() % 11, names = random() % 11, sizes = random() % 11;
  const bool in_order = random() % 4 == 0;  // all before some moment, nothing after it
  const std::size_t moment = cut == 0 ? 0 : random() % (cut + 1);
  std::vector<Fate> fates;
  for (const Effect& effect : effects_) {
    const bool is_name = effect.kind == Effect::Kind::name;
    bool keep = random() % 10 < (is_name ? names : bytes);
    if (in_order) keep = effect.record < moment;
    if (effect.with >= 0 && static_cast<std::size_t>(effect.with) < fates.size())
      keep = fates[static_cast<std::size_t>(effect.with)] == Fate::kept;
    if (effect.durable < cut) keep = true;
    const bool with_size = effect.kind == Effect::Kind::bytes && random() % 10 < sizes;
    fates.push_back(keep ? Fate::kept : with_size ? Fate::size_only : Fate::lost);
  }
  return fates;
}

void Replay::build(const fs::path& target, std::size_t cut, std::mt19937_64& random) const {
  build(target, cut, draw_fates(cut, random));
}

void Replay::build_whole(const fs::path& target) const {
  build(target, records_.size(), std::vector<Fate>(effects_.size(), Fate::kept));
}

void Replay::build(const fs::path& target, std::size_t cut, const std::vector<Fate>& fates) const {
  State state;
  for (const Node& node : nodes_) {
    state.names.push_back(node.before);
    state.contents.push_back(node.content);
  }
  for (std::size_t i = 0; i < effects_.size(); ++i) {
    const Effect& effect = effects_[i];
    if (effect.record >= cut || fates[i] == Fate::lost) continue;
    std::string& content = state.contents[effect.node];
    if (effect.kind == Effect::Kind::name) {
      if (effect.to < 0)
        state.names[effect.node].erase(effect.name);
      else
        state.names[effect.node][effect.name] = effect.to;
    } else if (effect.kind == Effect::Kind::size) {
      content.resize(effect.at);
    } else {
      content.resize(std::max<std::size_t>(content.size(), effect.at + effect.bytes.size()));
      if (fates[i] == Fate::kept) content.replace(effect.at, effect.bytes.size(), effect.bytes);
    }
  }
  state.write(target, 0, nodes_);
}

void Replay::State::write(const fs::path& path, int node, const std::vector<Node>& nodes) {
  if (nodes[node].kind == Node::Kind::link) {
    fs::create_symlink(nodes[node].content, path);
  } else if (nodes[node].kind == Node::Kind::file) {
    const auto [first, is_new] = made.try_emplace(node, path);
    if (!is_new) return fs::create_hard_link(first->second, path);
    std::ofstream(path, std::ios::binary) << contents[node];
  } else {
    fs::create_directory(path);
    for (const auto& [name, inner] : names[node]) write(path / name, inner, nodes);
  }
}

}  // namespace hf::test
