#include "graph/op.h"

#include <doctest/doctest.h>

#include <set>

namespace hf::test {
namespace {

template <std::size_t... I>
std::set<std::string_view> names(std::index_sequence<I...>) {
  return {name_of(Op{std::variant_alternative_t<I, Op>{}})...};
}

}  // namespace

TEST_CASE("every op has a name of its own, the struct's") {
  CHECK(names(std::make_index_sequence<std::variant_size_v<Op>>()).size() == std::variant_size_v<Op>);
  CHECK(name_of(Op{Input{}}) == "Input");
  CHECK(name_of(Op{AllGather{}}) == "AllGather");
  CHECK(name_of(Op{Attention{}}) == "Attention");
}

TEST_CASE("every kind has its enumerator's name") {
  CHECK(name_of(Unary::negate) == "negate");
  CHECK(name_of(Unary::logical_not) == "logical_not");
  CHECK(name_of(Binary::add) == "add");
  CHECK(name_of(Binary::logical_or) == "logical_or");
  CHECK(name_of(Compare::equal) == "equal");
  CHECK(name_of(Compare::greater_or_equal) == "greater_or_equal");
  CHECK(name_of(Reduce::sum) == "sum");
  CHECK(name_of(Reduce::minimum) == "minimum");
}

TEST_CASE("composites are told from sources and primitives") {
  CHECK(composite(Linear{}));
  CHECK(composite(Attention{}));
  CHECK_FALSE(composite(MatMul{}));
  CHECK_FALSE(composite(Weight{}));
  static_assert(is_source<Size> && !is_source<Range>);
}

}  // namespace hf::test
