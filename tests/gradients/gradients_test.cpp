// SPDX-License-Identifier: Apache-2.0
//
// gradients(): every result against plain loops over the definition in long double, for every
// pairing, window, table width, broadcast, scalar, side and target; in place; threads; what is not
// asked for stays empty; what must be refused.
#define EIGEN_USE_THREADS
#include "eigen_rope/gradients/gradients.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "support/dense_view.hpp"
#include "support/error_of.hpp"
#include "support/only_target.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {
namespace {

/// What the definition gives, and for each number the sum of the magnitudes of what it was summed
/// from.
struct Expected {
  std::vector<long double> angle, log_magnitude, cos, sin;
  std::vector<long double> angle_size, log_size, cos_size, sin_size;

  Expected(std::size_t pairs, std::size_t entries)
      : angle(pairs),
        log_magnitude(pairs),
        cos(entries),
        sin(entries),
        angle_size(pairs),
        log_size(pairs),
        cos_size(entries),
        sin_size(entries) {}
};

template <class Scalar>
long double wide(Scalar value) {
  return static_cast<long double>(value);
}

/// x of shape [D, 3 axes]. The table's row for each row of x, pair by pair.
template <class Scalar, class TableScalar>
Expected by_definition(const std::vector<Scalar>& x, const std::vector<Scalar>& g,
                       const Shape& shape, const Table<TableScalar>& table,
                       const Pairing& pairing) {
  const Index dims = pairing.rotary_dims(shape[0]);
  const Index pairs = dims / 2;
  const Shape& outer = table.outer;
  const auto rows = static_cast<std::size_t>(outer.size());
  Expected e(rows * static_cast<std::size_t>(pairs), rows * static_cast<std::size_t>(table.width));
  const auto add = [](std::vector<long double>& sum, std::vector<long double>& size, Index at,
                      long double term) {
    sum[static_cast<std::size_t>(at)] += term;
    size[static_cast<std::size_t>(at)] += std::abs(term);
  };
  for (Index c = 0; c < shape[3]; ++c) {
    for (Index b = 0; b < shape[2]; ++b) {
      for (Index a = 0; a < shape[1]; ++a) {
        const Index row = ((c * shape[2] + b) * shape[1] + a) * shape[0] + pairing.offset();
        const Index table_row =
            ((outer[2] == 1 ? 0 : c) * outer[1] + (outer[1] == 1 ? 0 : b)) * outer[0] +
            (outer[0] == 1 ? 0 : a);
        for (Index k = 0; k < pairs; ++k) {
          const PairSlots slot = pair_slots(pairing.kind(), k, dims);
          const long double xa = wide(x[static_cast<std::size_t>(row + slot.a)]);
          const long double xb = wide(x[static_cast<std::size_t>(row + slot.b)]);
          const long double gA = wide(g[static_cast<std::size_t>(row + slot.A)]);
          const long double gB = wide(g[static_cast<std::size_t>(row + slot.B)]);
          const Index A = table_row * table.width + (table.width == dims ? slot.A : k);
          const Index B = table_row * table.width + (table.width == dims ? slot.B : k);
          add(e.cos, e.cos_size, A, gA * xa);
          add(e.cos, e.cos_size, B, gB * xb);
          add(e.sin, e.sin_size, A, -gA * xb);
          add(e.sin, e.sin_size, B, gB * xa);
          const long double cA = wide(table.cos[static_cast<std::size_t>(A)]);
          const long double cB = wide(table.cos[static_cast<std::size_t>(B)]);
          const long double sA = wide(table.sin[static_cast<std::size_t>(A)]);
          const long double sB = wide(table.sin[static_cast<std::size_t>(B)]);
          const Index pair = table_row * pairs + k;
          // d y_A / dt = -s_A x_a - c_A x_b, d y_B / dt = c_B x_a - s_B x_b
          add(e.angle, e.angle_size, pair, -gA * sA * xa);
          add(e.angle, e.angle_size, pair, -gA * cA * xb);
          add(e.angle, e.angle_size, pair, gB * cB * xa);
          add(e.angle, e.angle_size, pair, -gB * sB * xb);
          add(e.log_magnitude, e.log_size, pair, gA * cA * xa);
          add(e.log_magnitude, e.log_size, pair, -gA * sA * xb);
          add(e.log_magnitude, e.log_size, pair, gB * cB * xb);
          add(e.log_magnitude, e.log_size, pair, gB * sB * xa);
        }
      }
    }
  }
  return e;
}

template <class Sum>
void expect_near(const std::vector<Sum>& got, const std::vector<long double>& expected,
                 const std::vector<long double>& size, long double relative, const char* name) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(wide(got[i]) - expected[i]), 0.0,
                static_cast<double>(relative * size[i]))
        << name << ", entry " << i;
  }
}

