#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace hf {
namespace {

struct Row {
  ErrorKind kind;
  int code;
  std::string_view name;
};

constexpr Row kRows[] = {
    {ErrorKind::usage, 2, "usage"},         {ErrorKind::not_found, 3, "not found"},
    {ErrorKind::denied, 4, "not allowed"},  {ErrorKind::network, 5, "network"},
    {ErrorKind::integrity, 6, "integrity"}, {ErrorKind::unsupported, 7, "unsupported"},
    {ErrorKind::io, 8, "local I/O"},        {ErrorKind::out_of_memory, 9, "out of device memory"},
    {ErrorKind::internal, 70, "internal"},  {ErrorKind::interrupted, 130, "interrupted"},
};

const Row& row(ErrorKind kind) {
  for (const Row& r : kRows)
    if (r.kind == kind) return r;
  return kRows[8];
}

}  // namespace

int exit_code(ErrorKind kind) { return row(kind).code; }
std::string_view name_of(ErrorKind kind) { return row(kind).name; }

Error system_error(std::string_view subject, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::not_found : ErrorKind::io;
  return {kind, std::string(subject) + ": " + std::generic_category().message(code)};
}

}  // namespace hf
