// The weights and constants of a graph that is being written, each once, and their bytes.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "checkpoint/checkpoint.h"
#include "converters/onnx/proto.h"

namespace hf::onnx {

class Initializers {
 public:
  explicit Initializers(const Checkpoint& checkpoint) : checkpoint_(&checkpoint) {}

  // The names of initializers, made on first use. A weight's is the stored tensor's, and the view's spelling
  // behind it: "h.0.attn.c_attn.weight[:,0:64]". A constant's says what it holds, where that is short.
  std::string weight(const std::string& stored, const View& view, DType dtype);
  std::string constant(const Tensor& value);

  std::uint64_t bytes() const { return bytes_; }

  // Appends them to `graph` in order of first use, their bytes inside it.
  void put_inside(::onnx::GraphProto& graph, Progress& progress) const;
  // The same with the bytes of weights in a file beside the model, each at a multiple of 4096 so that a
  // loader can map it; constants that decide shapes are read at load time and stay inside. `file` is the name
  // that the graph refers to; `write` and `pad_to` append to it.
  struct Sink {
    std::function<void(std::span<const std::byte>)> write;
    std::function<void(std::uint64_t)> pad_to;
  };
  // Returns the file's size.
  std::uint64_t put_beside(::onnx::GraphProto& graph, const std::string& file, const Sink& sink,
                           Progress& progress) const;

 private:
  struct Entry {
    std::string name;
    DType dtype = DType::f32;
    Sizes sizes;
    std::string stored;  // the checkpoint's name; empty for a constant
    View view;
    std::shared_ptr<const Tensor> value;
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(elements(sizes)) * size_of(dtype); }
  };
  using Write = std::function<void(std::span<const std::byte>)>;

  void add(Entry entry);
  void stream(const Entry& entry, const Write& write, Progress& progress) const;
  static void describe(const Entry& entry, ::onnx::TensorProto& proto);

  const Checkpoint* checkpoint_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::string, std::string, std::less<>> constants_;  // content -> name
  std::uint64_t bytes_ = 0;
};

}  // namespace hf::onnx
