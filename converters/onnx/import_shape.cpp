// Sources: constants, and what follows from shapes alone.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "converters/onnx/importer.h"

namespace hf::onnx {
namespace {

using Items = std::vector<Item>;

constexpr std::int64_t kMostIntegers = 1024;

Items from_tensor(Call& c, const ::onnx::TensorProto& proto) {
  if (proto.data_location() == ::onnx::TensorProto::EXTERNAL)
    throw Error(ErrorKind::unsupported, "a constant's data in another file is not supported");
  const InsideTensor tensor = inside_tensor(proto);
  const TensorView& view = tensor.view;
  const bool integer = view.dtype == DType::i64 || view.dtype == DType::i32 || view.dtype == DType::boolean;
  if (!integer || view.shape.size() > 1 || view.size() > kMostIntegers)
    return {c.constant(Tensor::copy_of(view))};
  Integers out{view.dtype, view.shape.empty(), {}};
  const Tensor wide = converted(view, DType::i64);
  for (const std::int64_t value : wide.as<std::int64_t>()) out.values.emplace_back(value);
  return {out};
}

Items constant(Call& c) {
  if (const auto* value = c.attribute("value")) return from_tensor(c, value->t());
  if (const auto* value = c.attribute("value_int")) return {Integers{DType::i64, true, {Dim(value->i())}}};
  if (const auto* value = c.attribute("value_float")) return {c.constant(Tensor::scalar(value->f()))};
  if (const auto values = c.integers("value_ints")) {
    Integers out{DType::i64, false, {}};
    for (const std::int64_t v : *values) out.values.emplace_back(v);
    return {out};
  }
  const auto* values = c.attribute("value_floats");
  if (values == nullptr) throw Error(ErrorKind::integrity, "has no value");
  Tensor out(DType::f32, {values->floats_size()});
  std::copy(values->floats().begin(), values->floats().end(), out.as<float>().begin());
  return {c.constant(std::move(out))};
}

Items constant_of_shape(Call& c) {
  const Shape to = c.known(0).values;
  InsideTensor tensor;
  if (const auto* value = c.attribute("value"))
    tensor = inside_tensor(value->t());
  else
    tensor.owned = Tensor::scalar(0.0f), tensor.view = tensor.owned.view();
  if (tensor.view.size() != 1) throw Error(ErrorKind::integrity, "its value is not one element");
  const DType dtype = tensor.view.dtype;
  const bool integer = dtype == DType::i64 || dtype == DType::i32 || dtype == DType::boolean;
  const bool list =
      to.size() == 1 && to[0].is_number() && to[0].number() >= 0 && to[0].number() <= kMostIntegers;
  if (integer && (list || to.empty())) {
    const Dim value = converted(tensor.view, DType::i64).as<std::int64_t>()[0];
    return {Integers{dtype, to.empty(),
                     std::vector<Dim>(to.empty() ? 1 : static_cast<std::size_t>(to[0].number()), value)}};
  }
  Tensor scalar = Tensor::copy_of({tensor.view.bytes, dtype, {}});
  const Value one = c.constant(std::move(scalar));
  return {to.empty() ? one : c.add(Expand{to}, {one})};
}

Items shape(Call& c) {
  Integers out{DType::i64, false, {}};
  if (const Integers* list = c.integers(0)) {
    if (!list->scalar) out.values.emplace_back(static_cast<std::int64_t>(list->values.size()));
  } else {
    out.values = c.shape(0);
  }
  const auto rank = static_cast<std::int64_t>(out.values.size());
  const auto at = [&](std::int64_t n) { return std::clamp<std::int64_t>(n < 0 ? n + rank : n, 0, rank); };
  const std::int64_t begin = at(std::max(-rank, c.integer("start", 0)));
  const std::int64_t end = std::max(begin, at(std::max(-rank, c.integer("end", rank))));
  out.values = {out.values.begin() + begin, out.values.begin() + end};
  return {out};
}

Items size(Call& c) { return {Integers{DType::i64, true, {elements(c.shape(0))}}}; }

// begin, begin + step, … below end; steps other than 1 scale a range that has one.
Items range(Call& c) {
  const Integers &begin = c.known(0), &end = c.known(1);
  const std::int64_t step = c.number(2);
  if (begin.values.size() != 1 || end.values.size() != 1)
    throw Error(ErrorKind::integrity, "its bounds are not single numbers");
  if (begin.dtype != DType::i64 || step < 1)
    throw Error(ErrorKind::unsupported, "only int64 ranges that ascend are supported");
  const Dim from = begin.values[0], to = end.values[0];
  if (step == 1) return {c.add(Range{from, to}, {})};
  const Value indices = c.add(Range{0, floor_div(to - from + Dim(step - 1), step)}, {});
  const Value scaled = c.add(Binary{Binary::multiply}, {indices, c.constant(Tensor::scalar(step))});
  return {c.add(Binary{Binary::add}, {scaled, c.materialized({DType::i64, true, {from}})})};
}

Items identity(Call& c) { return {c.item(0)}; }

// Without training it does nothing.
Items dropout(Call& c) {
  if (c.has(2) && c.number(2) != 0) throw Error(ErrorKind::unsupported, "training is not supported");
  return {c.item(0)};
}

constexpr std::array kOperators{
    Operator{"Constant", "value value_int value_ints value_float value_floats", constant},
    Operator{"ConstantOfShape", "value", constant_of_shape},
    Operator{"Dropout", "seed", dropout},
    Operator{"Identity", "", identity},
    Operator{"Range", "", range},
    Operator{"Shape", "start end", shape},
    Operator{"Size", "", size},
};

}  // namespace

std::span<const Operator> shape_operators() { return kOperators; }

}  // namespace hf::onnx
