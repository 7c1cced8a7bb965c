// How the sub-commands reach the Hub: by the variables of the process.
#pragma once
#include "base/environment.h"
#include "cache/http/client.h"

namespace hf::cache {

// With the program's user agent; each request is traced on stderr where HF_DEBUG is set.
ClientOptions remote_options(const Environment& environment);

// Throws Error{usage} that names the variable which forbids the network, where one does. `what` cannot do
// without.
void require_online(const Environment& environment, const char* what);

}  // namespace hf::cache
