// Inputs and outputs by name and axes, as optimum writes them: their names are the whole compatibility.
#include <doctest/doctest.h>

#include <set>

#include "arch/rows.h"

namespace hf::test {
namespace {

std::string listed(const Graph& graph, const std::vector<std::pair<std::string, Value>>& values) {
  std::string out;
  for (const auto& [name, v] : values)
    out += (out.empty() ? "" : " ") + name + ":" + std::string(name_of(graph.type(v).dtype)) +
           to_string(graph.shape(v));
  return out;
}

std::string inputs_of(const Graph& graph) {
  std::vector<std::pair<std::string, Value>> values;
  for (const Value v : graph.inputs) values.emplace_back(graph.input_name(v), v);
  return listed(graph, values);
}

std::string outputs_of(const Graph& graph) {
  std::vector<std::pair<std::string, Value>> values;
  for (const Named& n : graph.outputs) values.emplace_back(n.name, n.value);
  return listed(graph, values);
}

struct HeadRow {
  std::string_view head, outputs;
};
// Sizes of the tiny config: 48 wide, 96 words, 3 labels.
constexpr HeadRow kOutputs[] = {
    {"Model", "last_hidden_state:fp32[batch_size, sequence_length, 48]"},
    {"ForMaskedLM", "logits:fp32[batch_size, sequence_length, 96]"},
    {"LMHeadModel", "logits:fp32[batch_size, sequence_length, 96]"},
    {"ForSequenceClassification", "logits:fp32[batch_size, 3]"},
    {"ForTokenClassification", "logits:fp32[batch_size, sequence_length, 3]"},
    {"ForQuestionAnswering",
     "start_logits:fp32[batch_size, sequence_length] end_logits:fp32[batch_size, sequence_length]"},
    {"ForNextSentencePrediction", "logits:fp32[batch_size, 2]"},
    {"ForMultipleChoice", "logits:fp32[batch_size, num_choices]"},
};

}  // namespace

TEST_CASE("outputs are named and shaped as transformers and optimum have them") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const Graph graph = build_graph(tiny_config(row, head), {});
    if (head == "ForPreTraining") return;  // each class has its own
    const auto* expected = std::find_if(std::begin(kOutputs), std::end(kOutputs),
                                        [&](const HeadRow& r) { return r.head == head; });
    REQUIRE(expected != std::end(kOutputs));
    CHECK(outputs_of(graph) == expected->outputs);
  });
}

TEST_CASE("pretraining has the outputs of its class") {
  const std::string words = "prediction_logits:fp32[batch_size, sequence_length, 96] ";
  const auto outputs = [](std::string_view type) { return outputs_of(tiny_graph(type, "ForPreTraining")); };
  CHECK(outputs("bert") == words + "seq_relationship_logits:fp32[batch_size, 2]");
  CHECK(outputs("albert") == words + "sop_logits:fp32[batch_size, 3]");
  CHECK(outputs("electra") == "logits:fp32[batch_size, sequence_length]");
}

TEST_CASE("inputs stand in the order of the forward call, with the axes' names") {
  // Which of them a class has is held by its fixture, and here for those that optimum lists.
  const std::set<std::string_view> typed{"albert", "bert", "electra"},
      untyped{"camembert", "distilbert", "gpt2", "roberta", "xlm-roberta"};
  for_each_row_and_head([&](const Architecture& row, std::string_view head) {
    const std::string axes = head == "ForMultipleChoice" ? ":int64[batch_size, num_choices, sequence_length]"
                                                         : ":int64[batch_size, sequence_length]";
    const std::string got = inputs_of(build_graph(tiny_config(row, head), {}));
    const std::string ids = "input_ids" + axes + " attention_mask" + axes;
    CHECK(got.starts_with(ids));
    if (typed.contains(row.model_type)) CHECK(got == ids + " token_type_ids" + axes);
    const bool placed = row.model_type == "gpt2" && (head == "LMHeadModel" || head == "Model");
    if (untyped.contains(row.model_type)) CHECK(got == ids + (placed ? " position_ids" + axes : ""));
  });
}

TEST_CASE("the outputs that optimum drops come when they are asked for, behind the others") {
  const std::string pooled = " pooler_output:fp32[batch_size, 48]";
  const std::set<std::string_view> poolers{"albert", "bert", "camembert", "roberta", "xlm-roberta"};
  for_each_row_and_head([&](const Architecture& row, std::string_view head) {
    const std::string usual = outputs_of(build_graph(tiny_config(row, head), {{}, false}));
    const bool pools = head == "Model" && poolers.contains(row.model_type);
    CHECK(outputs_of(build_graph(tiny_config(row, head), {{}, true})) == usual + (pools ? pooled : ""));
  });
}

}  // namespace hf::test
