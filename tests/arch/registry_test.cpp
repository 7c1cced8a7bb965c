#include <doctest/doctest.h>

#include <set>

#include "arch/rows.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

Choice chosen(std::string_view json, std::string_view task = {}) {
  return choose(Config::parse(json, "m/config.json"), task);
}

void check_choice(const Choice& c, std::string_view type, std::string_view head, std::string_view task) {
  REQUIRE(c.architecture != nullptr);
  CHECK(c.architecture->model_type == type);
  CHECK(c.request.head == head);
  CHECK(c.request.task == task);
}

void check_refused(std::string_view json, std::string_view task, ErrorKind kind, std::string_view sentence) {
  const Caught c = error_of([&] { chosen(json, task); });
  CHECK(c == kind);
  CHECK_MESSAGE(c.says("m/config.json: "), c.message);
  CHECK_MESSAGE(c.says(sentence), c.message);
}

}  // namespace

TEST_CASE("rows have types, class prefixes and tasks of their own") {
  std::set<std::string_view> types, prefixes;
  for (const Architecture& row : architectures()) {
    CHECK(types.insert(row.model_type).second);
    CHECK(prefixes.insert(row.class_prefix).second);
    CHECK_FALSE(row.help.empty());
    CHECK((row.build != nullptr));
    CHECK_FALSE(row.heads.empty());
    std::set<std::string_view> tasks;  // so that a task chooses one head
    for (const std::string_view head : row.heads) CHECK(tasks.insert(task_of(head)).second);
  }
}

TEST_CASE("the class decides the head") {
  for_each_row_and_head([](const Architecture& row, std::string_view head) {
    const std::string name = std::string(row.class_prefix) + std::string(head);
    const std::string type = std::string(row.model_type);
    check_choice(chosen("{\"architectures\":[\"" + name + "\"],\"model_type\":\"" + type + "\"}"), type, head,
                 task_of(head));
    check_choice(chosen("{\"architectures\":[\"" + name + "\",\"Other\"]}"), type, head, task_of(head));
  });
}

TEST_CASE("a type alone means the base model, or the head of the task") {
  check_choice(chosen(R"({"model_type":"bert"})"), "bert", "Model", "feature-extraction");
  check_choice(chosen(R"({"model_type":"bert","architectures":null})"), "bert", "Model",
               "feature-extraction");
  check_choice(chosen(R"({"model_type":"gpt2","architectures":[]})", "text-generation"), "gpt2",
               "LMHeadModel", "text-generation");
}

TEST_CASE("a task that is asked for wins over the class's head") {
  check_choice(chosen(R"({"architectures":["BertForMaskedLM"],"model_type":"bert"})", "feature-extraction"),
               "bert", "Model", "feature-extraction");
  // A class that is not supported, of a type that is.
  check_choice(chosen(R"({"architectures":["BertLMHeadModel"],"model_type":"bert"})", "fill-mask"), "bert",
               "ForMaskedLM", "fill-mask");
}

TEST_CASE("where type and class disagree the type decides, with the class's head") {
  check_choice(chosen(R"({"architectures":["RobertaForMaskedLM"],"model_type":"camembert"})"), "camembert",
               "ForMaskedLM", "fill-mask");
  check_refused(R"({"architectures":["BertForPreTraining"],"model_type":"roberta"})", "",
                ErrorKind::unsupported, "class \"BertForPreTraining\" is not supported");
}

TEST_CASE("a type that is not known is refused even where the class is known") {
  check_refused(R"({"architectures":["BertForMaskedLM"],"model_type":"megatron-bert"})", "",
                ErrorKind::unsupported, "model type \"megatron-bert\" is not supported; the nearest are ");
  check_refused(R"({"architectures":["BertForMaskedLM"],"model_type":"megatron-bert"})", "fill-mask",
                ErrorKind::unsupported, "model type \"megatron-bert\" is not supported");
}

TEST_CASE("a class that is not known is refused with the nearest ones") {
  check_refused(R"({"architectures":["BertForMaskedLm"],"model_type":"bert"})", "", ErrorKind::unsupported,
                "class \"BertForMaskedLm\" is not supported; the nearest are BertForMaskedLM, ");
  check_refused(R"({"architectures":["LlamaForCausalLM"],"model_type":"llama"})", "", ErrorKind::unsupported,
                "class \"LlamaForCausalLM\" is not supported; the nearest are ");
  check_refused(R"({"architectures":["LlamaForCausalLM"]})", "text-generation", ErrorKind::unsupported,
                "class \"LlamaForCausalLM\" is not supported");
}

TEST_CASE("a type that is not known is refused with the nearest ones") {
  check_refused(R"({"model_type":"distillbert"})", "", ErrorKind::unsupported,
                "model type \"distillbert\" is not supported; the nearest are distilbert, ");
}

TEST_CASE("a task that the architecture lacks is refused with those that it has") {
  check_refused(R"({"model_type":"roberta"})", "next-sentence-prediction", ErrorKind::unsupported,
                "roberta has no task \"next-sentence-prediction\", one of feature-extraction, fill-mask, "
                "text-classification, token-classification, question-answering, multiple-choice is expected");
  check_refused(R"({"model_type":"bert"})", "fly\x1b", ErrorKind::unsupported, "has no task \"fly\\x1b\"");
}

TEST_CASE("a config that names neither class nor type is refused") {
  check_refused("{}", "", ErrorKind::integrity, "has neither \"architectures\" nor \"model_type\"");
  check_refused(R"({"architectures":[]})", "fill-mask", ErrorKind::integrity, "has neither");
}

TEST_CASE("names of another type, hostile or endless ones are refused") {
  check_refused(R"({"architectures":"BertModel"})", "", ErrorKind::integrity, "a list of texts is expected");
  check_refused(R"({"model_type":1})", "", ErrorKind::integrity, "a text is expected");
  check_refused(R"({"architectures":["\u001b[2J"]})", "", ErrorKind::unsupported, "class \"\\x1b[2J\"");
  const Caught c = error_of([] { chosen("{\"architectures\":[\"" + std::string(1'000'000, 'x') + "\"]}"); });
  CHECK(c == ErrorKind::unsupported);
  CHECK(c.message.size() < 500);
}

}  // namespace hf::test
