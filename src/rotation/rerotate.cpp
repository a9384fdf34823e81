// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/rotation/rerotate.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/tables/detail/row_filler.hpp"
#include "tables/turns.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

using detail::fail;

void require_same(const char* what, Index from, Index to) {
  if (from != to)
    fail(fmt::format("from and to must have the same number of {}", what),
         fmt::format("{} and {}", from, to));
}

void check(const Placement& from, const Placement& to, const Layout& layout) {
  require_same("pairs", from.frequencies.pairs(), to.frequencies.pairs());
  require_same("tokens", from.positions.tokens(), to.positions.tokens());
  require_same("batches", from.positions.batches(), to.positions.batches());
  if (from.frequencies.attention_factor().high == 0)
    fail("the attention factor of from must not be 0 (it leaves nothing of the keys)", 0.0);
  detail::table_outer(from.frequencies, from.positions, layout);
  detail::table_outer(to.frequencies, to.positions, layout);
}

/// to / from, with the digits of a quotient of normal numbers wherever the result has them.
DoubleDouble quotient(DoubleDouble to, DoubleDouble from) {
  if (to.high == 0) return 0;
  const auto scaled = [](DoubleDouble v, int exponent) {
    return DoubleDouble(std::ldexp(v.high, exponent), std::ldexp(v.low, exponent));
  };
  const int to_exponent = std::ilogb(to.high);
  const int from_exponent = std::ilogb(from.high);
  const DoubleDouble m =
      scaled(scaled(to, -to_exponent) / scaled(from, -from_exponent), to_exponent - from_exponent);
  if (!std::isfinite(m.high)) {
    fail("the quotient of the attention factors of to and from must be finite",
         fmt::format("{} / {}", to.high, from.high));
  }
  return m;
}

/// The axes that turn a pair, before and after.
struct Axes {
  int from;
  int to;
};

/// How far tokens move along every pair of axes that turns some pair of the rotation.
class Shifts {
 public:
  Shifts(const Positions& from, const Positions& to, Index pairs)
      : tokens_(to.tokens()), batches_(to.batches()) {
    for (Index k = 0; k < pairs; ++k) {
      const Axes axes{from.axis(k), to.axis(k)};
      const auto known = std::find_if(axes_.begin(), axes_.end(), [&](Axes a) {
        return a.from == axes.from && a.to == axes.to;
      });
      shift_of_pair_.push_back(static_cast<std::size_t>(known - axes_.begin()));
      if (known == axes_.end()) axes_.push_back(axes);
    }
    if (tokens_ == 0) return;  // of however many batches
    for (Index b = 0; b < batches_; ++b) {
      for (Index s = 0; s < tokens_; ++s) {
        for (const Axes& a : axes_) {
          const DoubleDouble shift = to.at(a.to, b, s) - from.at(a.from, b, s);
          values_.push_back(shift);
          none_ = none_ && shift.high == 0;
        }
      }
    }
    for (Index b = 0; b < batches_; ++b) {
      for (Index s = 0; s < tokens_; ++s) {
        tokens_move_together_ = tokens_move_together_ && same_rows(row(b, s), row(b, 0));
        batches_move_together_ = batches_move_together_ && same_rows(row(b, s), row(0, s));
      }
    }
  }

  bool none() const { return none_; }
  /// One place for each that moves in its own way: for the shape of a table of shifts.
  Positions distinct() const {
    const Index count = tokens_move_together_ ? std::min<Index>(tokens_, 1) : tokens_;
    const Index sequences = batches_move_together_ ? std::min<Index>(batches_, 1) : batches_;
    return Positions::per_batch(std::vector<int>(static_cast<std::size_t>(count * sequences)),
                                {sequences});
  }

  const DoubleDouble* row(Index batch, Index token) const {
    return values_.data() + static_cast<std::size_t>(batch * tokens_ + token) * axes_.size();
  }
  bool same_rows(const DoubleDouble* a, const DoubleDouble* b) const {
    return std::equal(a, a + axes_.size(), b);
  }
  bool on_one_axis() const { return axes_.size() == 1; }
  DoubleDouble of_pair(const DoubleDouble* row, Index pair) const {
    return row[shift_of_pair_[static_cast<std::size_t>(pair)]];
  }
  Axes axes_of_pair(Index pair) const {
    return axes_[shift_of_pair_[static_cast<std::size_t>(pair)]];
  }

 private:
  Index tokens_;
  Index batches_;
  std::vector<Axes> axes_;
  std::vector<std::size_t> shift_of_pair_;
  std::vector<DoubleDouble> values_;
  bool none_ = true;
  bool tokens_move_together_ = true;
  bool batches_move_together_ = true;
};

