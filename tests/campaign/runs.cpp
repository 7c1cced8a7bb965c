#include "campaign/runs.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>

namespace hf::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(2);
}

std::uint64_t number(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') refuse(name + " " + text + ": a number is expected");
  return value;
}

// The runs that are under way, each with its begin.
class Watchdog {
 public:
  Watchdog(std::string_view name, std::chrono::seconds longest)
      : name_(name), longest_(longest), thread_([this] { watch(); }) {}
  ~Watchdog() {
    ended_ = true;
    thread_.join();
  }
  void begin(std::uint64_t run) {
    const std::lock_guard lock(mutex_);
    begun_[run] = Clock::now();
  }
  void end(std::uint64_t run) {
    const std::lock_guard lock(mutex_);
    begun_.erase(run);
  }

 private:
  void watch() {
    while (!ended_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::lock_guard lock(mutex_);
      for (const auto& [run, begin] : begun_)
        if (Clock::now() - begin > longest_) {
          std::printf("%s: run %llu hangs\n", name_.c_str(), static_cast<unsigned long long>(run));
          std::fflush(stdout);
          std::_Exit(1);
        }
    }
  }

  const std::string name_;
  const std::chrono::seconds longest_;
  std::mutex mutex_;
  std::map<std::uint64_t, Clock::time_point> begun_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace

CampaignOptions campaign_options(int argc, char** argv, CampaignOptions options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 >= argc) refuse(name + ": a value is expected");
    const std::string value = argv[i + 1];
    if (const auto own = options.more.find(name); own != options.more.end())
      own->second = value;
    else if (name == "--runs")
      options.runs = number(name, value);
    else if (name == "--seed")
      options.seed = number(name, value);
    else if (name == "--first")
      options.first = number(name, value);
    else if (name == "--jobs")
      options.jobs = static_cast<unsigned>(number(name, value));
    else
      refuse(name + ": there is no such option");
  }
  return options;
}

std::uint64_t seed_of(const CampaignOptions& options, std::uint64_t run) {
  std::uint64_t z = options.seed * 0x9e3779b97f4a7c15u + run;  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t run_all(std::string_view name, const CampaignOptions& options,
                      const std::function<Problems(std::uint64_t)>& one) {
  Watchdog watchdog(name, options.longest);
  std::atomic<std::uint64_t> next{options.first}, failed{0};
  std::mutex printing;
  const auto work = [&] {
    for (std::uint64_t run = next++; run < options.first + options.runs; run = next++) {
      Problems problems;
      watchdog.begin(run);
      try {
        problems = one(run);
      } catch (const std::exception& error) {
        problems = {std::string("threw: ") + error.what()};
      }
      watchdog.end(run);
      if (problems.empty()) continue;
      ++failed;
      const std::lock_guard lock(printing);
      std::printf("%.*s: run %llu (repeat: --seed %llu --first %llu --runs 1)\n",
                  static_cast<int>(name.size()), name.data(), static_cast<unsigned long long>(run),
                  static_cast<unsigned long long>(options.seed), static_cast<unsigned long long>(run));
      for (const std::string& problem : problems) std::printf("  %s\n", problem.c_str());
      std::fflush(stdout);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.jobs; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return failed;
}

}  // namespace hf::test
