#include "converters/onnx/size_writer.h"

#include <cstdlib>

#include "base/error.h"

namespace hf::onnx {
namespace {

const std::string kPath = "sizes";

const char* operator_of(DimFactor::Kind kind) {
  switch (kind) {
    case DimFactor::floor_div:
      return "Div";  // truncates, which is floor for sizes: they are not negative
    case DimFactor::mod:
      return "Mod";
    case DimFactor::min:
      return "Min";
    case DimFactor::max:
      return "Max";
    case DimFactor::symbol:
      break;
  }
  throw Error(ErrorKind::internal, "a symbol is not an operator");
}

}  // namespace

std::string SizeWriter::symbol(const std::string& name) {
  for (const Value input : graph_->inputs) {
    const Shape& shape = graph_->shape(input);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!(shape[axis] == Dim::symbol(name))) continue;
      const std::string& from = graph_->input_name(input);
      auto [sizes, fresh] = inputs_.try_emplace(from);
      if (fresh) sizes->second = nodes_->add("Shape", {from}, kPath);
      return nodes_->add("Gather", {sizes->second, nodes_->integers({static_cast<std::int64_t>(axis)})},
                         kPath);
    }
  }
  throw Error(ErrorKind::internal, "size " + name + ": no input of the graph declares it");
}

std::string SizeWriter::factor(const DimFactor& factor) {
  if (factor.kind == DimFactor::symbol) return vector(Dim::symbol(factor.name));
  const std::string a = vector(factor.a), b = vector(factor.b);
  return nodes_->add(operator_of(factor.kind), {a, b}, kPath);
}

std::string SizeWriter::term(const DimTerm& term, std::int64_t coefficient) {
  if (term.factors.empty()) return nodes_->integers({coefficient});
  std::string product = coefficient == 1 ? std::string() : nodes_->integers({coefficient});
  for (const DimFactor& f : term.factors) {
    const std::string next = factor(f);
    product = product.empty() ? next : nodes_->add("Mul", {product, next}, kPath);
  }
  return product;
}

// a - b as Sub, so that no term is multiplied by -1 for nothing.
std::string SizeWriter::sum(const Dim& dim) {
  std::string total;
  for (const DimTerm& t : dim.terms()) {
    const bool subtract = !total.empty() && t.coefficient < 0;
    const std::string next = term(t, subtract ? -t.coefficient : t.coefficient);
    total = total.empty() ? next : nodes_->add(subtract ? "Sub" : "Add", {total, next}, kPath);
  }
  return total;
}

std::string SizeWriter::vector(const Dim& dim) {
  if (dim.is_number()) return nodes_->integers({dim.number()});
  const std::string key = dim.to_string();
  if (const auto known = vectors_.find(key); known != vectors_.end()) return known->second;
  const std::vector<DimTerm> terms = dim.terms();
  const bool plain = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1 &&
                     terms[0].factors[0].kind == DimFactor::symbol;
  return vectors_[key] = plain ? symbol(terms[0].factors[0].name) : sum(dim);
}

std::string SizeWriter::scalar(const Dim& dim) {
  if (dim.is_number()) return nodes_->integer(dim.number());
  const std::string key = dim.to_string();
  if (const auto known = scalars_.find(key); known != scalars_.end()) return known->second;
  const std::string from = vector(dim);
  return scalars_[key] = nodes_->add("Squeeze", {from, nodes_->integers({0})}, kPath);
}

std::string SizeWriter::shape(const Shape& shape) {
  std::vector<std::string> parts;
  std::vector<std::int64_t> numbers;  // of neighbours that need no arithmetic
  const auto flush = [&] {
    if (!numbers.empty()) parts.push_back(nodes_->integers(numbers));
    numbers.clear();
  };
  for (const Dim& dim : shape) {
    if (dim.is_number()) {
      numbers.push_back(dim.number());
      continue;
    }
    flush();
    parts.push_back(vector(dim));
  }
  if (parts.empty()) return nodes_->integers(numbers);
  flush();
  if (parts.size() == 1) return parts[0];
  std::string key;
  for (const std::string& part : parts) key += part + "\n";
  if (const auto known = vectors_.find(key); known != vectors_.end()) return known->second;
  return vectors_[key] = nodes_->add("Concat", parts, kPath, {{"axis", std::int64_t{0}}});
}

}  // namespace hf::onnx
