// SPDX-License-Identifier: Apache-2.0
//
// The settings of whole_way.hpp reach what they are meant to reach: a gradient that is 0 everywhere
// would agree with anything.
#include <map>

#include "support/whole_way.hpp"

namespace eigen_rope::test::autodiff {
namespace {

/// Derivatives of L by a parameter that are not 0, in all settings of a scaling.
std::map<std::string, int> nonzero_derivatives(Scaling scaling) {
  std::map<std::string, int> nonzero;
  for (const Setting& s : every_setting()) {
    if (s.scaling != scaling) continue;
    const std::vector<Input> inputs = inputs_of(s);
    const List gradient = gradient_by_hand(s);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      nonzero[inputs[i].name] += gradient[i].value != 0 ? 1 : 0;
  }
  return nonzero;
}

TEST(AutoDiffSettings, EveryParameterMovesTheLoss) {
  for (const Scaling scaling : every_scaling) {
    const bool no_ramp_ends = scaling == Scaling::yarn_clamped_ends ||
                              scaling == Scaling::yarn_rounded_ends || scaling == Scaling::yarn_off;
    for (const auto& [name, count] : nonzero_derivatives(scaling)) {
      const bool is_beta = name == "beta fast" || name == "beta slow";
      EXPECT_EQ(count == 0, is_beta && no_ramp_ends)
          << name << ", scaling " << static_cast<int>(scaling);
    }
  }
}

/// Nine derivatives in ten have to be right to eleven digits: the bounds are no blanket.
TEST(AutoDiffSettings, BoundsAreNarrow) {
  int all = 0;
  int narrow = 0;
  for (const Setting& s : every_setting()) {
    for (const Tracked& t : gradient_by_hand(s)) {
      if (t.value == 0) continue;
      ++all;
      if (t.error * std::numeric_limits<double>::epsilon() < 1e-11L * std::abs(t.value)) ++narrow;
    }
  }
  EXPECT_GT(narrow, all * 9 / 10) << all;
}

/// Pairs kept, blended and interpolated.
TEST(AutoDiffSettings, BandsAreAllVisited) {
  const Setting yarn = make_setting(Scaling::yarn, PairKind::split_half, Positioned::by_numbers,
                                    Evaluated::directly);
  const Setting llama3 = make_setting(Scaling::llama3, PairKind::split_half, Positioned::by_numbers,
                                      Evaluated::directly);
  for (const Setting& s : {yarn, llama3}) {
    const std::vector<closed_form::Parameter> parameters = rates_by_hand(s).parameters;
    const List& by_last =
        parameters.back().rates;  // beta_slow, high_freq_factor: only what is blended depends on it
    int blended = 0;
    for (const Tracked& t : by_last) blended += t.value != 0 ? 1 : 0;
    EXPECT_GE(blended, 3);
    EXPECT_EQ(by_last.front().value, 0);
    EXPECT_EQ(by_last.back().value, 0);
  }
}

}  // namespace
}  // namespace eigen_rope::test::autodiff
