#include "converters/onnx/importer.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/escape.h"
#include "converters/onnx/dim_text.h"

namespace hf::onnx {
namespace {

using ::onnx::NodeProto;
using ::onnx::ValueInfoProto;

// Before 13 Softmax meant something else and axes of Squeeze were attributes.
constexpr std::int64_t kOldestOpset = 13, kNewestOpset = 21;
constexpr std::size_t kMostAxes = 32;
constexpr std::size_t kMostIntegers = 1024;  // a shape's, or an index list's
constexpr std::size_t kMostIntegersInAll = 1u << 20;
constexpr std::uint64_t kConstantBytes = 1u << 20;  // above it integers are a weight too
constexpr std::size_t kListed = 20;

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorKind::integrity, what); }
[[noreturn]] void unsupported(const std::string& what) { throw Error(ErrorKind::unsupported, what); }

bool is_ai_onnx(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

std::string shown(const NodeProto& node) {
  return node.op_type() + " " +
         in_quotes(node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name());
}

// "encoder.layer.0/MatMul_1" and torch's "/encoder/layer.0/MatMul_1" both stand at encoder.layer.0.
std::string path_of(const std::string& name) {
  const std::size_t begin = name.starts_with('/') ? 1 : 0, slash = name.rfind('/');
  if (slash == std::string::npos || slash < begin) return {};
  std::string path = name.substr(begin, slash - begin);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// The first part of a path that is a number.
int layer_of(const std::string& path) {
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part.size() < 7 && part.find_first_not_of("0123456789") == std::string::npos)
      return std::stoi(part);
    begin = end + 1;
  }
  return -1;
}

// "hidden_states.3", "encoder_hidden_states.0"
bool is_hidden_state(std::string_view name) {
  const std::size_t at = name.rfind("hidden_states.");
  if (at == std::string_view::npos) return false;
  const std::string_view number = name.substr(at + 14);
  return !number.empty() && number.size() < 7 &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

TensorType type_of(const ValueInfoProto& info) {
  if (!info.type().has_tensor_type()) unsupported("is not a tensor");
  const auto& tensor = info.type().tensor_type();
  const auto dtype = from_onnx(tensor.elem_type());
  if (!dtype) unsupported("element type " + std::to_string(tensor.elem_type()) + " is not supported");
  if (!tensor.has_shape()) unsupported("has no shape");
  if (static_cast<std::size_t>(tensor.shape().dim_size()) > kMostAxes) malformed("has too many axes");
  TensorType type{*dtype, {}};
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) malformed("has a negative size");
    if (dim.has_dim_value())
      type.shape.emplace_back(dim.dim_value());
    else if (!dim.dim_param().empty())
      type.shape.push_back(parse_dim(dim.dim_param()));
    else  // a size without a name is one of its own
      type.shape.push_back(Dim::symbol(info.name() + "." + std::to_string(type.shape.size())));
  }
  return type;
}

Integers integers_of(const TensorView& view) {
  Integers out{view.dtype, view.shape.empty(), {}};
  const Tensor wide = converted(view, DType::i64);
  for (const std::int64_t value : wide.as<std::int64_t>()) out.values.emplace_back(value);
  return out;
}

bool holds_integers(const TensorView& view) {
  const bool integer = view.dtype == DType::i64 || view.dtype == DType::i32 || view.dtype == DType::boolean;
  return integer && view.shape.size() <= 1 && static_cast<std::size_t>(view.size()) <= kMostIntegers;
}

