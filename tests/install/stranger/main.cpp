// Uses something of each room that a stranger may want, through the installed headers.
#include <arch/arch.h>
#include <cache/hub/repo.h>
#include <checkpoint/checkpoint.h>
#include <converters/format.h>
#include <runtime/device.h>
#include <tensor/dim.h>

#include <iostream>

int main() {
  hf::TensorMap checkpoint;
  checkpoint.add("weight", hf::Tensor(hf::DType::f32, {2, 3}));
  hf::cache::check_repo({"hfkit/tiny-bert"});
  const auto device = hf::runtime::open_device("cpu");
  const hf::Dim rows = floor_div(hf::Dim::symbol("rows") * 4, 2);
  std::cout << "stranger: " << checkpoint.names().size() << " tensor, " << hf::architectures().size()
            << " architectures, format " << hf::format_named("onnx").name << ", device " << device->name()
            << ", " << rows.to_string() << "\n";
  return rows.evaluate({{"rows", 3}}) == 6 ? 0 : 1;
}
