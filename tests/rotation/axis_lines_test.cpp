// SPDX-License-Identifier: Apache-2.0
//
// Rotations along other axes than the fastest write the bits of the transposed tensor's rotation
// wherever y begins, and nothing else. Where stores would cross lines, steps of lanes overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/rotation/rotate.hpp"
#include "support/axis_cases.hpp"
#include "support/kernel_paths.hpp"
#include "support/memory_on_lines.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::axis_lines {
namespace {

constexpr auto writes_wherever_y_begins = [](const auto& x, const auto& table, Pairing pairing,
                                             Direction direction, const auto& expected) {
  using Tensor = std::decay_t<decltype(x)>;
  using Scalar = typename Tensor::Scalar;
  constexpr Index line = 64 / sizeof(Scalar);
  on_every_path([&](Path) {
    for (const Index offset : {Index{1}, line / 4, line / 2 + 3, line - 1}) {
      SCOPED_TRACE("offset " + std::to_string(offset));
      MemoryOnLines<Scalar> memory(x.size(), offset);
      std::vector<Scalar> wanted = memory.all();
      std::copy_n(expected.data(), expected.size(), wanted.begin() + memory.begin());
      Eigen::TensorMap<Tensor> y(memory.tensor(), x.dimensions());
      y = rotation(x, table, pairing, direction);
      ASSERT_TRUE(same_bits(wanted.data(), memory.all().data(), static_cast<Index>(wanted.size())));
    }
  });
};

template <class Scalar, int rank>
void along(int axis, const AxisCase& c) {
  SCOPED_TRACE(c.shape.text());
  const auto x = c.tensor<Scalar, rank, Eigen::ColMajor>(7);
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved}) {
    const Pairing pairing = AxisCase::pairing(kind, x.dimension(axis));
    for_each_table<rank, Eigen::ColMajor>(c, x, axis, pairing, writes_wherever_y_begins);
  }
}

/// Entries that repeat every step of lanes, every two, and less often; that neighbouring lanes
/// share; and that all lanes of a plane share.
template <class Scalar>
void begin_anywhere() {
  along<Scalar, 3>(2, {{8, 64, 16}, 0b01});
  along<Scalar, 3>(2, {{16, 32, 16}, 0b01});
  along<Scalar, 3>(2, {{24, 40, 16}, 0b01});
  along<Scalar, 3>(2, {{32, 16, 16}, 0b01});
  along<Scalar, 3>(2, {{48, 16, 16}, 0b01});
  along<Scalar, 3>(2, {{70, 20, 12}, 0b01});
  along<Scalar, 4>(3, {{2, 33, 8, 16}, 0b010});
  along<Scalar, 3>(1, {{64, 16, 8}, 0b10});
}

TEST(AxisLines, FloatsBeginAnywhere) { begin_anywhere<float>(); }
TEST(AxisLines, DoublesBeginAnywhere) { begin_anywhere<double>(); }

/// Steps of 16-bit elements overlap only where there are many.
template <class Scalar>
void many_along(int axis, const AxisCase& c) {
  SCOPED_TRACE(c.shape.text());
  using Tensor = Eigen::Tensor<Scalar, 3>;
  const Tensor x = c.tensor<Scalar, 3, Eigen::ColMajor>(7);
  const AlongAxis<3, Eigen::ColMajor> axes(x.dimensions(), axis);
  const Tensor first = axes.to_front(x);
  const auto table = c.table<float>(axes, /*full_width=*/false);
  Tensor expected = rotation(first, table, split_half, Direction::forward);
  expected = axes.from_front(expected);
  for (const int place : {0, axis}) {
    writes_wherever_y_begins(x, table.with_features_behind(place), split_half.along(axis),
                             Direction::forward, expected);
  }
}

template <class Scalar>
void many_begin_anywhere() {
  many_along<Scalar>(2, {{520, 32, 32}, 0b01});
  many_along<Scalar>(2, {{32, 520, 32}, 0b01});
  many_along<Scalar>(1, {{64, 32, 260}, 0b10});
}

TEST(AxisLines, ManyHalvesBeginAnywhere) { many_begin_anywhere<Eigen::half>(); }
TEST(AxisLines, ManyBfloat16sBeginAnywhere) { many_begin_anywhere<Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::test::axis_lines
