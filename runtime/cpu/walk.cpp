#include "runtime/cpu/walk.h"

#include "base/error.h"

namespace hf::runtime::cpu {

Sizes broadcast_strides(const Sizes& from, const Sizes& to) {
  if (from.size() > to.size())
    throw Error(ErrorKind::internal, "shape " + to_string(from) + " does not broadcast to " + to_string(to));
  Sizes strides(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    const std::int64_t size = from[from.size() - i], wanted = to[to.size() - i];
    if (size != wanted && size != 1)
      throw Error(ErrorKind::internal,
                  "shape " + to_string(from) + " does not broadcast to " + to_string(to));
    strides[to.size() - i] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}

}  // namespace hf::runtime::cpu
