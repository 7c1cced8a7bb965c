// Where elements lie. Shapes are taken as expressions; see importer.h.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "converters/onnx/importer.h"

namespace hf::onnx {
namespace {

using Items = std::vector<Item>;

// Exporters write "to the end" as a number that no size reaches.
constexpr std::int64_t kEnd = std::numeric_limits<std::int32_t>::max();

std::vector<std::int64_t> numbers_of(const Integers& list) {
  std::vector<std::int64_t> out;
  for (const Dim& d : list.values) {
    if (!d.is_number()) throw Error(ErrorKind::unsupported, "computed axes are not supported");
    out.push_back(d.number());
  }
  return out;
}

std::int64_t clamped(std::int64_t value, std::int64_t least, std::int64_t most) {
  return std::max(least, std::min(value, most));
}

// A bound of a slice, counted from the end where it is negative. Bounds that are numbers are clamped to sizes
// that are; others are taken as they stand: a size that does not reach is refused when the sizes are known.
Dim bound(const Dim& given, const Dim& size) {
  if (!given.is_number()) return given;
  const std::int64_t n = given.number();
  if (n >= kEnd) return size;
  if (size.is_number()) return clamped(n < 0 ? n + size.number() : n, 0, size.number());
  return n < -kEnd ? Dim(0) : n < 0 ? size + given : given;
}

Value sliced(Call& c, Value x, int axis, const Dim& given_begin, const Dim& given_end, std::int64_t step) {
  if (step < 1) throw Error(ErrorKind::unsupported, "a slice with a negative step is not supported");
  const Dim size = c.graph().shape(x)[static_cast<std::size_t>(axis)];
  Dim begin = bound(given_begin, size), end = bound(given_end, size);
  if (begin == Dim(0) && end == size && step == 1) return x;
  if (begin.is_number() && end.is_number() && end.number() < begin.number()) end = begin;
  return c.add(Slice{axis, begin, end, step}, {x});
}

std::optional<Integers> sliced_integers(Call& c) {
  const Integers* list = c.integers(0);
  if (list == nullptr || list->scalar || c.known(1).values.size() != 1) return std::nullopt;
  const auto size = static_cast<std::int64_t>(list->values.size());
  const std::int64_t step = c.has(4) ? c.number(4) : 1;
  if (step == 0) throw Error(ErrorKind::integrity, "a slice's step is 0");
  const auto from_end = [&](std::int64_t n) { return n < 0 && n >= -size ? n + size : n; };
  std::int64_t begin = from_end(c.number(1)), end = from_end(c.number(2));
  begin = step > 0 ? clamped(begin, 0, size) : clamped(begin, -1, size - 1);
  end = step > 0 ? clamped(end, 0, size) : clamped(end, -1, size - 1);
  Integers out{list->dtype, false, {}};
  if (std::abs(step) >= size) end = step > 0 ? std::min(end, begin + 1) : std::max(end, begin - 1);
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += std::clamp<std::int64_t>(step, -size, size))
    out.values.push_back(list->values[static_cast<std::size_t>(i)]);
  return out;
}

Items slice(Call& c) {
  if (const auto integers = sliced_integers(c)) return {*integers};
  Value x = c.value(0);
  const std::size_t rank = c.shape(0).size();
  const Integers &begins = c.known(1), &ends = c.known(2);
  const std::size_t n = begins.values.size();
  std::vector<std::int64_t> axes(n), steps(n, 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (c.has(3)) axes = numbers_of(c.known(3));
  if (c.has(4)) steps = numbers_of(c.known(4));
  if (ends.values.size() != n || axes.size() != n || steps.size() != n)
    throw Error(ErrorKind::integrity, "begins, ends, axes and steps are not as many");
  for (std::size_t i = 0; i < n; ++i)
    x = sliced(c, x, Call::axis(axes[i], rank), begins.values[i], ends.values[i], steps[i]);
  return {x};
}

// The sizes of each part: an input, or as many equal ones as there are outputs.
std::vector<Dim> parts_of(Call& c, const Dim& size) {
  if (c.has(1)) return c.known(1).values;
  const std::int64_t count = c.attribute("num_outputs") != nullptr ? c.integer("num_outputs", 1)
                                                                   : static_cast<std::int64_t>(c.outputs());
  if (count < 1 || count != static_cast<std::int64_t>(c.outputs()))
    throw Error(ErrorKind::integrity, "the number of outputs does not fit");
  const Dim part = floor_div(size + Dim(count - 1), count);
  std::vector<Dim> out(static_cast<std::size_t>(count), part);
  out.back() = size - part * Dim(count - 1);
  return out;
}

Items split(Call& c) {
  const Value x = c.value(0);
  const int axis = Call::axis(c.integer("axis", 0), c.shape(0).size());
  Items out;
  Dim begin = 0;
  for (const Dim& size : parts_of(c, c.shape(0)[static_cast<std::size_t>(axis)])) {
    out.emplace_back(c.add(Slice{axis, begin, begin + size, 1}, {x}));
    begin += size;
  }
  return out;
}

Items concat(Call& c) {
  if (c.attribute("axis") == nullptr) throw Error(ErrorKind::integrity, "has no axis");
  Integers joined{DType::i64, false, {}};
  bool known = c.inputs() > 0;
  for (std::size_t k = 0; known && k < c.inputs(); ++k) {
    const Integers* part = c.integers(k);
    known = part != nullptr && !part->scalar && (k == 0 || part->dtype == joined.dtype);
    if (!known) break;
    joined.dtype = part->dtype;
    joined.values.insert(joined.values.end(), part->values.begin(), part->values.end());
    if (joined.values.size() > 1024) throw Error(ErrorKind::unsupported, "joins too many sizes");
  }
  if (known) return {joined};
  std::vector<Value> parts;
  for (std::size_t k = 0; k < c.inputs(); ++k) parts.push_back(c.value(k));
  const std::size_t rank = c.shape(0).size();
  return {c.add(Concat{Call::axis(c.integer("axis", 0), rank)}, std::move(parts))};
}

std::optional<Integers> gathered_integers(Call& c) {
  const Integers *list = c.integers(0), *at = c.integers(1);
  if (list == nullptr || list->scalar || at == nullptr) return std::nullopt;
  Integers out{list->dtype, at->scalar, {}};
  for (const std::int64_t i : numbers_of(*at))
    out.values.push_back(list->values[static_cast<std::size_t>(Call::axis(i, list->values.size()))]);
  return out;
}

// Known indices may count from the end; ours do not.
Value indices_of(Call& c, const Dim& size) {
  const Integers* known = c.integers(1);
  if (known == nullptr) return c.cast(c.value(1), DType::i64);
  Integers from_start{DType::i64, known->scalar, {}};
  bool changed = false;
  for (const Dim& d : known->values) {
    const bool negative = d.is_number() && d.number() < 0;
    from_start.values.push_back(negative ? d + size : d);
    changed = changed || negative;
  }
  return changed ? c.materialized(from_start) : c.cast(c.value(1), DType::i64);
}

Items gather(Call& c) {
  if (const auto integers = gathered_integers(c)) return {*integers};
  const Value x = c.value(0);
  const int axis = Call::axis(c.integer("axis", 0), c.shape(0).size());
  const Value indices = indices_of(c, c.shape(0)[static_cast<std::size_t>(axis)]);
  return {c.add(Gather{axis}, {x, indices})};
}

Items reshape(Call& c) {
  const Integers& to = c.known(1);
  const bool zero_is_zero = c.integer("allowzero", 0) != 0;
  if (const Integers* list = c.integers(0); list != nullptr && to.values.size() <= 1) {
    const Dim count = static_cast<std::int64_t>(list->values.size());
    const bool fits = to.values.empty() ? count == Dim(1) : to.values[0] == Dim(-1) || to.values[0] == count;
    if (fits) return {Integers{list->dtype, to.values.empty(), list->values}};
  }
  const Value x = c.value(0);
  Shape shape = to.values;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!(shape[i] == Dim(0)) || zero_is_zero) continue;
    if (i >= c.shape(0).size()) throw Error(ErrorKind::integrity, "a 0 stands for no size of the input");
    shape[i] = c.shape(0)[i];
  }
  return {c.add(Reshape{std::move(shape)}, {x})};
}

