// Power failures at random moments of a download, and of the removal of what was downloaded:
//
//   power_campaign [--runs 2000] [--states 100] [--rerun 20] [--seed S] [--first K] [--jobs J]
//
// Each --states runs share one recording of hfcache (record_writes.cpp). From it states of the disk are made
// in which some of what was not synced is lost (replay.h). In each of them: no wrong blob, no torn ref, what
// a ref stands for is whole, and what the program had reported done is there and right. Over one state in
// --rerun the download is run again and completes.
#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "campaign/checks.h"
#include "campaign/replay.h"
#include "campaign/world.h"

using namespace hf;
using namespace hf::test;

namespace fs = std::filesystem;

namespace {

struct Tally {
  std::atomic<std::uint64_t> states{0}, reported{0}, reruns{0}, records{0};
};

using Words = std::vector<std::string>;

// With --json where that is a line for each event, as soon as it is true.
Words download_words(const World& world) {
  Words out = {"download", World::kRepo, "--json"};
  auto variables = world.variables();
  variables["HF_HUB_CACHE"] = (world.folder() / "probe").string();
  const std::string text = run("hfcache", {"download", World::kRepo, "--dry-run", "--json"}, variables).out;
  const auto first = nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (!first.is_object() || !first.contains("event")) out.pop_back();
  return out;
}

std::map<std::string, std::string> recorded_variables(const World& world) {
  auto variables = world.variables();
  variables["LD_PRELOAD"] = HF_RECORD_WRITES;
  variables["HF_RECORD_ROOT"] = world.cache_root().string();
  variables["HF_RECORD_LOG"] = (world.folder() / "writes").string();
  return variables;
}

// What there is before the recorded run: nothing, what a killed run left, or an older revision.
void prepare(World& world, std::mt19937_64& random) {
  fs::create_directories(world.cache_root());
  const std::uint64_t kind = random() % 3;
  if (kind == 1) {
    world.hub().order({.kind = FaultKind::slow, .target = "/resolve/", .times = -1, .at = 20'000'000});
    Child child("hfcache", {"download", World::kRepo}, world.variables());
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 120));
    child.send(SIGKILL);
    child.wait();
    world.hub().cancel_faults();
  }
  if (kind == 2) {
    run("hfcache", {"download", World::kRepo}, world.variables());
    world.change_source(random);
  }
  if (random() % 3 == 0)
    world.hub().order(
        {.kind = FaultKind::drop, .target = "/resolve/", .times = 2, .at = random() % 2'000'000});
}

// Two revisions, and how one of them or all is removed. A ref must go before what it stands for.
Words prepare_removal(World& world, std::mt19937_64& random) {
  run("hfcache", {"download", World::kRepo}, world.variables());
  world.change_source(random);
  run("hfcache", {"download", World::kRepo}, world.variables());
  switch (random() % 3) {
    case 0:
      return {"prune", "--yes", "--grace", "0"};
    case 1:
      return {"prune", "--yes", "--grace", "0", "--keep-size", "0"};
    default:
      return {"rm", World::kRepo, "--yes"};
  }
}

std::map<std::string, std::string> entries_of(const fs::path& folder) {
  std::map<std::string, std::string> entries;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::string& text = entries[entry.path().lexically_relative(folder).string()];
    if (entry.is_symlink())
      text = "-> " + fs::read_symlink(entry.path()).string();
    else if (entry.is_regular_file())
      text = "file " + read_text(entry.path());
  }
  return entries;
}

// Where two folders are not the same; empty: nowhere.
std::string difference(const fs::path& first, const fs::path& second) {
  const auto a = entries_of(first), b = entries_of(second);
  for (const auto& [name, text] : a)
    if (!b.contains(name) || b.at(name) != text) return name;
  for (const auto& [name, text] : b)
    if (!a.contains(name)) return name;
  return "";
}

// The paths that were reported done; "" stands for the whole.
std::vector<std::string> reported(const std::string& said) {
  std::vector<std::string> out;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_discarded() && line.starts_with('/')) out.push_back("");
    if (!event.is_object()) continue;
    if (event.value("event", "") == "file_done") out.push_back(event.at("path").get<std::string>());
    if (event.value("event", "") == "done") out.push_back("");
  }
  return out;
}

