// kill -9 at random moments of whatever changes the cache:
//
//   kill_campaign [--runs 500] [--verb download|prune|verify] [--seed S] [--first K] [--jobs J]
//
// Each run kills hfcache once, twice or three times on the way to the end. After each kill: no wrong blob, no
// torn ref, and whatever a ref stands for is whole. The last run is left alone: it completes, and fetches at
// most a tenth of the bytes again that had been verified.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "campaign/checks.h"
#include "campaign/world.h"

using namespace hf;
using namespace hf::test;

namespace fs = std::filesystem;

namespace {

struct Tally {
  std::atomic<std::uint64_t> kills{0}, in_time{0}, written{0}, verified{0}, reused{0};
};

// What is killed: how the cache is brought into a state where it has work to do, and what must hold then.
struct Verb {
  std::string name;
  std::vector<std::string> arguments;
  void (*prepare)(World& world, std::mt19937_64& random);
  void (*check)(World& world, Problems& problems);  // after each kill
  // About how long it takes on this machine, in microseconds: grows while it is killed in time.
  std::atomic<std::uint64_t>& window;
};

Ended hfcache(const World& world, const std::vector<std::string>& arguments) {
  return hf::test::run("hfcache", arguments, world.variables());
}

void check_whole(World& world, Problems& problems) { check_cache(world.repo_folder(), problems); }

void prepare_download(World& world, std::mt19937_64& random) {
  world.hub().order({.kind = FaultKind::slow,
                     .target = "/resolve/",
                     .times = -1,
                     .at = 20'000'000 + random() % 40'000'000});
}

void check_main(World& world, Problems& problems) {
  check_cache(world.repo_folder(), problems);
  check_snapshot(world.source(), world.snapshot(), problems);
}

// Older revisions that no ref names, blobs that nothing links to, what killed downloads left.
void prepare_prune(World& world, std::mt19937_64& random) {
  hfcache(world, {"download", World::kRepo});
  world.change_source(random);
  world.hub().order({.kind = FaultKind::slow, .target = "/resolve/", .times = -1, .at = 1'000'000});
  fs::remove(world.source() / "model.safetensors");
  std::ofstream(world.source() / "model.safetensors", std::ios::binary) << random_bytes(random, 3'000'000);
  world.hub().forget();
  {
    Child child("hfcache", {"download", World::kRepo}, world.variables());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    child.send(SIGKILL);
    child.wait();
  }
  world.hub().cancel_faults();
  world.change_source(random);
  hfcache(world, {"download", World::kRepo});
  for (int i = 0; i < 20; ++i) {
    const std::string content = random_bytes(random, random() % 10'000);
    std::ofstream(world.repo_folder() / "blobs" / sha256_hex(std::as_bytes(std::span(content))),
                  std::ios::binary)
        << content;
  }
}

// Nothing is left that main does not need.
void check_pruned(World& world, Problems& problems) {
  std::set<std::string> needed;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(world.snapshot()))
    if (entry.is_symlink()) needed.insert(fs::read_symlink(entry.path()).filename().string());
  for (const char* folder : {"blobs", "snapshots"})
    for (const fs::directory_entry& entry : fs::directory_iterator(world.repo_folder() / folder))
      if (const std::string name = entry.path().filename().string();
          !needed.contains(name) && name != world.hub().commit(World::kRepo))
        problems.push_back(std::string(folder) + "/" + name + ": was not pruned");
}

constexpr const char* kSpoiled = "spoiled";

// Blobs that are spoiled or gone. What they are spoiled to is known, so that a third content would be seen.
void prepare_verify(World& world, std::mt19937_64& random) {
  hfcache(world, {"download", World::kRepo});
  for (const fs::directory_entry& entry : fs::directory_iterator(world.repo_folder() / "blobs")) {
    if (random() % 2 == 0 || entry.file_size() == 0) continue;
    if (random() % 4 == 0) {
      fs::remove(entry.path());
      continue;
    }
    std::string content = read_text(entry.path());
    content[random() % content.size()] ^= 1;
    fs::create_directories(world.folder() / kSpoiled);
    for (const fs::path& path : {entry.path(), world.folder() / kSpoiled / entry.path().filename()})
      std::ofstream(path, std::ios::binary) << content;
  }
}

void check_repaired(World& world, Problems& problems) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(world.repo_folder() / "blobs", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find('.') != std::string::npos) continue;
    const MappedFile file(entry.path());
    Hasher hasher(name.size() == 64 ? HashKind::sha256 : HashKind::git_sha1, file.bytes().size());
    hasher.update(file.bytes());
    const fs::path spoiled = world.folder() / kSpoiled / name;
    if (hasher.hex() != name && (!fs::exists(spoiled) || read_text(spoiled) != read_text(entry.path())))
      problems.push_back("blobs/" + name + ": is neither right nor what it was");
  }
  const fs::path ref = world.repo_folder() / "refs/main";
  if (!fs::exists(ref) || read_text(ref) != world.hub().commit(World::kRepo))
    problems.push_back("refs/main: is torn or gone");
}

