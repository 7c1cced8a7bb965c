// The CPU's kernels: one overload an op, each in the file of its topic. src/graph/README.md says what each op
// means; tests/runtime holds each composite's kernel against its definition.
#pragma once
#include <cstddef>
#include <span>

#include "base/thread_pool.h"
#include "graph/graph.h"
#include "runtime/cpu/memory.h"
#include "runtime/device.h"

namespace hf::runtime::cpu {

// One node to run. Inputs that are absent have no data.
struct Call {
  const Node& node;
  std::span<const DeviceTensor> in;
  const DeviceTensor& out;
  ThreadPool& pool;
  Memory& memory;

  bool has(std::size_t i) const { return i < in.size() && in[i].data != nullptr; }
  template <class T>
  const T* input(std::size_t i) const {
    return static_cast<const T*>(in[i].data);
  }
  template <class T>
  T* output() const {
    return static_cast<T*>(out.data);
  }
  std::int64_t size() const { return elements(out.shape); }  // of the output, in elements
};

// elementwise.cpp
void run(const Unary& op, const Call& call);
void run(const Binary& op, const Call& call);
void run(const Compare& op, const Call& call);
void run(const Where& op, const Call& call);
void run(const Cast& op, const Call& call);
// matmul.cpp
void run(const MatMul& op, const Call& call);
void run(const Linear& op, const Call& call);
// reduce.cpp
void run(const Reduce& op, const Call& call);
// scan.cpp
void run(const ArgMax& op, const Call& call);
void run(const CumSum& op, const Call& call);
// movement.cpp
void run(const Gather& op, const Call& call);
void run(const Reshape& op, const Call& call);
void run(const Transpose& op, const Call& call);
void run(const Slice& op, const Call& call);
void run(const Concat& op, const Call& call);
void run(const Expand& op, const Call& call);
void run(const Range& op, const Call& call);
// one file each
void run(const LayerNorm& op, const Call& call);
void run(const Gelu& op, const Call& call);
void run(const Softmax& op, const Call& call);
void run(const Attention& op, const Call& call);

}  // namespace hf::runtime::cpu
