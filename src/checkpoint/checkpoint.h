// A checkpoint: named tensors, lazily read, whatever the file format.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/view.h"

namespace hf {

struct TensorInfo {
  DType dtype = DType::f32;
  Sizes shape;
};

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  virtual std::vector<std::string> names() const = 0;  // sorted
  virtual bool has(std::string_view name) const = 0;
  virtual TensorInfo info(std::string_view name) const = 0;  // throws Error{not_found}
  virtual TensorView view(
      std::string_view name) const = 0;  // lives as long as the checkpoint; throws Error{not_found}
  // The tensor will not be read again soon: its pages may go.
  virtual void release(std::string_view) const {}
  virtual std::string subject() const = 0;  // the file or folder, for messages
};

// The name that `ref` has here (its own, else the first alias that exists); empty where there is none.
std::string find_name(const Checkpoint& checkpoint, const TensorRef& ref);

// The tensor that a weight names, through its view and converted to `dtype`. Throws Error{not_found}, or
// Error{integrity} where the stored shape does not fit.
Tensor load(const Checkpoint& checkpoint, const TensorRef& ref, DType dtype);

// In memory, for tests and small made-up models.
class TensorMap : public Checkpoint {
 public:
  void add(std::string name, Tensor tensor);
  std::vector<std::string> names() const override;
  bool has(std::string_view name) const override;
  TensorInfo info(std::string_view name) const override;
  TensorView view(std::string_view name) const override;
  std::string subject() const override { return "tensors in memory"; }

 private:
  std::map<std::string, Tensor, std::less<>> tensors_;
};

// A model folder as Hugging Face lays it out: model.safetensors, or model.safetensors.index.json and its
// shards. Other weight files are refused by name: Error{unsupported}; none at all: Error{not_found}.
std::shared_ptr<const Checkpoint> open_folder(const std::filesystem::path& folder);
// A single file, by its ending.
std::shared_ptr<const Checkpoint> open_file(const std::filesystem::path& file);

// Repairs the names of `inner`, so that one spelling finds a tensor however the file calls it: "module." and
// "_orig_mod." prefixes go, LayerNorm.gamma / beta become weight / bias, and the base model's prefix ("bert")
// may be missing or extra.
std::shared_ptr<const Checkpoint> with_repaired_names(std::shared_ptr<const Checkpoint> inner,
                                                      std::string_view base_prefix);

}  // namespace hf