/// The rates are the same: rows of the distances, each formed once for as long as it repeats.
template <class Scalar>
Cache<Scalar> shifted(const Frequencies& frequencies, const Shifts& shifts, const Layout& layout) {
  const Index pairs = frequencies.pairs();
  const Positions distinct = shifts.distinct();
  const detail::RowFiller rows(frequencies);
  std::vector<DoubleDouble> mixed(static_cast<std::size_t>(pairs));
  return detail::make_cache<Scalar>(frequencies, distinct, layout, [&](Scalar* cos, Scalar* sin) {
    const DoubleDouble* last = nullptr;
    detail::for_each_table_row(distinct, layout, [&](Index row, Index batch, Index token) {
      const DoubleDouble* shift = shifts.row(batch, token);
      Scalar* c = cos + row * pairs;
      Scalar* s = sin + row * pairs;
      if (last != nullptr && shifts.same_rows(shift, last)) {
        std::copy(c - pairs, c, c);
        std::copy(s - pairs, s, s);
      } else if (shifts.on_one_axis()) {
        rows.fill_one(*shift, c, s);
      } else {
        for (Index k = 0; k < pairs; ++k)
          mixed[static_cast<std::size_t>(k)] = shifts.of_pair(shift, k);
        rows.fill_mixed(mixed.data(), c, s);
      }
      last = shift;
    });
  });
}

/// Rates and positions both differ: two angles for each entry.
template <class Scalar>
Cache<Scalar> moved(const Placement& from, const Placement& to, DoubleDouble m,
                    const Shifts& shifts, const Layout& layout) {
  const Index pairs = to.frequencies.pairs();
  struct Turning {
    Axes axes;
    DoubleDouble from;
    DoubleDouble to;
  };
  std::vector<Turning> turning;
  for (Index k = 0; k < pairs; ++k) {
    const auto pair = static_cast<std::size_t>(k);
    turning.push_back({shifts.axes_of_pair(k),
                       detail::rate_in_turns(from.frequencies.rates()[pair]),
                       detail::rate_in_turns(to.frequencies.rates()[pair])});
  }
  const Frequencies no_rates =
      Frequencies::explicit_rates(std::vector<DoubleDouble>(turning.size()), m);
  const detail::RowFiller rows(no_rates);
  std::vector<DoubleDouble> turns(turning.size());
  return detail::make_cache<Scalar>(no_rates, to.positions, layout, [&](Scalar* cos, Scalar* sin) {
    detail::for_each_table_row(to.positions, layout, [&](Index row, Index batch, Index token) {
      for (std::size_t k = 0; k < turning.size(); ++k) {
        const Turning& pair = turning[k];
        turns[k] = detail::part_of_turn(to.positions.at(pair.axes.to, batch, token), pair.to) -
                   detail::part_of_turn(from.positions.at(pair.axes.from, batch, token), pair.from);
      }
      rows.fill_turns(turns.data(), cos + row * pairs, sin + row * pairs);
    });
  });
}

}  // namespace

template <class Scalar>
Cache<Scalar> rerotation_cache(const Placement& from, const Placement& to, const Layout& layout) {
  check(from, to, layout);
  const std::vector<DoubleDouble>& old_rates = from.frequencies.rates();
  const std::vector<DoubleDouble>& new_rates = to.frequencies.rates();
  const DoubleDouble m =
      quotient(to.frequencies.attention_factor(), from.frequencies.attention_factor());
  const Shifts shifts(from.positions, to.positions, to.frequencies.pairs());
  if (std::equal(old_rates.begin(), old_rates.end(), new_rates.begin())) {
    return shifted<Scalar>(Frequencies::explicit_rates(new_rates, m), shifts, layout);
  }
  if (shifts.none()) {
    std::vector<DoubleDouble> differences;
    bool fits = true;
    for (std::size_t k = 0; k < new_rates.size(); ++k) {
      differences.push_back(new_rates[k] - old_rates[k]);
      fits = fits && detail::is_table_rate(differences.back().high);
    }
    if (fits)
      return Cache<Scalar>(Frequencies::explicit_rates(std::move(differences), m), to.positions,
                           layout);
  }
  return moved<Scalar>(from, to, m, shifts, layout);
}

template Cache<float> rerotation_cache(const Placement&, const Placement&, const Layout&);
template Cache<double> rerotation_cache(const Placement&, const Placement&, const Layout&);
template Cache<long double> rerotation_cache(const Placement&, const Placement&, const Layout&);
template Cache<Eigen::half> rerotation_cache(const Placement&, const Placement&, const Layout&);
template Cache<Eigen::bfloat16> rerotation_cache(const Placement&, const Placement&, const Layout&);

void detail::require_placed(const Shape& k, const Positions& positions, const Layout& layout) {
  const auto check_axis = [&](int axis, const char* name, Index wanted) {
    if (wanted == 1 || k[axis + 1] == wanted) return;
    fail(fmt::format(
             "axis {} of k, its {} axis, must have one place for each of the positions' ({})",
             axis + 1, name, wanted),
         k.text());
  };
  for (int axis = 0; axis < layout.axes(); ++axis) {
    if (layout[axis] == AxisRole::token) check_axis(axis, "token", positions.tokens());
    if (layout[axis] == AxisRole::batch) check_axis(axis, "batch", positions.batches());
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
