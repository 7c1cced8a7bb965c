#include "base/escape.h"

#include <doctest/doctest.h>

using namespace hf;

TEST_CASE("plain text and valid UTF-8 are shown as they are") {
  CHECK(escaped("model-00001-of-00002.safetensors") == "model-00001-of-00002.safetensors");
  CHECK(escaped("größe 模型 \U0001F917") == "größe 模型 \U0001F917");
  CHECK(escaped("") == "");
}

TEST_CASE("control characters become hex, a backslash is doubled") {
  CHECK(escaped(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(escaped("\x1b[31mred\x7f\n\t") == "\\x1b[31mred\\x7f\\x0a\\x09");
  CHECK(escaped("C:\\x00") == "C:\\\\x00");
}

TEST_CASE("bytes that are not UTF-8 become hex") {
  struct Row {
    const char* why;
    std::string_view text, shown;
  };
  const Row rows[] = {
      {"a continuation byte alone", "\x80z", "\\x80z"},
      {"a sequence cut short", "\xe6\xa8", "\\xe6\\xa8"},
      {"a sequence broken by a letter", "\xe6z\x8b", "\\xe6z\\x8b"},
      {"'/' in two bytes", "\xc0\xaf", "\\xc0\\xaf"},
      {"NUL in two bytes", "\xc0\x80", "\\xc0\\x80"},
      {"'/' in three bytes", "\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
      {"a surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"above U+10FFFF", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"five bytes", "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
      {"never in UTF-8", "\xff\xfe", "\\xff\\xfe"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.why);
    CHECK(escaped(row.text) == row.shown);
  }
}

TEST_CASE("the ends of each UTF-8 length stay") {
  for (const std::string_view text : {"\x7e", "\xc2\xa1", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                      "\xee\x80\x80", "\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(escaped(text) == text);
}

TEST_CASE("C1 controls and characters that reorder text become hex") {
  CHECK(escaped("\xc2\x9b"
                "31m") == "\\xc2\\x9b31m");
  CHECK(escaped("exe\u202Etxt") == "exe\\xe2\\x80\\xaetxt");
  for (const char* text :
       {"\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u2066", "\u2069", "\uFEFF"})
    CHECK(escaped(text).substr(0, 2) == "\\x");
  CHECK(escaped("\u2027\u202F\u2065\u206A") == "\u2027\u202F\u2065\u206A");
}

TEST_CASE("text behind the limit is replaced by dots, never inside a character") {
  CHECK(escaped("abcdef", 3) == "abc...");
  CHECK(escaped("abc", 3) == "abc");
  CHECK(escaped("a模型", 2) == "a模...");
  CHECK(escaped(std::string(1000, 'x')).size() == 203);
}

TEST_CASE("quotes inside quotes are escaped") {
  CHECK(in_quotes("a\"b\\c\n") == "\"a\\\"b\\\\c\\x0a\"");
  CHECK(in_quotes("") == "\"\"");
}
