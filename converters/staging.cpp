#include "converters/staging.h"

#include <unistd.h>

#include <system_error>

#include "base/error.h"
#include "base/escape.h"
#include "base/file.h"

namespace hf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStagedPrefix = ".hfconvert.";

[[noreturn]] void failed(const fs::path& path, const std::error_code& code) {
  throw system_error(shown(path), code.value());
}

// What a run that was killed has left.
bool is_leftover(const fs::path& entry) { return entry.filename().string().starts_with(kStagedPrefix); }

bool is_empty_but_leftovers(const fs::path& folder) {
  std::error_code code;
  fs::directory_iterator entries(folder, code);
  if (code) failed(folder, code);
  for (const fs::directory_entry& entry : entries)
    if (!is_leftover(entry.path())) return false;
  return true;
}

void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code))
    if (is_leftover(entry.path())) found.push_back(entry.path());
  for (const fs::path& path : found) fs::remove_all(path, code);
}

}  // namespace

Staging::Staging(fs::path folder, Existing existing) : folder_(std::move(folder)) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(folder_, code))) {
    if (!fs::is_directory(folder_, code)) throw Error(ErrorKind::usage, shown(folder_) + ": not a folder");
    if (existing == Existing::refused && !is_empty_but_leftovers(folder_))
      throw Error(ErrorKind::usage,
                  shown(folder_) + ": is not empty; another folder or --overwrite is expected");
    remove_leftovers(folder_);
  } else {
    made_ = fs::create_directories(folder_, code);
    if (code) failed(folder_, code);
  }
  staged_ = folder_ / (std::string(kStagedPrefix) + std::to_string(getpid()));
  fs::create_directory(staged_, code);
  if (code) {
    if (made_) fs::remove(folder_);
    failed(staged_, code);
  }
}

Staging::~Staging() {
  std::error_code ignored;
  fs::remove_all(staged_, ignored);
  if (made_ && !published_) fs::remove(folder_, ignored);
}

void Staging::publish(const std::vector<std::string>& files, const std::vector<std::string>& outdated) {
  std::error_code code;
  for (const std::string& name : outdated) {
    fs::remove(folder_ / name, code);
    if (code) failed(folder_ / name, code);
  }
  if (!outdated.empty()) sync_folder(folder_);
  published_ = true;  // from here on the folder has something
  for (const std::string& name : files) {
    const fs::path to = folder_ / name;
    fs::create_directories(to.parent_path(), code);
    if (code) failed(to.parent_path(), code);
    fs::rename(staged_ / name, to, code);
    if (code) failed(to, code);
    sync_folder(to.parent_path());
  }
}

}  // namespace hf
