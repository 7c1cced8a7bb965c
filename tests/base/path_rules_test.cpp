#include "base/path_rules.h"

#include <doctest/doctest.h>

#include <string>

#include "support/error_of.h"

using namespace hf;
using hf::test::error_of;

namespace {

struct Hostile {
  const char* why;
  std::string name;
  const char* message;  // part of it
};

const Hostile kHostile[] = {
    {"nothing", "", "is empty"},
    {"the root", "/", "empty part"},
    {"an absolute path", "/etc/passwd", "empty part"},
    {"a second root", "//host/share", "empty part"},
    {"the parent", "..", "part \"..\""},
    {"the parent first", "../x", "part \"..\""},
    {"the parent between", "a/../../x", "part \"..\""},
    {"the parent last", "a/..", "part \"..\""},
    {"the folder itself", ".", "part \".\""},
    {"the folder itself between", "a/./b", "part \".\""},
    {"an empty part", "a//b", "empty part"},
    {"a folder's slash", "a/", "empty part"},
    {"NUL", std::string("a\0b", 3), "control characters"},
    {"NUL behind a good name", std::string("config.json\0/../x", 17), "control characters"},
    {"a line break", "a\nb", "control characters"},
    {"an escape sequence", "\x1b[2J", "control characters"},
    {"DEL", "a\x7f", "control characters"},
    {"a C1 control", "a\xc2\x9b", "control characters"},
    {"reversed text", "a\u202Egpj.exe", "control characters"},
    {"a slash in two bytes", "..\xc0\xaf..", "not UTF-8"},
    {"a surrogate", "\xed\xa0\x80", "not UTF-8"},
    {"Latin-1", "gr\xf6\xdf", "not UTF-8"},
    {"Windows' parent", "..\\x", "backslash"},
    {"Windows' separator", "a\\b", "backslash"},
    {"Windows' share", "\\\\host\\share", "backslash"},
    {"a drive", "C:/x", "drive"},
    {"a drive's current folder", "c:x", "drive"},
    {"a drive alone", "Z:", "drive"},
    {"a part too long", std::string(256, 'a'), "part of 256 bytes"},
    {"a part too long, in a folder", "b/" + std::string(300, 'a'), "part of 300 bytes"},
    {"a path too long", std::string(2049, 'a').replace(0, 0, std::string(2048, 'b')), "has 4097 bytes"},
};

}  // namespace

TEST_CASE("a hostile name is refused with its reason") {
  for (const Hostile& row : kHostile) {
    CAPTURE(row.why);
    const auto caught = error_of([&] { check_relative_path(row.name); });
    CHECK(caught == ErrorKind::integrity);
    CHECK_MESSAGE(caught.says(row.message), caught.message);
    CHECK(caught.message.find('\x1b') == std::string::npos);
    CHECK(caught.message.size() < 1200);
    CHECK(error_of([&] { check_file_name(row.name); }) == ErrorKind::integrity);
  }
}

TEST_CASE("names that repositories really have are taken") {
  for (const char* name :
       {"config.json", "onnx/model.onnx_data", ".gitattributes", "a/.hidden", "...", "..a", "a..", "a b",
        "1_Pooling/config.json", "größe/模型.bin", "xy:z", "10:30.txt", "a;b&c|d$(e)", "-rf",
        "model-00001-of-00002.safetensors", "~", "~root/x", "CON", "%2e%2e/x"})
    CHECK_NOTHROW(check_relative_path(name));
}

TEST_CASE("a part of 255 bytes and a path of 4096 bytes are the longest") {
  CHECK_NOTHROW(check_relative_path(std::string(255, 'a')));
  std::string path;
  while (path.size() < 4096) path += "123456789abcde/";
  path.resize(4096, 'x');
  path.back() = 'x';
  CHECK_NOTHROW(check_relative_path(path));
  CHECK(error_of([&] { check_relative_path(path + "y"); }) == ErrorKind::integrity);
}

TEST_CASE("a file name has no folder") {
  CHECK_NOTHROW(check_file_name("model.onnx_data"));
  CHECK(error_of([] { check_file_name("a/b"); }).says("plain file name"));
}
