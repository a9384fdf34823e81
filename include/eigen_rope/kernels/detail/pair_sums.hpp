// SPDX-License-Identifier: Apache-2.0
//
// The sums every gradient of a rotation's table is made of.
//
// For each pair of some rows that share a table row, with members u_a, u_b of one tensor and g_A,
// g_B of the other:
//
//   direct[A]  = sum u_a g_A   direct[B]  = sum u_b g_B
//   crossed[A] = sum u_b g_A   crossed[B] = sum u_a g_B   indexed by the slots of the result,
//                                                         counted from the window's begin
//
// u is the rotation's input (slots a, b) or its output (slots A, B). Products of floats and of
// 16-bit numbers are exact in double, where they are summed; sums of doubles carry what they round
// off in a second number; other scalars are summed as they are. Where only the difference
// crossed[B] - crossed[A] is wanted, floats and 16-bit numbers form u_a g_B - u_b g_A in float (two
// products and a difference, each rounded) and sum that in double, in crossed[B]: converting every
// operand would cost twice the time. Compiled once in the library for the four scalars the rotation
// is compiled for; here stands the template. The callers choose the rows, and know what becomes of
// the sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "eigen_rope/numbers/detail/rounded.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/rows/detail/rows.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// What sums of products of C are held in.
template <class C>
using SumScalar = std::conditional_t<std::is_same_v<C, float>, double, C>;

/// Whether rounding errors are summed as well: where products are as wide as the sum.
template <class C>
inline constexpr bool is_compensated = std::is_floating_point_v<C> && !std::is_same_v<C, float>;

/// difference: only crossed[B] - crossed[A] of the sums has a meaning.
enum class Products { difference, all };

/// a + b and what it rounds off.
template <class S>
inline void add_compensated(S& sum, S& rest, const S& term) {
  const S next = sum + term;
  const S added = next - sum;
  rest += (sum - (next - added)) + (term - added);
  sum = next;
}

/// The sums of one table row, in memory of the caller's, which clear() makes zeros.
template <class C>
class PairSums {
 public:
  using Sum = SumScalar<C>;

  /// How many numbers the memory has.
  static Index size(Index dims) { return arrays * dims; }

  PairSums(Index dims, Products products, Sum* memory)
      : dims_(dims), products_(products), values_(memory) {}

  Index dims() const { return dims_; }
  Products products() const { return products_; }
  void clear() { std::fill(values_, values_ + size(dims_), converted<Sum>(0.0)); }
  Sum* crossed() { return values_; }
  Sum* direct() { return values_ + dims_; }
  /// Only where is_compensated<C>.
  Sum* crossed_rest() { return values_ + 2 * dims_; }
  Sum* direct_rest() { return values_ + 3 * dims_; }

  Sum crossed(Index slot) const { return total(slot); }
  Sum direct(Index slot) const { return total(dims_ + slot); }
  /// u_a g_A + u_b g_B
  Sum dot(const PairSlots& slots) const {
    return sum(dims_ + slots.A, dims_ + slots.B, converted<Sum>(1.0));
  }
  /// u_a g_B - u_b g_A
  Sum cross(const PairSlots& slots) const { return sum(slots.B, slots.A, converted<Sum>(-1.0)); }

 private:
  static constexpr Index arrays = is_compensated<C> ? 4 : 2;

  const Sum& at(Index i) const { return values_[i]; }
  Sum total(Index i) const {
    if constexpr (is_compensated<C>) return at(i) + at(2 * dims_ + i);
    return at(i);
  }
  Sum sum(Index i, Index j, const Sum& sign) const {
    if constexpr (is_compensated<C>) {
      Sum high = at(i);
      Sum low = at(2 * dims_ + i) + sign * at(2 * dims_ + j);
      add_compensated<Sum>(high, low, sign * at(j));
      return high + low;
    } else {
      const Sum second = sign * at(j);
      return at(i) + second;
    }
  }

  Index dims_;
  Products products_;
  Sum* values_;
};

/// Rows of u and g that share a table row. RowSteps: x of u, y of g.
template <class U, class G>
struct PairRows {
  const U* u;
  const G* g;
  RowSteps inner;
  RowSteps outer;
};

