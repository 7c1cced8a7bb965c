// The graphs of three tiny models as text, held against tests/arch/golden. After a change that is meant,
// write them anew and read the difference:
//   HF_WRITE_GOLDEN=1 build/dev/bin/arch_test --test-case="*golden*" && git diff tests/arch/golden
#include <doctest/doctest.h>

#include <cstdlib>

#include "arch/rows.h"
#include "base/file.h"

namespace hf::test {
namespace {

// Line by line, so that a failure shows the first lines that differ.
void check_same_text(const std::string& got, const std::string& expected) {
  if (got == expected) return;
  std::size_t at = 0, line = 1;
  while (at < std::min(got.size(), expected.size()) && got[at] == expected[at])
    line += got[at++] == '\n' ? 1 : 0;
  const auto line_of = [&](const std::string& text) {
    const std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1) + 1;
    return begin < text.size() ? text.substr(begin, text.find('\n', begin) - begin) : "(end)";
  };
  FAIL_CHECK("line " << line << "\n  is       " << line_of(got) << "\n  expected " << line_of(expected));
}

}  // namespace

TEST_CASE("the golden graphs of a tiny bert, distilbert and gpt2") {
  TinySizes sizes;
  sizes.layers = 1;
  const std::pair<const char*, const char*> models[] = {
      {"bert", "ForMaskedLM"}, {"distilbert", "ForSequenceClassification"}, {"gpt2", "LMHeadModel"}};
  for (const auto& [type, head] : models) {
    CAPTURE(type);
    const std::filesystem::path file = std::filesystem::path(HF_SOURCE_DIR) / "tests/arch/golden" /
                                       (std::string(type) + "-" + head + ".txt");
    const std::string text = dump(tiny_graph(type, head, {}, sizes));
    if (std::getenv("HF_WRITE_GOLDEN") != nullptr) write_file(file, text);
    check_same_text(text, read_text(file));
  }
}

}  // namespace hf::test
