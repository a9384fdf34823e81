// SPDX-License-Identifier: Apache-2.0
//
// Is this gradient right? For any function of Eigen tensors, ours or not.
//
//   auto f   = [&](const auto& x, const auto& bias) { ... };
//                       tensors to a tensor, or to a number
//   auto vjp = [&](const Tensor& x, const Tensor& bias, const Tensor& g) {
//                       J^T g: one gradient for each argument
//     return std::make_tuple(dx, dbias); };
//   eigen_rope::GradientReport report = eigen_rope::check_gradient(f, vjp, std::tie(x, bias));
//   if (!report) std::cerr << report;
//
// The claimed J^T w is compared with numeric derivatives of f. There is no tolerance to choose:
// rounding in f, and in the claim, is measured at the point itself, and truncation follows from a
// second step, so the bound is as tight as f allows (about 1e-15 of the derivative by the complex
// step, 1e-9 by central differences). Not automatic differentiation: the numeric side costs
// evaluations of f, 4 for each element of x.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "eigen_rope/check/detail/flat_tensor.hpp"
#include "eigen_rope/check/detail/gradient_problem.hpp"
#include "eigen_rope/check/options.hpp"
#include "eigen_rope/check/report.hpp"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {

namespace detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

template <class T>
inline constexpr bool is_float_or_double =
    std::is_same_v<FlatScalar<T>, float> || std::is_same_v<FlatScalar<T>, double>;

template <class T>
inline constexpr double epsilon_of =
    static_cast<double>(std::numeric_limits<FlatScalar<T>>::epsilon());

/// Calls F with arguments X and takes its result, or the claimed gradients, apart. Refers to f and
/// x.
template <class F, class... X>
class FlatCall {
 public:
  using Result = Evaluated<std::invoke_result_t<const F&, const X&...>>;
  static_assert((is_float_or_double<X> && ...),
                "[rope] check_gradient takes tensors of float or double, and numbers");
  static_assert(is_float_or_double<Result>,
                "[rope] check_gradient needs f to return a tensor of float or double, or a number");

  FlatCall(const F& f, const GradientCheckOptions& options, const X&... x)
      : f_(f), arguments_{Flat<X>::array(x)...} {
    const std::vector<std::string> names = argument_names(options.names, sizeof...(X));
    (append_to(x_, x), ...);
    Index offset = 0;
    for (std::size_t k = 0; k < sizeof...(X); ++k) {
      arguments_[k].name = names[k];
      offsets_.push_back(offset);
      offset += arguments_[k].size();
    }
    output_ = Flat<Result>::array(evaluated(std::invoke(f, x...)));
    output_.name = "f";
  }

  const std::vector<FlatArray>& arguments() const { return arguments_; }
  const FlatArray& output() const { return output_; }
  const FlatValues& x() const { return x_; }

  /// f of tensors of types Y at entry(j), j counting through all of them; part() of each element of
  /// the result.
  template <class... Y, class Entry, class Part>
  FlatValues value(const Entry& entry, const Part& part) const {
    const auto result = with_arguments<Y...>(
        entry, [&](const Y&... y) { return evaluated(std::invoke(f_, y...)); });
    using R = Plain<decltype(result)>;
    require_extents("every result of f", output_.extents, Flat<R>::array(result).extents);
    FlatValues values;
    append_to(values, result, part);
    return values;
  }

  /// J^T w as `claim` has it: a function of x and w, a function of x, or the gradient itself.
  template <class Claim>
  FlatValues claimed(const Claim& claim, const FlatValues& x, const FlatValues& w) const {
    const auto entry = [&](Index j) { return x[static_cast<std::size_t>(j)]; };
    if constexpr (is_function_of_cotangent<Claim>) {
      using S = FlatScalar<Result>;
      const Result g = Flat<Result>::template filled<S>(
          output_, [&](Index i) { return static_cast<S>(w[static_cast<std::size_t>(i)]); });
      return with_arguments<X...>(
          entry, [&](const X&... at) { return flattened(std::invoke(claim, at..., g)); });
    } else {
      if (w.size() != 1)
        fail("a gradient without a cotangent g needs f to return one value",
             static_cast<std::int64_t>(w.size()));
      FlatValues gradient;
      if constexpr (is_value<Claim>) {
        gradient = flattened(claim);
      } else {
        gradient = with_arguments<X...>(
            entry, [&](const X&... at) { return flattened(std::invoke(claim, at...)); });
      }
      for (double& value : gradient) value *= w[0];
      return gradient;
    }
  }

 private:
  // Tensors have an operator() of their own.
  template <class Claim>
  static constexpr bool is_value =
      IsTensorExpression<Claim>::value || is_tuple<Claim> || std::is_arithmetic_v<Claim>;
  template <class Claim>
  static constexpr bool is_function_of_cotangent =
      !is_value<Claim> && std::is_invocable_v<const Claim&, const X&..., const Result&>;