/// From x everything is summed exactly enough to show nothing but a few roundings of double.
constexpr long double kFromInput = 16 * 0x1p-53L;

/// From y: y was rounded to its scalar (1.5 ulp of the pair's magnitude, and the pair's magnitude
/// is at most 1.5 times its coefficients' share in any sum), the table is not divided by exactly,
/// and differences of floats are formed in float.
template <class Scalar>
long double from_output() {
  return 8 * epsilon<Scalar>();
}

constexpr Wanted everything = Wanted::angle | Wanted::log_magnitude | Wanted::table;

template <class Scalar, class TableScalar>
void compare_every_case(const Shape& shape, const Device& device = Device()) {
  const auto x = random_values<Scalar>(shape.size(), 1);
  const auto g = random_values<Scalar>(shape.size(), 2);
  for (const Pairing base : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    for (const Pairing pairing : {base, base.with_rotary_dims(shape[0] - 6).with_offset(3)}) {
      const Index dims = pairing.rotary_dims(shape[0]);
      if (dims % 4 != 0 && base.kind() == PairKind::quarter) continue;
      for (const Index width : {dims / 2, dims}) {
        for (unsigned mask = 0; mask < 8; ++mask) {
          const Shape outer{mask & 1U ? shape[1] : 1, mask & 2U ? shape[2] : 1,
                            mask & 4U ? shape[3] : 1};
          const auto table = random_table<TableScalar>(width, outer, 3);
          SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(base.kind()) << ", dims "
                                            << dims << ", width " << width << ", mask " << mask);
          const Expected expected = by_definition(x, g, shape, table, pairing);
          std::vector<Scalar> dx(x.size(), Scalar(7));
          const auto from_x =
              gradients_to(dense(dx.data(), shape), dense(x.data(), shape), dense(g.data(), shape),
                           table, pairing, {everything, GradientsFrom::input, device});
          expect_near(from_x.cos, expected.cos, expected.cos_size, kFromInput, "cos");
          expect_near(from_x.sin, expected.sin, expected.sin_size, kFromInput, "sin");
          expect_near(from_x.angle, expected.angle, expected.angle_size, kFromInput, "angle");
          expect_near(from_x.log_magnitude, expected.log_magnitude, expected.log_size, kFromInput,
                      "log magnitude");
          std::vector<Scalar> transposed(x.size());
          rotate_to(dense(transposed.data(), shape), dense(g.data(), shape), table, pairing,
                    Direction::backward);
          ASSERT_TRUE(same_bits(transposed.data(), dx.data(), shape.size()));
          if (width == dims) continue;

          std::vector<Scalar> y(x.size());
          rotate_to(dense(y.data(), shape), dense(x.data(), shape), table, pairing);
          const auto from_y = gradients(dense(y.data(), shape), dense(g.data(), shape), table,
                                        pairing, {everything, GradientsFrom::output, device});
          expect_near(from_y.cos, expected.cos, expected.angle_size, 4 * from_output<Scalar>(),
                      "cos from y");
          expect_near(from_y.sin, expected.sin, expected.angle_size, 4 * from_output<Scalar>(),
                      "sin from y");
          expect_near(from_y.angle, expected.angle, expected.angle_size, from_output<Scalar>(),
                      "angle from y");
          expect_near(from_y.log_magnitude, expected.log_magnitude, expected.log_size,
                      from_output<Scalar>(), "log magnitude from y");
          // Angles alone take the short way; and in place, dx over g.
          auto g_copy = g;
          const auto alone =
              gradients_to(dense(g_copy.data(), shape), dense(y.data(), shape),
                           dense(static_cast<const Scalar*>(g_copy.data()), shape), table, pairing,
                           {Wanted::angle, GradientsFrom::output, device});
          expect_near(alone.angle, expected.angle, expected.angle_size, from_output<Scalar>(),
                      "angle alone");
          ASSERT_TRUE(alone.log_magnitude.empty() && alone.cos.empty() && alone.sin.empty());
          ASSERT_TRUE(same_bits(transposed.data(), g_copy.data(), shape.size())) << "in place";
        }
      }
    }
  }
}

