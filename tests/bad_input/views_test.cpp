// SPDX-License-Identifier: Apache-2.0
//
// Bad input: rotations of strided views, and their derivatives along tangents.
#include <algorithm>
#include <limits>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"

namespace eigen_rope::test::views_tests {
namespace {

using View = StridedView<float>;
using Strides = std::vector<Index>;

/// Two views of three rows of eight in memory of their own, and a table of one row of four pairs.
struct Views : Memory {
  float* x = array<float>(256) + 128;
  float* y = array<float>(256) + 128;
  float* cos = array<float>(16);
  float* sin = array<float>(16);
  TableView<float> table{cos, sin, 4, Shape{}};
  View from{x, Shape{8, 3}, {8}};
  View to{y, Shape{8, 3}, {8}};

  Views() {
    std::fill(cos, cos + 16, 0.75F);
    std::fill(sin, sin + 16, 0.5F);
  }
  void rotate(Pairing pairing = split_half) const { rotate_to(to, from, table, pairing); }
  /// Rows of eight whose neighbours lie three apart.
  void along_last_axis() {
    from = {x, Shape{3, 8}, {3}};
    to = {y, Shape{3, 8}, {3}};
    rotate(split_half.along(1));
  }
  void in_place(const Shape& shape, const Strides& strides) const {
    rotate_inplace(View{x, shape, strides}, table, split_half);
  }
  /// Both views with this shape and these strides.
  void both(const Shape& shape, const Strides& strides) {
    from = {x, shape, strides};
    to = {y, shape, strides};
    rotate();
  }
};

/// The same with a tangent of the table, and a view that a tangent vector lies in.
struct Tangents : Views {
  float* v = array<float>(256) + 128;
  View along{v, Shape{8, 3}, {8}};
  TangentTable<float> tangent = tangent_of(table, std::vector<float>(4, 1.0F));

