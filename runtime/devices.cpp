#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.h"
#include "base/escape.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cuda/cuda.h"
#include "runtime/device.h"

namespace hf::runtime {
namespace {

constexpr DeviceKind kKinds[] = {
    {"cpu", "this machine's processor; each index is a device of its own with its own memory account",
     open_cpu},
    {"cuda", "an NVIDIA GPU, by its number", open_cuda},
};

Error unknown_device(std::string_view name) {
  std::string message = "device " + in_quotes(name) + " is not known, expected ";
  for (const DeviceKind& kind : kKinds) {
    if (&kind != kKinds) message += " or ";
    message += std::string(kind.name) + "[:number]";
  }
  return {ErrorKind::usage, message};
}

}  // namespace

std::span<const DeviceKind> device_kinds() { return kKinds; }

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const DeviceKind& k) { return k.name == name.substr(0, colon); });
  if (kind == std::end(kKinds)) throw unknown_device(name);
  int index = 0;
  if (colon < name.size()) {
    const char* end = name.data() + name.size();
    const auto [stop, failure] = std::from_chars(name.data() + colon + 1, end, index);
    if (failure != std::errc{} || stop != end || index < 0) throw unknown_device(name);
  }
  return kind->open(index, options);
}

}  // namespace hf::runtime
