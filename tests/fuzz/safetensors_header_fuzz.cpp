#include "checkpoint/safetensors/safetensors.h"
#include "fuzz/fuzz.h"

using namespace hf;

// What a header says holds for the bytes behind it: every tensor lies within the data, they cover it exactly,
// and each can be read through its shape.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  return fuzz::only_errors([&] {
    const safetensors::Header header = safetensors::parse_header(bytes, size, "input");
    fuzz::require(header.data_offset <= size, "data behind the end");
    const auto all = bytes.subspan(header.data_offset);
    std::uint64_t covered = 0;
    for (const auto& [name, entry] : header.tensors) {
      fuzz::require(entry.begin <= entry.end && entry.end <= all.size(), "a tensor outside of the data");
      covered += entry.end - entry.begin;
      const TensorView view{all.subspan(entry.begin, entry.end - entry.begin), entry.info.dtype,
                            entry.info.shape};
      fuzz::require(bytes_of(view.dtype, view.shape) == view.bytes.size(), "a shape of other bytes");
      const Tensor read = materialize(view, {}, DType::f32);
      fuzz::require(read.size() == view.size(), "another number of elements");
    }
    fuzz::require(covered == all.size(), "tensors that do not cover the data");
  });
}
