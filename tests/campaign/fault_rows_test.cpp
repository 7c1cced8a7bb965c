// Each way in which a Hub can fail, as the table of fault.h has it: happening once and happening each time,
// the download ends as the row says, and the next one completes.
#include "cache/loopback.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::test;

namespace {

constexpr const char* kModel = "model.safetensors";

void check(const FaultRow& row, std::string_view target, int times) {
  CAPTURE(row.name);
  CAPTURE(target);
  CAPTURE(times);
  Loopback loopback({.seed = 7, .xet_hashes = true});
  Fault fault = row.fault;
  fault.target = target;
  fault.times = times;
  loopback.hub().order(fault);
  const Caught caught = error_of([&] { loopback.download(); });
  CAPTURE(caught.message);
  const Outcome& outcome = times == 1 ? row.once : row.always;
  const std::string ended(caught.kind ? name_of(*caught.kind) : "complete");
  CAPTURE(ended);
  CHECK(outcome.allows(caught.kind));
  check_no_wrong_blob(loopback.repo_folder());
  if (caught.kind) CHECK_FALSE(std::filesystem::exists(loopback.repo_folder() / "refs/main"));
  loopback.hub().cancel_faults();
  loopback.download();
  check_same_files(loopback.root() / Loopback::kRepo, loopback.store().snapshot({Loopback::kRepo}, "main"));
  check_no_wrong_blob(loopback.repo_folder());
  CHECK(count_leftovers(loopback.repo_folder()) == 0);
}

void check_rows(int times) {
  for (const FaultRow& row : fault_rows()) {
    if (row.place != FaultPlace::list) check(row, kModel, times);
    if (row.place != FaultPlace::file) check(row, "/tree/", times);
  }
}

}  // namespace

TEST_CASE("There are at least 40 faults and no two of one name") {
  CHECK(fault_rows().size() >= 40);
  std::set<std::string_view> names;
  for (const FaultRow& row : fault_rows()) CHECK(names.insert(row.name).second);
}

TEST_CASE("Each fault that happens once ends as the table says") { check_rows(1); }

TEST_CASE("Each fault that happens each time ends as the table says") { check_rows(-1); }

TEST_CASE("A fault is ordered by its name") {
  const Fault plain = parse_fault("drop");
  CHECK(plain.kind == FaultKind::drop);
  CHECK(plain.at == 100'000);
  CHECK(plain.times == 1);
  const Fault full = parse_fault("503-wait,target=/tree/,times=-1,at=7,status=429,header=Retry-After: Wed, 1");
  CHECK(full.target == "/tree/");
  CHECK(full.times == -1);
  CHECK(full.at == 7);
  CHECK(full.status == 429);
  CHECK(full.header == "Retry-After: Wed, 1");
  for (const char* wrong : {"", "no-such", "drop,at=x", "drop,on=1", "drop,at"})
    CHECK(error_of([&] { parse_fault(wrong); }) == ErrorKind::usage);
}
