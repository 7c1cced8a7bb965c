// What a power failure may leave of recorded writes.
//
// By POSIX, the bytes of a file are on the disk for good after fsync(file), a name after fsync(folder), all
// of both after syncfs(); nothing else is promised, in no order. So what is not yet synced at the moment of
// the failure may be there or not, each write, size and name for itself; a rename within one folder is there
// as a whole or not at all. Of a write that is lost, the file's new size may be there all the same, with
// zeros.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "campaign/record.h"

namespace hf::test {

class Replay {
 public:
  // `root` is the recorded folder as it stands before the program runs: all of it counts as on the disk.
  explicit Replay(std::filesystem::path root);
  // What the program did then. Throws std::runtime_error for a log that does not fit the folder.
  void read(const std::filesystem::path& log);

  std::size_t size() const { return records_.size(); }
  std::string said(std::size_t cut) const;  // to standard output, before record `cut`
  // A record before which it is worth to fail: each one, but those that change names or sync more often.
  std::size_t draw_cut(std::mt19937_64& random) const;

  // The state on the disk after a failure just before record `cut`, made below `target`, which must not
  // exist.
  void build(const std::filesystem::path& target, std::size_t cut, std::mt19937_64& random) const;
  void build_whole(const std::filesystem::path& target) const;  // as if nothing had failed

 private:
  struct Record {
    RecordHead head;
    std::string_view first, second;
  };
  struct Node {
    enum class Kind { folder, file, link } kind;
    std::string content;                // at first; a link's target
    std::map<std::string, int> before;  // of a folder, at first
    std::map<std::string, int> now;     // while the log is read
  };
  struct Effect {
    enum class Kind { bytes, size, name } kind;
    std::size_t record;
    int node;                                            // the file, or the folder that has the name
    std::uint64_t at = 0;                                // offset or size
    std::string_view bytes = {};                         // of a write
    std::string name = {};                               // with `to`
    int to = -1;                                         // the node that it names; -1: none any longer
    std::size_t durable = static_cast<std::size_t>(-1);  // the record after which it is on the disk
    int with = -1;                                       // the effect that happens together with it
  };
  enum class Fate { lost, kept, size_only };
  struct State;

  int scan(const std::filesystem::path& path);
  int find(std::string_view path) const;
  std::pair<int, std::string> place(std::string_view path) const;
  int new_node(Node::Kind kind, std::string content = {});
  void set_name(std::size_t record, std::string_view path, int node);
  void take(std::size_t index);
  void take_open(std::size_t index);
  void take_rename(std::size_t index);
  void sync(std::size_t index, int node);
  std::vector<Fate> draw_fates(std::size_t cut, std::mt19937_64& random) const;
  void build(const std::filesystem::path& target, std::size_t cut, const std::vector<Fate>& fates) const;

  std::filesystem::path root_;
  std::string log_;
  std::vector<Record> records_;
  std::vector<Node> nodes_;
  std::vector<Effect> effects_;
  std::map<int, int> open_;  // descriptor -> node
};

}  // namespace hf::test
