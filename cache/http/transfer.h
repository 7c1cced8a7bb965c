// One request on one libcurl handle, without redirects.
#pragma once
#include "cache/http/client.h"

namespace hf::cache {

// Appends a hop to `response` and fills it, the body and the failure. `handle` is a CURL*, whose connections
// are kept. Rethrows what the sink throws.
void run_transfer(void* handle, const ClientOptions& options, const Request& request, bool with_bearer,
                  Response& response, Sink& sink);

}  // namespace hf::cache
