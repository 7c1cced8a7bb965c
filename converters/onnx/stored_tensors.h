// The initializers of a model that was read, as a checkpoint.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/file.h"
#include "checkpoint/checkpoint.h"
#include "converters/onnx/proto.h"

namespace hf::onnx {

// What a TensorProto that keeps its data inside holds, its length checked against its shape. Throws
// Error{integrity}; Error{unsupported} for element types that we have none for. A copy is made only where the
// data is not stored as bytes.
struct InsideTensor {
  Tensor owned;  // empty where the proto's own bytes serve
  TensorView view;
};
InsideTensor inside_tensor(const ::onnx::TensorProto& proto);

class StoredTensors : public Checkpoint {
 public:
  // External data is looked for below `file`'s folder, mapped, and never followed out of it; only the blobs/
  // of the same repository in a Hugging Face cache may hold it.
  StoredTensors(std::shared_ptr<const ::onnx::ModelProto> model, const std::filesystem::path& file);

  std::vector<std::string> names() const override;
  bool has(std::string_view name) const override { return tensors_.find(name) != tensors_.end(); }
  TensorInfo info(std::string_view name) const override;
  TensorView view(std::string_view name) const override;
  void release(std::string_view name) const override;
  std::string subject() const override { return subject_; }

 private:
  struct Entry {
    InsideTensor tensor;
    std::shared_ptr<const MappedFile> file;  // where the data is external
    std::size_t offset = 0;
  };
  void add_external(const ::onnx::TensorProto& proto, Entry& entry);
  const Entry& entry(std::string_view name) const;

  std::shared_ptr<const ::onnx::ModelProto> model_;
  std::filesystem::path folder_;
  std::string subject_;
  std::map<std::string, Entry, std::less<>> tensors_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files_;
};

}  // namespace hf::onnx
