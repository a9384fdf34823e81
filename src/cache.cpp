// SPDX-License-Identifier: Apache-2.0
#include "rope/cache.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "rope/detail/rounding.hpp"
#include "turns.hpp"

namespace rope::detail {
namespace {

// Beyond these the products of turns could not keep the table's error bound, or would overflow.
constexpr double max_rate = 1099511627776.0;            // 2^40
constexpr double max_position = 9223372036854775808.0;  // 2^63

void check_sizes(const Frequencies& frequencies, const Positions& positions) {
  for (std::size_t k = 0; k < frequencies.rates().size(); ++k) {
    const double rate = frequencies.rates()[k].high;
    if (std::abs(rate) > max_rate) fail(fmt::format("rate {} must be at most 2^40 radians per token in size for a table", k), rate);
  }
  for (int axis = 0; axis < positions.axes(); ++axis) {
    for (Index b = 0; b < positions.batches(); ++b) {
      for (Index s = 0; s < positions.tokens(); ++s) {
        const double position = positions.at(axis, b, s).high;
        if (std::abs(position) > max_position) fail("positions must be at most 2^63 in size for a table", position);
      }
    }
  }
}

}  // namespace

Shape table_outer(const Frequencies& frequencies, const Positions& positions, const Layout& layout) {
  if (positions.batches() != 1 && !layout.has_batch()) {
    fail("the layout must have a batch axis for positions of several batches", static_cast<std::int64_t>(positions.batches()));
  }
  check_sizes(frequencies, positions);
  Shape outer;
  for (int axis = 0; axis < layout.axes(); ++axis) {
    switch (layout[axis]) {
      case AxisRole::token: outer.push_back(positions.tokens()); break;
      case AxisRole::batch: outer.push_back(positions.batches()); break;
      case AxisRole::other: outer.push_back(1); break;
    }
  }
  checked_product("the number of bytes in the table",
                  checked_product("the number of entries in the table", frequencies.pairs(), outer.size()), sizeof(long double));
  return outer;
}

template <class Scalar>
void fill_table(const Frequencies& frequencies, const Positions& positions, const Layout& layout, Scalar* cos, Scalar* sin) {
  const Index pairs = frequencies.pairs();
  const DoubleDouble m = frequencies.attention_factor();
  std::vector<DoubleDouble> turns;
  std::vector<int> axes;
  for (Index k = 0; k < pairs; ++k) {
    turns.push_back(rate_in_turns(frequencies.rates()[static_cast<std::size_t>(k)]));
    axes.push_back(positions.axis(k));
  }
  for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
    for (Index k = 0; k < pairs; ++k) {
      const auto pair = static_cast<std::size_t>(k);
      const CosSin v = cos_sin_of_turns(positions.at(axes[pair], batch, token), turns[pair]);
      cos[row * pairs + k] = round_once<Scalar>(v.cos * m);
      sin[row * pairs + k] = round_once<Scalar>(v.sin * m);
    }
  });
}

template void fill_table(const Frequencies&, const Positions&, const Layout&, float*, float*);
template void fill_table(const Frequencies&, const Positions&, const Layout&, double*, double*);
template void fill_table(const Frequencies&, const Positions&, const Layout&, long double*, long double*);
template void fill_table(const Frequencies&, const Positions&, const Layout&, Eigen::half*, Eigen::half*);
template void fill_table(const Frequencies&, const Positions&, const Layout&, Eigen::bfloat16*, Eigen::bfloat16*);

}  // namespace rope::detail
