#include <algorithm>
#include <limits>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/softmax_row.h"
#include "runtime/cpu/walk.h"

namespace hf::runtime::cpu {
namespace {

// Query rows that are scored together: the scores stay in the cache, and working memory does not grow with
// the square of the sequence.
constexpr std::int64_t kBlock = 64;

struct Sized {
  std::int64_t batch, sequence, heads, kv_heads, total, head_dim;
};

// An optional [batch, heads, sequence, total] operand, or what broadcasts to it.
template <class T>
struct Operand {
  const T* data = nullptr;
  Sizes strides;

  Operand(const Call& call, std::size_t input, const Sized& s) {
    if (!call.has(input)) return;
    data = call.input<T>(input);
    strides = broadcast_strides(call.in[input].shape, {s.batch, s.heads, s.sequence, s.total});
  }
  const T* row(std::int64_t batch, std::int64_t head, std::int64_t query) const {
    return data + batch * strides[0] + head * strides[1] + query * strides[2];
  }
  std::int64_t step() const { return strides[3]; }
};

template <class T>
class Kernel {
 public:
  Kernel(const Attention& op, const Call& call, const Sized& s)
      : op_(op), call_(call), s_(s), bias_(call, 3, s), mask_(call, 4, s) {}

  // Scores and mixes query rows [begin, end) of one head. `scores` has room for them: [end - begin, total].
  void block(std::int64_t batch, std::int64_t head, std::int64_t begin, std::int64_t end, T* scores) const {
    const std::int64_t width = s_.heads * s_.head_dim;
    const std::int64_t kv = batch * s_.kv_heads + head / (s_.heads / s_.kv_heads);
    const std::int64_t rows = end - begin, at = (batch * s_.sequence + begin) * width + head * s_.head_dim;
    const std::int64_t kv_at = kv * s_.total * s_.head_dim;
    gemm(rows, s_.total, s_.head_dim, static_cast<T>(op_.scale), Matrix<T>{call_.input<T>(0) + at, width},
         Matrix<T>{call_.input<T>(1) + kv_at, s_.head_dim, true}, scores, s_.total);
    for (std::int64_t r = 0; r < rows; ++r) {
      T* row = scores + r * s_.total;
      add_bias(row, batch, head, begin + r);
      hide(row, batch, head, begin + r);
      softmax_row(row, row, s_.total);
    }
    gemm(rows, s_.head_dim, s_.total, T(1), Matrix<T>{scores, s_.total},
         Matrix<T>{call_.input<T>(2) + kv_at, s_.head_dim}, call_.output<T>() + at, width);
  }

 private:
  void add_bias(T* row, std::int64_t batch, std::int64_t head, std::int64_t query) const {
    if (bias_.data == nullptr) return;
    const T* bias = bias_.row(batch, head, query);
    for (std::int64_t j = 0; j < s_.total; ++j) row[j] += bias[j * bias_.step()];
  }

  // What is masked gets the lowest finite value added, once: a row where all is masked comes out uniform, as
  // from transformers' eager attention.
  void hide(T* row, std::int64_t batch, std::int64_t head, std::int64_t query) const {
    constexpr T kLowest = std::numeric_limits<T>::lowest();
    const std::int64_t seen =
        op_.causal ? std::max<std::int64_t>(0, query + s_.total - s_.sequence + 1) : s_.total;
    if (mask_.data != nullptr) {
      const bool* mask = mask_.row(batch, head, query);
      for (std::int64_t j = 0; j < std::min(seen, s_.total); ++j)
        if (!mask[j * mask_.step()]) row[j] += kLowest;
    }
    for (std::int64_t j = seen; j < s_.total; ++j) row[j] += kLowest;
  }

  const Attention& op_;
  const Call& call_;
  const Sized s_;
  const Operand<T> bias_;
  const Operand<bool> mask_;
};

template <class T>
void attention(const Attention& op, const Call& call) {
  const Sizes &q = call.in[0].shape, &k = call.in[1].shape;
  const Sized s{q[0], q[1], q[2] / op.head_dim, k[1], k[2], op.head_dim};
  if (call.size() == 0) return;
  const Kernel<T> kernel(op, call, s);
  const std::int64_t blocks = (s.sequence + kBlock - 1) / kBlock;
  const auto tasks = static_cast<std::size_t>(s.batch * s.heads * blocks);
  call.pool.for_ranges(tasks, 1, [&](std::size_t from, std::size_t to) {
    Scratch<T> scores(call.memory, static_cast<std::size_t>(std::min(kBlock, s.sequence) * s.total));
    for (auto i = static_cast<std::int64_t>(from); i < static_cast<std::int64_t>(to); ++i) {
      const std::int64_t begin = i % blocks * kBlock, pair = i / blocks;
      kernel.block(pair / s.heads, pair % s.heads, begin, std::min(begin + kBlock, s.sequence),
                   scores.data());
    }
  });
}

}  // namespace

void run(const Attention& op, const Call& call) {
  with_type<float, double>(call, call.out.dtype, [&]<class T>(T) { attention<T>(op, call); });
}

}  // namespace hf::runtime::cpu
