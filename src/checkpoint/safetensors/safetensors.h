// safetensors: u64 N, N bytes of JSON {name: {dtype, shape, data_offsets: [begin, end)}, "__metadata__":
// {…}}, data. https://github.com/huggingface/safetensors
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/checkpoint.h"

namespace hf::safetensors {

struct Entry {
  TensorInfo info;
  std::uint64_t begin = 0, end = 0;  // bytes, from the start of the data
};

struct Header {
  std::map<std::string, Entry, std::less<>> tensors;
  std::map<std::string, std::string> metadata;
  std::uint64_t data_offset = 0;  // of the data in the file
};

// Reads the header of a file of `file_size` bytes that begins with `bytes`. Stricter than the reference
// library: a key that stands twice, a header that does not begin with "{", holes and trailing bytes are
// refused. Error{integrity}.
Header parse_header(std::span<const std::byte> bytes, std::uint64_t file_size, std::string_view subject);

std::shared_ptr<const Checkpoint> open(const std::filesystem::path& file);
std::map<std::string, std::string> read_metadata(const std::filesystem::path& file);

// Writes tensors in the order given, as the reference library lays them out (header padded to 8 bytes),
// through a temporary file.
void write(const std::filesystem::path& file, const std::vector<std::pair<std::string, TensorView>>& tensors,
           const std::map<std::string, std::string>& metadata = {});

}  // namespace hf::safetensors