// Tails of every length: 11 and 7 pairs after vectors of 2, 4 and 8 doubles, and of 16 floats; and
// enough pairs for several columns.
const Shape short_rows{22, 3, 2, 2};
const Shape long_rows{176, 3, 2, 2};
// Whole columns of every target, alone and in a window: the loop that sums and rotates at once.
const Shape whole_columns{128, 3, 2, 2};
const Shape columns_in_a_window{134, 2, 2, 3};

template <class Scalar, class TableScalar>
void compare_on_every_target() {
  for (const std::string& target : kernel_targets()) {
    SCOPED_TRACE(target);
    const OnlyTarget only(target);
    compare_every_case<Scalar, TableScalar>(short_rows);
    compare_every_case<Scalar, TableScalar>(long_rows);
    compare_every_case<Scalar, TableScalar>(whole_columns);
    compare_every_case<Scalar, TableScalar>(columns_in_a_window);
  }
}

TEST(Gradients, FollowTheDefinitionInFloat) { compare_on_every_target<float, float>(); }
TEST(Gradients, FollowTheDefinitionInDouble) { compare_on_every_target<double, double>(); }
TEST(Gradients, FollowTheDefinitionInHalf) { compare_on_every_target<Eigen::half, float>(); }
TEST(Gradients, FollowTheDefinitionInBfloat16) {
  compare_on_every_target<Eigen::bfloat16, float>();
}
TEST(Gradients, FollowTheDefinitionInLongDouble) {
  compare_every_case<long double, long double>(short_rows);
}

TEST(Gradients, HaveTheSameBitsOnEveryTargetAndForAnyNumberOfThreads) {
  const Shape shape{88, 5, 37, 2};
  const auto y = random_values<float>(shape.size(), 5);
  const auto g = random_values<float>(shape.size(), 6);
  const auto table = random_table<float>(44, Shape{1, 37}, 7);
  for (const Wanted wanted : {Wanted::angle, everything}) {
    const auto pass = [&](const Device& device) {
      return gradients(dense(y.data(), shape), dense(g.data(), shape), table, split_half,
                       {wanted, GradientsFrom::output, device});
    };
    const auto expected = pass(Device());
    for (const int threads : {1, 2, 5}) {
      Eigen::ThreadPool pool(threads);
      const auto again = pass(Eigen::ThreadPoolDevice(&pool, threads));
      EXPECT_EQ(again.angle, expected.angle);
      EXPECT_EQ(again.log_magnitude, expected.log_magnitude);
      EXPECT_EQ(again.cos, expected.cos);
    }
    for (const std::string& target : kernel_targets()) {
      const OnlyTarget only(target);
      const auto again = pass(Device());
      EXPECT_EQ(again.angle, expected.angle) << target;
      EXPECT_EQ(again.log_magnitude, expected.log_magnitude) << target;
      EXPECT_EQ(again.sin, expected.sin) << target;
    }
  }
}

template <class Scalar>
void compare_streamed() {
  const Shape shape{128, 4, 6, 2};
  const auto y = random_values<Scalar>(shape.size(), 17);
  const auto g = random_values<Scalar>(shape.size(), 18);
  const auto table = random_table<float>(64, Shape{1, 6}, 19);
  detail::AlignedVector<Scalar> cached(y.size()), streamed(y.size());
  for (const Pairing pairing : {split_half, interleaved, quarter, interleaved_to_split_half}) {
    const auto pass = [&](detail::AlignedVector<Scalar>& dx) {
      return gradients_to(dense(dx.data(), shape), dense(y.data(), shape), dense(g.data(), shape),
                          table, pairing);
    };
    const auto expected = pass(cached);
    set_streaming_threshold(1);
    const auto again = pass(streamed);
    reset_streaming_threshold();
    EXPECT_EQ(again.angle, expected.angle);
    EXPECT_TRUE(same_bits(cached.data(), streamed.data(), shape.size()));
  }
}

