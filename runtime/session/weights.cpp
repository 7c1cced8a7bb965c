#include "runtime/session/weights.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/escape.h"
#include "base/progress.h"

namespace hf::runtime {
namespace {

// What goes through host memory at a time on its way into a device.
constexpr std::size_t kStagingBytes = 4u << 20;

// The stored bytes that a view covers, where they lie together and in its order.
std::optional<std::span<const std::byte>> contiguous(const TensorView& tensor, const View& view) {
  const Sizes& stored = view.reshape.empty() ? tensor.shape : view.reshape;
  if (!std::is_sorted(view.permutation.begin(), view.permutation.end())) return {};
  std::size_t begin = 0, end = tensor.bytes.size();
  for (const AxisRange& r : view.ranges) {
    const std::int64_t size = stored[static_cast<std::size_t>(r.axis)];
    if (r.begin == 0 && r.end == size) continue;
    if (r.axis != 0) return {};
    const std::size_t row = tensor.bytes.size() / static_cast<std::size_t>(size);
    begin = static_cast<std::size_t>(r.begin) * row;
    end = static_cast<std::size_t>(r.end) * row;
  }
  return tensor.bytes.subspan(begin, end - begin);
}

bool aligned(const void* data, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) == 0;
}

}  // namespace

const void* in_place(Device& device, const TensorView& tensor, const View& view, DType dtype) {
  if (tensor.dtype != dtype) return nullptr;
  const auto bytes = contiguous(tensor, view);
  return bytes && !bytes->empty() && aligned(bytes->data(), dtype) ? device.adopt(*bytes) : nullptr;
}

std::string Weights::key_of(const Weight& weight, DType dtype) const {
  const std::string name = checkpoint_ ? find_name(*checkpoint_, weight.ref) : "";
  if (name.empty()) return name;
  return name + '\n' + to_string(weight.ref.view, checkpoint_->info(name).shape.size()) + '\n' +
         std::string(name_of(dtype));
}

// Streams a tensor through a small buffer, converted on the way: nothing is held twice.
void* Weights::store(const TensorView& tensor, const View& view, const DeviceTensor& as) {
  buffers_.emplace_back(device_, as.bytes());
  void* const data = buffers_.back().data();
  allocated_bytes_ += as.bytes();
  const std::int64_t rows = as.shape.empty() ? 1 : as.shape[0];
  if (as.bytes() == 0) return data;
  const std::size_t row_bytes = as.bytes() / static_cast<std::size_t>(rows);
  const auto step = static_cast<std::int64_t>(std::max<std::size_t>(1, kStagingBytes / row_bytes));
  std::vector<std::byte> staging;
  for (std::int64_t row = 0; row < rows; row += step) {
    check_interrupted();
    const std::int64_t end = std::min(rows, row + step);
    staging.resize(static_cast<std::size_t>(end - row) * row_bytes);
    copy_rows(tensor, view, row, end, as.dtype, staging);
    device_.upload(static_cast<std::byte*>(data) + static_cast<std::size_t>(row) * row_bytes, staging);
  }
  return data;
}

void* Weights::load_weight(const Weight& weight, const DeviceTensor& tensor) {
  const std::string name = find_name(*checkpoint_, weight.ref);
  const TensorView stored = checkpoint_->view(name);
  const Sizes shape = with_context(in_quotes(name), [&] { return shape_of(weight.ref.view, stored.shape); });
  if (shape != tensor.shape)
    throw Error(ErrorKind::integrity, checkpoint_->subject() + ": tensor " + in_quotes(name) + " gives " +
                                          to_string(shape) + ", expected " + to_string(tensor.shape));
  if (const void* data = in_place(device_, stored, weight.ref.view, tensor.dtype)) {
    mapped_bytes_ += tensor.bytes();
    return const_cast<void*>(data);  // a device does not write to a node's inputs
  }
  void* data = store(stored, weight.ref.view, tensor);
  checkpoint_->release(name);
  return data;
}

void Weights::load(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (const auto* weight = std::get_if<Weight>(&node.op)) {
      DeviceTensor tensor{nullptr, node.outputs[0].dtype, to_sizes(node.outputs[0].shape)};
      const std::string key = key_of(*weight, tensor.dtype);
      if (key.empty())
        throw Error(ErrorKind::not_found,
                    (checkpoint_ ? checkpoint_->subject() : std::string("no checkpoint")) + ": weight " +
                        in_quotes(weight->ref.name) + " is missing");
      if (weights_.contains(key)) continue;
      tensor.data = load_weight(*weight, tensor);
      bytes_ += tensor.bytes();
      weights_.emplace(key, std::move(tensor));
    } else if (const auto* constant = std::get_if<Constant>(&node.op)) {
      if (constants_.contains(constant->value)) continue;
      const Tensor& value = *constant->value;
      DeviceTensor tensor{nullptr, value.dtype(), value.shape()};
      tensor.data = const_cast<void*>(device_.adopt(value.bytes()));
      if (tensor.data == nullptr) tensor.data = store(value.view(), {}, tensor);
      bytes_ += tensor.bytes();
      constants_.emplace(constant->value, std::move(tensor));
    }
  }
}

DeviceTensor Weights::find(const Node& node) const {
  if (const auto* weight = std::get_if<Weight>(&node.op)) {
    const auto at = weights_.find(key_of(*weight, node.outputs[0].dtype));
    return at == weights_.end() ? DeviceTensor{} : at->second;
  }
  if (const auto* constant = std::get_if<Constant>(&node.op)) {
    const auto at = constants_.find(constant->value);
    return at == constants_.end() ? DeviceTensor{} : at->second;
  }
  return {};
}

}  // namespace hf::runtime
