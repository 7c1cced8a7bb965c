// The CUDA device on a real GPU against the CPU and against transformers' results; and what opening it says
// where there is none.
#include <doctest/doctest.h>

#include "cuda/device_cases.h"
#include "runtime/cuda/cuda.h"
#include "support/error_of.h"
#include "support/skip.h"

using namespace hf;
using namespace hf::runtime;
using namespace hf::test;

namespace {

// The first GPU, or null after saying why the case is skipped.
std::unique_ptr<Device> gpu() {
  if (cuda_devices() > 0) return open_device("cuda");
  skip(error_of([] { open_device("cuda"); }).message.c_str());
  return nullptr;
}

}  // namespace

TEST_CASE("without a GPU opening one fails cleanly and says what lacks") {
  if (cuda_devices() > 0) return skip("there is a GPU");
  for (const char* name : {"cuda", "cuda:1"}) {
    const auto caught = error_of([&] { open_device(name); });
    CHECK(caught == ErrorKind::unsupported);
    CHECK(caught.says("cuda:"));
    CHECK(caught.says(", expected "));
  }
}

TEST_CASE("a GPU that is not there is refused by its number") {
  if (cuda_devices() == 0) return skip("no GPU");
  const auto caught = error_of([] { open_cuda(cuda_devices(), {}); });
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("no such GPU"));
}

TEST_CASE("each op gives on the GPU what the CPU gives") {
  if (const auto device = gpu()) check_ops_in_fp32(*device);
}

TEST_CASE("each op on floats gives in fp16 and bf16 what the CPU gives in fp32") {
  if (const auto device = gpu()) {
    check_ops_in(*device, DType::f16, 0.01);
    check_ops_in(*device, DType::bf16, 0.06);
  }
}

TEST_CASE("fp32 is multiplied as fp32 and not as TF32") {
  const auto device = gpu();
  if (!device) return;
  // 1 + 2^-12 is a fp32 number, and 1 in TF32's 10 bits.
  std::vector<Tensor> x = list(Tensor(DType::f32, {256, 256}), Tensor(DType::f32, {256, 256}));
  for (float& v : x[0].as<float>()) v = 1 + 1.0f / 4096;
  for (std::size_t i = 0; i < 256; ++i) x[1].as<float>()[i * 256 + i] = 1;
  const Tensor y = result_on(*device, node_of(MatMul{}, x), x);
  CHECK(std::equal(y.bytes().begin(), y.bytes().end(), x[0].bytes().begin()));
}

TEST_CASE("large products and long rows give on the GPU what the CPU gives") {
  const auto device = gpu();
  if (!device) return;
  const auto cpu = open_device("cpu");
  const auto check = [&](const Op& op, const std::vector<Tensor>& inputs, double tolerance) {
    const Node node = node_of(op, inputs);
    CHECK(difference(result_on(*device, node, inputs), result_on(*cpu, node, inputs), tolerance) == "");
  };
  check(Linear{}, list(floats({4, 128, 768}), floats({3072, 768}), floats({3072})), 2e-4);
  check(MatMul{}, list(floats({8, 12, 128, 64}), floats({8, 12, 64, 128})), 1e-4);
  check(Softmax{3}, list(floats({8, 12, 128, 128})), 1e-5);
  check(Softmax{1}, list(floats({100000, 3})), 1e-5);
  check(LayerNorm{1e-12f}, list(floats({2048, 4096}), floats({4096}), floats({4096})), 1e-4);
  check(Transpose{{0, 2, 1, 3}}, list(floats({8, 128, 12, 64})), 0);
  check(Binary{Binary::add}, list(floats({8, 1, 1, 512}), floats({12, 512, 512})), 0);
}

TEST_CASE("the same run twice gives the same bytes") {
  const auto device = gpu();
  if (!device) return;
  for (const OpCase& c : op_cases()) {
    CAPTURE(c.name);
    const Node node = node_of(c.op, c.inputs);
    const Tensor first = result_on(*device, node, c.inputs), again = result_on(*device, node, c.inputs);
    CHECK(std::equal(first.bytes().begin(), first.bytes().end(), again.bytes().begin()));
  }
}

TEST_CASE("every fixture on the GPU gives what transformers computed") {
  const auto device = gpu();
  if (!device) return;
  for (const auto& entry : std::filesystem::directory_iterator(HF_FIXTURES))
    if (std::filesystem::exists(entry.path() / "config.json")) check_fixture(*device, entry.path());
}

TEST_CASE("an index outside the table is found on the GPU, and the device goes on") {
  const auto device = gpu();
  if (!device) return;
  const std::vector<Tensor> bad = list(floats({5, 3}), integers({64}, 1000)),
                            good = list(floats({5, 3}), integers({64}, 5));
  const Node node = node_of(Gather{0}, bad);
  const auto caught = error_of([&] { result_on(*device, node, bad); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("is outside [0, 5)"));
  const auto cpu = open_device("cpu");
  CHECK(difference(result_on(*device, node, good), result_on(*cpu, node, good), 0) == "");
}

TEST_CASE("more than the cap and more than the GPU has are refused, and the device goes on") {
  if (cuda_devices() == 0) return skip("no GPU");
  const auto capped = open_device("cuda", {.threads = 0, .cap_bytes = 1 << 20});
  CHECK(error_of([&] { capped->allocate((1 << 20) + 1); }) == ErrorKind::out_of_memory);
  const auto open = open_device("cuda", {.threads = 0, .cap_bytes = std::uint64_t{1} << 50});
  CHECK(error_of([&] { open->allocate(std::size_t{1} << 45); }) == ErrorKind::out_of_memory);
  void* some = open->allocate(1 << 20);
  open->free(some, 1 << 20);
  open->synchronize();
}
