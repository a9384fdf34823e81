// SPDX-License-Identifier: Apache-2.0
//
// Tests whether a gradient is right, for any function of Eigen tensors, this library's or your own.
//
//   auto f   = [&](const auto& x, const auto& bias) { ... };
//                       takes tensors, returns a tensor or a number
//   auto vjp = [&](const Tensor& x, const Tensor& bias, const Tensor& g) {
//                       returns J^T g: one gradient for each argument
//     return std::make_tuple(dx, dbias); };
//   eigen_rope::GradientReport report = eigen_rope::check_gradient(f, vjp, std::tie(x, bias));
//   if (!report) std::cerr << report;
//
// The check compares the claimed J^T w with numeric derivatives of f. There is no tolerance to
// choose: the check measures at the point itself how f and the claim round, and a second step shows
// the truncation. The bound is therefore as tight as f allows: about 1e-15 of the derivative by the
// complex step, and 1e-9 by central differences. The check is no automatic differentiation: it
// evaluates f some four times for each element of x.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

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
  problem.claimed_epsilon = (std::max)({epsilon_of<X>..., epsilon_of<typename Call::Result>});
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

/// Compares the gradient that `claim` makes with numeric derivatives of `f` at `x`.
///
/// \code{.cpp}
/// Eigen::Tensor<double, 1> v(3);
/// v.setRandom();
/// const auto cube = [](const auto& u) { return u * u * u; };
/// const auto vjp = [](const auto& u, const auto& g) { return u * u * g * 3.0; };
/// if (const auto report = er::check_gradient(cube, vjp, v); !report) std::cerr << report;
/// \endcode
///
/// \param f      a pure function of the tensors and numbers in x, which returns a tensor
///               (expression) of any rank, or a number; it is called again and again with other
///               values of the same shape
/// \param claim  (x..., g) -> J^T g, where g has the shape of f's result; or, where f returns one
///               value, (x...) -> gradient, or the gradient itself. It makes one gradient for each
///               argument, in a std::tuple where there are several
/// \param x      a tensor or a number, of float or double and of any rank and layout
/// \param options  what is compared, and how hard the check looks
///
/// The check takes derivatives by the complex step (Squire and Trapp 1998) if f can be called with
/// tensors of `std::complex<double>`, as a lambda with `auto` for every argument can, and by
/// central differences otherwise. The body of such a lambda must compile for complex tensors; where
/// it does not, write the arguments' types instead of `auto`. A complex step that disagrees with a
/// central difference, because of abs(), conj() or a comparison, is dropped, and the report says
/// so.
///
/// The bound of the numeric side is, for central differences with the estimates d(h) and d(2h) and
/// the fourth difference D4 of f, |d(h) - d(2h)| + |D4| / (4 h) + 6 r / h, which holds at and
/// beside a kink too; for the complex step it is 8 r + 4 epsilon of the largest entry of its
/// column. Here r is the standard deviation of the rounding error of f, or of its derivative,
/// measured by fourth differences on fine grids (More and Wild 2011), and at least half an ulp of
/// f. The bound of the claim is 8 times its own rounding error, measured in the same way, plus 4
/// epsilon of itself, of the largest entry of its row and of |f_i| / max(typical_x, |x_j|).
/// Rounding that neither moving x nor moving g shows, such as that of a constant, counts with these
/// 4 epsilon only. At a kink any claim between the one-sided derivatives is allowed, and the
/// verdict is Verdict::inconclusive.
///
/// - Errors:   eigen_rope::Error if a gradient has not its argument's shape, if f changes its
///             result's shape, or for options outside their range.
/// - Threads:  f and claim are called from this thread only.
/// - Cost:     60 evaluations of f measure its rounding, 60 more for each argument that of the
///             complex step, and 60 of the claim its own. With n inputs and m outputs, every entry
///             takes 4 n evaluations of f (n by the complex step), m of the claim and n m memory; k
///             projections take 4 k (or k) and k for each argument. The check finds one entry
///             behind a wrong projection by halving.
/// \see check_adjoint() for linear maps, \ref gradients "Gradients"
template <class F, class Claim, class X>
GradientReport check_gradient(const F& f, const Claim& claim, const X& x,
                              const GradientCheckOptions& options = {}) {
  return detail::check_typed_gradient(f, claim, options, x);
}

/// Compares the gradients that `claim` makes for several arguments with numeric derivatives of `f`.
///
/// Errors, threads, bounds and cost are those of the check of one argument.
/// \code{.cpp}
/// const auto f = [](const auto& a, const auto& b) { return a * b; };
/// const auto vjp = [](double a, double b, double g) { return std::make_tuple(b * g, a * g); };
/// const double a = 2, b = 3;
/// const er::GradientReport report = er::check_gradient(f, vjp, std::tie(a, b));
/// \endcode
///
/// \param x  the arguments, as std::tie or std::make_tuple makes them; each is a tensor or a number
template <class F, class Claim, class... X>
GradientReport check_gradient(const F& f, const Claim& claim, const std::tuple<X...>& x,
                              const GradientCheckOptions& options = {}) {
  return std::apply(
      [&](const detail::Plain<X>&... each) {
        return detail::check_typed_gradient(f, claim, options, each...);
      },
      x);
}

/// Tests whether `transpose` is the transpose of the linear map `forward`, without differences and
/// so without their errors.
///
///     <A v, w> = <v, A^T w>
///
/// \code{.cpp}
/// const auto forward = [](const Eigen::Tensor<float, 4>& v) {
///   return er::rotate(v, cache, er::split_half); };
/// const auto transpose = [](const Eigen::Tensor<float, 4>& w) {
///   return er::rotate_backward(w, cache, er::split_half); };
/// const er::GradientReport report = er::check_adjoint(forward, transpose, x);
/// \endcode
///
/// \param forward    A: a function from tensors of x's shape to tensors
/// \param transpose  A^T: a function from tensors of the shape of forward's result to those of x's
/// \param x          a tensor that gives shape, layout and scalar; its values are not used
/// \param options    what is compared, and how hard the check looks
///
/// The check compares every entry of A and A^T where they are small (Coverage), and always
/// `projections` random v and w, whose magnitudes run from 1 to 2 so that a forward that is not
/// linear shows. For n inputs and m outputs the bound of a projection is 8 epsilon sqrt(n + m) (sum
/// |w_i (A v)_i| + sum |v_j (A^T w)_j|), which rounding errors of up to n + m terms exceed with
/// negligible probability (Higham and Mary 2019); that of an entry is 8 epsilon of the largest of
/// their column of A and of A^T.
///
/// - Errors:   eigen_rope::Error in the cases of check_gradient().
/// - Threads:  forward and transpose are called from this thread only.
/// - Cost:     n + m applications where every entry is compared, and 2 for each projection.
/// \see check_gradient(), rotate_backward()
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
      (std::max)(detail::epsilon_of<X>, detail::epsilon_of<typename Call::Result>);
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

}  // namespace eigen_rope::EIGEN_ROPE_ABI
