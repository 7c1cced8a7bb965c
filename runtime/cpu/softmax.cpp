#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/softmax_row.h"

namespace hf::runtime::cpu {

void run(const Softmax& op, const Call& call) {
  const auto axis = static_cast<std::size_t>(op.axis);
  const std::span<const std::int64_t> shape(call.out.shape);
  const std::int64_t size = shape[axis], inner = elements(shape.subspan(axis + 1));
  const std::int64_t lines = elements(shape.first(axis)) * inner;
  with_type<float, double>(call, call.out.dtype, [&]<class T>(T) {
    for_rows(call, lines, size, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t first = i / inner * size * inner + i % inner;
        softmax_row(call.input<T>(0) + first, call.output<T>() + first, size, inner);
      }
    });
  });
}

}  // namespace hf::runtime::cpu
