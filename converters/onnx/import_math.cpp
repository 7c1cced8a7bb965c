// Arithmetic, element by element and along axes.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "converters/onnx/importer.h"

namespace hf::onnx {
namespace {

using Items = std::vector<Item>;

template <Unary::Kind kind>
Items unary(Call& c) {
  if (const Integers* known = c.integers(0); known != nullptr && kind == Unary::negate) {
    Integers out = *known;
    for (Dim& d : out.values) d = Dim(0) - d;
    return {out};
  }
  return {c.add(Unary{kind}, {c.value(0)})};
}

Dim computed(Binary::Kind kind, const Dim& a, const Dim& b) {
  switch (kind) {
    case Binary::add:
      return a + b;
    case Binary::subtract:
      return a - b;
    case Binary::multiply:
      return a * b;
    case Binary::divide:
      return floor_div(a, b);  // sizes: nothing negative is divided
    case Binary::minimum:
      return min(a, b);
    default:
      return max(a, b);
  }
}

bool has_expression(Binary::Kind kind) {
  return kind == Binary::add || kind == Binary::subtract || kind == Binary::multiply ||
         kind == Binary::divide || kind == Binary::minimum || kind == Binary::maximum;
}

// Pairs of elements, where one side may be a single one.
template <class F>
std::optional<Integers> pairwise(const Integers* a, const Integers* b, F&& f) {
  if (a == nullptr || b == nullptr || a->dtype != b->dtype) return std::nullopt;
  const std::size_t n = a->values.size(), m = b->values.size();
  if (n != m && n != 1 && m != 1) return std::nullopt;
  Integers out{a->dtype, a->scalar && b->scalar, {}};
  for (std::size_t i = 0; i < std::max(n, m) && n > 0 && m > 0; ++i)
    out.values.push_back(f(a->values[n == 1 ? 0 : i], b->values[m == 1 ? 0 : i]));
  return out;
}

// Min, Max, Sum and the like take any number of inputs.
template <Binary::Kind kind>
Items binary(Call& c) {
  if (has_expression(kind) && c.inputs() == 2) {
    const Integers *left = c.integers(0), *right = c.integers(1);
    const auto folded =
        pairwise(left, right, [](const Dim& a, const Dim& b) { return computed(kind, a, b); });
    if (folded) return {*folded};
  }
  Value out = c.value(0);
  for (std::size_t k = 1; k < c.inputs(); ++k) out = c.add(Binary{kind}, {out, c.value(k)});
  return {out};
}

// The exponent may be of another type.
Items power(Call& c) {
  const Value base = c.value(0);
  return {c.add(Binary{Binary::power}, {base, c.cast(c.value(1), c.dtype(0))})};
}

Items modulo(Call& c) {
  if (c.integer("fmod", 0) != 0) throw Error(ErrorKind::unsupported, "fmod is not supported");
  const Integers &left = c.known(0), &right = c.known(1);
  const auto folded = pairwise(&left, &right, [](const Dim& a, const Dim& b) { return mod(a, b); });
  if (!folded) throw Error(ErrorKind::integrity, "its inputs do not fit");
  return {*folded};
}

// A sum of sizes is not negative, so -1 ("keep this size") equals none of them.
bool never_negative(const Dim& d) {
  const std::vector<DimTerm> terms = d.terms();
  return std::all_of(terms.begin(), terms.end(), [](const DimTerm& t) { return t.coefficient >= 0; });
}

std::optional<bool> equal(const Dim& a, const Dim& b) {
  if (a == b) return true;
  const Dim difference = a - b;
  const bool apart = difference.is_number() || (b.is_number() && b.number() < 0 && never_negative(a)) ||
                     (a.is_number() && a.number() < 0 && never_negative(b));
  return apart ? std::optional(false) : std::nullopt;
}

template <Compare::Kind kind>
Items compare(Call& c) {
  if (kind == Compare::equal) {
    bool open = false;
    const Integers *left = c.integers(0), *right = c.integers(1);
    auto folded = pairwise(left, right, [&](const Dim& a, const Dim& b) {
      const std::optional<bool> same = equal(a, b);
      open = open || !same;
      return Dim(same.value_or(false) ? 1 : 0);
    });
    if (folded && !open) {
      folded->dtype = DType::boolean;
      return {*folded};
    }
  }
  const Value a = c.value(0);
  return {c.add(Compare{kind}, {a, c.value(1)})};
}

std::optional<Integers> chosen(const Integers* condition, const Integers* a, const Integers* b) {
  const auto pairs = pairwise(a, b, [](const Dim& x, const Dim&) { return x; });
  if (condition == nullptr || !pairs) return std::nullopt;
  const std::size_t n = std::max(condition->values.size(), pairs->values.size());
  const auto at = [&](const Integers& list, std::size_t i) -> const Dim& {
    return list.values[list.values.size() == 1 ? 0 : i];
  };
  Integers out{a->dtype, condition->scalar && pairs->scalar, {}};
  for (const Integers* list : {condition, a, b})
    if (list->values.size() != n && list->values.size() != 1) return std::nullopt;
  for (std::size_t i = 0; i < n; ++i) {
    if (!at(*condition, i).is_number()) return std::nullopt;
    out.values.push_back(at(*condition, i) == Dim(0) ? at(*b, i) : at(*a, i));
  }
  return out;
}

Items where(Call& c) {
  const Integers *known_condition = c.integers(0), *known_then = c.integers(1),
                 *known_otherwise = c.integers(2);
  if (const auto folded = chosen(known_condition, known_then, known_otherwise)) return {*folded};
  const Value condition = c.value(0), then = c.value(1), otherwise = c.value(2);
  return {c.add(Where{}, {condition, then, otherwise})};
}

bool is_integer(DType d) { return d == DType::i64 || d == DType::i32; }

Items cast(Call& c) {
  const auto to = from_onnx(static_cast<std::int32_t>(c.integer("to", 0)));
  if (!to)
    throw Error(ErrorKind::unsupported,
                "element type " + std::to_string(c.integer("to", 0)) + " is not supported");
  if (const Integers* known = c.integers(0); known != nullptr && is_integer(*to)) {
    Integers out = *known;
    out.dtype = *to;
    return {out};
  }
  return {c.cast(c.value(0), *to)};
}

Items matmul(Call& c) {
  const Value a = c.value(0);
  return {c.add(MatMul{}, {a, c.value(1)})};
}

// The axes of a reduction: an attribute or, in newer opsets, an input; none means all.
std::vector<int> axes_of(Call& c, std::size_t rank) {
  std::vector<std::int64_t> axes = c.integers("axes").value_or(std::vector<std::int64_t>());
  if (c.has(1))
    for (const Dim& d : c.known(1).values) axes.push_back(d.number());
  if (axes.empty() && c.integer("noop_with_empty_axes", 0) != 0)
    throw Error(ErrorKind::unsupported, "noop_with_empty_axes is not supported");
  std::vector<int> out;
  for (const std::int64_t axis : axes) out.push_back(Call::axis(axis, rank));
  for (std::size_t i = 0; axes.empty() && i < rank; ++i) out.push_back(static_cast<int>(i));
  std::sort(out.begin(), out.end());
  return out;
}

template <Reduce::Kind kind>
Items reduce(Call& c) {
  const Value x = c.value(0);
  std::vector<int> axes = axes_of(c, c.shape(0).size());
  const bool keep = c.integer("keepdims", 1) != 0;
  return {c.add(Reduce{kind, std::move(axes), keep}, {x})};
}

// Of sizes only.
Items product(Call& c) {
  const Integers& known = c.known(0);
  Integers out{known.dtype, known.scalar || c.integer("keepdims", 1) == 0, {Dim(1)}};
  for (const Dim& d : known.values) out.values[0] *= d;
  return {out};
}

Items argmax(Call& c) {
  if (c.integer("select_last_index", 0) != 0)
    throw Error(ErrorKind::unsupported, "select_last_index is not supported");
  const Value x = c.value(0);
  return {
      c.add(ArgMax{Call::axis(c.integer("axis", 0), c.shape(0).size()), c.integer("keepdims", 1) != 0}, {x})};
}

Items cumsum(Call& c) {
  if (c.integer("exclusive", 0) != 0 || c.integer("reverse", 0) != 0)
    throw Error(ErrorKind::unsupported, "exclusive and reverse are not supported");
  const Value x = c.value(0);
  return {c.add(CumSum{Call::axis(c.number(1), c.shape(0).size())}, {x})};
}

Items clip(Call& c) {
  Value x = c.value(0);
  if (c.has(1)) x = c.add(Binary{Binary::maximum}, {x, c.value(1)});
  if (c.has(2)) x = c.add(Binary{Binary::minimum}, {x, c.value(2)});
  return {x};
}

constexpr std::array kOperators{
    Operator{"Abs", "", unary<Unary::absolute>},
    Operator{"Add", "", binary<Binary::add>},
    Operator{"And", "", binary<Binary::logical_and>},
    Operator{"ArgMax", "axis keepdims select_last_index", argmax},
    Operator{"Cast", "to", cast},
    Operator{"Clip", "", clip},
    Operator{"Cos", "", unary<Unary::cos>},
    Operator{"CumSum", "exclusive reverse", cumsum},
    Operator{"Div", "", binary<Binary::divide>},
    Operator{"Equal", "", compare<Compare::equal>},
    Operator{"Erf", "", unary<Unary::erf>},
    Operator{"Exp", "", unary<Unary::exp>},
    Operator{"Greater", "", compare<Compare::greater>},
    Operator{"GreaterOrEqual", "", compare<Compare::greater_or_equal>},
    Operator{"Less", "", compare<Compare::less>},
    Operator{"LessOrEqual", "", compare<Compare::less_or_equal>},
    Operator{"Log", "", unary<Unary::log>},
    Operator{"MatMul", "", matmul},
    Operator{"Max", "", binary<Binary::maximum>},
    Operator{"Min", "", binary<Binary::minimum>},
    Operator{"Mod", "fmod", modulo},
    Operator{"Mul", "", binary<Binary::multiply>},
    Operator{"Neg", "", unary<Unary::negate>},
    Operator{"Not", "", unary<Unary::logical_not>},
    Operator{"Or", "", binary<Binary::logical_or>},
    Operator{"Pow", "", power},
    Operator{"Reciprocal", "", unary<Unary::reciprocal>},
    Operator{"ReduceMax", "axes keepdims noop_with_empty_axes", reduce<Reduce::maximum>},
    Operator{"ReduceMean", "axes keepdims noop_with_empty_axes", reduce<Reduce::mean>},
    Operator{"ReduceMin", "axes keepdims noop_with_empty_axes", reduce<Reduce::minimum>},
    Operator{"ReduceProd", "axes keepdims noop_with_empty_axes", product},
    Operator{"ReduceSum", "axes keepdims noop_with_empty_axes", reduce<Reduce::sum>},
    Operator{"Relu", "", unary<Unary::relu>},
    Operator{"Sigmoid", "", unary<Unary::sigmoid>},
    Operator{"Sin", "", unary<Unary::sin>},
    Operator{"Sqrt", "", unary<Unary::sqrt>},
    Operator{"Sub", "", binary<Binary::subtract>},
    Operator{"Sum", "", binary<Binary::add>},
    Operator{"Tanh", "", unary<Unary::tanh>},
    Operator{"Where", "", where},
};

}  // namespace

std::span<const Operator> math_operators() { return kOperators; }

}  // namespace hf::onnx
