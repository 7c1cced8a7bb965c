#include "converters/onnx/initializers.h"

#include <bit>
#include <cstdio>

#include "base/error.h"

namespace hf::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX stores little-endian bytes");

constexpr std::uint64_t kAlignment = 4096;    // a page: what is mapped can be used in place
constexpr std::uint64_t kBlock = 4u << 20;    // bytes that are in memory at a time
constexpr std::int64_t kSpelledElements = 8;  // constants up to so many elements are named by what they hold
constexpr std::uint64_t kInsideBytes = 1024;  // constants up to so many bytes always stay in the graph

std::string spell_element(const Tensor& t, std::size_t i) {
  if (is_float(t.dtype())) {
    const Tensor wide = converted(t.view(), DType::f64);
    char text[32];
    // 17 digits tell any two doubles apart, 9 any two floats.
    std::snprintf(text, sizeof text, "%.*g", t.dtype() == DType::f64 ? 17 : 9, wide.as<double>()[i]);
    return text;
  }
  return std::to_string(converted(t.view(), DType::i64).as<std::int64_t>()[i]);
}

// "fp32(0.125)", "int64[0,0,-1,64]"; empty where it would be long, or two contents would share it.
std::string spell(const Tensor& t) {
  const std::string dtype(name_of(t.dtype()));
  if (t.shape().empty()) return dtype + "(" + spell_element(t, 0) + ")";
  if (t.shape().size() > 1 || t.size() > kSpelledElements || t.dtype() == DType::u64) return {};
  std::string out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.size()); ++i)
    out += (i > 0 ? "," : "") + spell_element(t, i);
  return dtype + "[" + out + "]";
}

// Calls write(bytes) with the row-major elements of `view`, converted, in blocks of bounded size, from axis
// `axis` on; the axes before it have one element.
void for_blocks(const TensorView& tensor, const View& view, DType dtype,
                const std::function<void(std::span<const std::byte>)>& write, int axis = 0) {
  const Sizes sizes = shape_of(view, tensor.shape);
  const auto rank = static_cast<int>(sizes.size());
  if (elements(sizes) == 0) return;
  const std::int64_t rows = rank == 0 ? 1 : sizes[static_cast<std::size_t>(axis)];
  std::uint64_t row_bytes = size_of(dtype);
  for (int i = axis + 1; i < rank; ++i)
    row_bytes *= static_cast<std::uint64_t>(sizes[static_cast<std::size_t>(i)]);
  if (row_bytes > kBlock && axis + 1 < rank) {
    for (std::int64_t row = 0; row < rows; ++row)
      for_blocks(tensor, narrowed(view, axis, row, row + 1), dtype, write, axis + 1);
    return;
  }
  const auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(kBlock / row_bytes));
  std::vector<std::byte> buffer;
  for (std::int64_t row = 0; row < rows; row += step) {
    const std::int64_t end = std::min(rows, row + step);
    buffer.resize(static_cast<std::size_t>(end - row) * row_bytes);
    const View block = rank == 0 ? view : narrowed(view, axis, row, end);
    const Sizes block_sizes = shape_of(block, tensor.shape);
    copy_rows(tensor, block, 0, rank == 0 ? 1 : block_sizes[0], dtype, buffer);
    write(buffer);
  }
}

}  // namespace

void Initializers::add(Entry entry) {
  if (by_name_.emplace(entry.name, entries_.size()).second) {
    bytes_ += entry.bytes();
    entries_.push_back(std::move(entry));
  }
}

std::string Initializers::weight(const std::string& stored, const View& view, DType dtype) {
  const TensorInfo info = checkpoint_->info(stored);
  Entry entry;
  entry.name = stored + to_string(view, info.shape.size());
  entry.dtype = dtype;
  entry.sizes = shape_of(view, info.shape);
  entry.stored = stored;
  entry.view = view;
  const auto found = by_name_.find(entry.name);
  if (found != by_name_.end() && entries_[found->second].dtype != dtype)
    throw Error(ErrorKind::internal, "weight " + entry.name + " is used as two element types");
  const std::string name = entry.name;
  add(std::move(entry));
  return name;
}

std::string Initializers::constant(const Tensor& value) {
  const auto bytes = value.bytes();
  const std::string key = std::string(name_of(value.dtype())) + to_string(value.shape()) +
                          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto [at, fresh] = constants_.try_emplace(key);
  if (!fresh) return at->second;
  const std::string spelled = spell(value);
  Entry entry;
  entry.name =
      std::string(kConstantPrefix) + (spelled.empty() ? std::to_string(constants_.size() - 1) : spelled);
  entry.dtype = value.dtype();
  entry.sizes = value.shape();
  entry.value = std::make_shared<const Tensor>(Tensor::copy_of(value.view()));
  at->second = entry.name;
  add(std::move(entry));
  return at->second;
}

void Initializers::describe(const Entry& entry, ::onnx::TensorProto& proto) {
  proto.set_name(entry.name);
  proto.set_data_type(to_onnx(entry.dtype));
  for (const std::int64_t size : entry.sizes) proto.add_dims(size);
}

void Initializers::stream(const Entry& entry, const Write& write, Progress& progress) const {
  if (entry.value) return write(entry.value->bytes());
  const TensorView tensor = checkpoint_->view(entry.stored);
  const auto out = [&](std::span<const std::byte> bytes) {
    check_interrupted();
    write(bytes);
    progress.advance(bytes.size());
    checkpoint_->release(entry.stored);
  };
  if (tensor.dtype == entry.dtype && entry.view.is_identity()) {  // as stored: no copy of ours
    for (std::size_t at = 0; at < tensor.bytes.size(); at += kBlock)
      out(tensor.bytes.subspan(at, std::min<std::size_t>(kBlock, tensor.bytes.size() - at)));
    return;
  }
  for_blocks(tensor, entry.view, entry.dtype, out);
}

void Initializers::put_inside(::onnx::GraphProto& graph, Progress& progress) const {
  for (const Entry& entry : entries_) {
    ::onnx::TensorProto& proto = *graph.add_initializer();
    describe(entry, proto);
    std::string& raw = *proto.mutable_raw_data();
    stream(
        entry,
        [&](std::span<const std::byte> b) { raw.append(reinterpret_cast<const char*>(b.data()), b.size()); },
        progress);
  }
}

std::uint64_t Initializers::put_beside(::onnx::GraphProto& graph, const std::string& file, const Sink& sink,
                                       Progress& progress) const {
  std::uint64_t size = 0;
  for (const Entry& entry : entries_) {
    ::onnx::TensorProto& proto = *graph.add_initializer();
    describe(entry, proto);
    if (entry.value && entry.bytes() <= kInsideBytes) {
      const auto bytes = entry.value->bytes();
      proto.set_raw_data(bytes.data(), bytes.size());
      continue;
    }
    const std::uint64_t offset = (size + kAlignment - 1) / kAlignment * kAlignment;
    sink.pad_to(offset);
    stream(entry, sink.write, progress);
    size = offset + entry.bytes();
    proto.set_data_location(::onnx::TensorProto::EXTERNAL);
    const auto say = [&](const char* key, const std::string& value) {
      auto& pair = *proto.add_external_data();
      pair.set_key(key);
      pair.set_value(value);
    };
    say("location", file);
    say("offset", std::to_string(offset));
    say("length", std::to_string(entry.bytes()));
  }
  return size;
}

}  // namespace hf::onnx
