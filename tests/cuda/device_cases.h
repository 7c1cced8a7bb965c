// What a CUDA device must do like the CPU: one or more nodes of each op, and whole models. Run through the
// emulator by device_test.cpp and on a real GPU by gpu/gpu_test.cpp.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace hf::test {

struct OpCase {
  std::string name;
  Op op;
  std::vector<Tensor> inputs;
};
std::vector<OpCase> op_cases();

// Tensors that are the same for the same arguments: fp32 in [-2, 2) + shift, int64 in [0, below).
Tensor floats(Sizes shape, float shift = 0);
Tensor integers(Sizes shape, std::int64_t below);
template <class... T>
std::vector<Tensor> list(T... tensors) {
  std::vector<Tensor> all;
  (all.push_back(std::move(tensors)), ...);
  return all;
}

// The node that `op` is over inputs of these types.
Node node_of(const Op& op, const std::vector<Tensor>& inputs, const std::string& path = "layer.0");
Tensor result_on(runtime::Device& device, const Node& node, const std::vector<Tensor>& inputs);
// "" where they agree, relative to 1 or to the value; integers must be equal.
std::string difference(const Tensor& got, const Tensor& wanted, double tolerance);

// ---- with doctest's CHECKs inside

void check_ops_in_fp32(runtime::Device& device);
// The CPU computes in fp32 from the same rounded inputs; results differ by their own rounding.
void check_ops_in(runtime::Device& device, DType dtype, double tolerance);
// A fixture's outputs and hidden states against what transformers computed.
void check_fixture(runtime::Device& device, const std::filesystem::path& folder);

}  // namespace hf::test
