// sum := product (("+" | "-") product)*
// product := ["-"] factor (("*" | "//" | "%") factor)*
// factor := number | name | ("min" | "max") "(" sum "," sum ")" | "(" sum ")"
#include "converters/onnx/dim_text.h"

#include <charconv>
#include <optional>
#include <string>

#include "base/error.h"

namespace hf::onnx {
namespace {

constexpr int kDeepest = 20;
constexpr std::size_t kLongest = 1000;

struct NoExpression {};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Dim all() {
    Dim out = sum(0);
    if (at_ != text_.size()) throw NoExpression{};
    return out;
  }

 private:
  bool take(std::string_view token) {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.substr(at_).starts_with(token)) {
      at_ += token.size();
      return true;
    }
    at_ = start;
    return false;
  }

  void expect(std::string_view token) {
    if (!take(token)) throw NoExpression{};
  }

  Dim sum(int depth) {
    Dim out = product(depth);
    for (;;) {
      if (take("+"))
        out += product(depth);
      else if (take("-"))
        out = out - product(depth);
      else
        return out;
    }
  }

  Dim product(int depth) {
    if (depth > kDeepest) throw NoExpression{};
    if (take("-")) return Dim(-1) * product(depth + 1);
    Dim out = factor(depth);
    for (;;) {
      if (take("*"))
        out *= factor(depth);
      else if (take("//"))
        out = floor_div(out, factor(depth));
      else if (take("%"))
        out = mod(out, factor(depth));
      else
        return out;
    }
  }

  Dim factor(int depth) {
    if (take("(")) {
      Dim inner = sum(depth + 1);
      expect(")");
      return inner;
    }
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (const auto number = this->number()) return *number;
    const std::string name = this->name();
    const bool least = name == "min";
    if ((!least && name != "max") || !take("(")) return Dim::symbol(name);
    const Dim a = sum(depth + 1);
    expect(",");
    const Dim b = sum(depth + 1);
    expect(")");
    return least ? min(a, b) : max(a, b);
  }

  std::optional<Dim> number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return Dim(value);
  }

  std::string name() {
    const auto is_part = [](char c) {
      return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z');
    };
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    if (at_ == begin) throw NoExpression{};
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Dim parse_dim(std::string_view text) {
  if (text.size() > kLongest) throw Error(ErrorKind::integrity, "a dimension's name is too long");
  try {
    return Parser(text).all();
  } catch (const NoExpression&) {
  } catch (const Error&) {  // divided by zero, or beyond 64 bits: a name after all
  }
  return Dim::symbol(text);
}

}  // namespace hf::onnx
