#include "tensor/shape.h"

#include <algorithm>

#include "base/error.h"

namespace hf {

Dim elements(const Shape& shape) {
  Dim product = 1;
  for (const Dim& d : shape) product *= d;
  return product;
}

std::int64_t elements(std::span<const std::int64_t> sizes) {
  std::int64_t product = 1;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product))
      throw Error(ErrorKind::integrity,
                  "shape " + to_string(sizes) + " has more elements than 64 bits count");
  return product;
}

Shape to_shape(std::span<const std::int64_t> sizes) { return {sizes.begin(), sizes.end()}; }

Sizes to_sizes(const Shape& shape) {
  Sizes out;
  for (const Dim& d : shape) out.push_back(d.number());
  return out;
}

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (const Dim& d : shape) out += (out.size() > 1 ? ", " : "") + d.to_string();
  return out + "]";
}

std::string to_string(std::span<const std::int64_t> sizes) { return to_string(to_shape(sizes)); }

Shape broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim x = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim y = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    if (!(x == y) && !(x == Dim(1)) && !(y == Dim(1)))
      throw Error(ErrorKind::usage, "shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
    out[i] = x == Dim(1) ? y : x;
  }
  return out;
}

}  // namespace hf
