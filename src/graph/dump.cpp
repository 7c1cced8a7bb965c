#include <sstream>

#include "base/escape.h"
#include "graph/graph.h"

namespace hf {
namespace {

std::string axes(const std::vector<int>& list) {
  std::string out;
  for (const int axis : list) out += (out.empty() ? "" : ",") + std::to_string(axis);
  return "[" + out + "]";
}

std::string number(float value) {
  std::ostringstream out;
  out.precision(9);
  out << value;
  return out.str();
}

std::string constant(const Tensor& t) {
  if (t.size() != 1) return to_string(t.shape());
  const Tensor wide = converted(t.view(), t.dtype() == DType::i64 ? DType::i64 : DType::f64);
  return t.dtype() == DType::i64 ? std::to_string(wide.as<std::int64_t>()[0])
                                 : number(static_cast<float>(wide.as<double>()[0]));
}

std::string weight(const Weight& w, std::size_t rank) {
  std::string out = escaped(w.ref.name, 1000) + to_string(w.ref.view, rank);
  if (w.split.kind == Split::none) return out;
  out += w.split.kind == Split::outputs ? " split by outputs" : " split by inputs";
  return w.split.unit == 1 ? out : out + " of " + std::to_string(w.split.unit);
}

// What stands in an op besides its inputs.
std::string attributes(const Op& op, std::size_t rank) {
  return std::visit(
      Overloaded{
          [](const Input& o) { return escaped(o.name, 1000); },
          [rank](const Weight& o) { return weight(o, rank); },
          [](const Constant& o) { return constant(*o.value); },
          [](const Size& o) { return o.dim.to_string(); },
          [](const Unary& o) { return std::string(name_of(o.kind)); },
          [](const Binary& o) { return std::string(name_of(o.kind)); },
          [](const Compare& o) { return std::string(name_of(o.kind)); },
          [](const Cast& o) { return std::string(name_of(o.to)); },
          [](const Reduce& o) {
            return std::string(name_of(o.kind)) + " " + axes(o.axes) + (o.keep ? " keep" : "");
          },
          [](const ArgMax& o) { return "axis " + std::to_string(o.axis) + (o.keep ? " keep" : ""); },
          [](const CumSum& o) { return "axis " + std::to_string(o.axis); },
          [](const Gather& o) { return "axis " + std::to_string(o.axis); },
          [](const Reshape& o) { return to_string(o.to); },
          [](const Transpose& o) { return axes(o.permutation); },
          [](const Slice& o) {
            return "axis " + std::to_string(o.axis) + " " + o.begin.to_string() + ":" + o.end.to_string() +
                   (o.step == 1 ? "" : ":" + std::to_string(o.step));
          },
          [](const Concat& o) { return "axis " + std::to_string(o.axis); },
          [](const Expand& o) { return to_string(o.to); },
          [](const Range& o) { return o.begin.to_string() + ":" + o.end.to_string(); },
          [](const AllGather& o) { return "axis " + std::to_string(o.axis); },
          [](const LayerNorm& o) { return "epsilon " + number(o.epsilon); },
          [](const Gelu& o) { return std::string(o.kind == Gelu::erf ? "erf" : "tanh"); },
          [](const Softmax& o) { return "axis " + std::to_string(o.axis); },
          [](const Attention& o) {
            return "head_dim " + std::to_string(o.head_dim) + " scale " + number(o.scale) +
                   (o.causal ? " causal" : "");
          },
          [](const auto&) { return std::string(); },
      },
      op);
}

}  // namespace

std::string dump(const Graph& graph) {
  std::string out;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    out += "%" + std::to_string(i) + " = " + std::string(name_of(n.op));
    const std::string extra = attributes(n.op, n.outputs[0].shape.size());
    if (!extra.empty()) out += "{" + extra + "}";
    out += "(";
    for (std::size_t k = 0; k < n.inputs.size(); ++k)
      out += (k > 0 ? ", " : "") +
             (n.inputs[k].present() ? "%" + std::to_string(n.inputs[k].node) : std::string("-"));
    out += ") : " + std::string(name_of(n.outputs[0].dtype)) + " " + to_string(n.outputs[0].shape);
    if (!n.path.empty()) out += "  # " + escaped(n.path, 1000);
    out += "\n";
  }
  for (const Named& n : graph.observed)
    out += "observed " + escaped(n.name, 1000) + " = %" + std::to_string(n.value.node) + "\n";
  for (const Named& n : graph.outputs)
    out += "output " + escaped(n.name, 1000) + " = %" + std::to_string(n.value.node) + "\n";
  return out;
}

}  // namespace hf
