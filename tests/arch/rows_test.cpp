// Every row with every head, on made-up weights: nothing here names an architecture, so a new row is tested
// as soon as it stands in the table.
#include <doctest/doctest.h>

#include <set>

#include "support/made_up.h"

namespace hf::test {
namespace {

template <class F>
void for_each_row_and_head(F&& f) {
  for (const Architecture& row : architectures()) {
    for (const std::string_view head : row.heads) {
      CAPTURE(row.model_type);
      CAPTURE(head);
      f(row, head);
    }
  }
}

}  // namespace

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

}  // namespace hf::test
