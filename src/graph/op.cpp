#include "graph/op.h"

namespace hf {
namespace {

// In the order of the variant.
constexpr std::string_view kNames[] = {
    "Input",  "Weight", "Constant",  "Size",      "Unary",  "Binary",    "Compare",   "Where",   "Cast",
    "MatMul", "Reduce", "ArgMax",    "CumSum",    "Gather", "Reshape",   "Transpose", "Slice",   "Concat",
    "Expand", "Range",  "AllReduce", "AllGather", "Linear", "LayerNorm", "Gelu",      "Softmax", "Attention"};
static_assert(std::size(kNames) == std::variant_size_v<Op>);

constexpr std::string_view kUnary[] = {"negate", "absolute", "exp",  "log", "sqrt", "reciprocal", "erf",
                                       "tanh",   "sigmoid",  "relu", "sin", "cos",  "logical_not"};
constexpr std::string_view kBinary[] = {"add",     "subtract", "multiply",    "divide",    "power",
                                        "minimum", "maximum",  "logical_and", "logical_or"};
constexpr std::string_view kCompare[] = {"equal", "less", "less_or_equal", "greater", "greater_or_equal"};
constexpr std::string_view kReduce[] = {"sum", "mean", "maximum", "minimum"};

}  // namespace

std::string_view name_of(const Op& op) { return kNames[op.index()]; }
std::string_view name_of(Unary::Kind kind) { return kUnary[kind]; }
std::string_view name_of(Binary::Kind kind) { return kBinary[kind]; }
std::string_view name_of(Compare::Kind kind) { return kCompare[kind]; }
std::string_view name_of(Reduce::Kind kind) { return kReduce[kind]; }

bool composite(const Op& op) {
  return std::visit([](const auto& o) { return is_composite<std::decay_t<decltype(o)>>; }, op);
}

}  // namespace hf
