#include "checkpoint/checkpoint.h"

#include <doctest/doctest.h>

#include "support/error_of.h"

namespace hf::test {
namespace {

TensorMap counting() {
  Tensor t(DType::f32, {2, 3});
  for (std::size_t i = 0; i < 6; ++i) t.as<float>()[i] = static_cast<float>(i);
  TensorMap map;
  map.add("b", std::move(t));
  map.add("a", Tensor::scalar(std::int64_t{7}));
  return map;
}

}  // namespace

TEST_CASE("tensors in memory are found by name, in order") {
  const TensorMap map = counting();
  CHECK(map.names() == std::vector<std::string>{"a", "b"});
  CHECK(map.info("b").shape == Sizes{2, 3});
  CHECK(map.info("a").dtype == DType::i64);
  CHECK_FALSE(map.has("c"));
  CHECK(error_of([&] { map.view("c"); }) == ErrorKind::not_found);
}

TEST_CASE("a tensor that is added again replaces the first") {
  TensorMap map = counting();
  map.add("a", Tensor::scalar(std::int64_t{8}));
  CHECK(map.view("a").as<std::int64_t>()[0] == 8);
}

TEST_CASE("a reference is found by its name, else by the first alias that is there") {
  const TensorMap map = counting();
  CHECK(find_name(map, {"a", {"b"}, {}}) == "a");
  CHECK(find_name(map, {"x", {"y", "b", "a"}, {}}) == "b");
  CHECK(find_name(map, {"x", {"y"}, {}}).empty());
}

TEST_CASE("a weight is loaded through its view, in the dtype that is asked for") {
  const TensorMap map = counting();
  const Tensor column = load(map, {"x", {"b"}, View{{}, {{1, 1, 2}}, {1, 0}}}, DType::f64);
  CHECK(column.shape() == Sizes{1, 2});
  CHECK(column.as<double>()[0] == 1);
  CHECK(column.as<double>()[1] == 4);
}

TEST_CASE("a view that the stored shape does not have is refused with file and tensor") {
  const TensorMap map = counting();
  const Caught c = error_of([&] { load(map, {"b", {}, View{{}, {{1, 2, 9}}, {}}}, DType::f32); });
  CHECK(c == ErrorKind::integrity);
  CHECK_MESSAGE(c.says("tensors in memory: tensor \"b\": "), c.message);
}

}  // namespace hf::test
