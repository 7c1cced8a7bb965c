#include <doctest/doctest.h>

#include "checkpoint/checkpoint.h"
#include "support/error_of.h"

namespace hf::test {
namespace {

// A tensor of one element that is its name's place in the list.
std::shared_ptr<const Checkpoint> named(std::initializer_list<const char*> names) {
  auto tensors = std::make_shared<TensorMap>();
  float place = 0;
  for (const char* name : names) {
    Tensor t = Tensor::scalar(place);
    place += 1;
    tensors->add(name, std::move(t));
  }
  return tensors;
}

float value(const Checkpoint& checkpoint, std::string_view name) {
  return checkpoint.view(name).as<float>()[0];
}

}  // namespace

TEST_CASE("gamma and beta below LayerNorm are weight and bias") {
  const auto repaired =
      with_repaired_names(named({"bert.embeddings.LayerNorm.beta", "LayerNorm.gamma"}), "bert");
  CHECK(repaired->names() == std::vector<std::string>{"LayerNorm.weight", "bert.embeddings.LayerNorm.bias"});
  CHECK(value(*repaired, "bert.embeddings.LayerNorm.bias") == 0);
  CHECK(value(*repaired, "LayerNorm.weight") == 1);
  CHECK_FALSE(repaired->has("bert.embeddings.LayerNorm.beta"));
}

TEST_CASE("gamma and beta elsewhere keep their names") {
  const auto repaired = with_repaired_names(named({"layer.0.gamma", "norm.beta", "LayerNorm.gamma.x"}), "");
  CHECK(repaired->names() == std::vector<std::string>{"LayerNorm.gamma.x", "layer.0.gamma", "norm.beta"});
}

TEST_CASE("wrappers' prefixes go, however often and in whatever order") {
  const auto repaired =
      with_repaired_names(named({"module.a", "_orig_mod.b", "module._orig_mod.module.c.LayerNorm.gamma",
                                 "x.module.d", "modules.e"}),
                          "");
  CHECK(repaired->names() ==
        std::vector<std::string>{"a", "b", "c.LayerNorm.weight", "modules.e", "x.module.d"});
  CHECK(value(*repaired, "c.LayerNorm.weight") == 2);
}

TEST_CASE("a base model's file is found by the names of a model with a head") {
  const auto repaired = with_repaired_names(named({"embeddings.weight"}), "bert");
  CHECK(repaired->has("bert.embeddings.weight"));
  CHECK(repaired->info("bert.embeddings.weight").shape.empty());
  CHECK(value(*repaired, "bert.embeddings.weight") == 0);
}

TEST_CASE("the file of a model with a head is found by the base model's names") {
  const auto repaired =
      with_repaired_names(named({"module.bert.embeddings.weight", "classifier.bias"}), "bert");
  CHECK(value(*repaired, "embeddings.weight") == 0);
  CHECK(value(*repaired, "bert.embeddings.weight") == 0);
  CHECK(value(*repaired, "classifier.bias") == 1);
  CHECK_FALSE(repaired->has("bert.embeddings"));
  CHECK_FALSE(repaired->has("roberta.embeddings.weight"));
}

TEST_CASE("the name that is asked for wins over the one with another prefix") {
  const auto repaired = with_repaired_names(named({"bert.a", "a"}), "bert");
  CHECK(value(*repaired, "bert.a") == 0);
  CHECK(value(*repaired, "a") == 1);
}

TEST_CASE("without a base prefix a prefix is part of the name") {
  const auto repaired = with_repaired_names(named({"bert.a"}), "");
  CHECK_FALSE(repaired->has("a"));
}

TEST_CASE("two tensors that repair to one name are refused") {
  const std::initializer_list<const char*> rows[] = {
      {"LayerNorm.gamma", "LayerNorm.weight"}, {"module.a", "a"}, {"module.a\x1b", "_orig_mod.a\x1b"}};
  for (const auto& names : rows) {
    const Caught c = error_of([&] { with_repaired_names(named(names), ""); });
    CHECK(c == ErrorKind::integrity);
    CHECK_MESSAGE(c.says("are the same parameter"), c.message);
    CHECK_MESSAGE(c.says("tensors in memory: tensors \""), c.message);
    CHECK(c.message.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a name that is not there is said with the file") {
  const auto repaired = with_repaired_names(named({"a"}), "bert");
  for (const char* name : {"b", "bert.b", ""}) {
    const Caught c = error_of([&] { repaired->view(name); });
    CHECK(c == ErrorKind::not_found);
    CHECK_MESSAGE(c.says("tensors in memory: tensor \"" + std::string(name) + "\" is not there"), c.message);
  }
}

}  // namespace hf::test
