// Kernels that only move values: they take any dtype.
#include <cstring>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/walk.h"
#include "tensor/view.h"

namespace hf::runtime::cpu {
namespace {

// A shape around one axis: [outer, size, inner].
struct Around {
  std::int64_t outer, size;
  std::size_t inner_bytes;
};

Around around(const DeviceTensor& x, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  const std::span<const std::int64_t> shape(x.shape);
  return {elements(shape.first(at)), shape[at],
          static_cast<std::size_t>(elements(shape.subspan(at + 1))) * size_of(x.dtype)};
}

// Copies `bytes` for each row: to(row), from(row).
template <class From>
void copy_rows_of(const Call& call, std::int64_t rows, std::size_t bytes, From&& from) {
  if (bytes == 0) return;
  for_rows(call, rows, static_cast<std::int64_t>(bytes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      std::memcpy(call.output<std::byte>() + static_cast<std::size_t>(row) * bytes, from(row), bytes);
  });
}

}  // namespace

void run(const Gather& op, const Call& call) {
  const Around a = around(call.in[0], op.axis);
  const std::int64_t count = elements(call.in[1].shape);
  const auto* indices = call.input<std::int64_t>(1);
  if (call.in[1].dtype != DType::i64)
    throw Error(ErrorKind::unsupported, subject(call) + " has no CPU kernel for indices of " +
                                            std::string(name_of(call.in[1].dtype)));
  for (std::int64_t i = 0; i < count; ++i)
    if (indices[i] < 0 || indices[i] >= a.size)
      throw Error(ErrorKind::usage, subject(call) + ": index " + std::to_string(indices[i]) + " (number " +
                                        std::to_string(i) + ") is outside [0, " + std::to_string(a.size) +
                                        ")");
  copy_rows_of(call, a.outer * count, a.inner_bytes, [&](std::int64_t row) {
    const std::int64_t at = row / count * a.size + indices[row % count];
    return call.input<std::byte>(0) + static_cast<std::size_t>(at) * a.inner_bytes;
  });
}

// A session gives a reshaped value its input's memory and does not come here.
void run(const Reshape&, const Call& call) {
  copy_rows_of(call, 1, call.out.bytes(), [&](std::int64_t) { return call.input<std::byte>(0); });
}

void run(const Transpose& op, const Call& call) {
  const TensorView from{{call.input<std::byte>(0), call.in[0].bytes()}, call.in[0].dtype, call.in[0].shape};
  const View view{.reshape = {}, .ranges = {}, .permutation = op.permutation};
  if (call.size() == 0) return;
  const std::int64_t rows = call.out.shape.empty() ? 1 : call.out.shape[0];
  const std::size_t row_bytes = call.out.bytes() / static_cast<std::size_t>(rows);
  for_rows(call, rows, call.size() / rows, [&](std::int64_t begin, std::int64_t end) {
    copy_rows(from, view, begin, end, from.dtype,
              {call.output<std::byte>() + static_cast<std::size_t>(begin) * row_bytes,
               static_cast<std::size_t>(end - begin) * row_bytes});
  });
}

void run(const Slice& op, const Call& call) {
  const Around a = around(call.in[0], op.axis);
  const std::int64_t begin = op.begin.number(), count = call.out.shape[static_cast<std::size_t>(op.axis)];
  if (begin < 0 || (count > 0 && begin + (count - 1) * op.step >= a.size))
    throw Error(ErrorKind::usage, subject(call) + ": elements from " + std::to_string(begin) +
                                      " are outside the " + std::to_string(a.size) + " of axis " +
                                      std::to_string(op.axis));
  if (op.step == 1)  // neighbours move together
    return copy_rows_of(
        call, a.outer, static_cast<std::size_t>(count) * a.inner_bytes, [&](std::int64_t row) {
          return call.input<std::byte>(0) + static_cast<std::size_t>(row * a.size + begin) * a.inner_bytes;
        });
  copy_rows_of(call, a.outer * count, a.inner_bytes, [&](std::int64_t row) {
    const std::int64_t at = row / count * a.size + begin + row % count * op.step;
    return call.input<std::byte>(0) + static_cast<std::size_t>(at) * a.inner_bytes;
  });
}

void run(const Concat& op, const Call& call) {
  const Around out = around(call.out, op.axis);
  const std::size_t row_bytes = static_cast<std::size_t>(out.size) * out.inner_bytes;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(around(call.in[i], op.axis).size) * out.inner_bytes;
    const auto* from = call.input<std::byte>(i);
    std::byte* to = call.output<std::byte>() + offset;
    if (bytes > 0)
      for_rows(call, out.outer, static_cast<std::int64_t>(bytes), [&](std::int64_t begin, std::int64_t end) {
        for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row)
          std::memcpy(to + row * row_bytes, from + row * bytes, bytes);
      });
    offset += bytes;
  }
}

void run(const Expand&, const Call& call) {
  const Walk<1> w = walk<1>(call.out.shape, {&call.in[0].shape});
  const std::int64_t step = w.strides[0].back();
  with_width(call.out.dtype, [&]<class T>(T) {
    for_rows(call, call.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for_pieces(w, begin, end, [&](std::int64_t at, const std::int64_t* offsets, std::int64_t count) {
        const T* from = call.input<T>(0) + offsets[0];
        T* to = call.output<T>() + at;
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
      });
    });
  });
}

void run(const Range& op, const Call& call) {
  const std::int64_t first = op.begin.number();
  auto* out = call.output<std::int64_t>();
  for (std::int64_t i = 0; i < call.size(); ++i) out[i] = first + i;
}

}  // namespace hf::runtime::cpu