std::atomic<std::uint64_t> download_window{100'000}, prune_window{30'000}, verify_window{50'000};

const Verb kVerbs[] = {
    {"download", {"download", World::kRepo}, prepare_download, check_whole, download_window},
    {"prune", {"prune", "--yes", "--grace", "0"}, prepare_prune, check_main, prune_window},
    {"verify", {"verify", World::kRepo, "--repair"}, prepare_verify, check_repaired, verify_window},
};

// What a download that begins now would fetch, by its own account.
std::optional<std::uint64_t> bytes_to_fetch(const World& world) {
  const Ended plan = hfcache(world, {"download", World::kRepo, "--dry-run", "--json"});
  for (const std::string& text : {plan.out, plan.out.substr(0, plan.out.find('\n'))}) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_object() && json.contains("bytes_to_fetch"))
      return json.at("bytes_to_fetch").get<std::uint64_t>();
  }
  return std::nullopt;
}

bool kill_once(const World& world, const Verb& verb, std::mt19937_64& random) {
  Child child("hfcache", verb.arguments, world.variables());
  const std::uint64_t window = verb.window;
  std::this_thread::sleep_for(std::chrono::microseconds(random() % window));
  const bool runs = child.is_running();
  verb.window =
      std::clamp<std::uint64_t>(runs ? window + window / 16 : window - window / 4, 5'000, 20'000'000);
  child.send(SIGKILL);
  child.wait();
  return runs;
}

// What has arrived so far, verified or not.
std::uint64_t bytes_written(const World& world) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(world.repo_folder() / "blobs", error)) {
    struct stat info {};
    if (entry.path().extension() == ".journal" || stat(entry.path().c_str(), &info) != 0) continue;
    bytes += static_cast<std::uint64_t>(std::min<std::int64_t>(info.st_size, info.st_blocks * 512));
  }
  return bytes;
}

// How much of what was verified before is fetched again.
void check_reuse(World& world, std::uint64_t total, Tally& tally, Problems& problems) {
  const auto left = bytes_to_fetch(world);
  if (!left || *left > total) {
    problems.push_back("a dry run does not tell what is to be fetched");
    return;
  }
  tally.written += bytes_written(world);
  world.hub().clear_log();
  const Ended last = hfcache(world, kVerbs[0].arguments);
  if (last.code != 0)
    problems.push_back("the last run ended with " + std::to_string(last.code) + ": " + last.err);
  const std::uint64_t fetched = world.hub().bytes_served("/resolve/"), verified = total - *left;
  tally.verified += verified;
  tally.reused += std::min(verified, total - std::min(fetched, total));
}

Problems run_one(const CampaignOptions& options, const Verb& verb, std::uint64_t run, Tally& tally) {
  std::mt19937_64 random(seed_of(options, run));
  World world(random, {.seed = random()}, {.most_files = 8, .most_bytes = 10u << 20});
  verb.prepare(world, random);
  const bool is_download = verb.name == "download";
  const std::uint64_t total = is_download ? bytes_to_fetch(world).value_or(0) : 0;
  Problems problems;
  const std::uint64_t kills = 1 + random() % 3;
  for (std::uint64_t i = 0; i < kills; ++i) {
    if (kill_once(world, verb, random)) ++tally.in_time;
    ++tally.kills;
    verb.check(world, problems);
  }
  world.hub().cancel_faults();
  if (is_download) check_reuse(world, total, tally, problems);
  const Ended last = hfcache(world, verb.arguments);
  if (last.code != 0)
    problems.push_back("the last run ended with " + std::to_string(last.code) + ": " + last.err);
  check_main(world, problems);
  check_nothing_left(world.repo_folder(), problems);
  if (verb.name == "prune") check_pruned(world, problems);
  return problems;
}

bool exists(const Verb& verb) {
  return hf::test::run("hfcache", {"--help"}).out.find("\n  " + verb.name + " ") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  CampaignOptions options = campaign_options(argc, argv, {.runs = 500, .jobs = 4, .more = {{"--verb", ""}}});
  use_memory_for_folders();
  std::vector<Verb> verbs;
  for (const Verb& verb : kVerbs)
    if (exists(verb) && (options.more.at("--verb").empty() || options.more.at("--verb") == verb.name))
      verbs.push_back(verb);
  if (verbs.empty()) return 2;
  // A moment is a kill, and a run has two on average.
  options.runs = std::max<std::uint64_t>(options.runs / 2, 1);
  Tally tally;
  std::uint64_t wrong = run_all("kill_campaign", options, [&](std::uint64_t run) {
    return run_one(options, verbs[run % verbs.size()], run, tally);
  });
  const double reused =
      tally.verified == 0 ? 1 : static_cast<double>(tally.reused) / static_cast<double>(tally.verified);
  if (reused < 0.9) {
    std::printf("kill_campaign: only %.1f %% of the verified bytes were used again\n", 100 * reused);
    ++wrong;
  }
  const auto shown = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::string names;
  for (const Verb& verb : verbs) names += (names.empty() ? "" : ", ") + verb.name;
  std::printf(
      "kill_campaign: %llu kills (%llu while it ran) in %llu runs of %s, seed %llu: of %llu bytes that had "
      "arrived %llu were verified, %.1f %% of them used again, %llu runs wrong\n",
      shown(tally.kills), shown(tally.in_time), shown(options.runs), names.c_str(), shown(options.seed),
      shown(tally.written), shown(tally.verified), 100 * reused, shown(wrong));
  return wrong == 0 ? 0 : 1;
}
