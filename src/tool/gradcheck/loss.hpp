// SPDX-License-Identifier: Apache-2.0
//
// The loss L = sum over elements of g y in long double, and its derivatives by the complex step.
//
//   y_A = c x_a - s x_b   y_B = c x_b + s x_a   c = m cos t,  s = m sin t,  t = position * rate
//                       copies outside the window
//
// A list of pairs, each with the places of its elements and its entry of the table, is all there
// is: no axes, no strides, no broadcasting. Table entries are counted pairs fastest, then token and
// batch axes in the layout's order. Not bounds.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "tool/gradcheck/quantity.hpp"

namespace eigen_rope::tool {

using Real = long double;
using Complex = std::complex<long double>;

enum class Side { input, output };

/// Euclidean sizes of a pair.
struct PairSizes {
  Real x, g, v;
};

struct PairPlace {
  std::size_t a, b, A, B;  ///< elements of x and of y
  std::size_t entry;       ///< of a half-width table
  PairSizes sizes;
};

struct TableEntry {
  eigen_rope::Index pair = 0;
  std::size_t row = 0;
  std::size_t id = 0;  ///< its position's place in Problem::ids
  Real position = 0, rate = 0;
  Real magnitude = 0;        ///< m, times xPos's
  Real magnitude_slope = 0;  ///< of its logarithm, with respect to the position
};

/// The slope of the loss, of rates and of m, with respect to a parameter; several values where it
/// is one per pair.
struct ParameterSlope {
  Quantity quantity = Quantity::y;
  std::string name{};
  std::vector<Real> values{};
  std::vector<std::vector<Real>> rate_slopes{};
  std::vector<Real> magnitude_slopes{};
  std::vector<std::vector<Real>>
      growth_slopes{};  ///< of the logarithm of xPos's magnitude, one per table entry
};

class Loss {
 public:
  using Numbers = std::vector<Real>;

  explicit Loss(const Problem& problem);

  const std::vector<PairPlace>& pairs() const { return pairs_; }
  std::size_t entries() const { return entries_.size(); }
  const TableEntry& entry(std::size_t e) const { return entries_[e]; }
  /// m
  Real attention_factor() const { return rates_.attention_factor; }
  const Numbers& x() const { return x_; }
  const Numbers& angle_tangent() const { return angle_tangent_; }
  const Numbers& log_magnitude_tangent() const { return log_magnitude_tangent_; }

  /// y
  Numbers rotated() const;
  /// dL/dx, with the half-width table and with FullWidth's.
  Numbers input_gradient() const;
  Numbers full_width_input_gradient() const;

  struct TableNumbers {
    Numbers cos, sin;
  };
  TableNumbers table_gradient() const;
  /// Where a pair's members find their entries in a full-width table.
  struct FullSlots {
    std::size_t A, B;
  };
  FullSlots full_slot(const PairPlace& pair) const;
  TableNumbers full_width_table_gradient() const;

  Numbers angle_gradient() const;
  Numbers log_magnitude_gradient() const;
  /// In the order of Problem::ids.
  Numbers position_gradient() const;
  Numbers rate_gradient() const;
  Real magnitude_gradient() const;
  std::vector<ParameterSlope> parameter_slopes() const;

  /// The derivative of y along v, the angles' tangent and this one of log m.
  Numbers directional(const Numbers& log_magnitude) const;
  /// The derivative of dL/dx along the angles' tangent.
  Numbers turned_gradient() const;
  /// The derivative with respect to each angle of L's derivative along v and the angles' tangent.
  Numbers second_angle_gradient() const;

 private:
  struct Polar {
    Complex magnitude, angle;
  };
  Polar polar(const TableEntry& entry, const Rates<Complex>& rates, const Complex& position,
              const BesideScaling<Complex>& beside) const;
  /// The logarithm of xPos's magnitude of a pair; 0 elsewhere.
  Complex log_growth(eigen_rope::Index pair, const Complex& position,
                     const BesideScaling<Complex>& beside) const;
  /// The slope of L where some of these have an imaginary step: a sum over the entries that move.
  Real slope_at(const Rates<Complex>& rates, const std::vector<Complex>& positions,
                const BesideScaling<Complex>& beside) const;
  BesideScaling<Complex> complex_beside() const { return problem_.beside.cast<Complex>(); }
  Real angle_slope_along_tangents(std::size_t e, Real angle) const;
  Rates<Complex> stepped_rates() const;
  std::vector<Complex> complex_positions() const;

  const Problem& problem_;
  std::vector<PairPlace> pairs_;
  std::vector<std::vector<std::size_t>> pairs_of_entry_;
  std::vector<TableEntry> entries_;
  Numbers x_, g_, v_, positions_, angle_tangent_, log_magnitude_tangent_;
  std::vector<std::size_t> full_places_;  ///< slots A and B of each pair, by k
  Rates<Real> rates_;
  TableNumbers table_;
};

}  // namespace eigen_rope::tool
