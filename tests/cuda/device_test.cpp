// The whole CUDA device on the CPU: its own sources over the emulator and stand-ins of the CUDA runtime and
// cuBLASLt.
#include "runtime/device.h"

#include <doctest/doctest.h>

#include "cuda/device_cases.h"
#include "emulator/emulated_gpu.h"
#include "runtime/cuda/cuda.h"
#include "support/error_of.h"

using namespace hf;
using namespace hf::runtime;
using namespace hf::test;

namespace {

// GPUs as the test describes them; afterwards everything that was allocated must be free again.
struct Gpus {
  explicit Gpus(const emulator::EmulatedGpus& gpus = {}) { emulator::emulated_gpus() = gpus; }
  ~Gpus() {
    CHECK(emulator::emulated_gpus().allocations.empty());
    emulator::emulated_gpus() = {};
  }
};

std::unique_ptr<Device> opened(std::uint64_t cap_bytes = 0) {
  return open_device("cuda", {.threads = 0, .cap_bytes = cap_bytes});
}

}  // namespace

TEST_CASE("each op gives what the CPU gives") {
  Gpus gpus;
  check_ops_in_fp32(*opened());
  CHECK(emulator::emulated_gpus().products > 0);
}

TEST_CASE("each op gives what the CPU gives, where products take no bias") {
  Gpus gpus({.allocations = {}, .fuses_bias = false});
  check_ops_in_fp32(*opened());
}

TEST_CASE("each op on floats has its kernel for fp16 and bf16") {
  Gpus gpus;
  const auto device = opened();
  check_ops_in(*device, DType::f16, 0.01);
  check_ops_in(*device, DType::bf16, 0.06);
}

TEST_CASE("models on the emulated GPU give what transformers computed") {
  Gpus gpus;
  const auto device = opened();
  for (const char* name :
       {"bert-mlm", "roberta-mlm", "distilbert-seqcls", "electra-discriminator", "gpt2-lm"}) {
    CAPTURE(name);
    check_fixture(*device, std::filesystem::path(HF_FIXTURES) / name);
  }
}

TEST_CASE("composites with a kernel are fused, attention is not") {
  Gpus gpus;
  const auto device = opened();
  for (const Op& op : {Op(Linear{}), Op(LayerNorm{1e-5f}), Op(Gelu{Gelu::erf}), Op(Softmax{0})})
    CHECK(device->fuses(op));
  CHECK_FALSE(device->fuses(Attention{64, 1}));
  CHECK_FALSE(device->fuses(MatMul{}));
}

TEST_CASE("an op without kernel is refused by name") {
  Gpus gpus;
  const auto device = opened();
  const DeviceTensor nothing;
  Node node{AllReduce{}, {}, {{DType::f32, {}}}, "encoder.layer.3", 3};
  const auto caught = error_of([&] { device->run(node, {}, nothing); });
  CHECK(caught == ErrorKind::unsupported);
  CHECK(caught.says("encoder.layer.3: AllReduce has no CUDA kernel"));
}

TEST_CASE("a dtype without kernel is refused by name") {
  Gpus gpus;
  const auto device = opened();
  for (const auto& [op, count] : {std::pair{Op(Binary{Binary::add}), 2}, {Op(Softmax{0}), 1}}) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < count; ++i) inputs.push_back(Tensor(DType::f64, {3}));
    const Node node = node_of(op, inputs);
    std::vector<DeviceTensor> in;
    for (const Tensor& t : inputs)
      in.push_back({const_cast<std::byte*>(t.bytes().data()), t.dtype(), t.shape()});
    const auto caught = error_of([&] { device->run(node, in, in[0]); });
    CHECK(caught == ErrorKind::unsupported);
    CHECK(caught.says("has no CUDA kernel for fp64"));
  }
}

TEST_CASE("an index outside the table is the caller's mistake, and the device goes on") {
  Gpus gpus;
  const auto device = opened();
  const std::vector<Tensor> good = list(floats({5, 3}), integers({4}, 5)),
                            bad = list(floats({5, 3}), integers({4}, 1000));
  const Node node = node_of(Gather{0}, good, "embeddings.word_embeddings");
  const DeviceTensor table{device->allocate(60), DType::f32, {5, 3}},
      ids{device->allocate(32), DType::i64, {4}}, out{device->allocate(48), DType::f32, {4, 3}};
  device->upload(table.data, good[0].bytes());
  device->upload(ids.data, bad[1].bytes());
  const DeviceTensor in[] = {table, ids};
  device->run(node, in, out);
  const auto caught = error_of([&] { device->synchronize(); });
  CHECK(caught == ErrorKind::usage);
  CHECK(caught.says("embeddings.word_embeddings: Gather: index "));
  CHECK(caught.says("is outside [0, 5)"));
  device->upload(ids.data, good[1].bytes());
  device->run(node, in, out);
  CHECK_FALSE(error_of([&] { device->synchronize(); }).kind);
  for (const DeviceTensor& t : {table, ids, out}) device->free(t.data, t.bytes());
}