/// Adds the products of all rows, in memory order. u and g point at the window's first element;
/// runs say where members lie: in_a, in_b of u and out_a, out_b of g.
template <class U, class G, class C>
void add_pairs_plainly(const Runs& runs, const PairRows<U, G>& rows, PairSums<C>& sums) {
  using Sum = SumScalar<C>;
  const auto add = [](Sum* sum, [[maybe_unused]] Sum* rest, Index slot, const C& a, const C& b) {
    const Sum term = rounded_product(static_cast<Sum>(a), static_cast<Sum>(b));
    if constexpr (is_compensated<C>) {
      add_compensated(sum[slot], rest[slot], term);
    } else {
      sum[slot] = sum[slot] + term;
    }
  };
  for (Index o = 0; o < rows.outer.count; ++o) {
    for (Index i = 0; i < rows.inner.count; ++i) {
      const U* u = rows.u + o * rows.outer.x + i * rows.inner.x;
      const G* g = rows.g + o * rows.outer.y + i * rows.inner.y;
      for (const Run& run : runs) {
        for (Index k = 0; k < run.count; ++k) {
          const Index A = run.out_a + k * run.out_step;
          const Index B = run.out_b + k * run.out_step;
          const C u_a = converted<C>(u[run.in_a + k * run.in_step]);
          const C u_b = converted<C>(u[run.in_b + k * run.in_step]);
          const C g_a = converted<C>(g[A]);
          const C g_b = converted<C>(g[B]);
          if constexpr (std::is_same_v<C, float>) {
            if (sums.products() == Products::difference) {
              const float difference = rounded_sum_of_products(u_a, g_b, -u_b, g_a);
              sums.crossed()[B] += static_cast<double>(difference);
              continue;
            }
          }
          add(sums.crossed(), sums.crossed_rest(), A, u_b, g_a);
          add(sums.crossed(), sums.crossed_rest(), B, u_a, g_b);
          if (sums.products() == Products::difference) continue;
          add(sums.direct(), sums.direct_rest(), A, u_a, g_a);
          add(sums.direct(), sums.direct_rest(), B, u_b, g_b);
        }
      }
    }
  }
}

// Compiled once, with the instructions of the machine it runs on; the same bits as the template.
EIGEN_ROPE_API void add_pairs(const Runs& runs, const PairRows<float, float>& rows,
                              PairSums<float>& sums);
EIGEN_ROPE_API void add_pairs(const Runs& runs, const PairRows<double, double>& rows,
                              PairSums<double>& sums);
EIGEN_ROPE_API void add_pairs(const Runs& runs, const PairRows<Eigen::half, Eigen::half>& rows,
                              PairSums<float>& sums);
EIGEN_ROPE_API void add_pairs(const Runs& runs,
                              const PairRows<Eigen::bfloat16, Eigen::bfloat16>& rows,
                              PairSums<float>& sums);

/// Rows of u, g and dx that share a table row. RowSteps: x of u, y of g.
template <class T>
struct RotatedPairRows {
  const T* u;
  const T* g;
  T* dx;
  const float* cos;
  const float* sin;
  RowSteps inner;
  RowSteps outer;
  Index dx_inner;
  Index dx_outer;
  Stores stores;
};

/// Products::difference of a whole table row and its rows of dx, in one loop: overwrites the sums.
/// False, and nothing done, for pairings, widths and targets it has no loop for. `plan` is the
/// transposed rotation; pointers are the windows'.
EIGEN_ROPE_API bool add_and_rotate(const RowPlan& plan, const Runs& runs,
                                   const RotatedPairRows<float>& rows, PairSums<float>& sums);
EIGEN_ROPE_API bool add_and_rotate(const RowPlan& plan, const Runs& runs,
                                   const RotatedPairRows<Eigen::half>& rows, PairSums<float>& sums);
EIGEN_ROPE_API bool add_and_rotate(const RowPlan& plan, const Runs& runs,
                                   const RotatedPairRows<Eigen::bfloat16>& rows,
                                   PairSums<float>& sums);

/// Scalars for which it may do something.
template <class U, class G, class TableScalar>
inline constexpr bool may_add_and_rotate =
    std::conjunction_v<std::is_same<U, G>, std::is_same<Widened<U>, float>,
                       std::is_same<TableScalar, float>>;

/// Any scalars.
template <class U, class G, class C>
void add_pairs(const Runs& runs, const PairRows<U, G>& rows, PairSums<C>& sums) {
  add_pairs_plainly(runs, rows, sums);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