Items flatten(Call& c) {
  const Value x = c.value(0);
  const Shape& shape = c.shape(0);
  const std::int64_t given = c.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (given < -rank || given > rank) throw Error(ErrorKind::integrity, "the axis is not one of the input's");
  const auto at = shape.begin() + (given < 0 ? given + rank : given);
  return {c.add(Reshape{{elements(Shape(shape.begin(), at)), elements(Shape(at, shape.end()))}}, {x})};
}

Items transpose(Call& c) {
  if (const Integers* known = c.integers(0)) return {*known};
  const Value x = c.value(0);
  const std::size_t rank = c.shape(0).size();
  std::vector<int> permutation;
  if (const auto given = c.integers("perm"))
    for (const std::int64_t axis : *given) permutation.push_back(Call::axis(axis, rank));
  else
    for (std::size_t i = rank; i-- > 0;) permutation.push_back(static_cast<int>(i));
  return {c.add(Transpose{std::move(permutation)}, {x})};
}

Items expand(Call& c) {
  const Value x = c.value(0);
  return {c.add(Expand{broadcast(c.shape(0), c.known(1).values)}, {x})};
}

std::vector<std::int64_t> given_axes(Call& c) {
  return c.has(1) ? numbers_of(c.known(1)) : c.integers("axes").value_or(std::vector<std::int64_t>());
}