  template <class... Y, class Entry, class Use>
  auto with_arguments(const Entry& entry, const Use& use) const {
    return with_arguments<Y...>(entry, use, std::index_sequence_for<Y...>());
  }
  template <class... Y, class Entry, class Use, std::size_t... k>
  auto with_arguments(const Entry& entry, const Use& use, std::index_sequence<k...>) const {
    return use(Flat<Y>::template filled<FlatScalar<Y>>(arguments_[k], [&](Index j) {
      return static_cast<FlatScalar<Y>>(entry(offsets_[k] + j));
    })...);
  }

  template <class Gradients>
  FlatValues flattened(const Gradients& gradients) const {
    FlatValues values;
    if constexpr (is_tuple<Gradients>) {
      static_assert(std::tuple_size_v<Gradients> == sizeof...(X),
                    "[rope] the claim must have one gradient for each argument");
      append_all(values, gradients, std::index_sequence_for<X...>());
    } else {
      static_assert(sizeof...(X) == 1,
                    "[rope] the gradients of several arguments are a std::tuple");
      append_gradient<0>(values, gradients);
    }
    return values;
  }
  template <class Gradients, std::size_t... k>
  void append_all(FlatValues& values, const Gradients& gradients, std::index_sequence<k...>) const {
    (append_gradient<k>(values, std::get<k>(gradients)), ...);
  }
  template <std::size_t k, class Gradient>
  void append_gradient(FlatValues& values, const Gradient& expression) const {
    using Argument = std::tuple_element_t<k, std::tuple<X...>>;
    const auto gradient = evaluated(expression);
    using G = Plain<decltype(gradient)>;
    static_assert(std::is_same_v<FlatWith<G, double>, FlatWith<Argument, double>>,
                  "[rope] a gradient must have its argument's rank, layout and index type");
    require_extents("the gradient of " + arguments_[k].name, arguments_[k].extents,
                    Flat<G>::array(gradient).extents);
    append_to(values, gradient);
  }

  const F& f_;
  std::vector<FlatArray> arguments_;
  std::vector<Index> offsets_;
  FlatArray output_;
  FlatValues x_;
};

/// Functions with one signature, not a template or several: asking whether those can be called with
/// another scalar is no use, as a tensor claims to convert to every other.
template <class F, class = void>
inline constexpr bool has_one_signature = std::is_function_v<std::remove_pointer_t<F>>;
template <class F>
inline constexpr bool has_one_signature<F, std::void_t<decltype(&F::operator())>> = true;

template <class F, class... Y>
inline constexpr bool also_takes =
    !has_one_signature<F> && std::is_invocable_v<const F&, const Y&...>;

/// Whether f takes complex tensors and returns them.
template <class F, class... X>
constexpr bool takes_complex() {
  if constexpr (also_takes<F, FlatWith<X, std::complex<double>>...>) {
    return is_complex<FlatScalar<
        Evaluated<std::invoke_result_t<const F&, const FlatWith<X, std::complex<double>>&...>>>>;
  } else {
    return false;
  }
}

template <class F, class Claim, class... X>
GradientReport check_typed_gradient(const F& f, const Claim& claim,
                                    const GradientCheckOptions& options, const X&... x) {
  using Call = FlatCall<F, X...>;
  const Call call(f, options, x...);
  GradientProblem problem{call.arguments(), call.output(), call.x(), {}, 0, {}, {}, 0};
  problem.claimed_epsilon = std::max({epsilon_of<X>..., epsilon_of<typename Call::Result>});
  problem.claimed = [&](const FlatValues& at, const FlatValues& w) {
    return call.claimed(claim, at, w);
  };

  const auto as_double = [](const auto& element) { return static_cast<double>(element); };
  problem.value_epsilon = problem.claimed_epsilon;
  problem.value = [&](const FlatValues& at) {
    return call.template value<X...>([&](Index j) { return at[static_cast<std::size_t>(j)]; },
                                     as_double);
  };
  if (options.precision == Precision::own)
    return run_gradient_check(problem, options, ProblemKind::differentiable);
  if constexpr ((!std::is_same_v<FlatScalar<X>, double> || ...) &&
                also_takes<F, FlatWith<X, double>...>) {
    problem.value_epsilon = std::numeric_limits<double>::epsilon();
    problem.value = [&](const FlatValues& at) {
      return call.template value<FlatWith<X, double>...>(
          [&](Index j) { return at[static_cast<std::size_t>(j)]; }, as_double);
    };
  }
  if constexpr (takes_complex<F, X...>()) {
    problem.directional = [&](const FlatValues& at, const FlatValues& v) {
      constexpr double step =
          0x1p-100;  // its square is nothing beside 1, and itself far from underflow
      return call.template value<FlatWith<X, std::complex<double>>...>(
          [&](Index j) {
            return std::complex<double>(at[static_cast<std::size_t>(j)],
                                        step * v[static_cast<std::size_t>(j)]);
          },
          [](const auto& element) { return static_cast<double>(element.imag()) / step; });
    };
  }
  return run_gradient_check(problem, options, ProblemKind::differentiable);
}

}  // namespace detail

