#include "arch/arch.h"
#include "fuzz/fuzz.h"

using namespace hf;

// A config is refused with a sentence, or gives a sound graph. Deep ones are left out: they only cost time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  return fuzz::only_errors([&] {
    const Config config = Config::parse(text, "input");
    config.num_labels();
    for (const char* layers : {"num_hidden_layers", "n_layer", "n_layers", "inner_group_num"})
      if (config.integer(layers, 0) > 3) return;
    const bool layered = config.has("num_hidden_layers") || config.has("n_layer") || config.has("n_layers");
    choose(config, "");
    if (!layered) return;  // the class's own number of layers
    const Graph graph = build_graph(config, {{}, true});
    check(graph);
    check(decompose(graph));
    fuzz::require(!dump(graph).empty(), "an empty graph");
  });
}
