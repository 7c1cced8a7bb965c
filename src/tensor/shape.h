#pragma once
#include <span>
#include <string>
#include <vector>

#include "tensor/dim.h"

namespace hf {

// Outermost first: [batch, sequence, hidden].
using Shape = std::vector<Dim>;
using Sizes = std::vector<std::int64_t>;  // a Shape whose symbols have numbers

Dim elements(const Shape& shape);
std::int64_t elements(std::span<const std::int64_t> sizes);  // throws Error{integrity} where 64 bits overflow
Shape to_shape(std::span<const std::int64_t> sizes);
Sizes to_sizes(const Shape& shape);         // throws Error{internal} where a symbol is left
std::string to_string(const Shape& shape);  // "[batch_size, sequence_length, 384]"
std::string to_string(std::span<const std::int64_t> sizes);

// NumPy's broadcasting: aligned at the end, 1 stretches. Throws Error{usage} naming both shapes.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace hf