TEST_CASE("the greatest of no elements is refused") {
  Gpus gpus;
  const auto device = opened();
  const std::vector<Tensor> x = list(Tensor(DType::f32, {2, 0}));
  for (const Op& op : {Op(Reduce{Reduce::maximum, {1}, false}), Op(ArgMax{1, false})}) {
    const Node node = node_of(op, x);
    std::vector<std::byte> place(64);
    const DeviceTensor in[] = {{place.data(), DType::f32, {2, 0}}},
                       out{place.data(), node.outputs[0].dtype, {2}};
    CHECK(error_of([&] { device->run(node, in, out); }) == ErrorKind::usage);
  }
}

TEST_CASE("memory is counted and held under the cap") {
  Gpus gpus;
  const auto device = opened(1000);
  CHECK(device->name() == "cuda:0");
  CHECK(device->memory().cap_bytes == 1000);
  void* first = device->allocate(600);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  const auto caught = error_of([&] { device->allocate(401); });
  CHECK(caught == ErrorKind::out_of_memory);
  CHECK(caught.says("cuda:0: 401 bytes asked with 600 bytes in use, 1000 bytes allowed"));
  void* second = device->allocate(400);
  CHECK(device->memory().used_bytes == 1000);
  device->free(first, 600);
  CHECK(device->memory().used_bytes == 400);
  CHECK(device->memory().peak_bytes == 1000);
  device->free(second, 400);
}

TEST_CASE("nothing can be allocated and is not null") {
  Gpus gpus;
  const auto device = opened();
  void* nothing = device->allocate(0);
  CHECK(nothing != nullptr);
  CHECK(device->memory().used_bytes == 0);
  device->upload(nothing, {});
  device->download({}, nothing);
  device->free(nothing, 0);
}

TEST_CASE("a GPU that is full says so, and without a cap what is free is the cap") {
  Gpus gpus({.total_bytes = 4096, .allocations = {}});
  const auto device = opened(1 << 20);
  const auto caught = error_of([&] { device->allocate(100000); });
  CHECK(caught == ErrorKind::out_of_memory);
  CHECK(caught.says("the GPU has no such piece left"));
  CHECK(device->memory().used_bytes == 0);
  CHECK(opened()->memory().cap_bytes <= 4096);
}

TEST_CASE("products do without a workspace where the cap has no room for it") {
  Gpus gpus;
  const auto device = opened(100000);
  const std::vector<Tensor> x = list(floats({5, 24}), floats({31, 24}), floats({31}));
  const auto cpu = open_device("cpu");
  const Node node = node_of(Linear{}, x);
  CHECK(difference(result_on(*device, node, x), result_on(*cpu, node, x), 1e-5) == "");
  CHECK(device->memory().used_bytes == 0);
}

TEST_CASE("without a driver, a GPU or a driver new enough, opening says which") {
  const auto opening = [](const emulator::EmulatedGpus& gpus, int index) {
    Gpus these(gpus);
    return error_of([&] { open_cuda(index, {}); });
  };
  const auto check = [&](const emulator::EmulatedGpus& gpus, int index, const char* fact) {
    const auto caught = opening(gpus, index);
    CHECK(caught == ErrorKind::unsupported);
    CHECK_MESSAGE(caught.says(fact), caught.message);
  };
  check({.driver_version = 0, .allocations = {}}, 0,
        "cuda:0: no CUDA driver was found, expected one for CUDA 13.0");
  check({.driver_version = 12020, .allocations = {}}, 0, "the CUDA driver serves CUDA 12.2, expected 13.0");
  check({.count = 0, .allocations = {}}, 0, "no NVIDIA GPU was found");
  check({.count = 2, .allocations = {}}, 2, "cuda:2: no such GPU, expected a number below 2");
  check({.old_gpu = true, .allocations = {}}, 0, "compute capability");
}

TEST_CASE("the GPUs are counted, and none is no error") {
  {
    Gpus gpus({.count = 3, .allocations = {}});
    CHECK(cuda_devices() == 3);
  }
  Gpus gpus({.driver_version = 0, .allocations = {}});
  CHECK(cuda_devices() == 0);
}
