#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/gemm.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/walk.h"

namespace hf::runtime::cpu {
namespace {

// Multiplications that a thread should have at least.
constexpr std::int64_t kGrainProducts = 64 * 1024;
// Narrower pieces leave oneDNN's kernels half empty.
constexpr std::int64_t kGrainRows = 24, kGrainColumns = 64;

// One product spread over the threads, by rows where there are enough of them, else by columns; then
// finish(row_begin, row_end, column_begin, column_end) for each piece while it is in the cache.
template <class T, class Finish>
void spread(const Call& call, std::int64_t m, std::int64_t n, std::int64_t k, Matrix<T> a, Matrix<T> b, T* c,
            Finish&& finish) {
  const auto threads = static_cast<std::int64_t>(call.pool.size());
  const bool by_rows = m >= threads * kGrainRows;
  const std::int64_t whole = by_rows ? m : n, other = by_rows ? n : m;
  const std::int64_t grain =
      std::max(by_rows ? kGrainRows : kGrainColumns, kGrainProducts / std::max<std::int64_t>(1, other * k));
  call.pool.for_ranges(static_cast<std::size_t>(whole), static_cast<std::size_t>(grain),
                       [&](std::size_t from, std::size_t to) {
                         const auto begin = static_cast<std::int64_t>(from),
                                    end = static_cast<std::int64_t>(to);
                         if (by_rows) {
                           Matrix<T> part = a;
                           part.data += begin * (a.transposed ? 1 : a.stride);
                           gemm(end - begin, n, k, T(1), part, b, c + begin * n, n);
                           finish(begin, end, std::int64_t{0}, n);
                         } else {
                           Matrix<T> part = b;
                           part.data += begin * (b.transposed ? b.stride : 1);
                           gemm(m, end - begin, k, T(1), a, part, c + begin, n);
                           finish(std::int64_t{0}, m, begin, end);
                         }
                       });
}

Sizes leading(const Sizes& shape) { return {shape.begin(), shape.end() - 2}; }

template <class T>
void matmul(const Call& call) {
  const Sizes &a = call.in[0].shape, &b = call.in[1].shape, &c = call.out.shape;
  const std::int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  const Sizes a_batch = leading(a), b_batch = leading(b), c_batch = leading(c);
  const T *a_data = call.input<T>(0), *b_data = call.input<T>(1);
  T* c_data = call.output<T>();
  const auto nothing = [](auto...) {};
  if (elements(b_batch) == 1 && elements(a_batch) == elements(c_batch))  // one matrix for all rows
    return spread(call, elements(a_batch) * m, n, k, Matrix<T>{a_data, k}, Matrix<T>{b_data, n}, c_data,
                  nothing);

  const Walk<2> w = walk<2>(c_batch, {&a_batch, &b_batch});
  const std::int64_t batch = elements(c_batch);
  const auto products = [&](std::int64_t begin, std::int64_t end, auto&& product) {
    for_pieces(w, begin, end, [&](std::int64_t at, const std::int64_t* offsets, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i)
        product(Matrix<T>{a_data + (offsets[0] + i * w.strides[0].back()) * m * k, k},
                Matrix<T>{b_data + (offsets[1] + i * w.strides[1].back()) * k * n, n},
                c_data + (at + i) * m * n);
    });
  };
  if (batch < static_cast<std::int64_t>(call.pool.size()))
    return products(0, batch,
                    [&](Matrix<T> x, Matrix<T> y, T* z) { spread(call, m, n, k, x, y, z, nothing); });
  const std::int64_t grain = kGrainProducts / std::max<std::int64_t>(1, m * n * k) + 1;
  call.pool.for_ranges(static_cast<std::size_t>(batch), static_cast<std::size_t>(grain),
                       [&](std::size_t begin, std::size_t end) {
                         products(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end),
                                  [&](Matrix<T> x, Matrix<T> y, T* z) { gemm(m, n, k, T(1), x, y, z, n); });
                       });
}

template <class T>
void linear(const Call& call) {
  const std::int64_t in = call.in[1].shape[1], out = call.in[1].shape[0];
  const std::int64_t rows = elements(std::span(call.in[0].shape).first(call.in[0].shape.size() - 1));
  const T* bias = call.has(2) ? call.input<T>(2) : nullptr;
  T* y = call.output<T>();
  spread(call, rows, out, in, Matrix<T>{call.input<T>(0), in}, Matrix<T>{call.input<T>(1), in, true}, y,
         [&](std::int64_t row, std::int64_t row_end, std::int64_t column, std::int64_t column_end) {
           if (bias == nullptr) return;
           for (; row < row_end; ++row)
             for (std::int64_t j = column; j < column_end; ++j) y[row * out + j] += bias[j];
         });
}

}  // namespace

void run(const MatMul&, const Call& call) {
  with_type<float, double>(call, call.out.dtype, [&](auto type) { matmul<decltype(type)>(call); });
}

void run(const Linear&, const Call& call) {
  with_type<float, double>(call, call.out.dtype, [&](auto type) { linear<decltype(type)>(call); });
}

}  // namespace hf::runtime::cpu
