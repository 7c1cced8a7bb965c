// Random repositories from a Hub with random faults:
//
//   fault_campaign [--runs 2000] [--cli 100] [--large 40] [--seed S] [--first K] [--jobs J]
//
// Never a wrong blob, never a hang; each run is complete or ends in an error of the kind that its faults
// explain; a broken connection costs at most 1 MiB fetched twice; without faults the next run completes. The
// last --cli runs go through the program hfcache, where the exit code and the message are looked at; one in
// --large has a file that several connections bring in parts.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>
#include <thread>

#include "cache/http/url.h"
#include "campaign/checks.h"
#include "campaign/world.h"

using namespace hf;
using namespace hf::test;

namespace {

enum class Kind { usual, by_program, large };

struct Tally {
  std::atomic<std::uint64_t> complete{0}, failed{0}, refetched{0}, drops{0};
};

struct Ordered {
  const FaultRow* row = nullptr;
  Fault fault;
};

// Faults that only lose a connection: what has arrived before stays right.
bool only_breaks(const std::vector<Ordered>& orders) {
  static const std::set<FaultKind> kBreaks = {FaultKind::refused,
                                              FaultKind::silent,
                                              FaultKind::drop_before_head,
                                              FaultKind::drop_in_head,
                                              FaultKind::stall_in_head,
                                              FaultKind::cut_chunked,
                                              FaultKind::drop,
                                              FaultKind::close,
                                              FaultKind::stall,
                                              FaultKind::informational,
                                              FaultKind::chunked,
                                              FaultKind::trickle,
                                              FaultKind::slow,
                                              FaultKind::expiring_link,
                                              FaultKind::redirect_away,
                                              FaultKind::close_delimited,
                                              FaultKind::warning,
                                              FaultKind::no_xet};
  return std::all_of(orders.begin(), orders.end(),
                     [](const Ordered& order) { return kBreaks.contains(order.fault.kind); });
}

std::string target_of(FaultPlace place, World& world, std::mt19937_64& random) {
  if (place == FaultPlace::list) return "/tree/";
  if (place == FaultPlace::revision) return "/revision/";
  if (place == FaultPlace::both && random() % 3 == 0) return random() % 2 == 0 ? "/tree/" : "/revision/";
  if (random() % 3 == 0) return "/resolve/";
  if (random() % 4 == 0) return "signature=";  // at the storage
  return "/resolve/" + world.hub().commit(World::kRepo) + "/" +
         cache::percent_encoded(world.files()[random() % world.files().size()].path, true);
}

std::vector<Ordered> draw_faults(World& world, std::mt19937_64& random, Kind kind) {
  std::vector<Ordered> orders;
  const std::size_t count = 1 + random() % 3;
  while (orders.size() < count) {
    const auto rows = fault_rows();
    const FaultRow& row = rows[random() % rows.size()];
    Fault fault = row.fault;
    fault.target = target_of(row.place, world, random);
    const std::uint64_t times = random() % 8;
    fault.times = times == 0 ? -1 : static_cast<int>(1 + times % 4);
    if (kind == Kind::by_program) fault.times = 1;  // its waits are not shortened
    if (kind == Kind::large && row.place != FaultPlace::list && row.place != FaultPlace::revision)
      fault.target = random() % 2 == 0 ? "large.bin" : "/resolve/";
    // Ten thousand pages take their time, and a list is short.
    if (fault.kind == FaultKind::endless_pages) fault.times = 1;
    if (fault.kind == FaultKind::drop || fault.kind == FaultKind::close)
      fault.at = random() % (kind == Kind::large ? 20'000'000 : 700'000);
    orders.push_back({&row, std::move(fault)});
  }
  return orders;
}

// Several faults may hide one another, and together use up the tries that each one alone leaves.
bool is_expected(const std::vector<Ordered>& orders, std::optional<ErrorKind> ended) {
  if (!ended) return true;  // that it is complete is looked at
  for (const Ordered& order : orders)
    if (ended == order.row->once.fails || ended == order.row->always.fails) return true;
  // What the Hub refuses is not allowed; what the storage refuses looks like an address that expired.
  for (const Ordered& order : orders)
    if (order.row->always.fails == ErrorKind::denied && order.fault.target == "signature=" &&
        ended == ErrorKind::network)
      return true;
  return orders.size() > 1 && ended == ErrorKind::network;
}

std::string told(const std::vector<Ordered>& orders) {
  std::string out = "faults:";
  for (const Ordered& order : orders)
    out += " " + std::string(order.row->name) + ",target=" + order.fault.target +
           ",times=" + std::to_string(order.fault.times) + ",at=" + std::to_string(order.fault.at);
  return out;
}

void check_bytes(World& world, const std::vector<Ordered>& orders, Tally& tally, Problems& problems) {
  if (!only_breaks(orders)) return;
  std::uint64_t needed = 0, served = 0, requests = 0;
  std::set<std::string> asked;
  for (const MadeFile& file : world.files()) needed += file.bytes;  // at least what is fetched
  for (const LoggedRequest& request : world.hub().log()) {
    if (request.target.starts_with("/api/models/")) continue;
    if (request.status == 200 || request.status == 206) served += request.body_bytes;
    if (request.target.find("/resolve/") == std::string::npos) continue;  // at the storage
    ++requests;
    asked.insert(request.target);
  }
  const std::uint64_t drops = requests - asked.size();
  const std::uint64_t refetched = served > needed ? served - needed : 0;
  tally.refetched += refetched;
  tally.drops += drops;
  if (refetched > drops << 20)
    problems.push_back(std::to_string(refetched) + " bytes were fetched twice after " +
                       std::to_string(drops) + " broken connections");
}

Finish run_program(const World& world, Problems& problems) {
  const Ended ended = run("hfcache", {"download", World::kRepo}, world.variables());
  if (ended.code == 0) return {};
  if (("\n" + ended.err).find("\nhfcache: ") == std::string::npos)
    problems.push_back("the message is " + ended.err);
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::interrupted); ++kind)
    if (exit_code(static_cast<ErrorKind>(kind)) == ended.code)
      return {static_cast<ErrorKind>(kind), ended.err};
  problems.push_back("exit code " + std::to_string(ended.code) + " is none of ours: " + ended.err);
  return {ErrorKind::internal, ended.err};
}