TEST(Gradients, AreTheSameWhereDxIsStoredPastTheCache) {
  for (const std::string& target : kernel_targets()) {
    SCOPED_TRACE(target);
    const OnlyTarget only(target);
    compare_streamed<float>();
    compare_streamed<Eigen::half>();
    compare_streamed<Eigen::bfloat16>();
  }
}

// BNSD, reversed tokens, and dx in another layout: rows anywhere.
TEST(Gradients, TakeRowsAnywhere) {
  constexpr Index D = 24, H = 3, S = 5;
  const auto y = random_values<float>(D * H * S, 8);
  const auto g = random_values<float>(D * H * S, 9);
  const auto table = random_table<float>(D / 2, Shape{1, S}, 10);
  const Shape shape{D, H, S};
  std::vector<float> dx(y.size());
  const auto expected = gradients_to(dense(dx.data(), shape), dense(y.data(), shape),
                                     dense(g.data(), shape), table, split_half);
  // The same tensors with heads outside tokens, tokens backwards for g.
  std::vector<float> y2(y.size()), g2(y.size()), dx2(y.size());
  for (Index s = 0; s < S; ++s) {
    for (Index h = 0; h < H; ++h) {
      for (Index d = 0; d < D; ++d) {
        y2[static_cast<std::size_t>((h * S + s) * D + d)] =
            y[static_cast<std::size_t>((s * H + h) * D + d)];
        g2[static_cast<std::size_t>((h * S + (S - 1 - s)) * D + d)] =
            g[static_cast<std::size_t>((s * H + h) * D + d)];
      }
    }
  }
  const StridedView<const float> y_view{y2.data(), shape, {S * D, D}};
  const StridedView<const float> g_view{g2.data() + (S - 1) * D, shape, {S * D, -D}};
  const StridedView<float> dx_view{dx2.data(), shape, {S * D, D}};
  const auto again = gradients_to(dx_view, y_view, g_view, table, split_half);
  EXPECT_EQ(again.angle, expected.angle);
  for (Index s = 0; s < S; ++s) {
    for (Index h = 0; h < H; ++h) {
      for (Index d = 0; d < D; ++d) {
        ASSERT_EQ(dx2[static_cast<std::size_t>((h * S + s) * D + d)],
                  dx[static_cast<std::size_t>((s * H + h) * D + d)]);
      }
    }
  }
}

