// The main of every test program. A filter that no case passes is a failure: ctest runs each case by its
// name, and a name that doctest reads otherwise (a comma, a backslash) must not count as passed.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

namespace {

unsigned cases_chosen = 0;

// Draws nothing: only listens for how many cases passed the filters.
class Count : public doctest::IReporter {
 public:
  explicit Count(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    cases_chosen = stats.numTestCasesPassingFilters;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("count", 1, Count);

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int failed = context.run();
  return context.shouldExit() || cases_chosen > 0 ? failed : 1;
}