  void turn(Pairing pairing = split_half, Direction direction = Direction::forward) const {
    rotate_tangent_to(to, from, tangent, pairing, direction);
  }
  void jvp(Pairing pairing = split_half) const { jvp_to(to, from, along, table, tangent, pairing); }
};

constexpr const char* no_rank = "a strided view must have at least the feature axis, got rank 0";
constexpr const char* no_data = "a strided view must have data, got a null pointer";
constexpr const char* no_table = "the table must have cos and sin, got a null pointer";
constexpr const char* on_table = "the destination must not overlap the table";
constexpr const char* below_its_axes =
    "the table's feature axis must be one of its 2 axes, counted from 0, got -1";
constexpr const char* beyond_its_axes =
    "the table's feature axis must be one of its 2 axes, counted from 0, got 2";

const Cell<Views> views[] = {
    {"view, rank", Fault::wrong_rank, [](Views& v) { v.in_place({}, {}); }, no_rank},
    {"view, rank", Fault::too_large,
     [](Views& v) {
       v.in_place({1, 1, 1, 1, 1, 1, 1, 1, 1}, {});
     },
     "rank must be at most 8, got 9"},
    {"view, strides", Fault::wrong_length,
     [](Views& v) {
       v.in_place({8, 3, 2}, {8});
     },
     "a strided view must have one stride for each of its 2 outer axes, got 1"},
    {"view, strides", Fault::wrong_length, [](Views& v) { v.in_place({8}, {8}); },
     "a strided view must have one stride for each of its 0 outer axes, got 1"},
    {"view, strides", Fault::too_small,
     [](Views& v) {
       v.in_place({8, 3}, {7});
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 7"},
    {"view, strides", Fault::negative,
     [](Views& v) {
       v.in_place({8, 3}, {-7});
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 7"},
    {"view, strides", Fault::negative,
     [](Views& v) {
       v.in_place({8, 3}, {-8});
     },
     nullptr, "rows may go backwards"},
    {"view, strides", Fault::zero,
     [](Views& v) {
       v.in_place({8, 3}, {0});
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"view, strides", Fault::overlapping,
     [](Views& v) {
       v.in_place({8, 3, 2}, {8, 16});
     },
     "strides must step over the 24 elements inside them, or rows share elements, got 16"},
    {"view, strides", Fault::overlapping,
     [](Views& v) {
       v.in_place({8, 3, 2}, {8, 8});
     },
     "strides must step over the 16 elements inside them, or rows share elements, got 8"},
    {"view, strides", Fault::overlapping,
     [](Views& v) {
       v.in_place({8, 2, 3}, {10, 17});
     },
     "strides must step over the 18 elements inside them, or rows share elements, got 17"},
    {"view, strides", Fault::huge,
     [](Views& v) {
       v.in_place({8, 3}, {int64_min});
     },
     "strides must fit 63 bits, got -9223372036854775808"},
    {"view, strides", Fault::huge,
     [](Views& v) {
       v.in_place({8, 3}, {int64_max});
     },
     "the span of a strided view must fit a 64-bit count, got 9223372036854775807 x 2"},
    {"view, strides", Fault::huge,
     [](Views& v) {
       v.in_place({8, 2}, {int64_max});
     },
     "the span of a strided view must fit 60 bits, got stride 9223372036854775807 over 2 rows"},
    {"view, strides", Fault::huge,
     [](Views& v) {
       v.in_place({8, 2}, {two_to_62});
     },
     "the span of a strided view must fit 60 bits, got stride 4611686018427387904 over 2 rows"},
    {"view, strides", Fault::huge,
     [](Views& v) {
       v.in_place({8, 5}, {two_to_62});
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 4"},
    {"view, strides that together exceed 60 bits", Fault::huge,
     [](Views& v) {
       v.in_place({8, 2, 2}, {Index{1} << 58, (Index{1} << 59) - 1});
     },
     "the span of a strided view must fit 60 bits, got stride 576460752303423487 over 2 rows"},
    {"view, strides whose bytes wrap to 0", Fault::huge,
     [](Views& v) {
       StridedView<double> x{reinterpret_cast<double*>(v.x), Shape{8, 2}, {two_to_62 / 2}};
       rotate_inplace(x, v.table, split_half);
     },
     "the span of a strided view must fit 60 bits, got stride 2305843009213693952 over 2 rows"},
    {"view, strides out of the address space", Fault::huge,
     [](Views& v) {
       v.in_place({8, 2}, {-(Index{1} << 58)});
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-288230376151711744 and 7"},
    {"view of x, strides out of the address space", Fault::huge,
     [](Views& v) {
       v.from.strides = {-(Index{1} << 57)};
       v.rotate();
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-288230376151711744 and 7"},
    {"view of y, strides out of the address space", Fault::negative,
     [](Views& v) {
       v.to.strides = {-two_to_40 * 65536};
       v.rotate();
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-144115188075855872 and 7"},
    {"stretch of a view of a large scalar", Fault::huge,
     [](Views& v) {
       (void)detail::stretch_of(v.x, 64, {0, Index{1} << 57});
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "0 and 144115188075855872"},
    {"view, no feature stride", Fault::zero,
     [](Views& v) {
       v.from.feature_stride = v.to.feature_stride = 0;
       v.rotate();
     },
     "the feature stride of a strided view must not be 0"},
    {"view, feature stride that leads into the next row", Fault::overlapping,
     [](Views& v) {
       v.from.feature_stride = v.to.feature_stride = 2;
       v.rotate();
     },
     "strides must step over the 15 elements inside them, or rows share elements, got 8"},
    {"view, feature stride", Fault::huge,
     [](Views& v) {
       v.from.feature_stride = v.to.feature_stride = std::numeric_limits<Index>::min();
       v.rotate();
     },
     "strides must fit 63 bits, got -9223372036854775808"},
    {"view, axis", Fault::negative, [](Views& v) { v.rotate(split_half.along(-1)); },
     "the axis that a pairing goes along must be one of the 2 axes of x, counted from 0, got -1"},
    {"view, axis beyond the rank", Fault::huge, [](Views& v) { v.rotate(split_half.along(2)); },
     "the axis that a pairing goes along must be one of the 2 axes of x, counted from 0, got 2"},
    {"view, head size", Fault::huge,
     [](Views& v) {
       v.table.width = two_to_62 / 2;
       v.in_place({two_to_62}, {});
     },
     "the span of a strided view must fit 60 bits, got rows of 4611686018427387904 elements"},
    {"view, elements", Fault::huge,
     [](Views& v) {
       v.in_place({8, two_to_40, two_to_40}, {8, 8});
     },
     "the number of elements must fit a 64-bit count, got 8796093022208 x 1099511627776"},
    {"view, elements that wrap to 0", Fault::huge,
     [](Views& v) {
       v.in_place({8, two_to_62}, {8});
     },
     "the number of elements must fit a 64-bit count, got 8 x 4611686018427387904"},
    {"view without elements, strides", Fault::huge,
     [](Views& v) {
       v.in_place({8, 0, 3}, {int64_max, int64_min});
     },
     nullptr, "they lead nowhere"},
    {"view without elements, data", Fault::null,
     [](Views& v) {
       rotate_inplace(View{nullptr, Shape{8, 0}, {8}}, v.table, split_half);
     },
     nullptr, "there is nothing to read"},
    {"view, stride of an axis of one row", Fault::huge,
     [](Views& v) {
       v.in_place({8, 1}, {int64_max});
     },
     nullptr, "it leads nowhere"},
    {"x", Fault::null,
     [](Views& v) {
       v.from.data = nullptr;
       v.rotate();
     },
     no_data},
    {"y", Fault::null,
     [](Views& v) {
       v.to.data = nullptr;
       v.rotate();
     },
     no_data},
    {"y", Fault::wrong_shape,
     [](Views& v) {
       v.to.shape = {8, 2};
       v.rotate();
     },
     "the destination must have x's shape [8, 3], got [8, 2]"},
    {"y", Fault::wrong_rank,
     [](Views& v) {
       v.to = {v.y, Shape{8, 3, 1}, {8, 24}};
       v.rotate();
     },
     "the destination must have x's shape [8, 3], got [8, 3, 1]"},
    {"x, rows that are one", Fault::aliasing,
     [](Views& v) {
       v.from.strides = {0};
       v.rotate();
     },
     nullptr, "rows that are read may share elements"},
    {"y, rows that are one", Fault::aliasing,
     [](Views& v) {
       v.to.strides = {0};
       v.rotate();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"y and x", Fault::overlapping,
     [](Views& v) {
       v.to.data = v.x + 10;
       v.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "40"},
    {"y and x in other order", Fault::aliasing,
     [](Views& v) {
       v.to = {v.x, Shape{8, 3}, {-8}};
       v.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "0"},
    {"y and x going backwards", Fault::overlapping,
     [](Views& v) {
       v.to = {v.x + 16, Shape{8, 3}, {-8}};
       v.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "64"},
    {"y and x", Fault::aliasing,
     [](Views& v) {
       v.to.data = v.x;
       v.rotate();
     },
     nullptr, "the same rows: in place"},
    {"cos", Fault::null,
     [](Views& v) {
       v.table.cos = nullptr;
       v.rotate();
     },
     no_table},
    {"sin", Fault::null,
     [](Views& v) {
       v.table.sin = nullptr;
       v.rotate();
     },
     no_table},
    {"y and cos", Fault::overlapping,
     [](Views& v) {
       v.table.cos = v.y + 20;
       v.rotate();
     },
     on_table},
    {"y and sin", Fault::overlapping,
     [](Views& v) {
       v.table.sin = v.y - 3;
       v.rotate();
     },
     on_table},
    {"y in place and sin", Fault::overlapping,
     [](Views& v) {
       v.table.sin = v.x + 23;
       v.in_place({8, 3}, {8});
     },
     on_table},
    {"y between rows and sin", Fault::overlapping,
     [](Views& v) {
       v.table.sin = v.y + 9;
       v.both({8, 3}, {16});
     },
     on_table, "memory between rows counts as touched: an exact answer costs a search"},
    {"rotary dims", Fault::odd, [](Views& v) { v.rotate(split_half.with_rotary_dims(5)); },
     "rotary dims must be even, got 5"},
    {"window offset", Fault::huge, [](Views& v) { v.rotate(split_half.with_offset(two_to_62)); },
     "window offset must be at most the head size 8, got 4611686018427387904"},
    {"table extents", Fault::huge,
     [](Views& v) {
       v.table.outer = {3, two_to_62};
       v.rotate();
     },
     "the number of elements must fit a 64-bit count, got 3 x 4611686018427387904"},
    {"table extents", Fault::huge,
     [](Views& v) {
       v.table.outer = {3, two_to_40};
       v.rotate();
     },
     "table must have 1 on axis 2 (counted outwards from the feature axis) for x with outer "
     "extents [3], got 1099511627776"},
    {"table feature axis", Fault::negative,
     [](Views& v) {
       v.table.outer = {3};
       v.table.feature_axis = -1;
       v.rotate();
     },
     below_its_axes},
    {"table feature axis", Fault::too_large,
     [](Views& v) {
       v.table.outer = {3};
       v.table.feature_axis = 2;
       v.rotate();
     },
     beyond_its_axes},
    {"table feature axis, features of the view apart", Fault::negative,
     [](Views& v) {
       v.table.outer = {3};
       v.table.feature_axis = -1;
       v.along_last_axis();
     },
     below_its_axes},
    {"table feature axis, features of the view apart", Fault::too_large,
     [](Views& v) {
       v.table.outer = {3};
       v.table.feature_axis = 2;
       v.along_last_axis();
     },
     beyond_its_axes},
    {"table feature axis, features of the view apart", Fault::huge,
     [](Views& v) {
       v.table.feature_axis = std::numeric_limits<int>::max();
       v.along_last_axis();
     },
     "the table's feature axis must be one of its 1 axes, counted from 0, got 2147483647"},
};

const Cell<Tangents> tangents[] = {
    {"tangent, angles", Fault::wrong_length,
     [](Tangents& t) { (void)tangent_of(t.table, std::vector<float>(3)); },
     "angle tangents must be one per table entry (4), got 3"},
    {"tangent, log magnitudes", Fault::wrong_length,
     [](Tangents& t) { (void)tangent_of(t.table, std::vector<float>(4), std::vector<float>(5)); },
     "log magnitude tangents must be one per table entry (4), got 5"},
    {"tangent, table", Fault::null,
     [](Tangents& t) {
       t.table.cos = nullptr;
       (void)tangent_of(t.table, std::vector<float>(4));
     },
     no_table},
    {"tangent, table feature axis", Fault::too_large,
     [](Tangents& t) {
       t.table.outer = {3};
       t.table.feature_axis = 2;
       (void)tangent_of(t.table, std::vector<float>(12));
     },
     beyond_its_axes},
    {"tangent, table whose entries wrap to 0", Fault::huge,
     [](Tangents& t) {
       t.table.outer = {two_to_62};
       (void)tangent_of(t.table, std::vector<float>{});
     },
     "the number of entries in the table must fit a 64-bit count, got 4 x 4611686018427387904"},
    {"rotation by a tangent, direction", Fault::unknown,
     [](Tangents& t) { t.turn(split_half, Direction::inverse); },
     "a tangent has no inverse: direction must be forward or backward, got inverse"},
    {"rotation by a tangent, x", Fault::null,
     [](Tangents& t) {
       t.from.data = nullptr;
       t.turn();
     },
     no_data},
    {"rotation by a tangent, y", Fault::null,
     [](Tangents& t) {
       t.to.data = nullptr;
       t.turn();
     },
     no_data},
    {"rotation by a tangent, x", Fault::wrong_rank,
     [](Tangents& t) {
       t.from = {t.x, Shape{}, {}};
       t.turn();
     },
     no_rank},
    {"rotation by a tangent, y", Fault::wrong_shape,
     [](Tangents& t) {
       t.to.shape = {8, 2};
       t.turn();
     },
     "the destination must have x's shape [8, 3], got [8, 2]"},
    {"rotation by a tangent, rotary dims", Fault::odd,
     [](Tangents& t) { t.turn(split_half.with_rotary_dims(7)); },
     "rotary dims must be even, got 7"},
    {"rotation by a tangent, table width", Fault::wrong_length,
     [](Tangents& t) { t.turn(split_half.with_rotary_dims(6)); },
     "table width must be 3 (one entry per pair) or 6 (one per rotated element), got 4"},
    {"rotation by a tangent, strides over the window alone", Fault::overlapping,
     [](Tangents& t) {
       t.tangent = tangent_of(TableView<float>{t.cos, t.sin, 2, Shape{}}, std::vector<float>(2));
       t.to.strides = {5};
       t.turn(split_half.with_rotary_dims(4));
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 5"},
    {"rotation by a tangent, y and x beside the window", Fault::overlapping,
     [](Tangents& t) {
       t.tangent = tangent_of(TableView<float>{t.cos, t.sin, 2, Shape{}}, std::vector<float>(2));
       t.to = {t.x - 4, Shape{8}, {}};
       t.from = {t.x, Shape{8}, {}};
       t.turn(split_half.with_rotary_dims(4).with_offset(4));
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "-16"},
    {"rotation by a tangent, x without elements, window offset", Fault::huge,
     [](Tangents& t) {
       t.to = t.from = {t.x, Shape{two_to_62, 0}, {0}};
       t.turn(split_half.with_rotary_dims(8).with_offset(two_to_62 - 8));
     },
     nullptr, "there is nothing to turn"},
    {"derivative, y and x", Fault::aliasing,
     [](Tangents& t) {
       t.to = t.from;
       t.jvp();
     },
     "dy must not overlap x, which is read after dy is written"},
    {"derivative, y and x", Fault::overlapping,
     [](Tangents& t) {
       t.to.data = t.x + 23;
       t.jvp();
     },
     "dy must not overlap x, which is read after dy is written"},
    {"derivative, y and dx", Fault::aliasing,
     [](Tangents& t) {
       t.to = t.along;
       t.jvp();
     },
     nullptr, "the same rows: in place"},
    {"derivative, y and dx", Fault::overlapping,
     [](Tangents& t) {
       t.to.data = t.v + 1;
       t.jvp();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got "
     "4"},
    {"derivative, x", Fault::null,
     [](Tangents& t) {
       t.from.data = nullptr;
       t.jvp();
     },
     no_data},
    {"derivative, dx", Fault::null,
     [](Tangents& t) {
       t.along.data = nullptr;
       t.jvp();
     },
     no_data},
    {"derivative, dy", Fault::null,
     [](Tangents& t) {
       t.to.data = nullptr;
       t.jvp();
     },
     no_data},
    {"derivative, dx", Fault::wrong_shape,
     [](Tangents& t) {
       t.along.shape = {8, 2};
       t.jvp();
     },
     "dx must have x's shape [8, 3], got [8, 2]"},
    {"derivative, dy", Fault::wrong_shape,
     [](Tangents& t) {
       t.to.shape = {8, 2};
       t.jvp();
     },
     "the destination must have x's shape [8, 3], got [8, 2]"},
    {"derivative, cos", Fault::null,
     [](Tangents& t) {
       t.table.cos = nullptr;
       t.jvp();
     },
     no_table},
    {"derivative, table feature axis", Fault::negative,
     [](Tangents& t) {
       t.table.outer = {3};
       t.table.feature_axis = -1;
       t.jvp();
     },
     below_its_axes},
    {"derivative, dy and cos", Fault::overlapping,
     [](Tangents& t) {
       t.table.cos = t.y;
       t.jvp();
     },
     on_table},
    {"derivative, dy and the tangent", Fault::overlapping,
     [](Tangents& t) {
       t.to.data = const_cast<float*>(t.tangent.view().sin) - 20;
       t.jvp();
     },
     on_table},
    {"derivative, x out of the address space", Fault::huge,
     [](Tangents& t) {
       t.from.strides = {-(Index{1} << 57)};
       t.jvp();
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-288230376151711744 and 7"},
};

const Area views_area("rotations of views", views);
const Area tangents_area("tangents", tangents);
TEST(BadInput, Views) { expect_refusals(views); }
TEST(BadInput, Tangents) { expect_refusals(tangents); }

}  // namespace
}  // namespace eigen_rope::test::views_tests