void check_reported(World& world, const fs::path& repo_folder, const std::string& path, Problems& problems) {
  const std::string commit = world.hub().commit(World::kRepo);
  const fs::path snapshot = repo_folder / "snapshots" / commit;
  if (path.empty()) {
    check_snapshot(world.source(), snapshot, problems);
    std::error_code ignored;
    if (!fs::exists(repo_folder / "refs/main", ignored) || read_text(repo_folder / "refs/main") != commit)
      problems.push_back("the download was reported done, and its ref is not there");
  } else if (std::error_code ignored; !fs::exists(snapshot / path, ignored) ||
                                      read_text(snapshot / path) != read_text(world.source() / path)) {
    problems.push_back(path + ": was reported done, and is not there");
  }
}

void check_state(World& world, const Replay& replay, std::uint64_t rerun_each, std::mt19937_64& random,
                 Tally& tally, Problems& problems) {
  const std::size_t cut = replay.draw_cut(random);
  const fs::path target = world.folder() / "after";
  replay.build(target, cut, random);
  const fs::path repo_folder = target / "models--acme--made";
  Problems found;
  check_cache(repo_folder, found);
  for (const std::string& path : reported(replay.said(cut))) {
    check_reported(world, repo_folder, path, found);
    ++tally.reported;
  }
  if (++tally.states % rerun_each == 0) {
    ++tally.reruns;
    world.hub().cancel_faults();
    const Finish again = world.download_into(target, std::chrono::seconds(20));
    if (again.kind) found.push_back("the next run ended: " + again.message);
    check_cache(repo_folder, found);
    check_snapshot(world.source(), repo_folder / "snapshots" / world.hub().commit(World::kRepo), found);
  }
  for (const std::string& problem : found)
    problems.push_back("failure before record " + std::to_string(cut) + " of " +
                       std::to_string(replay.size()) + ": " + problem);
  fs::remove_all(target);
}

Problems run_one(const CampaignOptions& options, std::uint64_t run, std::uint64_t states,
                 std::uint64_t rerun_each, Tally& tally) {
  std::mt19937_64 random(seed_of(options, run));
  World world(random, {.seed = random()}, {.most_files = 8, .most_bytes = 4u << 20});
  const bool removes = run % 4 == 3;
  if (!removes) prepare(world, random);
  const Words words = removes ? prepare_removal(world, random) : download_words(world);
  Replay replay(world.cache_root());
  const Ended ended = hf::test::run("hfcache", words, recorded_variables(world));
  if (ended.code != 0)
    return {"the recorded run ended with " + std::to_string(ended.code) + ": " + ended.err};
  replay.read(world.folder() / "writes");
  tally.records += replay.size();

  Problems problems;
  replay.build_whole(world.folder() / "whole");
  if (const std::string name = difference(world.folder() / "whole", world.cache_root()); !name.empty())
    return {words.front() + ": the recorded writes are not all, replayed they come to another " + name};
  for (std::uint64_t i = 0; i < states; ++i) check_state(world, replay, rerun_each, random, tally, problems);
  return problems;
}

}  // namespace

int main(int argc, char** argv) {
  CampaignOptions options = campaign_options(
      argc, argv, {.runs = 2000, .jobs = 4, .more = {{"--states", "100"}, {"--rerun", "20"}}});
  use_memory_for_folders();
  const std::uint64_t states = std::strtoull(options.more.at("--states").c_str(), nullptr, 10);
  const std::uint64_t rerun = std::strtoull(options.more.at("--rerun").c_str(), nullptr, 10);
  if (states == 0 || rerun == 0) return 2;
  options.runs = (options.runs + states - 1) / states;
  options.longest = std::chrono::seconds(300);
  Tally tally;
  const std::uint64_t wrong = run_all("power_campaign", options, [&](std::uint64_t run) {
    return run_one(options, run, states, rerun, tally);
  });
  const auto shown = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "power_campaign: %llu states of %llu recordings (%llu calls), seed %llu: %llu reports of what was done "
      "held, %llu downloads went on, %llu recordings with problems\n",
      shown(tally.states), shown(options.runs), shown(tally.records), shown(options.seed),
      shown(tally.reported), shown(tally.reruns), shown(wrong));
  return wrong == 0 ? 0 : 1;
}