/// Compares the gradient `claim` makes with numeric derivatives of `f` at `x`.
///
/// \param f      a function of the tensors and numbers in x; returns a tensor (expression) of any
///               rank, or a number. Called again and again with other values of the same shape, so
///               it must be a pure function
/// \param claim  (x..., g) -> J^T g with g as f's result; or, where f returns one value, (x...) ->
///               gradient, or the gradient itself. One gradient for each argument, in a std::tuple
///               where there are several
/// \param x      a tensor or number of float or double, or a std::tuple of them (std::tie), each of
///               any rank and layout
///
/// If f can be called with tensors of std::complex<double> (a lambda with `auto` for every
/// argument) its derivatives are taken by the complex step (Squire and Trapp 1998), and else by
/// central differences; its body must then compile for complex tensors. Write the arguments' types
/// instead of `auto` where it does not. A complex step that disagrees with a central difference
/// (abs(), conj(), comparisons) is dropped, and the report says so.
///
/// Bound, for the numeric side: central differences, with d(h), d(2h) two estimates and D4 the
/// fourth difference of f, |d(h) - d(2h)| + |D4| / (4 h) + 6 r / h, which holds at and beside a
/// kink too; complex step, 8 r + 4 epsilon of the largest entry of its column. r is the standard
/// deviation of f's own rounding error, or of its derivative's, measured by fourth differences on
/// fine grids (as More and Wild 2011), at least half an ulp of f. For the claim: 8 times its own,
/// measured likewise, and 4 epsilon of itself, of the largest entry of its row and of |f_i| /
/// max(typical_x, |x_j|). Rounding that neither moving x nor g shows, such as that of a constant,
/// counts with these 4 epsilon only. At a kink any claim between the one-sided derivatives is
/// allowed, and the verdict is Verdict::inconclusive.
///
/// - Errors:   eigen_rope::Error if a gradient has not its argument's shape, if f changes its
///             result's shape, or for options outside their range.
/// - Threads:  f and claim are called from this thread only.
/// - Cost:     to measure rounding, 60 evaluations of f, 60 more for each argument by the complex
///             step, and 60 of the claim; then for n inputs and m outputs and every entry 4 n
///             (complex step n) of f, m of the claim and n m memory, or for k projections of each
///             argument 4 k (k) and k. One entry behind a wrong projection is sought by halving.
template <class F, class Claim, class X>
GradientReport check_gradient(const F& f, const Claim& claim, const X& x,
                              const GradientCheckOptions& options = {}) {
  return detail::check_typed_gradient(f, claim, options, x);
}

/// The same for several arguments.
template <class F, class Claim, class... X>
GradientReport check_gradient(const F& f, const Claim& claim, const std::tuple<X...>& x,
                              const GradientCheckOptions& options = {}) {
  return std::apply(
      [&](const detail::Plain<X>&... each) {
        return detail::check_typed_gradient(f, claim, options, each...);
      },
      x);
}

/// Whether `transpose` is the transpose of the linear map `forward`: <A v, w> = <v, A^T w>, without
/// differences and so without their errors.
///
/// \param forward    A: x-shaped tensor -> tensor
/// \param transpose  A^T: tensor of forward's result -> x-shaped tensor
/// \param x          gives shape, layout and scalar; its values are not used
///
/// Every entry of A and A^T is compared where they are small (Coverage), and `projections` random
/// v, w always, with magnitudes from 1 to 2 so that a forward that is not linear shows. Bound, for
/// n inputs and m outputs: 8 epsilon sqrt(n + m) (sum |w_i (A v)_i| + sum |v_j (A^T w)_j|), which
/// rounding errors of up to n + m terms exceed with negligible probability (Higham and Mary 2019);
/// single entries 8 epsilon of the largest of their column of A and of A^T.
///
/// - Errors:   eigen_rope::Error as check_gradient().
/// - Cost:     n + m applications, or 2 for each projection.
template <class Forward, class Transpose, class X>
GradientReport check_adjoint(const Forward& forward, const Transpose& transpose, const X& x,
                             const GradientCheckOptions& options = {}) {
  using Call = detail::FlatCall<Forward, X>;
  const auto ignoring_x = [&](const X&, const typename Call::Result& g) {
    return detail::evaluated(std::invoke(transpose, g));
  };
  const Call call(forward, options, x);
  detail::GradientProblem problem{call.arguments(), call.output(), call.x(), {}, 0, {}, {}, 0};
  problem.claimed_epsilon =
      std::max(detail::epsilon_of<X>, detail::epsilon_of<typename Call::Result>);
  problem.value_epsilon = problem.claimed_epsilon;
  problem.directional = [&](const detail::FlatValues&, const detail::FlatValues& v) {
    return call.template value<X>([&](Index j) { return v[static_cast<std::size_t>(j)]; },
                                  [](const auto& element) { return static_cast<double>(element); });
  };
  problem.claimed = [&](const detail::FlatValues& at, const detail::FlatValues& w) {
    return call.claimed(ignoring_x, at, w);
  };
  return detail::run_gradient_check(problem, options, detail::ProblemKind::linear);
}

}  // namespace eigen_rope
