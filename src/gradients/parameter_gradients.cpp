// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/parameter_gradients.hpp"

#include <string>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

using Sum = detail::CompensatedSum;

/// `width` entries for each row of the table, where they were asked for.
void require_entries(const char* name, const std::vector<double>& values, Index width,
                     const Shape& outer) {
  if (values.empty()) return;
  const Index size =
      detail::checked_product("the number of entries in the table", width, outer.size());
  if (static_cast<Index>(values.size()) != size) {
    detail::fail(std::string("the gradients' ") + name + " must be one per entry of the table (" +
                     std::to_string(size) + ")",
                 static_cast<std::int64_t>(values.size()));
  }
}

void require_angle(const Gradients<double>& d) {
  if (d.angle.empty())
    detail::fail("the gradients must be made with Wanted::angle, got none of angles");
}

}  // namespace

void detail::require_table_of(const Gradients<double>& d, const Positions& positions,
                              const Layout& layout) {
  if (d.pairs <= 0)
    fail("the gradients must have a positive number of pairs", static_cast<std::int64_t>(d.pairs));
  if (d.width < 0)
    fail("the gradients' table width must not be negative", static_cast<std::int64_t>(d.width));
  checked_product("the number of bytes of the gradients", d.pairs, sizeof(Sum));
  if (d.feature_axis < 0 || d.feature_axis > d.outer.rank()) {
    fail("the gradients' feature axis must be one of their table's",
         static_cast<std::int64_t>(d.feature_axis));
  }
  const Shape expected =
      table_outer(Frequencies::explicit_rates(std::vector<double>{0.0}), positions, layout);
  // Missing outermost axes count as 1.
  bool same = true;
  for (int axis = 0; axis < max_rank; ++axis) same = same && d.outer[axis] == expected[axis];
  if (!same) {
    fail("the gradients must be of a table with the outer extents these positions give " +
             expected.text(),
         d.outer.text());
  }
  require_entries("angle", d.angle, d.pairs, d.outer);
  require_entries("log_magnitude", d.log_magnitude, d.pairs, d.outer);
  require_entries("cos", d.cos, d.width, d.outer);
  require_entries("sin", d.sin, d.width, d.outer);
}

std::vector<double> rate_gradients(const Gradients<double>& d, const Positions& positions,
                                   const Layout& layout) {
  detail::require_table_of(d, positions, layout);
  if (d.outer.size() == 0) return std::vector<double>(static_cast<std::size_t>(d.pairs), 0.0);
  require_angle(d);
  const detail::EntryPlaces entries(d.pairs, d.outer, d.feature_axis);
  std::vector<Sum> sums(static_cast<std::size_t>(d.pairs));
  detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
    int axis = -1;
    double position = 0;
    for (Index k = 0; k < d.pairs; ++k) {
      if (positions.axis(k) != axis) {
        axis = positions.axis(k);
        position = static_cast<double>(positions.at(axis, batch, token));
      }
      sums[static_cast<std::size_t>(k)].add(position *
                                            d.angle[static_cast<std::size_t>(entries.at(row, k))]);
    }
  });
  std::vector<double> result;
  result.reserve(sums.size());
  for (const Sum& sum : sums) result.push_back(sum.value());
  return result;
}

std::vector<double> position_gradients(const Gradients<double>& d, const Frequencies& frequencies,
                                       const Positions& positions, const Layout& layout) {
  if (frequencies.pairs() != d.pairs) {
    detail::fail(
        "frequencies must have as many pairs as the gradients (" + std::to_string(d.pairs) + ")",
        static_cast<std::int64_t>(frequencies.pairs()));
  }
  detail::require_table_of(d, positions, layout);
  const Index places = positions.batches() * positions.tokens();
  std::vector<Sum> sums(static_cast<std::size_t>(positions.axes() * places));
  if (!sums.empty()) require_angle(d);
  const detail::EntryPlaces entries(d.pairs, d.outer, d.feature_axis);
  detail::for_each_table_row(positions, layout, [&](Index row, Index batch, Index token) {
    for (Index k = 0; k < d.pairs; ++k) {
      const Index place = positions.axis(k) * places + batch * positions.tokens() + token;
      const double rate = static_cast<double>(frequencies.rates()[static_cast<std::size_t>(k)]);
      sums[static_cast<std::size_t>(place)].add(
          rate * d.angle[static_cast<std::size_t>(entries.at(row, k))]);
    }
  });
  std::vector<double> result;
  result.reserve(sums.size());
  for (const Sum& sum : sums) result.push_back(sum.value());
  return result;
}

double attention_factor_gradient(const Gradients<double>& d, const Frequencies& frequencies,
                                 const Positions& positions, const Layout& layout) {
  detail::require_table_of(d, positions, layout);
  if (d.outer.size() == 0) return 0;
  const auto m = static_cast<double>(frequencies.attention_factor());
  Sum sum;
  if (m != 0) {
    if (d.log_magnitude.empty())
      detail::fail("the gradients must be made with Wanted::log_magnitude, got none of magnitudes");
    for (const double term : d.log_magnitude) sum.add(term);
    return sum.value() / m;
  }
  if (d.cos.empty() || d.sin.empty() || d.width != d.pairs || frequencies.pairs() != d.pairs) {
    detail::fail(
        "with attention factor 0 the gradients must be made from the rotation's input "
        "(options.from = "
        "eigen_rope::GradientsFrom::input) with Wanted::table and a half-width table, got none of "
        "it");
  }
  const Cache<double> unit(Frequencies::explicit_rates(frequencies.rates(), 1), positions, layout);
  const detail::EntryPlaces entries(d.width, d.outer, d.feature_axis);
  const detail::EntryPlaces of_unit(unit.view());
  for (Index row = 0; row < d.outer.size(); ++row) {
    for (Index k = 0; k < d.width; ++k) {
      const auto i = static_cast<std::size_t>(entries.at(row, k));
      sum.add(unit.cos()[of_unit.at(row, k)] * d.cos[i]);
      sum.add(unit.sin()[of_unit.at(row, k)] * d.sin[i]);
    }
  }
  return sum.value();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
