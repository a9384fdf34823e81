// SPDX-License-Identifier: Apache-2.0
//
// Every recorded answer of aclnn's operators, gradients included, with the features on other axes:
// the operators themselves take tensors whose last stride is 1, so each tensor is put into every
// other order of axes and goes through what the operators are made of.
#include <gtest/gtest.h>

#include <map>

#include "eigen_rope/gradients/table_gradient.hpp"
#include "support/aclnn_answers.hpp"
#include "support/axis_orders.hpp"

namespace eigen_rope::test::aclnn_axis_tests {
namespace {

PairKind kind_of(Mode mode) {
  switch (mode) {
    case Mode::half: return PairKind::split_half;
    case Mode::interleave: return PairKind::interleaved;
    case Mode::quarter: return PairKind::quarter;
    case Mode::interleave_half: break;
  }
  return PairKind::interleaved_to_split_half;
}

template <class Scalar>
PlacedTable<Scalar> table_of(const AclnnBuffers<Scalar>& buffers) {
  const Shape shape = shape_of_dims(buffers.table_shape);
  PlacedTable<Scalar> table;
  table.cos = buffers.cos;
  table.sin = buffers.sin;
  table.width = shape[0];
  table.outer = shape.outer();
  return table;
}

/// The recorded cases that were gone through, by rank, and what came of them.
struct Seen {
  std::map<std::size_t, std::size_t> cases{};
  std::size_t answers = 0;
  AclnnJudge judge{};

  void expect_everything(std::size_t of_rank_3, std::size_t of_rank_4) {
    EXPECT_EQ(cases[3] + cases[4], aclnn_recorded);
    EXPECT_EQ(answers, cases[3] * of_rank_3 + cases[4] * of_rank_4);
    judge.conclude();
  }
};

/// check(case, buffers, rank) with the rank as a type.
template <class Check>
void for_each_case_of_rank(Seen& seen, const Check& check) {
  for_each_aclnn_case([&](const AclnnCase& c, const auto& buffers) {
    ++seen.cases[c.x.shape.size()];
    if (c.x.shape.size() == 3) {
      check(c, buffers, std::integral_constant<int, 3>());
    } else {
      ASSERT_EQ(c.x.shape.size(), 4U);
      check(c, buffers, std::integral_constant<int, 4>());
    }
  });
}

/// The rotation of `from`, x or dy, in every order, against the recorded answers.
template <int rank, class Scalar>
void see_rotations(Seen& seen, const AclnnBuffers<Scalar>& buffers, Direction direction,
                   const std::vector<Scalar>& from, const Array& recorded,
                   const std::vector<Sum>& truth) {
  rotate_in_every_order<rank>(from, shape_of_dims(buffers.shape), table_of(buffers),
                              Pairing(kind_of(buffers.mode)), direction,
                              [&](const std::vector<Scalar>& got) {
                                ++seen.answers;
                                seen.judge.see(got, recorded.values, truth);
                              });
}

TEST(AclnnAxis, Y) {
  Seen seen;
  for_each_case_of_rank(seen, [&](const AclnnCase& c, const auto& buffers, auto rank) {
    see_rotations<rank.value>(seen, buffers, Direction::forward, buffers.x, c.y, buffers.truth().y);
  });
  seen.expect_everything(answers_in_every_order<3>, answers_in_every_order<4>);
}

TEST(AclnnAxis, Dx) {
  Seen seen;
  for_each_case_of_rank(seen, [&](const AclnnCase& c, const auto& buffers, auto rank) {
    see_rotations<rank.value>(seen, buffers, Direction::backward, buffers.dy, c.dx,
                              buffers.truth().dx);
  });
  seen.expect_everything(answers_in_every_order<3>, answers_in_every_order<4>);
}

/// x and dy in orders of their own; the gradients' features behind each number of axes in turn.
template <int rank, class Scalar>
void see_table_gradients(Seen& seen, const AclnnCase& c, const AclnnBuffers<Scalar>& buffers) {
  const Truth truth = buffers.truth();
  const Shape shape = shape_of_dims(buffers.shape);
  const PlacedTable<Scalar> table = table_of(buffers);
  const auto orders = orders_with_slower_features(rank);
  for (std::size_t i = 0; i < orders.size(); ++i) {
    SCOPED_TRACE(testing::PrintToString(orders[i]));
    Reordered<Scalar> x(buffers.x, shape, orders[i], 3);
    Reordered<Scalar> dy(buffers.dy, shape, orders[(i + 1) % orders.size()], 3);
    std::vector<Scalar> dcos(buffers.cos.size()), dsin(buffers.cos.size());
    const int behind = static_cast<int>(i) % rank;
    table_gradient(
        TableGradient<Scalar>{dcos.data(), dsin.data(), table.width, table.outer, behind}, x.view(),
        dy.view(), Pairing(kind_of(buffers.mode)));
    ++seen.answers;
    seen.judge.see(by_rows(dcos, table.width, table.outer, behind), c.dcos.values, truth.dcos);
    seen.judge.see(by_rows(dsin, table.width, table.outer, behind), c.dsin.values, truth.dsin);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(AclnnAxis, GradientsOfTheTable) {
  Seen seen;
  for_each_case_of_rank(seen, [&](const AclnnCase& c, const auto& buffers, auto rank) {
    see_table_gradients<rank.value>(seen, c, buffers);
  });
  seen.expect_everything(orders_with_slower_features(3).size(),
                         orders_with_slower_features(4).size());
}

}  // namespace
}  // namespace eigen_rope::test::aclnn_axis_tests
