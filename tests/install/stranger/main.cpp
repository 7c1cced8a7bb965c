// Uses one thing of each room that a stranger may want, through the installed headers.
#include <arch/arch.h>
#include <cache/hub/repo.h>
#include <checkpoint/checkpoint.h>
#include <tensor/dim.h>

#include <iostream>

int main() {
  hf::TensorMap checkpoint;
  checkpoint.add("weight", hf::Tensor(hf::DType::f32, {2, 3}));
  const hf::Dim rows = floor_div(hf::Dim::symbol("rows") * 4, 2);
  std::cout << "stranger: " << checkpoint.names().size() << " tensor, " << hf::architectures().size()
            << " architectures, " << rows.to_string() << "\n";
  return rows.evaluate({{"rows", 3}}) == 6 ? 0 : 1;
}
