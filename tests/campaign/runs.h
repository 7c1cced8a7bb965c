// Many numbered runs of one campaign, on several threads and under a watchdog. A run follows from the seed
// and its number alone, so that a failed one can be repeated by itself.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hf::test {

struct CampaignOptions {
  std::uint64_t seed = 1, first = 0, runs = 0;
  unsigned jobs = 8;  // runs at a time: most of their time is waiting
  std::chrono::seconds longest{60};
  std::map<std::string, std::string> more = {};  // "--name value" that are the campaign's own
};

// "--runs N --seed S --first K --jobs J" and those in `more`, which has their defaults; ends the program with
// code 2 where an argument is none of these.
CampaignOptions campaign_options(int argc, char** argv, CampaignOptions defaults);

// A number of the seed and the run, for its generator of random numbers.
std::uint64_t seed_of(const CampaignOptions& options, std::uint64_t run);

// What was wrong in one run; nothing where all held.
using Problems = std::vector<std::string>;

// Prints each run with problems and how to repeat it; returns how many there were. A run that takes longer
// than `longest` ends the program with code 1: nothing may hang.
std::uint64_t run_all(std::string_view name, const CampaignOptions& options,
                      const std::function<Problems(std::uint64_t run)>& one);

}  // namespace hf::test
