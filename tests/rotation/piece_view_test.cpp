// SPDX-License-Identifier: Apache-2.0
//
// Slices and chips of Eigen's tensors as views: their elements are those that Eigen evaluates, and
// a rotation of them has the bits of the rotated copy and leaves everything around them alone.
#include "eigen_rope/rotation/piece_view.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/bits.hpp"
#include "support/error_of.hpp"
#include "support/read_only_ref.hpp"

namespace eigen_rope::test::piece_view_tests {
namespace {

template <int rank>
using Indices = Eigen::array<Eigen::Index, static_cast<std::size_t>(rank)>;

template <int rank, int options, class Scalar = float>
using Rows = Eigen::Tensor<Scalar, rank, options>;

template <int rank, int options>
Rows<rank, options> numbered(const Indices<rank>& extents) {
  Rows<rank, options> x(extents);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>((i * 37) % 1009 - 504) / 64.0F;
  return x;
}

/// The elements of a view, the first axis fastest.
template <class Scalar>
std::vector<std::remove_const_t<Scalar>> elements(const StridedView<Scalar>& view) {
  std::vector<std::remove_const_t<Scalar>> values;
  for (Index i = 0; i < view.shape.size(); ++i) {
    Index place = i % view.shape[0] * view.feature_stride;
    Index rest = i / view.shape[0];
    for (int axis = 1; axis < view.shape.rank(); ++axis) {
      place += rest % view.shape[axis] * view.strides[static_cast<std::size_t>(axis - 1)];
      rest /= view.shape[axis];
    }
    values.push_back(view.data[place]);
  }
  return values;
}

/// Whether a view of the expression has the shape and the elements that Eigen evaluates it to.
template <int rank, int options, class Expression>
void expect_viewed(const Expression& expression) {
  const Rows<rank, options> copy = expression;
  const auto view = strided_view(expression);
  EXPECT_EQ(view.shape, strided_view(copy).shape);
  EXPECT_EQ(elements(view), std::vector<float>(copy.data(), copy.data() + copy.size()));
}

template <class Options>
struct PieceView : testing::Test {};
using Layouts = testing::Types<std::integral_constant<int, Eigen::ColMajor>,
                               std::integral_constant<int, Eigen::RowMajor>>;
TYPED_TEST_SUITE(PieceView, Layouts);

class Draw {
 public:
  template <int rank>
  Indices<rank> extents() {
    Indices<rank> result;
    for (auto& extent : result) extent = of(1, 6);
    return result;
  }
  /// Offsets and extents of a part of at least one element.
  template <int rank>
  std::pair<Indices<rank>, Indices<rank>> part(const Indices<rank>& whole) {
    std::pair<Indices<rank>, Indices<rank>> result;
    for (std::size_t axis = 0; axis < whole.size(); ++axis) {
      result.first[axis] = of(0, whole[axis] - 1);
      result.second[axis] = of(1, whole[axis] - result.first[axis]);
    }
    return result;
  }
  Eigen::Index of(Eigen::Index low, Eigen::Index high) {
    return std::uniform_int_distribution<Eigen::Index>(low, high)(engine_);
  }

