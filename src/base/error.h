// The one exception of the suite and the kinds of failure, each with the exit code that a program ends with.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hf {

enum class ErrorKind {
  usage,          // 2: the command line or an argument of a call is wrong
  not_found,      // 3: repo, revision, file; or not in the cache while offline
  denied,         // 4: authentication, gated or disabled repository
  network,        // 5
  integrity,      // 6: hash, signature or malformed file
  unsupported,    // 7: architecture, operator, dtype
  io,             // 8: disk full, permission
  out_of_memory,  // 9: device memory
  internal,       // 70: a bug of ours
  interrupted,    // 130: the user stopped it
};

// What a program exits with; 1 is left to verdicts (a comparison or verification found a difference).
int exit_code(ErrorKind kind);
std::string_view name_of(ErrorKind kind);

// A message is "subject: fact, expectation": `model.safetensors: tensor "a" ends at 812, data has 800 bytes`.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// Runs f; an Error from it leaves with "where: " before its message.
template <class F>
decltype(auto) with_context(std::string_view where, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    throw Error(error.kind(), std::string(where) + ": " + error.what());
  }
}

// The Error of a failed system call: "subject: strerror(code)", kind by the code (ENOENT is not_found, the
// rest io).
Error system_error(std::string_view subject, int code);

}  // namespace hf
