// What must hold of a cache whatever is removed from it, and wherever that is broken off.
#pragma once
#include <doctest/doctest.h>

#include <chrono>

#include "cache/cache_by_hand.h"
#include "cache/store/prune.h"
#include "cache/store/scan.h"

namespace hf::test {

// All that is in these caches was put there just now: the rules' clock goes ahead instead.
inline cache::PruneRules in(std::chrono::seconds time) {
  cache::PruneRules rules;
  rules.now = std::chrono::system_clock::now() + time;
  return rules;
}

// No ref stands for a revision that is not there, no link of a revision leads nowhere.
inline void check_nothing_dangles(const cache::Store& store) {
  for (const cache::CachedRepo& repo : contents_of(store).repos) {
    CAPTURE(repo.repo.id);
    for (const std::string& problem : repo.problems) {
      CAPTURE(problem);
      CHECK(problem.find("leads nowhere") == std::string::npos);
      CHECK(problem.find("is not there") == std::string::npos);
    }
  }
}

}  // namespace hf::test
