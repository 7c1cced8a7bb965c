#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "converters/onnx/onnx.h"
#include "fuzz/fuzz.h"
#include "graph/graph.h"

using namespace hf;

namespace {

// A folder of this process that goes with it: the reader takes a file, and external data must lie beside it.
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("hf-fuzz-onnx-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace

// What is read is a sound graph that can be shown, with weights as long as their shapes say.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const std::filesystem::path file = folder.path / "model.onnx";
  std::ofstream(file, std::ios::binary) << fuzz::text_of(data, size);
  return fuzz::only_errors([&] {
    const Model model = onnx::read(file);
    check(model.parts.at(0).graph);
    dump(model.parts[0].graph);
    for (const std::string& name : model.checkpoint->names()) {
      const TensorInfo info = model.checkpoint->info(name);
      const auto bytes = static_cast<std::size_t>(elements(info.shape)) * size_of(info.dtype);
      fuzz::require(model.checkpoint->view(name).bytes.size() == bytes, "a weight of another length");
    }
  });
}
