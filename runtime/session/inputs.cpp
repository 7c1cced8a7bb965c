#include "runtime/session/inputs.h"

#include <algorithm>

#include "base/error.h"
#include "base/escape.h"

namespace hf::runtime {
namespace {

// What transformers' forward() takes for an input that is absent.
Tensor positions(const TensorType& type, const Sizes& shape) {
  Tensor counted(DType::i64, shape);
  const std::int64_t length = shape.empty() ? 1 : shape.back();
  auto values = counted.as<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i) % length;
  return converted(counted.view(), type.dtype);
}

Tensor ones(const TensorType& type, const Sizes& shape) {
  Tensor counted(DType::i64, shape);
  std::fill(counted.as<std::int64_t>().begin(), counted.as<std::int64_t>().end(), 1);
  return converted(counted.view(), type.dtype);
}

Tensor zeros(const TensorType& type, const Sizes& shape) { return {type.dtype, shape}; }

struct Filler {
  std::string_view name;
  Tensor (*make)(const TensorType&, const Sizes&);
};
constexpr Filler kFillers[] = {
    {"position_ids", positions}, {"attention_mask", ones}, {"token_type_ids", zeros}};

const Filler* filler_of(std::string_view name) {
  const auto* at =
      std::find_if(std::begin(kFillers), std::end(kFillers), [&](const Filler& f) { return f.name == name; });
  return at == std::end(kFillers) ? nullptr : at;
}

std::string listed(const Graph& graph) {
  std::string out;
  for (const Value v : graph.inputs) out += (out.empty() ? "" : ", ") + escaped(graph.input_name(v));
  return out;
}

void refuse_unknown(const Graph& graph, const Inputs& inputs) {
  std::string unknown;
  for (const auto& [name, value] : inputs) {
    const bool known = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                   [&](Value v) { return graph.input_name(v) == name; });
    if (!known) unknown += (unknown.empty() ? "" : ", ") + in_quotes(name);
  }
  if (!unknown.empty())
    throw Error(ErrorKind::usage,
                "input " + unknown + " is not one of the model's, which are " + listed(graph));
}

// The symbols that the inputs at hand settle: match_inputs() over a graph that has no others.
Symbols symbols_of(const Graph& graph, const Inputs& inputs) {
  Graph known;
  std::vector<Sizes> sizes;
  for (const Value v : graph.inputs) {
    const auto at = inputs.find(graph.input_name(v));
    if (at == inputs.end()) continue;
    known.add_source(graph.at(v).op, graph.type(v));
    sizes.push_back(at->second.shape);
  }
  return match_inputs(known, sizes);
}

Sizes sizes_of(const Shape& shape, const Symbols& symbols) {
  Sizes out;
  for (const Dim& d : shape) out.push_back(d.evaluate(symbols));
  return out;
}

// Integers of another width, where each value survives it.
Tensor as_wanted(const std::string& name, const TensorView& value, DType wanted) {
  if (is_float(value.dtype) || is_float(wanted))
    throw Error(ErrorKind::usage, "input " + in_quotes(name) + " is " + std::string(name_of(value.dtype)) +
                                      ", expected " + std::string(name_of(wanted)));
  Tensor out = converted(value, wanted);
  const Tensor back = converted(out.view(), value.dtype);
  if (!std::equal(value.bytes.begin(), value.bytes.end(), back.bytes().begin()))
    throw Error(ErrorKind::usage, "input " + in_quotes(name) + " holds values of " +
                                      std::string(name_of(value.dtype)) + " that do not fit " +
                                      std::string(name_of(wanted)));
  return out;
}

}  // namespace

bool is_filled(std::string_view name) { return filler_of(name) != nullptr; }

ResolvedInputs resolve_inputs(const Graph& graph, const Inputs& inputs) {
  refuse_unknown(graph, inputs);
  ResolvedInputs out;
  out.symbols = symbols_of(graph, inputs);
  out.made.reserve(graph.inputs.size());
  for (const Value v : graph.inputs) {
    const std::string& name = graph.input_name(v);
    const TensorType& type = graph.type(v);
    if (const auto at = inputs.find(name); at != inputs.end()) {
      if (at->second.dtype == type.dtype) {
        out.values.push_back(at->second);
        continue;
      }
      out.made.push_back(as_wanted(name, at->second, type.dtype));
    } else if (const Filler* filler = filler_of(name)) {
      out.made.push_back(with_context("input " + in_quotes(name),
                                      [&] { return filler->make(type, sizes_of(type.shape, out.symbols)); }));
    } else {
      throw Error(ErrorKind::usage, "input " + in_quotes(name) + " of type " +
                                        std::string(name_of(type.dtype)) + to_string(type.shape) +
                                        " is missing");
    }
    out.values.push_back(out.made.back().view());
  }
  return out;
}

const Tensor* find(const NamedTensors& tensors, std::string_view name) {
  const auto at =
      std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &at->tensor;
}

}  // namespace hf::runtime
