#include "campaign/made_repo.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

namespace hf::test {
namespace {

constexpr const char* kFolders[] = {"",          "", "", "onnx/", "a/b/c/", "unicode \xc3\xa9\xe4\xb8\xad/",
                                    "1_Pooling/"};
constexpr const char* kStems[] = {"config",     "model",     "weights", "vocab",      "\xc3\xbc",
                                  "with space", "plus+and&", "hash#?",  "percent%20", "README",
                                  "-dash",      ".hidden",   "x"};
constexpr const char* kSuffixes[] = {".json", ".txt", "", ".safetensors", ".bin", ".onnx", ".md"};

std::uint64_t random_size(std::mt19937_64& random, std::uint64_t most) {
  switch (random() % 8) {
    case 0:
      return random() % 3;
    case 1:
    case 2:
    case 3:
      return random() % 20'000;
    case 4:
    case 5:
      return random() % (200u << 10);
    case 6:
      return random() % (most / 4);
    default:
      return random() % most;
  }
}

template <std::size_t N>
const char* pick(std::mt19937_64& random, const char* const (&from)[N]) {
  return from[random() % N];
}

void write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

std::string random_bytes(std::mt19937_64& random, std::uint64_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t at = 0; at < out.size(); at += 8) {
    const std::uint64_t word = random();
    std::memcpy(out.data() + at, &word, std::min<std::size_t>(8, out.size() - at));
  }
  return out;
}

std::vector<MadeFile> make_repo(const std::filesystem::path& folder, std::mt19937_64& random,
                                const MadeRepoOptions& options) {
  std::vector<MadeFile> files;
  const std::uint64_t large = 300'000 + random() % (options.most_bytes - 300'000);
  std::string last = random_bytes(random, large);
  write(folder / "model.safetensors", last);
  files.push_back({"model.safetensors", large});
  std::set<std::string> names = {"model.safetensors"};
  if (options.large_bytes > 0) {
    write(folder / "large.bin", random_bytes(random, options.large_bytes));
    files.push_back({"large.bin", options.large_bytes});
  }
  const std::size_t count = random() % options.most_files;
  for (std::size_t i = 0; i < count; ++i) {
    std::string path = pick(random, kFolders);
    path += pick(random, kStems);
    path += pick(random, kSuffixes);
    if (!names.insert(path).second) continue;
    if (random() % 6 != 0) last = random_bytes(random, random_size(random, options.most_bytes));
    write(folder / path, last);
    files.push_back({path, last.size()});
  }
  return files;
}

}  // namespace hf::test
