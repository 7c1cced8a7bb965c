#include "tools/hfcache/remote.h"

#include <cstdio>
#include <string>

#include "base/error.h"
#include "cache/hub/credentials.h"
#include "tools/program/program.h"

namespace hf::cache {

ClientOptions remote_options(const Environment& environment) {
  ClientOptions options = client_options(environment);
  options.user_agent = "hfcache/" + std::string(program_version());
  if (environment.is_on("HF_DEBUG"))
    options.trace = [](std::string_view line) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
  return options;
}

void require_online(const Environment& environment, const char* what) {
  const char* variable = offline_variable(environment);
  if (variable == nullptr) return;
  throw Error(ErrorKind::usage, std::string(variable) + ": is set, " + what + " needs the Hub");
}

}  // namespace hf::cache
