// SPDX-License-Identifier: Apache-2.0
//
// Eigen's matrices as rows: tokens in rows or in columns, both storage orders, one head or several,
// whole matrices, maps, references and blocks. Each is compared with the definition, element by
// element.
#include "eigen_rope/rotation/matrix_view.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::matrix_view_tests {
namespace {

constexpr Index D = 10;
constexpr Index H = 3;
constexpr Index S = 21;
const Pairing window = interleaved.with_rotary_dims(6).with_offset(2);

Cache<float> cache() { return {Frequencies::powers({6}), Positions::range(4, S)}; }

float value(Index d, Index h, Index s) {
  return static_cast<float>((d * 37 + h * 11 + s * 5) % 64 - 31) / 64;
}

/// What is wanted of element d of head h of token s.
class Expected {
 public:
  explicit Expected(Direction direction) : y_(static_cast<std::size_t>(D * H * S)) {
    std::vector<float> x;
    for (Index s = 0; s < S; ++s)
      for (Index h = 0; h < H; ++h)
        for (Index d = 0; d < D; ++d) x.push_back(value(d, h, s));
    reference::rotate(x.data(), y_.data(), {D, H, S}, cache().view(), window, direction);
  }
  float operator()(Index d, Index h, Index s) const {
    return y_[static_cast<std::size_t>((s * H + h) * D + d)];
  }

 private:
  std::vector<float> y_;
};

/// A matrix of tokens x features.
template <class Matrix>
void rotates_rows(Matrix&& matrix) {
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    for (Index s = 0; s < S; ++s)
      for (Index f = 0; f < D * H; ++f) matrix(s, f) = value(f % D, f / D, s);
    rotate_inplace(tokens_in_rows(matrix, H), cache(), window, direction);
    const Expected expected(direction);
    for (Index s = 0; s < S; ++s)
      for (Index f = 0; f < D * H; ++f) ASSERT_EQ(matrix(s, f), expected(f % D, f / D, s));
  }
}

template <class Matrix>
void rotates_columns(Matrix&& matrix) {
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    for (Index s = 0; s < S; ++s)
      for (Index f = 0; f < D * H; ++f) matrix(f, s) = value(f % D, f / D, s);
    rotate_inplace(tokens_in_columns(matrix, H), cache(), window, direction);
    const Expected expected(direction);
    for (Index s = 0; s < S; ++s)
      for (Index f = 0; f < D * H; ++f) ASSERT_EQ(matrix(f, s), expected(f % D, f / D, s));
  }
}

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST(MatrixView, WholeMatrices) {
  rotates_rows(Eigen::MatrixXf(S, D * H));
  rotates_rows(RowMajor(S, D * H));
  rotates_rows(Eigen::ArrayXXf(S, D * H));
  rotates_columns(Eigen::MatrixXf(D * H, S));
  rotates_columns(RowMajor(D * H, S));
  rotates_columns(Eigen::Matrix<float, D * H, S>());
}

TEST(MatrixView, MapsReferencesAndBlocks) {
  std::vector<float> memory(3 * S * D * H);
  using Far = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Eigen::MatrixXf> dense(memory.data(), S, D * H);
  rotates_rows(dense);
  Eigen::Map<Eigen::MatrixXf, 0, Far> far(memory.data(), S, D * H, Far(3 * S, 2));
  rotates_rows(far);
  Eigen::Ref<Eigen::MatrixXf> reference(dense);
  rotates_rows(reference);
  Eigen::MatrixXf large = Eigen::MatrixXf::Constant(S + 4, D * H + 5, 77);
  rotates_rows(large.block(2, 3, S, D * H));
  EXPECT_EQ(large(1, 3), 77);
  EXPECT_EQ(large(S + 2, 3), 77);
  EXPECT_EQ(large(2, 2), 77);
  EXPECT_EQ(large(2, D * H + 3), 77);
  Eigen::MatrixXf tall(D * H + 5, S + 4);
  rotates_columns(tall.block(1, 2, D * H, S));
  rotates_columns(large.block(2, 3, S, D * H).transpose());
}

TEST(MatrixView, ReadsConstMatrices) {
  Eigen::MatrixXf x(S, D * H);
  for (Index s = 0; s < S; ++s)
    for (Index f = 0; f < D * H; ++f) x(s, f) = value(f % D, f / D, s);
  const Eigen::MatrixXf& source = x;
  RowMajor y(S, D * H);
  const StridedView<const float> from = tokens_in_rows(source, H);
  rotate_to(tokens_in_rows(y, H), from, cache(), window);
  const Expected expected(Direction::forward);
  for (Index s = 0; s < S; ++s)
    for (Index f = 0; f < D * H; ++f) ASSERT_EQ(y(s, f), expected(f % D, f / D, s));
}

// The gradients of a matrix are those of the same rows in one piece.
TEST(MatrixView, Gradients) {
  const Cache<float> table = cache();
  RowMajor y(S, D * H), g(S, D * H), dx(S, D * H);
  for (Index s = 0; s < S; ++s) {
    for (Index f = 0; f < D * H; ++f) {
      y(s, f) = value(f % D, f / D, s);
      g(s, f) = value(s % D, f % H, f);
    }
  }
  Eigen::MatrixXf y_apart = y, g_apart = g, dx_apart(S, D * H);
  GradientOptions options;
  options.wanted = Wanted::angle | Wanted::log_magnitude | Wanted::table;
  const auto expected = gradients_to(tokens_in_rows(dx, H), tokens_in_rows(y, H),
                                     tokens_in_rows(g, H), table, window, options);
  const auto got = gradients_to(tokens_in_rows(dx_apart, H), tokens_in_rows(y_apart, H),
                                tokens_in_rows(g_apart, H), table, window, options);
  EXPECT_EQ(dx, RowMajor(dx_apart));
  EXPECT_EQ(expected.angle, got.angle);
  EXPECT_EQ(expected.log_magnitude, got.log_magnitude);
  EXPECT_EQ(expected.cos, got.cos);
  EXPECT_EQ(expected.sin, got.sin);
}

TEST(MatrixView, HeadsMustDivideTheFeatures) {
  Eigen::MatrixXf x(S, D * H);
  EXPECT_EQ(error_of([&] { (void)tokens_in_rows(x, 4); }),
            "[rope] the features of a token must be a multiple of its 4 heads, got 30");
  EXPECT_EQ(error_of([&] { (void)tokens_in_columns(x, 0); }),
            "[rope] the number of heads must be positive, got 0");
}

}  // namespace
}  // namespace eigen_rope::test::matrix_view_tests
