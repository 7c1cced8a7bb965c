// Every row with every head, on made-up weights: nothing here names an architecture, so a new row is tested
// as soon as it stands in the table.
#include "arch/rows.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

namespace hf::test {

TEST_CASE("every row builds a sound graph for every head, over exactly the weights that it names") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Config config = tiny_config(row, head);
    for (const bool all : {false, true}) {
      const Graph graph = build_graph(config, {{}, all});
      CHECK_NOTHROW(check(graph));
      const auto weights = std::make_shared<TensorMap>(made_up_weights(graph));
      const Model model = make_model(config, weights, {{}, all});
      CHECK(model.task == task_of(head));
      CHECK(model.class_name == std::string(row.class_prefix) + std::string(head));
      CHECK(unexpected_names(model).empty());
    }
  });
}

TEST_CASE("made-up weights follow from names and seed") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph graph = build_graph(tiny_config(row, head), {});
    const TensorMap first = made_up_weights(graph, 1), again = made_up_weights(graph, 1),
                    other = made_up_weights(graph, 2);
    REQUIRE(first.names() == again.names());
    bool differs = false;
    for (const std::string& name : first.names()) {
      const auto a = first.view(name).as<float>(), b = again.view(name).as<float>(),
                 c = other.view(name).as<float>();
      CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
      differs = differs || !std::equal(a.begin(), a.end(), c.begin(), c.end());
    }
    CHECK(differs);
  });
}

TEST_CASE("made-up inputs are ids, masks and positions of the sizes that are asked for") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph graph = build_graph(tiny_config(row, head), {});
    const Symbols symbols{{"batch_size", 2}, {"sequence_length", 5}, {"num_choices", 3}};
    std::vector<Sizes> sizes;
    for (const Tensor& t : made_up_inputs(graph, symbols)) sizes.push_back(t.shape());
    for (const auto& [name, value] : match_inputs(graph, sizes)) CHECK(value == symbols.at(name));
  });
}

TEST_CASE("building twice gives the same graph, byte for byte") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Config config = tiny_config(row, head);
    CHECK(dump(build_graph(config, {{}, true})) == dump(build_graph(config, {{}, true})));
  });
}

TEST_CASE("every graph binds, comes apart and is planned") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph graph = build_graph(tiny_config(row, head), {{}, true});
    const Graph bound =
        bind_symbols(decompose(graph), {{"batch_size", 2}, {"sequence_length", 5}, {"num_choices", 3}});
    check(bound);
    const MemoryPlan plan = plan_memory(bound);
    CHECK(plan.bytes > 0);
    CHECK(plan.bytes < plan.unplanned);
  });
}

TEST_CASE("hidden states are observed before each layer and after the last") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph graph = build_graph(tiny_config(row, head), {});
    REQUIRE(graph.observed.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(graph.observed[i].name == "hidden_states." + std::to_string(i));
      CHECK(graph.shape(graph.observed[i].value).back() == Dim(TinySizes{}.hidden));
    }
  });
}

TEST_CASE("a sequence that the position table has no room for is the caller's error") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph graph = build_graph(tiny_config(row, head), {});
    const bool sliced = dump(graph).find("{axis 0 0:sequence_length}") != std::string::npos;
    if (!sliced) return;  // positions are looked up by number, out of range like any id
    const Symbols longest{{"batch_size", 1}, {"sequence_length", 40}, {"num_choices", 1}},
        longer{{"batch_size", 1}, {"sequence_length", 41}, {"num_choices", 1}};
    CHECK_NOTHROW(bind_symbols(graph, longest));
    const Caught c = error_of([&] { bind_symbols(graph, longer); });
    CHECK(c == ErrorKind::usage);
    CHECK_MESSAGE(c.says("sequence_length 41"), c.message);
    CHECK_MESSAGE((c.says("position_embeddings: ") || c.says("wpe: ")), c.message);
    CHECK_MESSAGE(c.says("not within an axis of size 40"), c.message);
  });
}

TEST_CASE("a head has the task of its name") {
  for_each_row_and_head(
      [](const Architecture&, std::string_view head) { CHECK_FALSE(task_of(head).empty()); });
  CHECK(task_of("ForMaskedLM") == "fill-mask");
  CHECK(task_of("Model") == "feature-extraction");
  CHECK(task_of("ForImageClassification").empty());
}

}  // namespace hf::test
