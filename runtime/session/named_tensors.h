// What goes into a step and what comes out.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace hf::runtime {

using Inputs = std::map<std::string, TensorView, std::less<>>;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

// Null where there is none of that name.
const Tensor* find(const NamedTensors& tensors, std::string_view name);

}  // namespace hf::runtime
