#include "base/path_rules.h"

#include <cctype>
#include <string>

#include "base/error.h"
#include "base/escape.h"

namespace hf {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view why) {
  throw Error(ErrorKind::integrity, "file name " + in_quotes(name) + ": " + std::string(why));
}

void check_part(std::string_view name, std::string_view part) {
  if (part.empty()) refuse(name, "has an empty part, a relative path is expected");
  if (part == "." || part == "..")
    refuse(name, "has a part \"" + std::string(part) + "\", which is not allowed");
  if (part.size() > 255)
    refuse(name, "has a part of " + std::to_string(part.size()) + " bytes, at most 255 are allowed");
}

}  // namespace

void check_relative_path(std::string_view name) {
  if (name.empty()) refuse(name, "is empty");
  if (name.size() > 4096)
    refuse(name, "has " + std::to_string(name.size()) + " bytes, at most 4096 are allowed");
  if (name.find('\\') != std::string_view::npos) refuse(name, "has a backslash, which is not allowed");
  if (escaped(name, name.size()) != name) refuse(name, "has control characters or is not UTF-8");
  if (name.size() > 1 && name[1] == ':' && std::isalpha(static_cast<unsigned char>(name[0])))
    refuse(name, "begins with a drive, a relative path is expected");
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    check_part(name, name.substr(at, end - at));
    at = end + 1;
  }
}

void check_file_name(std::string_view name) {
  check_relative_path(name);
  if (name.find('/') != std::string_view::npos) refuse(name, "has a folder, a plain file name is expected");
}

}  // namespace hf
