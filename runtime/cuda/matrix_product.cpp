// cuBLASLt counts matrices by columns: a row-major y = a b is to it yᵀ = bᵀ aᵀ, so b is its first factor and
// n the number of rows, along which its bias epilogue adds.
#include "runtime/cuda/matrix_product.h"

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/cuda/status.cuh"

namespace hf::runtime::cuda {
namespace {

template <class Handle, cublasStatus_t (*destroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  Owned() = default;
  Owned(Owned&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Owned() {
    if (handle != nullptr) destroy(handle);
  }
};
using Library = Owned<cublasLtHandle_t, cublasLtDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

struct Precision {
  DType dtype;
  cudaDataType_t stored;
  cublasComputeType_t compute;
};
// "Pedantic" leaves out every reduced-precision short cut for fp32, TF32 among them.
constexpr Precision kPrecisions[] = {{DType::f32, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC},
                                     {DType::f16, CUDA_R_16F, CUBLAS_COMPUTE_32F},
                                     {DType::bf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F}};

const Precision* precision_of(DType dtype) {
  for (const Precision& p : kPrecisions)
    if (p.dtype == dtype) return &p;
  return nullptr;
}

template <class V>
void set(const Description& d, cublasLtMatmulDescAttributes_t name, const V& value) {
  check(cublasLtMatmulDescSetAttribute(d.handle, name, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}
template <class V>
void set(const Layout& l, cublasLtMatrixLayoutAttribute_t name, const V& value) {
  check(cublasLtMatrixLayoutSetAttribute(l.handle, name, &value, sizeof value),
        "cublasLtMatrixLayoutSetAttribute");
}
template <class V>
void set(const Preference& p, cublasLtMatmulPreferenceAttributes_t name, const V& value) {
  check(cublasLtMatmulPreferenceSetAttribute(p.handle, name, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
}

// A matrix of `columns` columns that lie one behind the other.
Layout layout_of(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t batch,
                 std::int64_t stride) {
  Layout layout;
  check(cublasLtMatrixLayoutCreate(&layout.handle, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  if (batch > 1) {
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  return layout;
}

// What cuBLASLt may count on: it takes 256 bytes for granted unless told.
std::uint32_t alignment_of(const void* data) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) alignment /= 2;
  return alignment;
}

struct Alignments {
  std::uint32_t a, b, y, bias;
  auto operator<=>(const Alignments&) const = default;
};

struct Plan {
  Description description;
  Layout first, second, result;
  cublasLtMatmulAlgo_t algorithm;
};

}  // namespace

struct MatrixProducts::Impl {
  using Key = std::tuple<Product, Alignments, std::size_t>;
  Library library;
  std::map<Key, std::optional<Plan>> plans;  // without a value: there is no algorithm

  std::optional<Plan> make_plan(const Product& p, const Precision& precision, const Alignments& aligned,
                                const void* bias, std::size_t workspace_bytes) const;
};

std::optional<Plan> MatrixProducts::Impl::make_plan(const Product& p, const Precision& precision,
                                                    const Alignments& aligned, const void* bias,
                                                    std::size_t workspace_bytes) const {
  Plan plan;
  check(cublasLtMatmulDescCreate(&plan.description.handle, precision.compute, CUDA_R_32F),
        "cublasLtMatmulDescCreate");
  set(plan.description, CUBLASLT_MATMUL_DESC_TRANSA, p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (p.has_bias) {
    set(plan.description, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(plan.description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  plan.first = layout_of(precision.stored, p.b_transposed ? p.k : p.n, p.b_transposed ? p.n : p.k, p.batch,
                         p.b_stride);
  plan.second = layout_of(precision.stored, p.k, p.m, p.batch, p.a_stride);
  plan.result = layout_of(precision.stored, p.n, p.m, p.batch, p.y_stride);

  Preference preference;
  check(cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned.b);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned.a);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned.y);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned.y);
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      library.handle, plan.description.handle, plan.first.handle, plan.second.handle, plan.result.handle,
      plan.result.handle, preference.handle, 1, &found, &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
  plan.algorithm = found.algo;
  return plan;
}

MatrixProducts::MatrixProducts() : impl_(std::make_unique<Impl>()) {
  check(cublasLtCreate(&impl_->library.handle), "cublasLtCreate");
}
MatrixProducts::~MatrixProducts() = default;

bool MatrixProducts::run(Stream stream, const Product& p, const void* a, const void* b, const void* bias,
                         void* y, Workspace workspace) {
  const Precision* precision = precision_of(p.dtype);
  if (precision == nullptr) return false;
  const Alignments aligned{alignment_of(a), alignment_of(b), alignment_of(y), alignment_of(bias)};
  const Impl::Key key{p, aligned, workspace.bytes};
  auto known = impl_->plans.find(key);
  if (known == impl_->plans.end())
    known = impl_->plans.emplace(key, impl_->make_plan(p, *precision, aligned, bias, workspace.bytes)).first;
  if (!known->second) return false;
  const Plan& plan = *known->second;
  if (p.has_bias) set(plan.description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float one = 1, zero = 0;
  check(cublasLtMatmul(impl_->library.handle, plan.description.handle, &one, b, plan.first.handle, a,
                       plan.second.handle, &zero, y, plan.result.handle, y, plan.result.handle,
                       &plan.algorithm, workspace.data, workspace.bytes, stream),
        "cublasLtMatmul");
  return true;
}

}  // namespace hf::runtime::cuda
