// The list of what a model can do. README.md gives each op's exact meaning.
//
// Primitives must be known to every exporter and device. Composites are *defined* by decompose() into
// primitives; a consumer may take one whole, and the definition is the oracle of its test.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tensor/view.h"

namespace hf {

// How tensor parallelism cuts a weight: not at all, by its outputs (axis 0 of [out, in]), by its inputs (axis
// 1), or by either in units of whole attention heads. `unit` elements of the cut axis stay together (head_dim
// for heads).
struct Split {
  enum Kind { none, outputs, inputs } kind = none;
  std::int64_t unit = 1;
};

// ---- sources: no inputs
struct Input {
  std::string name;
};
struct Weight {
  TensorRef ref;
  Split split;
};
struct Constant {
  std::shared_ptr<const Tensor> value;
};
struct Size {  // a dimension as an int64 scalar
  Dim dim;
};

// ---- primitives
struct Unary {
  enum Kind {
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
  } kind;
};
struct Binary {  // NumPy broadcasting; both sides of one dtype
  enum Kind { add, subtract, multiply, divide, power, minimum, maximum, logical_and, logical_or } kind;
};
struct Compare {
  enum Kind { equal, less, less_or_equal, greater, greater_or_equal } kind;
};
struct Where {};  // condition (bool), then, otherwise; broadcast together
struct Cast {
  DType to;
};
struct MatMul {};  // [.., m, k] x [.., k, n], the leading axes broadcast
struct Reduce {
  enum Kind { sum, mean, maximum, minimum } kind;
  std::vector<int> axes;  // not negative, ascending
  bool keep;              // reduced axes stay with size 1
};
struct ArgMax {  // int64 index of the first greatest element
  int axis;
  bool keep;
};
struct CumSum {
  int axis;
};
struct Gather {  // slices of in[0] along `axis` at the int64 indices in[1], which are in [0, size)
  int axis;
};
struct Reshape {
  Shape to;  // one entry may be -1: what is left
};
struct Transpose {
  std::vector<int> permutation;
};
struct Slice {  // elements begin, begin + step, … below end, along one axis; bounds are not clamped
  int axis;
  Dim begin, end;
  std::int64_t step = 1;
};
struct Concat {
  int axis;
};
struct Expand {
  Shape to;
};
struct Range {  // int64 [end - begin]
  Dim begin, end;
};
struct AllReduce {};  // the sum over the tensor-parallel ranks
struct AllGather {    // the ranks' slices side by side along `axis`
  int axis;
};

// ---- composites
struct Linear {};   // x [.., in], weight [out, in], bias? [out]
struct LayerNorm {  // over the last axis: x, weight, bias
  float epsilon;
};
struct Gelu {
  enum Kind { erf, tanh } kind;
};
struct Softmax {
  int axis;
};
// q [batch, sequence, heads * head_dim]; k, v [batch, kv_heads, total, head_dim]; bias? broadcastable to
// [batch, heads, sequence, total]; mask? bool likewise, true = attend. Result as q. Head counts follow from
// the shapes, so that a sharded graph keeps its attributes.
struct Attention {
  std::int64_t head_dim;
  float scale;
  bool causal = false;
};

using Op = std::variant<Input, Weight, Constant, Size,  //
                        Unary, Binary, Compare, Where, Cast, MatMul, Reduce, ArgMax, CumSum, Gather, Reshape,
                        Transpose, Slice, Concat, Expand, Range, AllReduce, AllGather,  //
                        Linear, LayerNorm, Gelu, Softmax, Attention>;

template <class T, class... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);
template <class T>
inline constexpr bool is_source = is_one_of<T, Input, Weight, Constant, Size>;
template <class T>
inline constexpr bool is_composite = is_one_of<T, Linear, LayerNorm, Gelu, Softmax, Attention>;

std::string_view name_of(const Op& op);      // "MatMul", "Gelu", …
std::string_view name_of(Unary::Kind kind);  // "negate", …
std::string_view name_of(Binary::Kind kind);
std::string_view name_of(Compare::Kind kind);
std::string_view name_of(Reduce::Kind kind);
bool composite(const Op& op);

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace hf
