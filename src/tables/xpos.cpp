// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/tables/xpos.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "tables/table_kernels.hpp"
#include "tables/turns.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

std::string Xpos::text() const {
  return fmt::format("xpos:scale_base={},gamma={},center={}", scale_base, gamma, center);
}

std::ostream& operator<<(std::ostream& stream, const Xpos& xpos) { return stream << xpos.text(); }

namespace {

using detail::fail;

/// Magnitudes from 2^-n to 2^n are normal numbers of Scalar, and their squares of the scalar it is
/// computed in.
template <class Scalar>
constexpr int largest_exponent = std::is_same_v<Scalar, Eigen::half> ? 14
                                 : sizeof(Scalar) <= sizeof(float)   ? 62
                                                                     : 500;

}  // namespace

namespace detail {

/// m zeta_k^power. Whole positions are 64 n + r, and so are their magnitudes products of two, most
/// of which are known already: what a magnitude is must not depend on those before it. Not in an
/// anonymous namespace, as a lambda of a function with linkage captures it.
class XposMagnitudes {
 public:
  XposMagnitudes(std::vector<DoubleDouble> logarithms, const Xpos& xpos, DoubleDouble m)
      : logarithms_(std::move(logarithms)),
        scale_base_(xpos.scale_base),
        center_(xpos.center),
        m_(m) {
    double steepest = 1;
    for (const DoubleDouble logarithm : logarithms_)
      steepest = std::max(steepest, std::abs(logarithm.high));
    factored_ = steps / xpos.scale_base * steepest <= 1;
    if (!factored_) return;
    blocks_.resize(logarithms_.size());
    steps_.resize(logarithms_.size() * static_cast<std::size_t>(steps));
  }

  DoubleDouble at(std::size_t k, DoubleDouble position) {
    const bool whole = position.low == 0 && position.high == std::nearbyint(position.high);
    if (!factored_ || !whole) return m_ * power(k, position - center_);
    const double start = std::floor(position.high / steps) * steps;
    Block& block = blocks_[k];
    if (block.start != start) block = {start, m_ * power(k, DoubleDouble(start) - center_)};
    const double rest = position.high - start;
    DoubleDouble& step =
        steps_[k * static_cast<std::size_t>(steps) + static_cast<std::size_t>(rest)];
    if (step.high == 0) step = power(k, rest);
    return block.magnitude * step;
  }

  /// The logarithm to base 2, also where the magnitude is no number.
  double exponent_of_2(std::size_t k, DoubleDouble position) const {
    const double distance = (position - center_).high;
    return (distance / scale_base_.high * logarithms_[k].high + std::log(std::abs(m_.high))) /
           std::log(2.0);
  }

 private:
  static constexpr double steps = 64;
  static constexpr double largest = 700;

  struct Block {
    double start = std::numeric_limits<double>::quiet_NaN();
    DoubleDouble magnitude;
  };

  /// NaN beyond what any magnitude may be.
  DoubleDouble power(std::size_t k, DoubleDouble distance) const {
    const DoubleDouble exponent = distance / scale_base_ * logarithms_[k];
    if (!(std::abs(exponent.high) <= largest)) return std::numeric_limits<double>::quiet_NaN();
    return exp(exponent);
  }

  std::vector<DoubleDouble> logarithms_;
  DoubleDouble scale_base_;
  DoubleDouble center_;
  DoubleDouble m_;
  bool factored_;
  std::vector<Block> blocks_;
  std::vector<DoubleDouble> steps_;
};

}  // namespace detail

std::vector<DoubleDouble> detail::xpos_logarithms(Index pairs, const Xpos& xpos, XposSide side) {
  require_positive("scale base", xpos.scale_base);
  require_positive("gamma", xpos.gamma);
  require_finite("center", xpos.center);
  const DoubleDouble width(static_cast<double>(2 * pairs));
  const DoubleDouble more = width * DoubleDouble(xpos.gamma);
  std::vector<DoubleDouble> logarithms;
  for (Index k = 0; k < pairs; ++k) {
    const DoubleDouble logarithm =
        log((DoubleDouble(static_cast<double>(2 * k)) + more) / (width + more));
    logarithms.push_back(side == XposSide::query ? logarithm : -logarithm);
  }
  return logarithms;
}

template <class Scalar>
Cache<Scalar> xpos_cache(const Frequencies& frequencies, const Positions& positions,
                         const Xpos& xpos, XposSide side, const Layout& layout) {
  if (frequencies.attention_factor().high == 0)
    fail("the attention factor must not be 0 with xPos", 0.0);
  const Index pairs = frequencies.pairs();
  detail::XposMagnitudes magnitudes(detail::xpos_logarithms(pairs, xpos, side), xpos,
                                    frequencies.attention_factor());
  std::vector<DoubleDouble> turns;
  std::vector<int> axes;
  for (Index k = 0; k < pairs; ++k) {
    turns.push_back(detail::rate_in_turns(frequencies.rates()[static_cast<std::size_t>(k)]));
    axes.push_back(positions.axis(k));
  }
  constexpr int bits = largest_exponent<Scalar>;
  const double largest = std::ldexp(1.0, bits);
  return detail::make_cache<Scalar>(frequencies, positions, layout, [&](Scalar* cos, Scalar* sin) {
    detail::for_each_table_row(positions, layout, [&](Index, Index batch, Index token) {
      for (std::size_t k = 0; k < turns.size(); ++k) {
        const DoubleDouble position = positions.at(axes[k], batch, token);
        const DoubleDouble magnitude = magnitudes.at(k, position);
        const double size = std::abs(magnitude.high);
        if (!(size >= 1 / largest && size <= largest)) {
          fail(fmt::format("xPos's magnitude of pair {} at position {} must be from 2^-{} to 2^{} "
                           "(a nearer center helps)",
                           k, static_cast<double>(position), bits, bits),
               fmt::format("2^{:.1f}", magnitudes.exponent_of_2(k, position)));
        }
        detail::exact_entry(turns[k], magnitude, position, *cos++, *sin++);
      }
    });
  });
}

template Cache<float> xpos_cache(const Frequencies&, const Positions&, const Xpos&, XposSide,
                                 const Layout&);
template Cache<double> xpos_cache(const Frequencies&, const Positions&, const Xpos&, XposSide,
                                  const Layout&);
template Cache<long double> xpos_cache(const Frequencies&, const Positions&, const Xpos&, XposSide,
                                       const Layout&);
template Cache<Eigen::half> xpos_cache(const Frequencies&, const Positions&, const Xpos&, XposSide,
                                       const Layout&);
template Cache<Eigen::bfloat16> xpos_cache(const Frequencies&, const Positions&, const Xpos&,
                                           XposSide, const Layout&);

}  // namespace eigen_rope::EIGEN_ROPE_ABI
