// Which process writes a partial file, told so that another one, perhaps on another machine, can find out
// whether it is gone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace hf::cache {

struct PartOwner {
  std::string host, boot, pid_space;  // words: the machine, its running kernel, whose numbers of processes
  std::uint64_t process = 0, started = 0;  // its number, and its start in the kernel's ticks

  bool operator==(const PartOwner&) const = default;
};

PartOwner this_process();

enum class Life { gone, alive, unknown };  // unknown: of another machine, or nobody said

// What the kernel that runs here knows of it.
Life life_of(const PartOwner& owner);

// Locks are trusted between processes of one kernel and across a restart of one machine: some network file
// systems grant the same lock on two machines.
bool shares_locks(const PartOwner& owner);

// The 8 digits in the name of a partial file that has no journal to tell its owner: ten bits of which kernel
// counts the processes, and the number of ours.
std::string process_digits();
Life life_of_digits(std::string_view digits);

}  // namespace hf::cache