 private:
  std::mt19937 engine_{20260302};
};

template <int rank>
Indices<rank - 1> without(const Indices<rank>& extents, Eigen::Index dimension) {
  Indices<rank - 1> rest;
  for (std::size_t axis = 0, to = 0; axis < extents.size(); ++axis)
    if (axis != static_cast<std::size_t>(dimension)) rest[to++] = extents[axis];
  return rest;
}

TYPED_TEST(PieceView, HasTheElementsThatEigenEvaluates) {
  constexpr int options = TypeParam::value;
  Draw draw;
  for (int round = 0; round < 200; ++round) {
    const auto extents = draw.extents<4>();
    Rows<4, options> x = numbered<4, options>(extents);
    const auto [first, size] = draw.part<4>(extents);
    const auto [inner_first, inner_size] = draw.part<4>(size);
    expect_viewed<4, options>(x.slice(first, size));
    expect_viewed<4, options>(x.slice(first, size).slice(inner_first, inner_size));
    const Eigen::Index dimension = draw.of(0, 3);
    const Eigen::Index offset = draw.of(0, extents[static_cast<std::size_t>(dimension)] - 1);
    expect_viewed<3, options>(x.chip(offset, dimension));
    const auto rest = without<4>(extents, dimension);
    const auto [chip_first, chip_size] = draw.part<3>(rest);
    expect_viewed<3, options>(x.chip(offset, dimension).slice(chip_first, chip_size));
    const Eigen::Index second = draw.of(0, 2);
    const Eigen::Index at = draw.of(0, rest[static_cast<std::size_t>(second)] - 1);
    expect_viewed<2, options>(x.chip(offset, dimension).chip(at, second));
    expect_viewed<3, options>(x.slice(first, size).template chip<1>(size[1] - 1));
    const Rows<4, options>& read_only = x;
    expect_viewed<4, options>(read_only.slice(first, size));
    Eigen::TensorMap<Rows<4, options>> map(x.data(), extents);
    expect_viewed<4, options>(map.slice(first, size));
    const Eigen::TensorRef<Rows<4, options>> reference(x);
    expect_viewed<4, options>(reference.slice(first, size));
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(PieceView, OfFixedSizes) {
  constexpr int options = TypeParam::value;
  Eigen::TensorFixedSize<float, Eigen::Sizes<8, 3, 4>, options> x;
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  expect_viewed<3, options>(x);
  expect_viewed<3, options>(x.slice(Indices<3>{1, 0, 2}, Indices<3>{5, 2, 2}));
  expect_viewed<2, options>(x.chip(2, 1));
  expect_viewed<3, options>(x.slice(Eigen::Sizes<1, 0, 2>(), Eigen::Sizes<5, 2, 2>()));
  const Eigen::TensorRef<Rows<3, options>> reference(x);
  expect_viewed<3, options>(reference);
}

/// A piece can be written exactly where Eigen would let it be assigned to.
TYPED_TEST(PieceView, IsAsWritableAsThePiece) {
  constexpr int options = TypeParam::value;
  Rows<3, options> x(8, 3, 4);
  const Rows<3, options>& read_only = x;
  Eigen::TensorMap<Rows<3, options>> map(x.data(), 8, 3, 4);
  const Eigen::TensorMap<const Rows<3, options>> of_constant(x.data(), 8, 3, 4);
  const Eigen::TensorRef<Rows<3, options>> reference(x);
  const Indices<3> first{0, 1, 0}, size{8, 2, 4};
  using Written = StridedView<float>;
  using Read = StridedView<const float>;
  const auto expect = [](const auto& view, auto wanted) {
    EXPECT_TRUE((std::is_same_v<std::decay_t<decltype(view)>, decltype(wanted)>));
  };
  expect(strided_view(x.slice(first, size)), Written());
  expect(strided_view(x.slice(first, size).chip(0, 2)), Written());
  expect(strided_view(map.chip(0, 2)), Written());
  expect(strided_view(read_only.slice(first, size)), Read());
  expect(strided_view(read_only.chip(0, 2).chip(0, 0)), Read());
  expect(strided_view(of_constant.chip(0, 2)), Read());
  expect(strided_view(reference), Read());
  expect(strided_view(reference.chip(0, 2)), Read());
}

/// Rotates a slice of x, 8 features of 3 heads and 5 tokens, in every way there is.
template <int options>
struct Slice {
  static constexpr bool col_major = options == Eigen::ColMajor;
  static Indices<3> ordered(Eigen::Index d, Eigen::Index h, Eigen::Index s) {
    return col_major ? Indices<3>{d, h, s} : Indices<3>{s, h, d};
  }
  const Indices<3> first = ordered(3, 1, 2), size = ordered(8, 3, 5);
  Rows<3, options> x = numbered<3, options>(ordered(13, 6, 9));
  const Rows<3, options> copy = x.slice(first, size);
  const Cache<float> cache{Frequencies::powers({8}), Positions::range(3, 5)};

  Rows<3, options> rotated(Direction direction) const {
    Rows<3, options> y(size);
    rotate_to(y, copy, cache, split_half, direction);
    return y;
  }
};

template <int rank, int options>
void expect_same(const Rows<rank, options>& got, const Rows<rank, options>& expected) {
  EXPECT_EQ(bits_of(got.data(), got.size()), bits_of(expected.data(), expected.size()));
}

TYPED_TEST(PieceView, RotatesInPlaceWhatIsInsideAndNothingElse) {
  constexpr int options = TypeParam::value;
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    Slice<options> s;
    Rows<3, options> expected = s.x;
    expected.slice(s.first, s.size) = s.rotated(direction);
    rotate_inplace(s.x.slice(s.first, s.size), s.cache, split_half, direction);
    expect_same(s.x, expected);
    Slice<options> by_view;
    rotate_inplace(strided_view(by_view.x.slice(s.first, s.size)), s.cache, split_half, direction);
    expect_same(by_view.x, expected);
    Slice<options> named;
    auto slice = named.x.slice(s.first, s.size);
    rotate_inplace(slice, s.cache, split_half, direction);
    expect_same(named.x, expected);
  }
}

TYPED_TEST(PieceView, RotatesChipsInPlace) {
  constexpr int options = TypeParam::value;
  const Indices<4> extents =
      options == Eigen::ColMajor ? Indices<4>{8, 3, 5, 4} : Indices<4>{4, 5, 3, 8};
  const Eigen::Index batch = options == Eigen::ColMajor ? 3 : 0;
  const Cache<float> cache(Frequencies::powers({8}), Positions::range(3, 5));
  Rows<4, options> x = numbered<4, options>(extents);
  Rows<4, options> expected = x;
  const Rows<3, options> sequence = x.chip(2, batch);
  expected.chip(2, batch) = rotate(sequence, cache, interleaved);
  rotate_inplace(x.chip(2, batch), cache, interleaved);
  expect_same(x, expected);
}

TYPED_TEST(PieceView, RotatesFromAndToPieces) {
  constexpr int options = TypeParam::value;
  const Slice<options> s;
  const Rows<3, options> rotated = s.rotated(Direction::forward);
  Rows<3, options> expected = numbered<3, options>(s.x.dimensions());
  expected.setConstant(7);
  Rows<3, options> y = expected;
  expected.slice(s.first, s.size) = rotated;
  const auto cleared = [&]() -> Rows<3, options>& { return y.setConstant(7); };
  rotate_to(cleared().slice(s.first, s.size), s.x.slice(s.first, s.size), s.cache, split_half);
  expect_same(y, expected);
  rotate_to(cleared().slice(s.first, s.size), s.copy, s.cache, split_half);
  expect_same(y, expected);
  rotate_to(cleared().slice(s.first, s.size), s.x.slice(s.first, s.size) * 1.0F, s.cache,
            split_half);
  expect_same(y, expected);
  Rows<3, options> z(s.size);
  rotate_to(z, s.x.slice(s.first, s.size), s.cache, split_half);
  expect_same(z, rotated);
  const ReadOnlyRef<Rows<3, options>> reference(s.x);
  z.setConstant(7);
  rotate_to(z, reference.slice(s.first, s.size), s.cache, split_half);
  expect_same(z, rotated);
  z.setConstant(7);
  rotate_to(strided_view(z), strided_view(reference.slice(s.first, s.size)), s.cache, split_half);
  expect_same(z, rotated);
}

/// along() counts the indices of the piece.
TYPED_TEST(PieceView, GoesAlongItsOwnIndices) {
  constexpr int options = TypeParam::value;
  const Cache<float> cache(Frequencies::powers({8}), Positions::range(3, 5),
                           Layout{AxisRole::token, AxisRole::other, AxisRole::feature});
  // From the fastest axis outwards: tokens, heads, features.
  constexpr bool col_major = options == Eigen::ColMajor;
  const Pairing pairing = split_half.along(col_major ? 2 : 0);
  const Indices<3> first = Slice<options>::ordered(2, 1, 3),
                   size = Slice<options>::ordered(5, 3, 8);
  Rows<3, options> x = numbered<3, options>(Slice<options>::ordered(9, 6, 13));
  Rows<3, options> expected = x;
  const Rows<3, options> copy = x.slice(first, size);
  expected.slice(first, size) = rotate(copy, cache, pairing);
  rotate_inplace(x.slice(first, size), cache, pairing);
  expect_same(x, expected);
}

TYPED_TEST(PieceView, GradientsOfPiecesAreThoseOfTheirCopies) {
  constexpr int options = TypeParam::value;
  Slice<options> s;
  Rows<3, options> g = numbered<3, options>(s.x.dimensions());
  g = g * g;
  const Rows<3, options> g_copy = g.slice(s.first, s.size);
  Rows<3, options> dx_copy(s.size);
  GradientOptions all;
  all.wanted = Wanted::angle | Wanted::log_magnitude | Wanted::table;
  const auto expected = gradients_to(dx_copy, s.copy, g_copy, s.cache, split_half, all);
  Rows<3, options> after = g;
  after.slice(s.first, s.size) = dx_copy;
  const auto got = gradients_inplace(s.x.slice(s.first, s.size), g.slice(s.first, s.size), s.cache,
                                     split_half, all);
  expect_same(g, after);
  EXPECT_EQ(got.angle, expected.angle);
  EXPECT_EQ(got.log_magnitude, expected.log_magnitude);
  EXPECT_EQ(got.cos, expected.cos);
  EXPECT_EQ(got.sin, expected.sin);
}

/// Messages count as the tensor's own indices do, in both orders.
TYPED_TEST(PieceView, RefusesWhatLiesOutside) {
  constexpr int options = TypeParam::value;
  Slice<options> s;
  Rows<3, options> x(4, 5, 6);
  const auto refusal = [&](const Indices<3>& first, const Indices<3>& size) {
    return error_of([&] { rotate_inplace(x.slice(first, size), s.cache, split_half); });
  };
  EXPECT_EQ(refusal({1, 0, 0}, {4, 5, 6}),
            "[rope] a slice must lie within the 4 elements of axis 0, got 4 from 1 on");
  EXPECT_EQ(refusal({0, 0, -1}, {4, 5, 2}),
            "[rope] a slice must lie within the 6 elements of axis 2, got 2 from -1 on");
  EXPECT_EQ(refusal({0, 5, 0}, {4, 1, 6}),
            "[rope] a slice must lie within the 5 elements of axis 1, got 1 from 5 on");
  EXPECT_EQ(refusal({0, 0, 0}, {-4, 5, 6}),
            "[rope] a slice must lie within the 4 elements of axis 0, got -4 from 0 on");
  EXPECT_EQ(error_of([&] { (void)strided_view(x.chip(4, 0)); }),
            "[rope] a chip must be one of the 4 elements of axis 0, got 4");
  EXPECT_EQ(error_of([&] { (void)strided_view(x.template chip<2>(-1)); }),
            "[rope] a chip must be one of the 6 elements of axis 2, got -1");
  const ReadOnlyRef<Rows<3, options>> sum(x + x);
  EXPECT_EQ(error_of([&] { (void)strided_view(sum); }),
            "[rope] a TensorRef must refer to memory in one piece: evaluate the expression first, "
            "got an expression of shape " +
                strided_view(x).shape.text());
}

TYPED_TEST(PieceView, RefusesPiecesThatOverlap) {
  constexpr int options = TypeParam::value;
  Slice<options> s;
  const Indices<3> moved = Slice<options>::ordered(3, 1, 3);
  const Rows<3, options> before = s.x;
  const std::string message = error_of([&] {
    rotate_to(s.x.slice(moved, s.size), s.x.slice(s.first, s.size), s.cache, split_half);
  });
  EXPECT_EQ(message.rfind("[rope] x and the destination must be the same rows", 0), 0U) << message;
  expect_same(s.x, before);
}

}  // namespace
}  // namespace eigen_rope::test::piece_view_tests
