// safetensors files written by hand, so that each can be wrong in its own way.
#pragma once
#include <cstring>
#include <string>
#include <string_view>

namespace hf::test {

// Length, header, data: the length is the header's own unless another one is given.
inline std::string safetensors_bytes(std::string_view header, std::string_view data, std::uint64_t length) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out.append(header).append(data);
}
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return safetensors_bytes(header, data, header.size());
}

// {"name": {"dtype": …, "shape": …, "data_offsets": […]}} without the braces around it.
inline std::string entry(std::string_view name, std::string_view dtype, std::string_view shape,
                         std::string_view offsets) {
  return "\"" + std::string(name) + R"(":{"dtype":")" + std::string(dtype) + R"(","shape":)" +
         std::string(shape) + R"(,"data_offsets":)" + std::string(offsets) + "}";
}

}  // namespace hf::test
