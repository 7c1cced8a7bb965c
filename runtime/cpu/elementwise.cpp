#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/cpu/dispatch.h"
#include "runtime/cpu/kernels.h"
#include "runtime/cpu/walk.h"

namespace hf::runtime::cpu {
namespace {

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T>;

// Integers wrap around, as they do in every framework, instead of being undefined.
template <class T, class F>
T wrapped(T a, T b, F f) {
  if constexpr (is_integer<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

template <class T, class F>
void map(const Call& call, F f) {
  const T* x = call.input<T>(0);
  T* y = call.output<T>();
  for_rows(call, call.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
  });
}

template <class T>
void float_unary(Unary::Kind kind, const Call& call) {
  switch (kind) {
    case Unary::exp:
      return map<T>(call, [](T x) { return std::exp(x); });
    case Unary::log:
      return map<T>(call, [](T x) { return std::log(x); });
    case Unary::sqrt:
      return map<T>(call, [](T x) { return std::sqrt(x); });
    case Unary::reciprocal:
      return map<T>(call, [](T x) { return T(1) / x; });
    case Unary::erf:
      return map<T>(call, [](T x) { return std::erf(x); });
    case Unary::tanh:
      return map<T>(call, [](T x) { return std::tanh(x); });
    case Unary::sigmoid:
      return map<T>(call, [](T x) { return T(1) / (T(1) + std::exp(-x)); });
    case Unary::relu:  // a NaN stays one
      return map<T>(call, [](T x) { return x <= T(0) ? T(0) : x; });
    case Unary::sin:
      return map<T>(call, [](T x) { return std::sin(x); });
    case Unary::cos:
      return map<T>(call, [](T x) { return std::cos(x); });
    default:
      throw Error(ErrorKind::internal, subject(call) + ": no unary of floats");
  }
}

// A call f(out, a, a_step, b, b_step, count) for each run of elements that both inputs walk evenly.
template <class In, class Out, class F>
void zip(const Call& call, F f) {
  const Walk<2> w = walk<2>(call.out.shape, {&call.in[0].shape, &call.in[1].shape});
  const In *a = call.input<In>(0), *b = call.input<In>(1);
  Out* y = call.output<Out>();
  const std::int64_t a_step = w.strides[0].back(), b_step = w.strides[1].back();
  for_rows(call, call.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    for_pieces(w, begin, end, [&](std::int64_t at, const std::int64_t* offsets, std::int64_t count) {
      const In *x = a + offsets[0], *z = b + offsets[1];
      Out* out = y + at;
      if (a_step == 1 && b_step == 1)  // the loops that the compiler makes vectors of
        for (std::int64_t i = 0; i < count; ++i) out[i] = f(x[i], z[i]);
      else if (a_step == 1 && b_step == 0)
        for (std::int64_t i = 0; i < count; ++i) out[i] = f(x[i], *z);
      else
        for (std::int64_t i = 0; i < count; ++i) out[i] = f(x[i * a_step], z[i * b_step]);
    });
  });
}

// Rounds towards zero, as C++ and ONNX do.
template <class T>
void divide(const Call& call) {
  if constexpr (!is_integer<T>) return zip<T, T>(call, [](T a, T b) { return a / b; });
  zip<T, T>(call, [&](T a, T b) {
    if (b == 0) throw Error(ErrorKind::usage, subject(call) + ": an integer is divided by zero");
    if constexpr (is_integer<T>) {
      if (b == T(-1)) return wrapped(T(0), a, std::minus<>());
    }
    return static_cast<T>(a / b);
  });
}

template <class T>
void arithmetic(Binary::Kind kind, const Call& call) {
  switch (kind) {
    case Binary::add:
      return zip<T, T>(call, [](T a, T b) { return wrapped(a, b, std::plus<>()); });
    case Binary::subtract:
      return zip<T, T>(call, [](T a, T b) { return wrapped(a, b, std::minus<>()); });
    case Binary::multiply:
      return zip<T, T>(call, [](T a, T b) { return wrapped(a, b, std::multiplies<>()); });
    case Binary::divide:
      return divide<T>(call);
    case Binary::power:
      if constexpr (is_integer<T>)
        throw Error(ErrorKind::unsupported, subject(call) + " has no CPU kernel for the power of integers");
      else
        return zip<T, T>(call, [](T a, T b) { return std::pow(a, b); });
    case Binary::minimum:  // a NaN stays one
      return zip<T, T>(call, [](T a, T b) { return a < b || a != a ? a : b; });
    case Binary::maximum:
      return zip<T, T>(call, [](T a, T b) { return a > b || a != a ? a : b; });
    default:
      throw Error(ErrorKind::internal, subject(call) + ": no arithmetic");
  }
}

template <class T>
void compare(Compare::Kind kind, const Call& call) {
  switch (kind) {
    case Compare::equal:
      return zip<T, bool>(call, [](T a, T b) { return a == b; });
    case Compare::less:
      return zip<T, bool>(call, [](T a, T b) { return a < b; });
    case Compare::less_or_equal:
      return zip<T, bool>(call, [](T a, T b) { return a <= b; });
    case Compare::greater:
      return zip<T, bool>(call, [](T a, T b) { return a > b; });
    case Compare::greater_or_equal:
      return zip<T, bool>(call, [](T a, T b) { return a >= b; });
  }
}

}  // namespace

void run(const Unary& op, const Call& call) {
  switch (op.kind) {
    case Unary::logical_not:
      return with_type<bool>(call, call.out.dtype, [&](bool) { map<bool>(call, [](bool x) { return !x; }); });
    case Unary::negate:
      return with_type<float, double, std::int64_t, std::int32_t>(call, call.out.dtype, [&]<class T>(T) {
        map<T>(call, [](T x) {
          if constexpr (is_integer<T>)
            return wrapped(T(0), x, std::minus<>());
          else
            return -x;
        });
      });
    case Unary::absolute:
      return with_type<float, double, std::int64_t, std::int32_t>(call, call.out.dtype, [&]<class T>(T) {
        map<T>(call, [](T x) {
          if constexpr (is_integer<T>)
            return x < 0 ? wrapped(T(0), x, std::minus<>()) : x;
          else
            return std::fabs(x);
        });
      });
    default:
      return with_type<float, double>(call, call.out.dtype,
                                      [&]<class T>(T) { float_unary<T>(op.kind, call); });
  }
}

void run(const Binary& op, const Call& call) {
  if (op.kind == Binary::logical_and || op.kind == Binary::logical_or)
    return with_type<bool>(call, call.out.dtype, [&](bool) {
      if (op.kind == Binary::logical_and)
        zip<bool, bool>(call, [](bool a, bool b) { return a && b; });
      else
        zip<bool, bool>(call, [](bool a, bool b) { return a || b; });
    });
  with_type<float, double, std::int64_t, std::int32_t>(call, call.out.dtype,
                                                       [&]<class T>(T) { arithmetic<T>(op.kind, call); });
}

void run(const Compare& op, const Call& call) {
  with_type<float, double, std::int64_t, std::int32_t, bool>(call, call.in[0].dtype,
                                                             [&]<class T>(T) { compare<T>(op.kind, call); });
}

void run(const Where&, const Call& call) {
  const Walk<3> w = walk<3>(call.out.shape, {&call.in[0].shape, &call.in[1].shape, &call.in[2].shape});
  const std::int64_t step[3] = {w.strides[0].back(), w.strides[1].back(), w.strides[2].back()};
  with_width(call.out.dtype, [&]<class T>(T) {
    for_rows(call, call.size(), 1, [&](std::int64_t begin, std::int64_t end) {
      for_pieces(w, begin, end, [&](std::int64_t at, const std::int64_t* offsets, std::int64_t count) {
        const bool* condition = call.input<bool>(0) + offsets[0];
        const T *then = call.input<T>(1) + offsets[1], *otherwise = call.input<T>(2) + offsets[2];
        T* out = call.output<T>() + at;
        for (std::int64_t i = 0; i < count; ++i)
          out[i] = condition[i * step[0]] ? then[i * step[1]] : otherwise[i * step[2]];
      });
    });
  });
}

void run(const Cast&, const Call& call) {
  const std::size_t from = size_of(call.in[0].dtype), to = size_of(call.out.dtype);
  for_rows(call, call.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
    convert({call.input<std::byte>(0) + first * from, count * from}, call.in[0].dtype,
            {call.output<std::byte>() + first * to, count * to}, call.out.dtype);
  });
}

}  // namespace hf::runtime::cpu