bool listed(std::string_view list, std::string_view word) {
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(' ', begin), list.size());
    if (list.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

const Operator* find_operator(std::string_view name) {
  for (const auto table : {math_operators(), layout_operators(), shape_operators(), layer_operators()})
    for (const Operator& row : table)
      if (row.name == name) return &row;
  return nullptr;
}

Importer::Importer(const ::onnx::ModelProto& model, const StoredTensors& tensors)
    : proto_(&model.graph()), tensors_(&tensors), ours_(model.producer_name() == kProducer) {
  check_opset(model);
}

void Importer::check_opset(const ::onnx::ModelProto& model) {
  std::int64_t opset = 0;
  for (const auto& import : model.opset_import())
    if (is_ai_onnx(import.domain())) opset = std::max<std::int64_t>(opset, import.version());
  if (opset == 0) malformed("imports no operators of ai.onnx");
  if (opset < kOldestOpset || opset > kNewestOpset)
    unsupported("opset " + std::to_string(opset) + " is not supported, " + std::to_string(kOldestOpset) +
                " to " + std::to_string(kNewestOpset) + " are");
  opset_ = static_cast<int>(opset);
  if (model.functions_size() > 0) unsupported("functions are not supported");
  if (model.graph().sparse_initializer_size() > 0) unsupported("sparse initializers are not supported");
}

// All operators that are not known are named at once, each with how often it stands.
void Importer::check_operators() const {
  std::map<std::string, int> unknown;
  for (const NodeProto& node : proto_->node())
    if (!is_ai_onnx(node.domain()) || find_operator(node.op_type()) == nullptr)
      ++unknown[(is_ai_onnx(node.domain()) ? "" : node.domain() + ".") + node.op_type()];
  if (unknown.empty()) return;
  std::string list;
  std::size_t count = 0;
  for (const auto& [name, times] : unknown) {
    if (count++ == kListed) break;
    list += (list.empty() ? "" : ", ") + escaped(name) + " (" + std::to_string(times) + ")";
  }
  if (unknown.size() > kListed) list += " and " + std::to_string(unknown.size() - kListed) + " more";
  unsupported("operators that are not supported: " + list);
}

void Importer::add_inputs() {
  for (const ValueInfoProto& input : proto_->input()) {
    if (tensors_->has(input.name())) continue;  // a default value that an initializer gives
    const TensorType type = with_context("input " + in_quotes(input.name()), [&] { return type_of(input); });
    define(input.name(), graph_.add_source(Input{input.name()}, type));
  }
}

Graph Importer::run() {
  check_operators();
  add_inputs();
  for (const NodeProto& node : proto_->node()) {
    try {
      add_node(node);
    } catch (const Error& error) {  // what the graph or a dimension refuses is the file's fault
      const bool as_it_is = error.kind() == ErrorKind::unsupported || error.kind() == ErrorKind::integrity;
      throw Error(as_it_is ? error.kind() : ErrorKind::integrity, shown(node) + ": " + error.what());
    }
  }
  name_results();
  return pruned(graph_);
}

void Importer::add_node(const NodeProto& node) {
  const Operator& row = *find_operator(node.op_type());
  std::set<std::string> seen;
  for (const auto& attribute : node.attribute()) {
    if (!listed(row.attributes, attribute.name()))
      unsupported("attribute " + in_quotes(attribute.name()) + " is not supported");
    if (!seen.insert(attribute.name()).second)
      malformed("attribute " + in_quotes(attribute.name()) + " stands twice");
    if (!attribute.ref_attr_name().empty()) malformed("an attribute refers to a function's");
  }
  const std::string path = path_of(node.name());
  Call call(*this, node, path, layer_of(path));
  const std::vector<Item> results = row.import(call);
  for (std::size_t k = 0; k < static_cast<std::size_t>(node.output_size()); ++k) {
    const std::string& name = node.output(static_cast<int>(k));
    if (name.empty()) continue;
    if (k >= results.size()) unsupported("output " + std::to_string(k) + " is not supported");
    define(name, results[k]);
  }
}

// Outputs by name, and what may be compared between: see README.md, "Names".
void Importer::name_results() {
  std::set<std::string, std::less<>> outputs;
  const auto value_of = [&](const std::string& name) {
    Item& item = find(name);
    if (item.value.present()) return item.value;
    return Call(*this, NodeProto::default_instance(), {}, -1).materialized(*item.integers);
  };
  for (const ValueInfoProto& output : proto_->output()) {
    if (!outputs.insert(output.name()).second)
      malformed("output " + in_quotes(output.name()) + " stands twice");
    graph_.outputs.push_back({output.name(), value_of(output.name())});
  }
  if (outputs.empty()) malformed("the graph has no outputs");
  for (const NodeProto& node : proto_->node())
    for (const std::string& name : node.output()) {
      const bool named = ours_ && name.find(kNameSeparator) == std::string::npos;
      if (!name.empty() && !outputs.contains(name) && (named || is_hidden_state(name)))
        graph_.observed.push_back({name, value_of(name)});
    }
}

Item& Importer::find(const std::string& name) {
  if (const auto at = items_.find(name); at != items_.end()) return at->second;
  if (!tensors_->has(name)) malformed("value " + in_quotes(name) + " is used before anything makes it");
  return items_.emplace(name, from_initializer(name)).first->second;
}

// Integers are constants, and so are scalars; what else a file stores are weights.
Item Importer::from_initializer(const std::string& name) {
  const TensorView view = tensors_->view(name);
  if (holds_integers(view)) return integers_of(view);
  const bool constant =
      !is_float(view.dtype) || view.shape.empty() || (ours_ && name.starts_with(kConstantPrefix));
  if (constant && view.bytes.size() <= kConstantBytes)
    return graph_.add(Constant{std::make_shared<const Tensor>(Tensor::copy_of(view))}, {});
  return graph_.add_source(Weight{TensorRef{name, {}, {}}, {}}, {view.dtype, to_shape(view.shape)},
                           path_of(name), -1);
}

void Importer::define(const std::string& name, Item item) {
  if (name.empty()) malformed("a value has no name");
  if (item.integers) integers_in_all_ += item.integers->values.size();
  if (integers_in_all_ > kMostIntegersInAll) malformed("computes too many sizes");
  if (tensors_->has(name) || !items_.emplace(name, std::move(item)).second)
    malformed("value " + in_quotes(name) + " is made twice");
}

const Item& Call::item(std::size_t k) const {
  if (!has(k)) malformed("input " + std::to_string(k) + " is missing");
  return importer_->find(node_->input(static_cast<int>(k)));
}

Value Call::value(std::size_t k) {
  if (!has(k)) malformed("input " + std::to_string(k) + " is missing");
  Item& item = importer_->find(node_->input(static_cast<int>(k)));
  if (!item.value.present()) item.value = materialized(*item.integers);
  return item.value;
}

const Integers* Call::integers(std::size_t k) const { return item(k).integers.get(); }

const Integers& Call::known(std::size_t k) const {
  const Integers* integers = this->integers(k);
  if (integers == nullptr)
    unsupported("input " + std::to_string(k) +
                " depends on data, integers that follow from shapes are expected");
  return *integers;
}

std::int64_t Call::number(std::size_t k) const {
  const Integers& integers = known(k);
  if (integers.values.size() != 1 || !integers.values[0].is_number())
    unsupported("input " + std::to_string(k) + " is not one number");
  return integers.values[0].number();
}

const Shape& Call::shape(std::size_t k) { return graph().shape(value(k)); }
DType Call::dtype(std::size_t k) { return graph().type(value(k)).dtype; }
int Call::opset() const { return importer_->opset_; }
const Graph& Call::graph() const { return importer_->graph_; }

const ::onnx::AttributeProto* Call::attribute(std::string_view name) const {
  for (const auto& attribute : node_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

std::int64_t Call::integer(std::string_view name, std::int64_t fallback) const {
  const auto* a = attribute(name);
  return a == nullptr ? fallback : a->i();
}

float Call::number(std::string_view name, float fallback) const {
  const auto* a = attribute(name);
  return a == nullptr ? fallback : a->f();
}

std::optional<std::vector<std::int64_t>> Call::integers(std::string_view name) const {
  const auto* a = attribute(name);
  if (a == nullptr) return std::nullopt;
  if (static_cast<std::size_t>(a->ints_size()) > kMostIntegers) malformed("a list of integers is too long");
  return std::vector<std::int64_t>(a->ints().begin(), a->ints().end());
}

Value Call::add(Op op, std::vector<Value> inputs) {
  const Value v = importer_->graph_.add(std::move(op), std::move(inputs), path_, layer_);
  if (graph().shape(v).size() > kMostAxes) malformed("the result has too many axes");
  return v;
}

Value Call::cast(Value v, DType to) { return graph().type(v).dtype == to ? v : add(Cast{to}, {v}); }

Value Call::materialized(const Integers& integers) {
  const bool numbers =
      std::all_of(integers.values.begin(), integers.values.end(), [](const Dim& d) { return d.is_number(); });
  if (numbers) {
    Tensor t(DType::i64,
             integers.scalar ? Sizes{} : Sizes{static_cast<std::int64_t>(integers.values.size())});
    std::size_t i = 0;
    for (const Dim& d : integers.values) t.as<std::int64_t>()[i++] = d.number();
    return constant(converted(t.view(), integers.dtype));
  }
  if (integers.scalar) return cast(add(Size{integers.values[0]}, {}), integers.dtype);
  std::vector<Value> parts;
  for (const Dim& d : integers.values) {
    const Value size = add(Size{d}, {});
    parts.push_back(add(Reshape{{1}}, {size}));
  }
  const Value joined = parts.size() == 1 ? parts[0] : add(Concat{0}, std::move(parts));
  return cast(joined, integers.dtype);
}

int Call::axis(std::int64_t value, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (value < -r || value >= r)
    malformed("axis " + std::to_string(value) + " is not one of " + std::to_string(rank));
  return static_cast<int>(value < 0 ? value + r : value);
}

}  // namespace hf::onnx
