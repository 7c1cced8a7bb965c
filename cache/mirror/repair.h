// What verify() found wrong or missing, fetched again from the Hub.
#pragma once
#include <string>
#include <vector>

#include "base/progress.h"
#include "cache/hub/hub.h"
#include "cache/store/verify.h"

namespace hf::cache {

// Mends what it can and returns, a line each, what it cannot; whether all is right then is for verify() to
// say. A wrong blob stays until the right bytes are on the disk and take its name; only one that nothing
// leads to is removed, since the next download would take it for right. Throws Error{interrupted} only.
std::vector<std::string> repair(const Hub& hub, const Store& store, const VerifyReport& report,
                                Progress& progress);

// The same for a folder that was downloaded into, whose notes do not tell the repository.
std::vector<std::string> repair_folder(const Hub& hub, const Store& store,
                                       const std::filesystem::path& folder, const Repo& repo,
                                       const VerifyReport& report, Progress& progress);

}  // namespace hf::cache