// Three broadcast axes with others between them: no two can be walked as one.
TEST(Gradients, SumOverScatteredAxes) {
  const Shape shape{6, 2, 3, 2, 3, 2};
  auto y = random_values<double>(shape.size(), 8);
  auto g = random_values<double>(shape.size(), 9);
  const auto table = random_table<double>(3, Shape{1, 3, 1, 3, 1}, 10);
  std::vector<double> dx(y.size()), transposed(y.size());
  const auto d = gradients_to(dense(dx.data(), shape), dense(y.data(), shape),
                              dense(g.data(), shape), table, interleaved);
  rotate_to(dense(transposed.data(), shape), dense(g.data(), shape), table, interleaved,
            Direction::backward);
  EXPECT_EQ(dx, transposed);
  std::vector<double> expected(d.angle.size());
  for (std::size_t row = 0; row < y.size() / 6; ++row) {
    const std::size_t table_row = row / 2 % 3 + 3 * (row / 12 % 3);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t a = row * 6 + 2 * k;
      expected[table_row * 3 + k] += y[a] * g[a + 1] - y[a + 1] * g[a];
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(d.angle[i], expected[i], 16 * 8 * 0x1p-52) << "entry " << i;
}

TEST(Gradients, TakeEigenTensorsInEitherLayout) {
  Eigen::Tensor<float, 3> y(8, 2, 3), g(8, 2, 3), dx(8, 2, 3);
  y.setRandom();
  g.setRandom();
  const Eigen::Tensor<float, 3, Eigen::RowMajor> y_rows =
      y.swap_layout().shuffle(std::array<int, 3>{0, 1, 2});
  const Eigen::Tensor<float, 3, Eigen::RowMajor> g_rows =
      g.swap_layout().shuffle(std::array<int, 3>{0, 1, 2});
  Eigen::Tensor<float, 3, Eigen::RowMajor> dx_rows(3, 2, 8);
  const auto table = random_table<float>(4, Shape{1, 3}, 11);
  const auto a = gradients_to(dx, y, g, table, interleaved);
  const auto b = gradients_to(dx_rows, y_rows, g_rows, table, interleaved);
  EXPECT_EQ(a.angle, b.angle);
  EXPECT_TRUE(same_bits(dx.data(), dx_rows.data(), dx.size()));
}

TEST(Gradients, TakeTensorsMapsAndViewsAlike) {
  using Tensor = Eigen::Tensor<float, 3>;
  using Map = Eigen::TensorMap<Tensor>;
  using ConstMap = Eigen::TensorMap<const Tensor>;
  Tensor y(8, 2, 3), g(8, 2, 3), dx(8, 2, 3), written(8, 2, 3);
  y.setRandom();
  g.setRandom();
  const Shape shape{8, 2, 3};
  const auto table = random_table<float>(4, Shape{1, 3}, 20);
  const auto expected = gradients_to(dense(dx.data(), shape), dense(y.data(), shape),
                                     dense(g.data(), shape), table, split_half);
  const auto beside = [&](auto&& dx_rows, const auto& y_rows, const auto& g_rows) {
    written.setConstant(7);
    EXPECT_EQ(gradients(y_rows, g_rows, table, split_half).angle, expected.angle);
    EXPECT_EQ(gradients_to(dx_rows, y_rows, g_rows, table, split_half).angle, expected.angle);
    EXPECT_TRUE(same_bits(dx.data(), written.data(), dx.size()));
  };
  beside(written, y, std::as_const(g));
  beside(written, Tensor(y), dense(static_cast<const float*>(g.data()), shape));
  beside(Map(written.data(), 8, 2, 3), ConstMap(y.data(), 8, 2, 3), Map(g.data(), 8, 2, 3));
  beside(dense(written.data(), shape), Map(y.data(), 8, 2, 3), g);
  const auto in_place = [&](auto&& g_rows) {
    written = g;
    EXPECT_EQ(gradients_inplace(y, g_rows, table, split_half).angle, expected.angle);
    EXPECT_TRUE(same_bits(dx.data(), written.data(), dx.size()));
  };
  in_place(written);
  in_place(Map(written.data(), 8, 2, 3));
  in_place(dense(written.data(), shape));
}

TEST(Gradients, WithNothingWantedAreDxAlone) {
  const Shape shape{8, 6};
  const auto g = random_values<float>(shape.size(), 21);
  const auto table = random_table<float>(4, Shape{6}, 22);
  std::vector<float> dx = g, expected(g.size());
  rotate_to(dense(expected, shape), dense(g, shape), table, split_half, Direction::backward);
  const auto d =
      gradients_inplace(dense(g, shape), dense(dx, shape), table, split_half, {Wanted::nothing});
  EXPECT_TRUE(same_bits(dx.data(), expected.data(), shape.size()));
  EXPECT_TRUE(d.angle.empty() && d.log_magnitude.empty() && d.cos.empty() && d.sin.empty());
}

TEST(Gradients, ReuseTheirMemory) {
  const auto y = random_values<float>(8 * 6, 12);
  const auto table = random_table<float>(4, Shape{6}, 13);
  const auto v = dense(y.data(), Shape{8, 6});
  Gradients<double> d = gradients(v, v, table, split_half, {everything});
  const double* memory = d.angle.data();
  d = gradients(v, v, table, split_half, {}, std::move(d));
  EXPECT_EQ(d.angle.data(), memory);
  EXPECT_TRUE(d.cos.empty());
}

TEST(Gradients, OfNoRowsAreZero) {
  const auto table = random_table<float>(2, Shape{1, 3}, 14);
  const StridedView<const float> nothing{nullptr, Shape{4, 0, 3}, {4, 0}};
  const auto d = gradients(nothing, nothing, table, split_half, {everything, GradientsFrom::input});
  EXPECT_EQ(d.angle, std::vector<double>(6, 0.0));
  EXPECT_EQ(d.cos, std::vector<double>(6, 0.0));
}

/// The strides of rows without elements lead nowhere, and may be anything.
TEST(Gradients, OfRowsWithoutFeaturesReadNoStrides) {
  constexpr Index far = std::numeric_limits<Index>::max() - 1;
  const Shape shape{0, 5, 3, 2};
  const StridedView<const float> rows{nullptr, shape, {far, far, far}};
  const StridedView<float> dx{nullptr, shape, {far, -far, far}};
  const TableView<float> table{nullptr, nullptr, 0, Shape{1, 3, 2}};
  for (const PairKind kind : every_kind) {
    const auto d = gradients_to(dx, rows, rows, table, Pairing(kind), {everything});
    EXPECT_TRUE(d.angle.empty() && d.log_magnitude.empty() && d.cos.empty() && d.sin.empty());
  }
}

/// However many rows there are, nothing goes over them.
TEST(Gradients, OfRowsWithoutFeaturesCostNothing) {
  const StridedView<const float> rows{nullptr, Shape{0, Index{1} << 60}, {1}};
  for (const Index table_rows : {Index{1}, Index{1} << 60}) {
    const TableView<float> table{nullptr, nullptr, 0, Shape{table_rows}};
    for (const PairKind kind : every_kind) {
      for (const GradientsFrom from : {GradientsFrom::input, GradientsFrom::output}) {
        const auto d = gradients(rows, rows, table, Pairing(kind), {everything, from});
        EXPECT_TRUE(d.angle.empty() && d.cos.empty());
      }
    }
  }
}

TEST(Gradients, RefuseWhatCannotWork) {
  std::vector<float> memory(64, 1.0F);
  const Shape shape{4, 3};
  const auto x = dense(memory.data(), shape);
  const auto g = dense(memory.data() + 16, shape);
  const auto table = random_table<float>(2, Shape{3}, 15);
  const auto full = random_table<float>(4, Shape{3}, 16);
  EXPECT_EQ(error_of([&] {
              gradients(x, dense(memory.data(), Shape{4, 2}), table, split_half);
            }),
            "[rope] g must have y's shape [4, 3], got [4, 2]");
  EXPECT_EQ(error_of([&] { gradients(x, g, full, split_half); }),
            "[rope] full-width tables need the rotation's input (options.from = "
            "eigen_rope::GradientsFrom::input) for more than dx, as y "
            "does not tell their members apart; table width, got 4");
  EXPECT_EQ(
      error_of([&] { gradients_to(dense(memory.data() + 1, shape), x, g, table, split_half); }),
      "[rope] dx must be the same rows as y or not overlap them");
  EXPECT_EQ(error_of([&] {
              gradients_to(dense(memory.data() + 17, shape), x, g, table, split_half,
                           {Wanted::angle, GradientsFrom::input});
            }),
            "[rope] dx must be the same rows as g or not overlap them");
  EXPECT_EQ(
      error_of([&] { gradients(x, g, random_table<float>(3, Shape{3}, 1), split_half); }),
      "[rope] table width must be 2 (one entry per pair) or 4 (one per rotated element), got 3");
  Table<float> zero = table;
  std::fill(zero.cos.begin(), zero.cos.end(), 0.0F);
  std::fill(zero.sin.begin(), zero.sin.end(), 0.0F);
  EXPECT_EQ(
      error_of([&] { gradients(x, g, zero, split_half, {Wanted::table}); }),
      "[rope] the table must have cos_A cos_B + sin_A sin_B != 0 everywhere to be inverted, got 0");
  EXPECT_EQ(memory, std::vector<float>(64, 1.0F)) << "nothing is written";
}

}  // namespace
}  // namespace eigen_rope::test