Items unsqueeze(Call& c) {
  const std::vector<std::int64_t> given = given_axes(c);
  const Integers* known = c.integers(0);
  if (known != nullptr && known->scalar && given.size() == 1)
    return {Integers{known->dtype, false, known->values}};
  const Value x = c.value(0);
  const Shape& from = c.shape(0);
  const std::size_t rank = from.size() + given.size();
  std::vector<bool> fresh(rank, false);
  for (const std::int64_t axis : given) fresh[static_cast<std::size_t>(Call::axis(axis, rank))] = true;
  Shape to;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i)
    to.push_back(fresh[i] || next == from.size() ? Dim(1) : from[next++]);
  if (next != from.size()) throw Error(ErrorKind::integrity, "an axis stands twice");
  return {c.add(Reshape{std::move(to)}, {x})};
}

Items squeeze(Call& c) {
  const std::vector<std::int64_t> given = given_axes(c);
  const Integers* known = c.integers(0);
  if (known != nullptr && known->values.size() == 1) return {Integers{known->dtype, true, known->values}};
  const Value x = c.value(0);
  const Shape& from = c.shape(0);
  std::vector<bool> gone(from.size(), false);
  for (const std::int64_t axis : given) gone[static_cast<std::size_t>(Call::axis(axis, from.size()))] = true;
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (given.empty() ? !(from[i] == Dim(1)) : !gone[i]) to.push_back(from[i]);
  return {c.add(Reshape{std::move(to)}, {x})};
}

constexpr std::array kOperators{
    Operator{"Concat", "axis", concat},           Operator{"Expand", "", expand},
    Operator{"Flatten", "axis", flatten},         Operator{"Gather", "axis", gather},
    Operator{"Reshape", "allowzero", reshape},    Operator{"Slice", "", slice},
    Operator{"Split", "axis num_outputs", split}, Operator{"Squeeze", "axes", squeeze},
    Operator{"Transpose", "perm", transpose},     Operator{"Unsqueeze", "axes", unsqueeze},
};

}  // namespace

std::span<const Operator> layout_operators() { return kOperators; }

}  // namespace hf::onnx
