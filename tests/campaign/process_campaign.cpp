// Many processes that download one repository into one cache at the same time:
//
//   process_campaign [--runs 50] [--processes 16] [--python INTERPRETER] [--locks yes|no|both] [--seed S] …
//
// Half of them are huggingface_hub's where the interpreter has it. With working locks each byte is served
// once (at most 1.05 times all of them); where locks say yes to everybody, work is done twice and no blob is
// wrong. Every other process has another umask.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "campaign/checks.h"
#include "campaign/world.h"

using namespace hf;
using namespace hf::test;

namespace {

constexpr const char* kPython =
    "import sys, huggingface_hub\n"
    "huggingface_hub.snapshot_download(sys.argv[1], cache_dir=sys.argv[2], max_workers=4)\n";

struct Tally {
  std::atomic<std::uint64_t> processes{0}, needed{0}, served{0};  // bytes in rounds with locks
  std::atomic<std::uint64_t> needed_without{0}, served_without{0};
};

struct Setting {
  std::size_t processes = 16;
  std::string python;               // empty: only ours
  bool python_needs_locks = false;  // before 1.18 several of huggingface_hub write to one partial file
  bool with_locks = true;
};

std::map<std::string, std::string> variables_of(const World& world, const Setting& setting) {
  auto variables = world.variables();
  variables.erase("HF_HUB_DOWNLOAD_TIMEOUT");  // sixteen at once may be slow
  variables["HF_HUB_DISABLE_XET"] = variables["HF_HUB_DISABLE_TELEMETRY"] = "1";
  variables["HF_HUB_DISABLE_PROGRESS_BARS"] = "1";
  variables["NO_PROXY"] = "127.0.0.1";
  if (!setting.with_locks) variables["LD_PRELOAD"] = HF_NO_LOCKS;
  return variables;
}

std::unique_ptr<Child> start(const World& world, const Setting& setting, std::size_t number) {
  const std::string mask = number % 4 < 2 ? "umask 022; " : "umask 002; ";
  std::vector<std::string> words = {"-c", mask + "exec \"$0\" \"$@\""};
  const bool may_use_python = setting.with_locks || !setting.python_needs_locks;
  if (!setting.python.empty() && may_use_python && number % 2 == 1)
    words.insert(words.end(), {setting.python, "-c", kPython, World::kRepo, world.cache_root().string()});
  else
    words.insert(words.end(), {std::string(HF_PROGRAM_DIR) + "/hfcache", "download", World::kRepo});
  return std::make_unique<Child>("/bin/sh", words, variables_of(world, setting));
}

// Each content once, also where it stands under several names.
std::uint64_t bytes_needed(const World& world) {
  std::map<std::string, std::uint64_t> contents;
  for (const auto& entry : std::filesystem::directory_iterator(world.repo_folder() / "blobs"))
    contents[entry.path().filename().string()] = entry.file_size();
  std::uint64_t bytes = 0;
  for (const auto& [etag, size] : contents) bytes += size;
  return bytes;
}

Problems run_one(const CampaignOptions& options, const Setting& setting, std::uint64_t run, Tally& tally) {
  std::mt19937_64 random(seed_of(options, run));
  World world(random, {.seed = random(), .bytes_per_second = 20'000'000},
              {.most_files = 24, .most_bytes = 3u << 20});
  std::vector<std::unique_ptr<Child>> children;
  for (std::size_t i = 0; i < setting.processes; ++i) children.push_back(start(world, setting, i));
  Problems problems;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const Ended ended = children[i]->wait();
    ++tally.processes;
    if (ended.code != 0)
      problems.push_back("process " + std::to_string(i) + " ended with " + std::to_string(ended.code) + ": " +
                         ended.err.substr(0, 2000));
  }
  check_cache(world.repo_folder(), problems);
  check_snapshot(world.source(), world.snapshot(), problems);
  check_nothing_left(world.repo_folder(), problems);
  const std::uint64_t needed = bytes_needed(world), served = world.hub().bytes_served("/resolve/");
  (setting.with_locks ? tally.needed : tally.needed_without) += needed;
  (setting.with_locks ? tally.served : tally.served_without) += served;
  if (setting.with_locks && served > needed + needed / 20)
    problems.push_back(std::to_string(served) + " bytes were served of " + std::to_string(needed));
  return problems;
}

void use_python(const std::string& python, Setting& setting) {
  if (python.empty()) return;
  const Ended ended =
      hf::test::run(python, {"-c", "import huggingface_hub; print(huggingface_hub.__version__)"});
  if (ended.code != 0) return;
  std::printf("process_campaign: with huggingface_hub %s", ended.out.c_str());
  setting.python = python;
  setting.python_needs_locks = ended.out.starts_with("0.");
}

}  // namespace

int main(int argc, char** argv) {
  CampaignOptions options = campaign_options(
      argc, argv,
      {.runs = 50, .jobs = 1, .more = {{"--processes", "16"}, {"--python", ""}, {"--locks", "both"}}});
  options.longest = std::chrono::seconds(280);
  use_memory_for_folders();
  Setting setting;
  setting.processes = std::strtoull(options.more.at("--processes").c_str(), nullptr, 10);
  use_python(options.more.at("--python"), setting);
  const std::string locks = options.more.at("--locks");
  Tally tally;
  const std::uint64_t wrong = run_all("process_campaign", options, [&](std::uint64_t run) {
    Setting one = setting;
    one.with_locks = locks == "yes" || (locks == "both" && run % 2 == 0);
    return run_one(options, one, run, tally);
  });
  const auto shown = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  const auto ratio = [](std::uint64_t served, std::uint64_t needed) {
    return needed == 0 ? 0 : static_cast<double>(served) / static_cast<double>(needed);
  };
  std::printf(
      "process_campaign: %llu processes in %llu rounds, seed %llu: bytes served to those needed %.3f with "
      "locks, "
      "%.3f where locks lock nothing, %llu rounds wrong\n",
      shown(tally.processes), shown(options.runs), shown(options.seed), ratio(tally.served, tally.needed),
      ratio(tally.served_without, tally.needed_without), shown(wrong));
  return wrong == 0 ? 0 : 1;
}
