// One file from the Hub into its partial, whatever the network does on the way.
#pragma once
#include <string_view>

#include "base/progress.h"
#include "cache/hub/hub.h"
#include "cache/mirror/partial.h"

namespace hf::cache {

// Returns when the partial is_right(). Broken transfers go on where they broke off, as the client's policy
// says; content that is not what the revision's list says is fetched once more from the beginning, and then
// refused: Error{integrity}, nothing of it kept. Else Error{not_found | denied | network | io | interrupted},
// and what has arrived is kept for the next run.
void fetch(const Hub& hub, const Repo& repo, std::string_view commit, Partial& partial, Progress& progress);

}  // namespace hf::cache
