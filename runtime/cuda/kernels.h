// The kernels as the rest of the runtime sees them: each entry starts work on a stream and returns at once.
// They return false where there is no kernel for the dtype; tensors are dense and row-major; nothing to do
// starts nothing. One file pair an entry: softmax.cuh holds the kernel, softmax.cu this entry.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/walk.h"
#include "tensor/dtype.h"

struct CUstream_st;  // CUDA's own name for what a cudaStream_t points to

namespace hf::runtime::cuda {

using Stream = CUstream_st*;

// An axis of a tensor: outer * inner lines of `length` elements, `inner` apart.
struct Lines {
  std::int64_t outer = 1, length = 1, inner = 1;
};

enum class UnaryKind {
  negate,
  absolute,
  exp,
  log,
  sqrt,
  reciprocal,
  erf,
  tanh,
  sigmoid,
  relu,
  sin,
  cos,
  logical_not
};
enum class BinaryKind { add, subtract, multiply, divide, power, minimum, maximum, logical_and, logical_or };
enum class CompareKind { equal, less, less_or_equal, greater, greater_or_equal };
enum class ReduceKind { sum, mean, maximum, minimum };
enum class GeluKind { erf, tanh };

[[nodiscard]] bool unary(Stream, DType, UnaryKind, const void* x, void* y, std::int64_t count);
[[nodiscard]] bool gelu(Stream, DType, GeluKind, const void* x, void* y, std::int64_t count);
[[nodiscard]] bool cast(Stream, DType from, DType to, const void* x, void* y, std::int64_t count);
// y is dense over the walk's space; the walk strides a and b.
[[nodiscard]] bool binary(Stream, DType, BinaryKind, const void* a, const void* b, void* y, const Walk<2>&);
[[nodiscard]] bool compare(Stream, DType, CompareKind, const void* a, const void* b, void* truth,
                           const Walk<2>&);
[[nodiscard]] bool where(Stream, std::size_t element_bytes, const void* condition, const void* then,
                         const void* otherwise, void* y, const Walk<3>&);
// Copies x to y, each with strides of its own: transposes, slices, concatenates, expands.
[[nodiscard]] bool relayout(Stream, std::size_t element_bytes, const void* x, void* y, const Walk<2>&);

// An index outside its axis: kept by the first thread that meets one, and found by the host later.
struct Fault {
  int happened = 0;
  int place = 0;  // as the host numbered the call
  std::int64_t index = 0;
  std::int64_t size = 0;
};
struct GatherSizes {
  std::int64_t outer = 1, axis = 1, inner = 1;  // x [outer, axis, inner]
  std::int64_t indices = 1;                     // y [outer, indices, inner]
};
// Where an index is not in [0, axis), y gets zeros and `fault` the index.
[[nodiscard]] bool gather(Stream, std::size_t element_bytes, const void* x, const std::int64_t* indices,
                          void* y, const GatherSizes&, Fault* fault, int place);

[[nodiscard]] bool softmax(Stream, DType, const void* x, void* y, const Lines&);
// Over the last axis of x [rows, columns]; weight and bias [columns].
[[nodiscard]] bool layer_norm(Stream, DType, const void* x, const void* weight, const void* bias, void* y,
                              std::int64_t rows, std::int64_t columns, float epsilon);
// `kept` walks the axes that stay, `reduced` those that go; y is dense over `kept`.
[[nodiscard]] bool reduce(Stream, DType, ReduceKind, const void* x, void* y, const Walk<1>& kept,
                          const Walk<1>& reduced);
[[nodiscard]] bool arg_max(Stream, DType, const void* x, std::int64_t* y, const Lines&);  // length > 0
[[nodiscard]] bool cumsum(Stream, DType, const void* x, void* y, const Lines&);
void range(Stream, std::int64_t begin, std::int64_t* y, std::int64_t count);

}  // namespace hf::runtime::cuda
