// What the ranks of a parallel run say to each other.
#pragma once
#include <cstddef>
#include <span>

#include "tensor/dtype.h"

namespace hf::runtime {

// One rank's end. All ranks make the same calls in the same order with as many bytes; a call returns when all
// have made it. Throws Error where a rank failed or the calls do not fit.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // Replaces `values` by the sum over the ranks, added in rank order: the same bits everywhere, every time.
  virtual void all_reduce(std::span<std::byte> values, DType dtype) = 0;
  // Puts the ranks' bytes one after the other into `all`, which is ranks() times as long.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
};

}  // namespace hf::runtime
