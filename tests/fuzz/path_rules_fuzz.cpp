#include <filesystem>

#include "base/escape.h"
#include "base/path_rules.h"
#include "fuzz/fuzz.h"

using namespace hf;

// What the rules let through stays below any folder and shows as it is; what is shown is always harmless.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view name = fuzz::text_of(data, size);
  for (const char c : in_quotes(name))
    fuzz::require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "a control");
  return fuzz::only_errors([&] {
    check_relative_path(name);
    const std::filesystem::path path(name);
    fuzz::require(path.is_relative() && path.lexically_normal() == path, "a path that leads elsewhere");
    for (const auto& part : path)
      fuzz::require(part != ".." && part != "." && !part.empty(), "a part that leads elsewhere");
    fuzz::require(escaped(name, name.size()) == name, "a name that shows otherwise");
  });
}
