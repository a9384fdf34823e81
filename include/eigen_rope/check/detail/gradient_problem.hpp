// SPDX-License-Identifier: Apache-2.0
//
// A gradient check without types: f and its claimed gradient as functions of flat arrays of double,
// which is all the arithmetic of the check (src/check/check_gradient.cpp, compiled once) sees. All
// arguments stand one after another in one array, each in its memory order.
//
// Not tensors: flat_tensor.hpp makes these arrays of them, check_gradient.hpp puts both together.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "eigen_rope/check/options.hpp"
#include "eigen_rope/check/report.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

using FlatValues = std::vector<double>;

enum class MemoryOrder { first_index_fastest, last_index_fastest };

/// One argument or the result: its extents in the order of its indices.
struct FlatArray {
  std::string name;
  std::vector<Index> extents;
  MemoryOrder order = MemoryOrder::first_index_fastest;

  EIGEN_ROPE_API Index size() const;
  /// The indices of an element in memory order.
  EIGEN_ROPE_API std::vector<Index> place_of(Index element) const;
};

struct GradientProblem {
  std::vector<FlatArray> arguments;
  FlatArray output;
  FlatValues x;
  /// f in a scalar of this epsilon. Empty for a linear map.
  std::function<FlatValues(const FlatValues& x)> value;
  double value_epsilon = 0;
  /// The directional derivative J v in double, or the linear map applied to v. May be empty.
  std::function<FlatValues(const FlatValues& x, const FlatValues& v)> directional;
  /// The claimed J^T w in a scalar of this epsilon.
  std::function<FlatValues(const FlatValues& x, const FlatValues& w)> claimed;
  double claimed_epsilon = 0;
};

enum class ProblemKind { differentiable, linear };

EIGEN_ROPE_API GradientReport run_gradient_check(const GradientProblem& problem,
                                                 const GradientCheckOptions& options,
                                                 ProblemKind kind);

/// Throws `<what> must have shape [a, b], got [c]` unless they are equal.
EIGEN_ROPE_API void require_extents(std::string_view what, const std::vector<Index>& expected,
                                    const std::vector<Index>& got);

/// The names of `count` arguments: those of the options, or x, or x0, x1, ...
EIGEN_ROPE_API std::vector<std::string> argument_names(const std::vector<std::string>& given,
                                                       std::size_t count);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
