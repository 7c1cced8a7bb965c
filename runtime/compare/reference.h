// What a model should give: recorded inputs and outputs of another implementation.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "runtime/session/named_tensors.h"

namespace hf::runtime {

struct Reference {
  std::string subject;  // the file
  Inputs inputs;
  // By name; "hidden_states.3" are values inside the model.
  std::map<std::string, TensorView, std::less<>> outputs;
  std::map<std::string, double, std::less<>>
      noise;                                  // by output: fp32 against fp64, greatest absolute difference
  std::shared_ptr<const Checkpoint> tensors;  // holds what the views look into

  double noise_of(std::string_view output) const;  // 0 where none was recorded
};

// A safetensors file of tensors "inputs.NAME" and "outputs.NAME". Noise is in its metadata ("noise.NAME") or
// in a case.json beside it ("fp32_vs_fp64_max_abs": {"outputs.NAME": …}). Throws Error{integrity} where a
// tensor has another name, or there are no inputs or no outputs.
Reference read_reference(const std::filesystem::path& file);

}  // namespace hf::runtime