Problems run_one(const CampaignOptions& options, std::uint64_t run, Kind kind, Tally& tally) {
  std::mt19937_64 random(seed_of(options, run));
  const bool by_program = kind == Kind::by_program;
  HubOptions hub{.seed = random(), .page_size = 1 + random() % 6, .xet_hashes = random() % 2 == 0};
  hub.redirects = random() % 3 == 0;
  MadeRepoOptions repo;
  if (kind == Kind::large) {
    hub.bytes_per_second = 30'000'000 + random() % 50'000'000;
    repo = {.most_files = 3, .most_bytes = 400'000, .large_bytes = (33u << 20) + random() % (20u << 20)};
  }
  World world(random, hub, repo);
  const std::vector<Ordered> orders = draw_faults(world, random, kind);
  for (const Ordered& order : orders) world.hub().order(order.fault);

  Problems problems;
  const Finish finish = by_program ? run_program(world, problems) : world.download();
  ++(finish.kind ? tally.failed : tally.complete);
  if (!is_expected(orders, finish.kind))
    problems.push_back("ended as " + std::string(name_of(*finish.kind)) + ": " + finish.message);
  check_cache(world.repo_folder(), problems);
  if (!finish.kind) check_snapshot(world.source(), world.snapshot(), problems);
  if (!finish.kind && kind != Kind::large) check_bytes(world, orders, tally, problems);

  world.hub().cancel_faults();
  std::this_thread::sleep_for(
      std::chrono::milliseconds(std::any_of(orders.begin(), orders.end(),
                                            [](const auto& o) { return o.fault.kind == FaultKind::refused; })
                                    ? 25
                                    : 0));
  const Finish again = world.download(std::chrono::seconds(20));
  if (again.kind) problems.push_back("the run without faults ended: " + again.message);
  check_cache(world.repo_folder(), problems);
  check_snapshot(world.source(), world.snapshot(), problems);
  check_nothing_left(world.repo_folder(), problems);
  if (!problems.empty()) problems.insert(problems.begin(), told(orders));
  return problems;
}

}  // namespace

int main(int argc, char** argv) {
  const CampaignOptions options =
      campaign_options(argc, argv, {.runs = 2000, .more = {{"--cli", "100"}, {"--large", "40"}}});
  use_memory_for_folders();
  const std::uint64_t by_program = std::strtoull(options.more.at("--cli").c_str(), nullptr, 10);
  const std::uint64_t large =
      std::max<std::uint64_t>(1, std::strtoull(options.more.at("--large").c_str(), nullptr, 10));
  Tally tally;
  const std::uint64_t end = options.first + options.runs;
  const std::uint64_t wrong = run_all("fault_campaign", options, [&](std::uint64_t run) {
    const Kind kind = run + by_program >= end    ? Kind::by_program
                      : run % large == large - 1 ? Kind::large
                                                 : Kind::usual;
    return run_one(options, run, kind, tally);
  });
  std::printf(
      "fault_campaign: %llu runs (%llu through the program) with %zu faults, seed %llu: %llu complete, %llu "
      "refused, %llu bytes fetched twice after %llu broken connections, 0 hangs, %llu runs wrong\n",
      static_cast<unsigned long long>(options.runs), static_cast<unsigned long long>(by_program),
      fault_rows().size(), static_cast<unsigned long long>(options.seed),
      static_cast<unsigned long long>(tally.complete), static_cast<unsigned long long>(tally.failed),
      static_cast<unsigned long long>(tally.refetched), static_cast<unsigned long long>(tally.drops),
      static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
