#include "tensor/dim.h"

#include <algorithm>

#include "base/error.h"

namespace hf {

// kind: 's' symbol, '/' floor division, '%' modulo, '<' min, '>' max.
struct Dim::Atom {
  char kind;
  std::string spelling;  // the symbol's name, or how the call prints
  Dim a, b;
};

namespace {

std::int64_t checked(bool overflow, std::int64_t value) {
  if (overflow) throw Error(ErrorKind::integrity, "a dimension overflows 64 bits");
  return value;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &r);
  return checked(overflow, r);
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  const bool overflow = __builtin_add_overflow(a, b, &r);
  return checked(overflow, r);
}

std::int64_t floored(std::int64_t a, std::int64_t b) {
  if (b == 0) throw Error(ErrorKind::usage, "a dimension is divided by zero");
  if (b == -1) return times(a, b);  // the processor traps on the smallest number
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t apply(char kind, std::int64_t a, std::int64_t b) {
  switch (kind) {
    case '/':
      return floored(a, b);
    case '%':
      return b == -1 ? 0 : a - floored(a, b) * b;
    case '<':
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

// An expression may come from a file: one with more characters, factors or terms than this is no dimension of
// a model.
void check_length(std::size_t length) {
  if (length > 4096) throw Error(ErrorKind::integrity, "a dimension is too long an expression");
}

}  // namespace

// Python's precedence: "//" and "%" bind like "*", from the left.
std::string Dim::spell_call(char kind, const Dim& a, const Dim& b) {
  std::string left = a.to_string(), right = b.to_string();
  check_length(left.size() + right.size());
  if (kind == '<') return "min(" + left + ", " + right + ")";
  if (kind == '>') return "max(" + left + ", " + right + ")";
  if (a.terms_.size() > 1) left = "(" + left + ")";
  if (!b.is_number() && !b.is_atom()) right = "(" + right + ")";
  return "(" + left + (kind == '/' ? " // " : " % ") + right + ")";
}

bool Dim::Less::operator()(const Product& a, const Product& b) const {
  // Symbols before numbers, then by spelling: "past_sequence_length + sequence_length", "2*b", "b + 1".
  if (a.empty() != b.empty()) return b.empty();
  return spell(a) < spell(b);
}

Dim::Dim(std::int64_t value) {
  if (value != 0) terms_[{}] = value;
}

Dim Dim::of_atom(std::shared_ptr<const Atom> atom) {
  Dim d;
  d.terms_[{std::move(atom)}] = 1;
  return d;
}

Dim Dim::symbol(std::string_view name) {
  return of_atom(std::make_shared<const Atom>(Atom{'s', std::string(name), {}, {}}));
}

std::string Dim::spell(const Product& product) {
  std::string out;
  for (const auto& atom : product) out += (out.empty() ? "" : "*") + atom->spelling;
  return out;
}

bool Dim::is_number() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

bool Dim::is_atom() const {
  return terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1;
}

std::int64_t Dim::number() const {
  if (!is_number()) throw Error(ErrorKind::internal, "dimension " + to_string() + " is not a number");
  return terms_.empty() ? 0 : terms_.begin()->second;
}

std::string Dim::to_string() const {
  std::string out;
  for (const auto& [product, coefficient] : terms_) {
    std::string size = std::to_string(coefficient);
    if (coefficient < 0) size.erase(0, 1);
    if (!out.empty())
      out += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0)
      out += "-";
    if (product.empty()) {
      out += size;
    } else {
      if (size != "1") out += size + "*";
      out += spell(product);
    }
  }
  return out.empty() ? "0" : out;
}

std::vector<DimTerm> Dim::terms() const {
  std::vector<DimTerm> out;
  for (const auto& [product, coefficient] : terms_) {
    DimTerm& term = out.emplace_back(DimTerm{coefficient, {}});
    for (const auto& atom : product) {
      const bool symbol = atom->kind == DimFactor::symbol;
      term.factors.push_back({static_cast<DimFactor::Kind>(atom->kind),
                              symbol ? atom->spelling : std::string(), atom->a, atom->b});
    }
  }
  return out;
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim out = a;
  for (const auto& [product, coefficient] : b.terms_) {
    std::int64_t& sum = out.terms_[product];
    sum = plus(sum, coefficient);
    if (sum == 0) out.terms_.erase(product);
  }
  return out;
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  check_length(a.terms_.size() * b.terms_.size());
  Dim out;
  for (const auto& [left, x] : a.terms_) {
    for (const auto& [right, y] : b.terms_) {
      Dim term;
      Dim::Product product = left;
      product.insert(product.end(), right.begin(), right.end());
      check_length(product.size());
      std::sort(product.begin(), product.end(),
                [](const auto& p, const auto& q) { return p->spelling < q->spelling; });
      term.terms_[std::move(product)] = times(x, y);
      out = out + term;
    }
  }
  return out;
}

bool Dim::divide_exactly(const Dim& by, Dim& quotient) const {
  if (by.terms_.size() != 1) return false;
  const auto& [divisor, number] = *by.terms_.begin();
  quotient = Dim();
  for (const auto& [product, coefficient] : terms_) {
    if (apply('%', coefficient, number) != 0) return false;
    Product rest = product;
    for (const auto& atom : divisor) {
      const auto at = std::find_if(rest.begin(), rest.end(),
                                   [&](const auto& p) { return p->spelling == atom->spelling; });
      if (at == rest.end()) return false;
      rest.erase(at);
    }
    Dim term;
    term.terms_[std::move(rest)] = floored(coefficient, number);
    quotient = quotient + term;
  }
  return true;
}

Dim Dim::of_call(char kind, const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return apply(kind, a.number(), b.number());
  if ((kind == '<' || kind == '>') && b.to_string() < a.to_string()) return of_call(kind, b, a);
  return of_atom(std::make_shared<const Atom>(Atom{kind, spell_call(kind, a, b), a, b}));
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (b == Dim(0)) throw Error(ErrorKind::usage, "a dimension is divided by zero");
  Dim quotient;
  if (a == b) return 1;
  if (a.divide_exactly(b, quotient)) return quotient;
  return Dim::of_call('/', a, b);
}

Dim mod(const Dim& a, const Dim& b) {
  if (b == Dim(0)) throw Error(ErrorKind::usage, "a dimension is divided by zero");
  if (a.is_number() && b.is_number()) return apply('%', a.number(), b.number());
  Dim quotient;
  if (a == b || a.divide_exactly(b, quotient)) return 0;
  return Dim::of_call('%', a, b);
}

Dim min(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return std::min(a.number(), b.number());
  const Dim difference = a - b;
  if (difference.is_number()) return difference.number() <= 0 ? a : b;
  return Dim::of_call('<', a, b);
}

Dim max(const Dim& a, const Dim& b) {
  if (a.is_number() && b.is_number()) return std::max(a.number(), b.number());
  const Dim difference = a - b;
  if (difference.is_number()) return difference.number() >= 0 ? a : b;
  return Dim::of_call('>', a, b);
}

bool operator==(const Dim& a, const Dim& b) {
  return a.terms_.size() == b.terms_.size() &&
         std::equal(a.terms_.begin(), a.terms_.end(), b.terms_.begin(), [](const auto& p, const auto& q) {
           return p.second == q.second && Dim::spell(p.first) == Dim::spell(q.first);
         });
}

Dim Dim::substitute(const Symbols& values) const {
  Dim out;
  for (const auto& [product, coefficient] : terms_) {
    Dim term = coefficient;
    for (const auto& atom : product) {
      if (atom->kind == 's') {
        const auto found = values.find(atom->spelling);
        term = term * (found == values.end() ? of_atom(atom) : Dim(found->second));
        continue;
      }
      const Dim a = atom->a.substitute(values), b = atom->b.substitute(values);
      term = term * (atom->kind == '/'   ? floor_div(a, b)
                     : atom->kind == '%' ? mod(a, b)
                     : atom->kind == '<' ? min(a, b)
                                         : max(a, b));
    }
    out = out + term;
  }
  return out;
}

std::int64_t Dim::evaluate(const Symbols& values) const {
  const Dim result = substitute(values);
  if (result.is_number()) return result.number();
  std::vector<std::string> missing;
  result.collect_symbols(missing);
  throw Error(ErrorKind::usage, "dimension " + to_string() + ": " + missing.front() + " has no value");
}

void Dim::collect_symbols(std::vector<std::string>& names) const {
  for (const auto& [product, coefficient] : terms_) {
    for (const auto& atom : product) {
      if (atom->kind != 's') {
        atom->a.collect_symbols(names);
        atom->b.collect_symbols(names);
      } else if (std::find(names.begin(), names.end(), atom->spelling) == names.end()) {
        names.push_back(atom->spelling);
      }
    }
  }
}

}  // namespace hf
