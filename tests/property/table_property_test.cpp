// SPDX-License-Identifier: Apache-2.0
//
// Whatever rates, positions and magnitude are drawn, every entry of a table keeps the bound that
// eigen_rope/tables/cache.hpp states, against 200 bits, and tables that are made in other ways hold
// the same bits.
#include <gtest/gtest.h>
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>

#include <boost/math/constants/constants.hpp>

#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/growing_cache.hpp"
#include "eigen_rope/tables/token_row.hpp"
#include "support/real_number.hpp"

namespace eigen_rope::test {

/// Decimal numbers, so that what is printed is what was drawn.
struct TableProblem {
  struct Number {
    std::int64_t mantissa = 0;
    int exponent = 0;

    double value() const { return std::ldexp(static_cast<double>(mantissa), exponent); }
  };
  /// The first rates.size() of them make the table.
  std::vector<Number> rates{};
  std::vector<Number> positions{};
  Number magnitude{1, 0};
};

inline std::ostream& operator<<(std::ostream& out, const TableProblem::Number& number) {
  return out << '{' << number.mantissa << ", " << number.exponent << '}';
}

void showValue(const TableProblem& p, std::ostream& out) {
  const auto list = [&](const char* name, const std::vector<TableProblem::Number>& numbers) {
    out << "p." << name << " = {";
    for (std::size_t i = 0; i < numbers.size(); ++i) out << (i == 0 ? "" : ", ") << numbers[i];
    out << "};\n";
  };
  out << "eigen_rope::test::TableProblem p;\n";
  list("rates", p.rates);
  list("positions", p.positions);
  out << "p.magnitude = " << p.magnitude << ";\n";
}

}  // namespace eigen_rope::test

namespace rc {

template <>
struct Arbitrary<eigen_rope::test::TableProblem> {
  static Gen<eigen_rope::test::TableProblem> arbitrary() {
    using eigen_rope::test::TableProblem;
    const auto number = [](std::int64_t size, int least, int most) {
      return gen::build<TableProblem::Number>(
          gen::set(&TableProblem::Number::mantissa, gen::inRange<std::int64_t>(-size, size + 1)),
          gen::set(&TableProblem::Number::exponent, gen::inRange(least, most)));
    };
    constexpr std::int64_t most_digits = (std::int64_t{1} << 53) - 1;
    const auto few = [](const Gen<TableProblem::Number>& one) {
      // The size bounds the length and, beneath it, every range: the numbers get the usual one
      // back.
      return gen::resize(6, gen::nonEmpty(gen::container<std::vector<TableProblem::Number>>(
                                gen::resize(kNominalSize, one))));
    };
    return gen::build<TableProblem>(
        // Of published models (below 1), near 1, up to 2^40.
        gen::set(&TableProblem::rates,
                 few(gen::oneOf(number(most_digits, -85, -52), number(1000, -10, -9),
                                number(most_digits, -53, -13)))),
        // Whole ones of any size that is kept exactly, fractions, a few beyond 2^53.
        gen::set(&TableProblem::positions,
                 few(gen::oneOf(number(200000, 0, 1), number(most_digits, 0, 1),
                                number(100000, -8, 0), number(most_digits, 0, 10)))),
        gen::set(&TableProblem::magnitude,
                 gen::oneOf(gen::just(TableProblem::Number{1, 0}), number(4000, -10, -9))));
  }
};

}  // namespace rc

namespace eigen_rope::test {
namespace {

Frequencies frequencies_of(const TableProblem& p) {
  std::vector<double> rates;
  for (const TableProblem::Number& rate : p.rates) rates.push_back(rate.value());
  return Frequencies::explicit_rates(rates, p.magnitude.value());
}

std::vector<double> positions_of(const TableProblem& p) {
  std::vector<double> positions;
  for (const TableProblem::Number& position : p.positions) positions.push_back(position.value());
  return positions;
}

template <class Scalar>
void keeps_its_bound(const TableProblem& p) {
  const std::vector<double> positions = positions_of(p);
  const Cache<Scalar> cache(frequencies_of(p), Positions::ids(positions), Layout::sd());
  const TableView<Scalar> view = cache.view();
  const Real m(p.magnitude.value());
  const Real largest = std::max(Real(1), Real(abs(m)));
  for (std::size_t token = 0; token < positions.size(); ++token) {
    for (std::size_t k = 0; k < p.rates.size(); ++k) {
      const Real angle = Real(positions[token]) * Real(p.rates[k].value());
      // 200 bits hold an angle of 2^93 and 107 bits behind the point; sin and cos are reduced here
      // as exactly.
      const Real beyond_rounding = abs(Real(positions[token])) * two_to(-63) * largest;
      const std::size_t i = token * p.rates.size() + k;
      const Real cos_error = abs(exactly(view.cos[i]) - m * cos(angle));
      const Real sin_error = abs(exactly(view.sin[i]) - m * sin(angle));
      RC_ASSERT(cos_error <= ulp(view.cos[i]) / 2 + beyond_rounding);
      RC_ASSERT(sin_error <= ulp(view.sin[i]) / 2 + beyond_rounding);
    }
  }
}

RC_GTEST_PROP(TableProperty, FloatKeepsItsBound, (const TableProblem& p)) {
  keeps_its_bound<float>(p);
}
RC_GTEST_PROP(TableProperty, DoubleKeepsItsBound, (const TableProblem& p)) {
  keeps_its_bound<double>(p);
}
RC_GTEST_PROP(TableProperty, HalfKeepsItsBound, (const TableProblem& p)) {
  keeps_its_bound<Eigen::half>(p);
}
RC_GTEST_PROP(TableProperty, Bfloat16KeepsItsBound, (const TableProblem& p)) {
  keeps_its_bound<Eigen::bfloat16>(p);
}

/// One token's row made on the fly, a range's row and a table for ids hold the same bits.
RC_GTEST_PROP(TableProperty, EveryWayToARowIsTheSame, (const TableProblem& p)) {
  const Frequencies frequencies = frequencies_of(p);
  TokenRow<double> row(frequencies);
  for (const TableProblem::Number& position : p.positions) {
    if (position.exponent != 0) continue;
    const Cache<double> by_id(
        frequencies, Positions::ids(std::vector<std::int64_t>{position.mantissa}), Layout::sd());
    const Cache<double> by_range(frequencies, Positions::range(position.mantissa - 3, 8),
                                 Layout::sd());
    row.at(position.mantissa);
    for (std::size_t k = 0; k < p.rates.size(); ++k) {
      const std::size_t in_range = 3 * p.rates.size() + k;
      RC_ASSERT(by_id.view().cos[k] == by_range.view().cos[in_range]);
      RC_ASSERT(by_id.view().sin[k] == by_range.view().sin[in_range]);
      RC_ASSERT(by_id.view().cos[k] == row.view().cos[k]);
      RC_ASSERT(by_id.view().sin[k] == row.view().sin[k]);
    }
  }
}

}  // namespace
}  // namespace eigen_rope::test
