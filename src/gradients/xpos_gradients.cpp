// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/xpos_gradients.hpp"

#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
XposGradients xpos_gradients(const Gradients<double>& d, const Positions& positions,
                             const Xpos& xpos, XposSide side, const Layout& layout) {
  detail::require_table_of(d, positions, layout);
  const std::vector<DoubleDouble> logarithms = detail::xpos_logarithms(d.pairs, xpos, side);
  if (d.outer.size() != 0 && d.log_magnitude.empty()) {
    detail::fail("the gradients must be made with Wanted::log_magnitude, got none of magnitudes");
  }
  const double sign = side == XposSide::query ? 1 : -1;
  const auto dims = static_cast<double>(2 * d.pairs);
  const Index places = positions.batches() * positions.tokens();
  using Sum = detail::CompensatedSum;
  Sum scale_base, gamma, center;
  const detail::EntryPlaces entries(d.pairs, d.outer, d.feature_axis);
  std::vector<Sum> of_positions(static_cast<std::size_t>(positions.axes() * places));
  detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
    for (Index k = 0; k < d.pairs; ++k) {
      const int axis = positions.axis(k);
      const double magnitude = d.log_magnitude[static_cast<std::size_t>(entries.at(row, k))];
      const auto distance =
          static_cast<double>(positions.at(axis, batch, token) - DoubleDouble(xpos.center));
      const double power = distance / xpos.scale_base;
      const double slope = logarithms[static_cast<std::size_t>(k)].high / xpos.scale_base;
      // d ln zeta / d gamma = 1 / (2k/d + gamma) - 1 / (1 + gamma)
      const double place = static_cast<double>(2 * k) / dims;
      const double growth = sign * (1 - place) / ((place + xpos.gamma) * (1 + xpos.gamma));
      scale_base.add(-power * slope * magnitude);
      gamma.add(power * growth * magnitude);
      center.add(-slope * magnitude);
      of_positions[static_cast<std::size_t>(axis * places + batch * positions.tokens() + token)]
          .add(slope * magnitude);
    }
  });
  XposGradients result{scale_base.value(), gamma.value(), center.value(), {}};
  for (const Sum& sum : of_positions) result.positions.push_back(sum.value());
  return result;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
