// Each way in which a Hub can fail, as the table of fault.h has it: happening once and happening each time,
// the download ends as the row says, and the next one completes.
#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <thread>

#include "campaign/checks.h"
#include "campaign/world.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

namespace {

constexpr const char* kModel = "model.safetensors";

struct Case {
  const FaultRow& row;
  std::string target;
  int times;
};

// What a list says that cannot be is refused before the first byte; these lies show in the files only.
bool shows_in_files(FaultKind kind) {
  return kind == FaultKind::other_size || kind == FaultKind::wrong_oid || kind == FaultKind::no_lfs;
}

Problems problems_of(const Case& one) {
  std::mt19937_64 random(7);
  World world(random, {.seed = 7, .xet_hashes = true}, {.most_files = 4, .most_bytes = 400'000});
  Fault fault = one.row.fault;
  fault.target = one.target;
  fault.times = one.times;
  world.hub().order(fault);

  Problems problems;
  const Finish finish = world.download();
  const Outcome& outcome = one.times == 1 ? one.row.once : one.row.always;
  if (!outcome.allows(finish.kind))
    problems.push_back("ended as " + std::string(finish.kind ? name_of(*finish.kind) : "complete") + " " +
                       finish.message);
  if (finish.kind && one.row.place != FaultPlace::file && one.target != kModel &&
      !shows_in_files(fault.kind) && world.hub().bytes_served("/resolve/") > 0)
    problems.push_back("files were fetched all the same");
  check_cache(world.repo_folder(), problems);
  if (finish.kind && std::filesystem::exists(world.repo_folder() / "refs/main"))
    problems.push_back("a ref was written");
  world.hub().cancel_faults();
  if (fault.kind == FaultKind::refused)  // until somebody listens again
    std::this_thread::sleep_for(std::chrono::milliseconds(fault.at + 5));
  if (const Finish again = world.download(std::chrono::seconds(10)); again.kind)
    problems.push_back("the next run ended: " + again.message);
  check_cache(world.repo_folder(), problems);
  check_snapshot(world.source(), world.snapshot(), problems);
  check_nothing_left(world.repo_folder(), problems);
  return problems;
}

void check_rows(int times) {
  std::vector<Case> cases;
  for (const FaultRow& row : fault_rows()) {
    if (row.place == FaultPlace::file || row.place == FaultPlace::both) cases.push_back({row, kModel, times});
    if (row.place == FaultPlace::list || row.place == FaultPlace::both)
      cases.push_back({row, "/tree/", times});
    if (row.place == FaultPlace::revision || row.place == FaultPlace::both)
      cases.push_back({row, "/revision/", times});
  }
  use_memory_for_folders();
  const CampaignOptions options{.runs = cases.size(), .jobs = 16};
  const std::uint64_t wrong = run_all("rows", options, [&](std::uint64_t i) {
    Problems problems = problems_of(cases[i]);
    if (!problems.empty())
      problems.insert(problems.begin(), std::string(cases[i].row.name) + " at " + cases[i].target);
    return problems;
  });
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("There are at least 40 faults and no two of one name") {
  CHECK(fault_rows().size() >= 40);
  std::set<std::string_view> names;
  for (const FaultRow& row : fault_rows()) CHECK(names.insert(row.name).second);
}

TEST_CASE("Each fault that happens once ends as the table says") { check_rows(1); }

TEST_CASE("Each fault that happens each time ends as the table says") { check_rows(-1); }

TEST_CASE("What huggingface_hub 2.4 stores under its etag with exit code 0 is refused") {
  const std::vector<std::vector<Fault>> corruptions = {
      {{.kind = FaultKind::other_bytes, .target = kModel, .times = -1}},
      {{.kind = FaultKind::wrong_content, .target = kModel, .times = -1}},
      {{.kind = FaultKind::drop, .target = kModel, .at = 1u << 20},
       {.kind = FaultKind::other_bytes, .target = kModel, .times = -1}},
  };
  use_memory_for_folders();
  for (const auto& faults : corruptions) {
    std::mt19937_64 random(3);
    World world(random, {}, {.most_files = 3, .most_bytes = 4u << 20});
    for (const Fault& fault : faults) world.hub().order(fault);
    const Ended ended = run("hfcache", {"download", World::kRepo}, world.variables());
    CAPTURE(ended.err);
    CHECK(ended.code == 6);
    CHECK(ended.err.find(kModel) != std::string::npos);
    Problems problems;
    check_cache(world.repo_folder(), problems);
    CHECK(problems.empty());
    CHECK_FALSE(std::filesystem::exists(world.snapshot() / kModel));
  }
}

TEST_CASE("A fault is ordered by its name") {
  const Fault plain = parse_fault("drop");
  CHECK(plain.kind == FaultKind::drop);
  CHECK(plain.at == 100'000);
  CHECK(plain.times == 1);
  const Fault full =
      parse_fault("503-wait,target=/tree/,times=-1,at=7,status=429,header=Retry-After: Wed, 1");
  CHECK(full.target == "/tree/");
  CHECK(full.times == -1);
  CHECK(full.at == 7);
  CHECK(full.status == 429);
  CHECK(full.header == "Retry-After: Wed, 1");
  for (const char* wrong : {"", "no-such", "drop,at=x", "drop,on=1", "drop,at"})
    CHECK(error_of([&] { parse_fault(wrong); }) == ErrorKind::usage);
}
