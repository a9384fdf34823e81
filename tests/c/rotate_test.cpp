// SPDX-License-Identifier: Apache-2.0
//
// Rotations, gradients and tables through the C interface have the bits of the C++ one, for every
// scalar, pairing, direction, axis and stride.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "c/problem.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "support/bits.hpp"

extern "C" const char* c11_program(void);

namespace eigen_rope::test::c_rotate_tests {
namespace {

TEST(C, AProgramInC11DoesWhatItSays) { EXPECT_STREQ(c11_program(), ""); }

template <class Scalar>
struct CRotateTest : testing::Test {
  static constexpr ScalarType type = scalar_type<Scalar>;
};
using Scalars = testing::Types<float, double, Eigen::half, Eigen::bfloat16>;
TYPED_TEST_SUITE(CRotateTest, Scalars);

constexpr Index tokens = 5, heads = 3, D = 16;

TYPED_TEST(CRotateTest, EveryPairingAndDirectionHasTheBitsOfCpp) {
  using Scalar = TypeParam;
  const auto x = c_numbers<Scalar>(tokens * heads * D, 1);
  const auto cos = c_numbers<Scalar>(tokens * D / 2, 2), sin = c_numbers<Scalar>(tokens * D / 2, 3);
  const any::Table table{this->type, cos.data(), sin.data(), {tokens, 1, D / 2}};
  const CTensor c(this->type, cos.data(), {tokens, 1, D / 2});
  const CTensor s(this->type, sin.data(), {tokens, 1, D / 2});
  for (const CPairing& pairing : c_pairings) {
    for (const CDirection& direction : c_directions) {
      std::vector<Scalar> expected(x.size()), y(x.size()), in_place = x;
      any::rotate_to({this->type, expected.data(), {tokens, heads, D}},
                     {this->type, x.data(), {tokens, heads, D}}, table, pairing.pairing,
                     direction.direction);
      const auto how = c_rotation(pairing.number, direction.number);
      const CTensor from(this->type, x.data(), {tokens, heads, D});
      const CTensor to(this->type, y.data(), {tokens, heads, D});
      const CTensor itself(this->type, in_place.data(), {tokens, heads, D});
      EXPECT_DONE(eigen_rope_rotate(to.get(), from.get(), c.get(), s.get(), &how));
      EXPECT_DONE(eigen_rope_rotate(itself.get(), itself.get(), c.get(), s.get(), &how));
      const auto size = static_cast<Index>(x.size());
      EXPECT_EQ(bits_of(y.data(), size), bits_of(expected.data(), size));
      EXPECT_EQ(bits_of(in_place.data(), size), bits_of(expected.data(), size));
    }
  }
}

/// Features on axis 1 of x and axis 0 of the table, with gaps, offsets and a window.
TYPED_TEST(CRotateTest, AxesStridesOffsetsAndWindowsHaveTheBitsOfCpp) {
  using Scalar = TypeParam;
  constexpr Index dims = 8, offset = 4;
  const auto memory = c_numbers<Scalar>(2 * tokens * D * heads, 4);
  const auto cos = c_numbers<Scalar>(dims / 2 * tokens, 5),
             sin = c_numbers<Scalar>(dims / 2 * tokens, 6);
  const Pairing pairing = interleaved.along(1).with_offset(offset).with_rotary_dims(dims);
  any::Table table{this->type, cos.data(), sin.data(), {dims / 2, tokens, 1}};
  table.feature_axis = 0;
  auto expected = memory, actual = memory;
  const Strides strides{2 * D * heads, heads, 1};
  any::rotate_inplace({this->type, expected.data() + D * heads, {tokens, D, heads}, strides}, table,
                      pairing);

  auto how = c_rotation(EIGEN_ROPE_INTERLEAVED);
  how.rotary_dims = dims;
  how.offset = offset;
  how.flags = EIGEN_ROPE_NAMED_AXIS | EIGEN_ROPE_NAMED_TABLE_AXIS;
  how.axis = 1;
  how.table_axis = 0;
  CTensor x(this->type, actual.data(), {tokens, D, heads}, {2 * D * heads, heads, 1});
  x.view.byte_offset = D * heads * sizeof(Scalar);
  const CTensor c(this->type, cos.data(), {dims / 2, tokens, 1});
  const CTensor s(this->type, sin.data(), {dims / 2, tokens, 1}, {tokens, 1, 1});
  EXPECT_DONE(eigen_rope_rotate(x.get(), x.get(), c.get(), s.get(), &how));
  const auto size = static_cast<Index>(memory.size());
  EXPECT_EQ(bits_of(actual.data(), size), bits_of(expected.data(), size));
  EXPECT_NE(bits_of(actual.data(), size), bits_of(memory.data(), size));
}

/// A table that is broadcast along its second axis by a stride of 0, whose entries lie apart.
TYPED_TEST(CRotateTest, BackwardHasTheBitsOfCpp) {
  using Scalar = TypeParam;
  const auto x = c_numbers<Scalar>(tokens * heads * D, 7);
  const auto dy = c_numbers<Scalar>(tokens * heads * D, 8);
  const auto entries = c_numbers<Scalar>(tokens * D, 9);
  const Strides strides{D, 0, 2};
  const any::Table table{
      this->type, entries.data(), entries.data() + 1, {tokens, heads, D / 2}, strides};
  std::vector<Scalar> expected_dx(x.size()), dx(x.size());
  GradientOptions options{Wanted::angle | Wanted::log_magnitude | Wanted::table,
                          GradientsFrom::input};
  const auto d =
      any::gradients_to({this->type, expected_dx.data(), {tokens, heads, D}},
                        {this->type, x.data(), {tokens, heads, D}},
                        {this->type, dy.data(), {tokens, heads, D}}, table, split_half, options);

  const CTensor from(this->type, x.data(), {tokens, heads, D});
  const CTensor g(this->type, dy.data(), {tokens, heads, D});
  const CTensor c(this->type, entries.data(), {tokens, heads, D / 2}, {D, 0, 2});
  const CTensor s(this->type, entries.data() + 1, {tokens, heads, D / 2}, {D, 0, 2});
  const CTensor to(this->type, dx.data(), {tokens, heads, D});
  const auto how = c_rotation(EIGEN_ROPE_SPLIT_HALF);
  std::int64_t shape[EIGEN_ROPE_MAX_RANK];
  std::int32_t ndim = 0;
  for (const std::int32_t of : {EIGEN_ROPE_OF_ANGLES, EIGEN_ROPE_OF_TABLE}) {
    EXPECT_DONE(eigen_rope_gradient_shape(of, from.get(), c.get(), &how, shape, &ndim));
    EXPECT_EQ(std::vector<std::int64_t>(shape, shape + ndim),
              (std::vector<std::int64_t>{tokens, 1, D / 2}));
  }
  constexpr Index size = tokens * D / 2;
  std::vector<double> angle(size), log_magnitude(size), dcos(2 * size, 7.0), dsin(size);
  const CTensor of_angle(ScalarType::f64, angle.data(), {tokens, 1, D / 2});
  const CTensor of_log(ScalarType::f64, log_magnitude.data(), {tokens, 1, D / 2});
  const CTensor of_cos(ScalarType::f64, dcos.data(), {tokens, 1, D / 2}, {D, 1, 2});
  const CTensor of_sin(ScalarType::f64, dsin.data(), {tokens, 1, D / 2});
  eigen_rope_gradients results{};
  results.struct_size = sizeof results;
  results.from = EIGEN_ROPE_FROM_INPUT;
  results.dx = to.get();
  results.angle = of_angle.get();
  results.log_magnitude = of_log.get();
  results.cos = of_cos.get();
  results.sin = of_sin.get();
  EXPECT_DONE(eigen_rope_backward(&results, from.get(), g.get(), c.get(), s.get(), &how));
  EXPECT_EQ(bits_of(dx.data(), static_cast<Index>(dx.size())),
            bits_of(expected_dx.data(), static_cast<Index>(dx.size())));
  EXPECT_EQ(angle, d.angle);
  EXPECT_EQ(log_magnitude, d.log_magnitude);
  EXPECT_EQ(dsin, d.sin);
  for (std::size_t i = 0; i < d.cos.size(); ++i) {
    EXPECT_EQ(dcos[2 * i], d.cos[i]);
    EXPECT_EQ(dcos[2 * i + 1], 7.0) << "nothing is written between the entries";
  }

  // Each by itself, from the output.
  std::vector<Scalar> y(x.size());
  const CTensor output(this->type, y.data(), {tokens, heads, D});
  EXPECT_DONE(eigen_rope_rotate(output.get(), from.get(), c.get(), s.get(), &how));
  options = {Wanted::angle, GradientsFrom::output};
  const auto from_y =
      any::gradients({this->type, y.data(), {tokens, heads, D}},
                     {this->type, dy.data(), {tokens, heads, D}}, table, split_half, options);
  results = {};
  results.struct_size = sizeof results;
  results.angle = of_angle.get();
  EXPECT_DONE(eigen_rope_backward(&results, output.get(), g.get(), c.get(), s.get(), &how));
  EXPECT_EQ(angle, from_y.angle);
}

/// Two entries for each pair.
TYPED_TEST(CRotateTest, GradientsOfAFullWidthTableHaveItsShape) {
  using Scalar = TypeParam;
  const auto x = c_numbers<Scalar>(heads * D, 10), g = c_numbers<Scalar>(heads * D, 11);
  const auto entries = c_numbers<Scalar>(2 * D, 12);
  const any::Table table{this->type, entries.data(), entries.data() + D, {1, D}};
  const auto d =
      any::gradients({this->type, x.data(), {heads, D}}, {this->type, g.data(), {heads, D}}, table,
                     interleaved, {Wanted::angle | Wanted::table, GradientsFrom::input});
  const CTensor from(this->type, x.data(), {heads, D}), of(this->type, g.data(), {heads, D});
  const CTensor c(this->type, entries.data(), {1, D}), s(this->type, entries.data() + D, {1, D});
  const auto how = c_rotation(EIGEN_ROPE_INTERLEAVED);
  std::int64_t pairs[EIGEN_ROPE_MAX_RANK], width[EIGEN_ROPE_MAX_RANK];
  std::int32_t ndim = 0;
  EXPECT_DONE(
      eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, from.get(), c.get(), &how, pairs, &ndim));
  EXPECT_DONE(
      eigen_rope_gradient_shape(EIGEN_ROPE_OF_TABLE, from.get(), c.get(), &how, width, &ndim));
  EXPECT_EQ(ndim, 2);
  EXPECT_EQ(pairs[0], 1);
  EXPECT_EQ(pairs[1], D / 2);
  EXPECT_EQ(width[0], 1);
  EXPECT_EQ(width[1], D);
  std::vector<double> angle(D / 2), dcos(D), dsin(D);
  const CTensor of_angle(ScalarType::f64, angle.data(), {1, D / 2});
  const CTensor of_cos(ScalarType::f64, dcos.data(), {1, D}),
      of_sin(ScalarType::f64, dsin.data(), {1, D});
  eigen_rope_gradients results{};
  results.struct_size = sizeof results;
  results.from = EIGEN_ROPE_FROM_INPUT;
  results.angle = of_angle.get();
  results.cos = of_cos.get();
  results.sin = of_sin.get();
  EXPECT_DONE(eigen_rope_backward(&results, from.get(), of.get(), c.get(), s.get(), &how));
  EXPECT_EQ(angle, d.angle);
  EXPECT_EQ(dcos, d.cos);
  EXPECT_EQ(dsin, d.sin);
}

TYPED_TEST(CRotateTest, TableGradientsHaveTheBitsOfCpp) {
  using Scalar = TypeParam;
  const auto x = c_numbers<Scalar>(tokens * heads * D, 13);
  const auto dy = c_numbers<Scalar>(tokens * heads * D, 14);
  std::vector<Scalar> expected(tokens * D), actual(tokens * D);
  const any::TableMemory memory{
      this->type, expected.data(), expected.data() + tokens * D / 2, {tokens, 1, D / 2}};
  any::table_gradient(memory, {this->type, x.data(), {tokens, heads, D}},
                      {this->type, dy.data(), {tokens, heads, D}}, quarter);
  const CTensor from(this->type, x.data(), {tokens, heads, D});
  const CTensor g(this->type, dy.data(), {tokens, heads, D});
  const CTensor dcos(this->type, actual.data(), {tokens, 1, D / 2});
  const CTensor dsin(this->type, actual.data() + tokens * D / 2, {tokens, 1, D / 2});
  const auto how = c_rotation(EIGEN_ROPE_QUARTER);
  EXPECT_DONE(eigen_rope_table_gradient(dcos.get(), dsin.get(), from.get(), g.get(), &how));
  EXPECT_EQ(bits_of(actual.data(), tokens * D), bits_of(expected.data(), tokens * D));
}

TYPED_TEST(CRotateTest, FilledTablesAreThoseOfACache) {
  using Scalar = TypeParam;
  const Frequencies frequencies = Frequencies::powers({D});
  const std::vector<std::int64_t> ids{7, 8, 9, 10, 11, 0, 3, 500, 501, 2};
  const Positions positions = Positions::per_batch(ids, Batches{2});
  eigen_rope_parameter dims{};
  dims.name = "rotary_dims";
  dims.number = D;
  eigen_rope_frequencies* f = nullptr;
  EXPECT_DONE(eigen_rope_frequencies_create("default", &dims, 1, 0, &f));
  const eigen_rope_position_list list = c_positions(ids, 2);
  eigen_rope_positions* p = nullptr;
  EXPECT_DONE(eigen_rope_positions_of(&list, &p));
  for (const char* const name : {"bsnd", "bnsd", "sbnd", "dnsb", "dsnb"}) {
    SCOPED_TRACE(name);
    const Layout& layout = any::layout_of(name);
    const Cache<Scalar> cache(frequencies, positions, layout);
    std::int64_t shape[EIGEN_ROPE_MAX_RANK];
    std::int32_t ndim = 0;
    EXPECT_DONE(eigen_rope_table_shape(f, p, name, shape, &ndim));
    std::vector<std::int64_t> expected_shape;
    for (int axis = cache.outer().rank(); axis >= 0; --axis) {
      if (axis == layout.feature_axis()) expected_shape.push_back(cache.pairs());
      if (axis > 0) expected_shape.push_back(cache.outer()[axis - 1]);
    }
    EXPECT_EQ(std::vector<std::int64_t>(shape, shape + ndim), expected_shape);
    const Index size = D / 2 * 10;
    std::vector<Scalar> cos(size), sin(size);
    const CTensor c(this->type, cos.data(), expected_shape),
        s(this->type, sin.data(), expected_shape);
    EXPECT_DONE(eigen_rope_fill_table(c.get(), s.get(), f, p, name));
    EXPECT_EQ(bits_of(cos.data(), size), bits_of(cache.cos(), size));
    EXPECT_EQ(bits_of(sin.data(), size), bits_of(cache.sin(), size));
  }
  eigen_rope_frequencies_destroy(f);
  eigen_rope_positions_destroy(p);
}

}  // namespace
}  // namespace eigen_rope::test::c_rotate_tests
