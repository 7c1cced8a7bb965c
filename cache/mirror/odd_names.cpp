#include "cache/mirror/odd_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace hf::cache {
namespace {

// The next character of valid UTF-8; other bytes stand for themselves.
char32_t next_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length && i < text.size(); ++i)
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3fu);
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

void append(std::string& out, char32_t code) {
  const auto byte = [&](char32_t value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    byte(0xe0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3f));
  } else {
    byte(0xf0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3f));
    byte(0x80 | ((code >> 6) & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// Capital letters in runs: each is `offset` before its small one, or every second one is its small one.
struct Capitals {
  char32_t first, last;
  char32_t offset;  // 0: alternating, the capitals being those of the first one's parity
};
constexpr Capitals kCapitals[] = {
    {U'A', U'Z', 32},    {0xc0, 0xd6, 32},    {0xd8, 0xde, 32},     {0x100, 0x12f, 0},  {0x132, 0x137, 0},
    {0x139, 0x148, 0},   {0x14a, 0x177, 0},   {0x179, 0x17e, 0},    {0x391, 0x3a1, 32}, {0x3a3, 0x3ab, 32},
    {0x400, 0x40f, 80},  {0x410, 0x42f, 32},  {0x460, 0x481, 0},    {0x48a, 0x4bf, 0},  {0x4d0, 0x52f, 0},
    {0x1e00, 0x1e95, 0}, {0x1ea0, 0x1eff, 0}, {0xff21, 0xff3a, 32},
};

char32_t small(char32_t code) {
  for (const Capitals& run : kCapitals) {
    if (code < run.first || code > run.last) continue;
    if (run.offset != 0) return code + run.offset;
    return (code - run.first) % 2 == 0 ? code + 1 : code;
  }
  return code;
}

// Marks that follow a letter though one character of both exists, which is how NFC spells it.
struct Mark {
  char32_t mark;
  std::string_view letters;
};
constexpr Mark kMarks[] = {
    {0x300, "AEINOUWYaeinouwy"},
    {0x301, "ACEGIKLMNOPRSUWYZacegiklmnoprsuwyz"},
    {0x302, "ACEGHIJOSUWYZaceghijosuwyz"},
    {0x303, "AEINOUVYaeinouvy"},
    {0x304, "AEGIOUYaegiouy"},
    {0x306, "AEGIOUaegiou"},
    {0x307, "ABCDEFGHIMNOPRSTWXYZabcdefghmnoprstwxyz"},
    {0x308, "AEHIOUWXYaehiotuwxy"},
    {0x309, "AEIOUYaeiouy"},
    {0x30a, "AUauwy"},
    {0x30b, "OUou"},
    {0x30c, "ACDEGHIKLNORSTUZacdeghijklnorstuz"},
    {0x31b, "OUou"},
    {0x323, "ABDEHIKLMNORSTUVWYZabdehiklmnorstuvwyz"},
    {0x326, "STst"},
    {0x327, "CDEGHKLNRSTcdeghklnrst"},
    {0x328, "AEIOUaeiou"},
};

bool composes(char32_t before, char32_t mark) {
  for (const Mark& row : kMarks)
    if (row.mark == mark)
      return before < 0x80 && row.letters.find(static_cast<char>(before)) != row.letters.npos;
  const bool kana = before >= 0x3040 && before < 0x3100 && (mark == 0x3099 || mark == 0x309a);
  const bool hangul = before >= 0x1100 && before <= 0x1112 && mark >= 0x1161 && mark <= 0x1175;
  const bool cyrillic = (mark == 0x306 && (before == 0x418 || before == 0x438)) ||
                        (mark == 0x308 && (before == 0x415 || before == 0x435));
  return kana || hangul || cyrillic;
}

bool is_decomposed(std::string_view text) {
  char32_t before = 0;
  while (!text.empty()) {
    const char32_t code = next_character(text);
    if (composes(before, code)) return true;
    before = code;
  }
  return false;
}

// CON, NUL.txt, COM1 …: Windows opens a device, whatever stands after the dot.
bool is_device(std::string_view part) {
  constexpr std::array<std::string_view, 6> kDevices = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  const std::string stem = case_folded(part.substr(0, part.find('.')));
  if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) && stem[3] >= '1' &&
         stem[3] <= '9';
}

}  // namespace

std::string oddity_of(std::string_view path) {
  std::string found;
  const auto note = [&](std::string_view what) { found += (found.empty() ? "" : ", ") + std::string(what); };
  if (path.find_first_of(":<>\"|?*") != path.npos) note("has a character that Windows reserves");
  bool device = false, trailing = false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    device = device || is_device(part);
    trailing = trailing || part.ends_with('.') || part.ends_with(' ');
    at = end + 1;
  }
  if (device) note("is a device's name on Windows");
  if (trailing) note("has a part that ends in a dot or a blank");
  if (is_decomposed(path)) note("is not in Unicode's form NFC");
  return found;
}

std::string case_folded(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  while (!path.empty()) append(out, small(next_character(path)));
  return out;
}

}  // namespace hf::cache
