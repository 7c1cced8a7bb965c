// A dimension: an integer expression over named symbols.
//
// Kept canonical, so that equality is structural: a sum of terms, each an integer times a product of atoms,
// terms and atoms sorted. An atom is a symbol or one of (a // b), (a % b), min(a, b), max(a, b) that could
// not be simplified. It prints as optimum spells dynamic axes: "past_sequence_length + sequence_length".
// Overflow of 64 bits and expressions that grow without end are Error{integrity}: both come from files.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hf {

using Symbols = std::map<std::string, std::int64_t, std::less<>>;

struct DimTerm;

class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(std::int64_t value);                                   // NOLINT: numbers are dimensions
  Dim(int value) : Dim(static_cast<std::int64_t>(value)) {}  // NOLINT
  static Dim symbol(std::string_view name);

  bool is_number() const;
  std::int64_t number() const;  // throws Error{internal} where a symbol is left
  // Replaces the symbols that `values` names; those it lacks stay.
  Dim substitute(const Symbols& values) const;
  std::int64_t evaluate(
      const Symbols& values) const;  // throws Error{usage} naming the symbol that has no value
  void collect_symbols(std::vector<std::string>& names) const;  // appends each once, in order of appearance
  std::string to_string() const;
  // The expression taken apart, for those who compute it elsewhere: it is the sum of the terms; 0 has none.
  std::vector<DimTerm> terms() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim floor_div(const Dim& a, const Dim& b);  // exact where b divides each term of a
  friend Dim mod(const Dim& a, const Dim& b);        // result has the sign of b, as Python's
  friend Dim min(const Dim& a, const Dim& b);
  friend Dim max(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);

 private:
  struct Atom;
  using Product = std::vector<std::shared_ptr<const Atom>>;  // sorted by spelling
  struct Less {
    bool operator()(const Product& a, const Product& b) const;
  };
  static Dim of_atom(std::shared_ptr<const Atom> atom);
  static Dim of_call(char kind, const Dim& a, const Dim& b);
  static std::string spell(const Product& product);
  static std::string spell_call(char kind, const Dim& a, const Dim& b);
  bool is_atom() const;
  bool divide_exactly(const Dim& by, Dim& quotient) const;

  std::map<Product, std::int64_t, Less> terms_;  // no zero coefficients; the constant has the empty product
};

// A symbol, or a call of two operands.
struct DimFactor {
  enum Kind : char { symbol = 's', floor_div = '/', mod = '%', min = '<', max = '>' } kind = symbol;
  std::string name;  // the symbol's
  Dim a, b;          // the call's operands
};

// `coefficient` times the product of the factors.
struct DimTerm {
  std::int64_t coefficient = 0;
  std::vector<DimFactor> factors;
};

inline Dim& operator+=(Dim& a, const Dim& b) { return a = a + b; }
inline Dim& operator*=(Dim& a, const Dim& b) { return a = a * b; }

}  // namespace hf
