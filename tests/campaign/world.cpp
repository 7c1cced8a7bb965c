#include "campaign/world.h"

#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "cache/mirror/download.h"

namespace hf::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

cache::ClientOptions quick_options(milliseconds stall) {
  cache::ClientOptions options;
  options.stall_timeout = stall;
  options.connect_timeout = std::max(stall, milliseconds(1000));
  options.retry = {8, milliseconds(2), milliseconds(10), std::chrono::seconds(3)};
  return options;
}

}  // namespace

void use_memory_for_folders() {
  setenv("no_proxy", "127.0.0.1", 1);
  std::error_code error;
  const fs::space_info room = fs::space("/dev/shm", error);
  if (getenv("TMPDIR") == nullptr && !error && room.available > (2u << 30) && access("/dev/shm", W_OK) == 0)
    setenv("TMPDIR", "/dev/shm", 1);
}

World::World(std::mt19937_64& random, HubOptions options, const MadeRepoOptions& repo)
    : files_(make_repo(dir_ / "root" / kRepo, random, repo)), hub_(dir_ / "root", std::move(options)) {}

fs::path World::snapshot() { return repo_folder() / "snapshots" / hub_.commit(kRepo); }

Finish World::download(milliseconds stall) { return download_into(cache_root(), stall); }

Finish World::download_into(const fs::path& cache_root, milliseconds stall) {
  try {
    cache::Client client(quick_options(stall));
    const cache::Hub remote(client, hub_.url(), "");
    const cache::Store store(cache_root);
    cache::DownloadRequest request{.repo = {kRepo}};
    request.timings.batch = milliseconds(5);
    request.timings.settling = request.timings.measuring = milliseconds(15);
    request.timings.lock_poll = milliseconds(5);
    request.timings.lock_patience = milliseconds(500);
    const auto plan = plan_download(remote, store, request);
    const auto target = make_target(store, request, plan);
    cache::DownloadEvents nobody;
    cache::download(remote, *target, request, plan, nobody);
    return {};
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
}

void World::change_source(std::mt19937_64& random) {
  // A new file in place of the old one: what the Hub has mapped must not change below it.
  const auto put = [&](const std::string& path) {
    fs::remove(source() / path);
    std::ofstream(source() / path, std::ios::binary) << random_bytes(random, random() % 100'000);
  };
  for (const MadeFile& file : files_) {
    if (file.path == "model.safetensors" || random() % 3 != 0) continue;
    if (random() % 3 == 0)
      fs::remove(source() / file.path);
    else
      put(file.path);
  }
  put("new.txt");
  hub_.forget();
}

std::map<std::string, std::string> World::variables() const {
  return {{"HF_ENDPOINT", hub_.url()},
          {"HF_HUB_CACHE", cache_root().string()},
          {"HF_HOME", (dir_ / "home").string()},
          {"HF_HUB_DOWNLOAD_TIMEOUT", "1"}};
}

}  // namespace hf::test
