// SPDX-License-Identifier: Apache-2.0
//
// Bad input: parts of views, and slices and chips of Eigen's tensors.
#include <limits>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/rotation/piece_view.hpp"
#include "support/read_only_ref.hpp"

namespace eigen_rope::test::bad_view_parts_tests {
namespace {

/// A view of 8 features, 3 heads and 5 tokens.
struct Parts : Memory {
  float* x = array<float>(120);
  StridedView<float> view = strided_view(x, {8, 3, 5});
  Eigen::TensorMap<Eigen::Tensor<float, 3>> tensor{x, 8, 3, 5};
  Eigen::TensorMap<Eigen::Tensor<float, 3, Eigen::RowMajor>> reversed{x, 5, 3, 8};

  using Indices = Eigen::array<Eigen::Index, 3>;
  void slice(const Indices& first, const Indices& size) const {
    (void)strided_view(tensor.slice(first, size));
  }
};

constexpr const char* no_rank = "a strided view must have at least the feature axis, got rank 0";
constexpr const char* one_stride =
    "a strided view must have one stride for each of its 2 outer axes, got 1";

const Cell<Parts> parts[] = {
    {"slice, axis", Fault::negative, [](Parts& p) { (void)p.view.slice(-1, 0, 1); },
     "the axis of a slice must be one of the 3 axes of the view, counted from 0, got -1"},
    {"slice, axis", Fault::too_large, [](Parts& p) { (void)p.view.slice(3, 0, 1); },
     "the axis of a slice must be one of the 3 axes of the view, counted from 0, got 3"},
    {"slice, first", Fault::negative, [](Parts& p) { (void)p.view.slice(1, -1, 2); },
     "a slice must lie within the 3 elements of axis 1, got 2 from -1 on"},
    {"slice, first", Fault::too_large, [](Parts& p) { (void)p.view.slice(1, 4, 0); },
     "a slice must lie within the 3 elements of axis 1, got 0 from 4 on"},
    {"slice, first", Fault::huge, [](Parts& p) { (void)p.view.slice(1, int64_max, 1); },
     "a slice must lie within the 3 elements of axis 1, got 1 from 9223372036854775807 on"},
    {"slice, first", Fault::huge, [](Parts& p) { (void)p.view.slice(1, int64_min, 1); },
     "a slice must lie within the 3 elements of axis 1, got 1 from -9223372036854775808 on"},
    {"slice, first behind the last", Fault::zero, [](Parts& p) { (void)p.view.slice(1, 3, 0); },
     nullptr, "an empty slice may stand anywhere"},
    {"slice, count", Fault::negative, [](Parts& p) { (void)p.view.slice(2, 2, -1); },
     "a slice must lie within the 5 elements of axis 2, got -1 from 2 on"},
    {"slice, count", Fault::too_large, [](Parts& p) { (void)p.view.slice(2, 2, 4); },
     "a slice must lie within the 5 elements of axis 2, got 4 from 2 on"},
    {"slice, count", Fault::huge, [](Parts& p) { (void)p.view.slice(0, 1, int64_max); },
     "a slice must lie within the 8 elements of axis 0, got 9223372036854775807 from 1 on"},
    {"slice of a view without axes", Fault::wrong_rank,
     [](Parts&) { (void)StridedView<float>().slice(0, 0, 1); }, no_rank},
    {"slice, strides of the view", Fault::wrong_length,
     [](Parts& p) {
       p.view.strides = {8};
       (void)p.view.slice(1, 0, 1);
     },
     one_stride},
    {"slice, strides of the view", Fault::huge,
     [](Parts& p) {
       p.view.strides = {int64_min, 24};
       (void)p.view.slice(1, 1, 1);
     },
     "strides must fit 63 bits, got -9223372036854775808"},
    {"slice, strides of the view", Fault::huge,
     [](Parts& p) {
       p.view.strides = {two_to_62, 24};
       (void)p.view.slice(1, 2, 1);
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 2"},
    {"slice, strides out of the address space", Fault::negative,
     [](Parts& p) {
       p.view.strides = {-(Index{1} << 60), 24};
       (void)p.view.slice(1, 1, 1);
     },
     "a strided view must lie within the address space (first and last element from its data), got "
     "-1152921504606846976 and 0"},
    {"slice, strides along which nothing moves", Fault::huge,
     [](Parts& p) {
       p.view.strides = {int64_min, 24};
       (void)p.view.slice(1, 0, 1).slice(2, 3, 2);
     },
     nullptr, "the stride of an axis of one element leads nowhere"},
    {"slice of a view without data", Fault::null,
     [](Parts& p) {
       p.view.data = nullptr;
       (void)p.view.slice(1, 1, 2);
     },
     nullptr, "the rotation refuses it"},
    {"chip, axis", Fault::negative, [](Parts& p) { (void)p.view.chip(-1, 0); },
     "the axis of a chip must be one of the 3 axes of the view, counted from 0, got -1"},
    {"chip, axis", Fault::too_large, [](Parts& p) { (void)p.view.chip(3, 0); },
     "the axis of a chip must be one of the 3 axes of the view, counted from 0, got 3"},
    {"chip, index", Fault::negative, [](Parts& p) { (void)p.view.chip(2, -1); },
     "a chip must be one of the 5 elements of axis 2, got -1"},
    {"chip, index", Fault::too_large, [](Parts& p) { (void)p.view.chip(2, 5); },
     "a chip must be one of the 5 elements of axis 2, got 5"},
    {"chip of an empty axis", Fault::zero, [](Parts& p) { (void)p.view.slice(2, 0, 0).chip(2, 0); },
     "a chip must be one of the 0 elements of axis 2, got 0"},
    {"chip of the only axis", Fault::wrong_rank,
     [](Parts& p) { (void)p.view.chip(2, 0).chip(1, 0).chip(0, 0); },
     "a view must keep an axis, got the chip of one that has no other"},
    {"chip, strides of the view", Fault::wrong_length,
     [](Parts& p) {
       p.view.strides = {8};
       (void)p.view.chip(2, 0);
     },
     one_stride},
    {"split, axis", Fault::negative, [](Parts& p) { (void)p.view.split(-1, 1); },
     "the axis of a split must be one of the 3 axes of the view, counted from 0, got -1"},
    {"split, axis", Fault::too_large, [](Parts& p) { (void)p.view.split(3, 1); },
     "the axis of a split must be one of the 3 axes of the view, counted from 0, got 3"},
    {"split, extent", Fault::zero, [](Parts& p) { (void)p.view.split(0, 0); },
     "the parts of axis 0 must have a positive extent that divides its 8 elements, got 0"},
    {"split, extent", Fault::negative, [](Parts& p) { (void)p.view.split(0, -4); },
     "the parts of axis 0 must have a positive extent that divides its 8 elements, got -4"},
    {"split, extent", Fault::odd, [](Parts& p) { (void)p.view.split(0, 3); },
     "the parts of axis 0 must have a positive extent that divides its 8 elements, got 3"},
    {"split, extent", Fault::too_large, [](Parts& p) { (void)p.view.split(2, 10); },
     "the parts of axis 2 must have a positive extent that divides its 5 elements, got 10"},
    {"split, rank", Fault::too_large,
     [](Parts& p) {
       (void)strided_view(p.x, {2, 1, 1, 1, 1, 1, 1, 1}).split(0, 2);
     },
     "rank must be at most 8, got 9"},
    {"split, strides of the view", Fault::huge,
     [](Parts& p) {
       p.view = {p.x, {8, 4}, {two_to_62}};
       (void)p.view.split(1, 2);
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 2"},
    {"swap_axes, axis", Fault::negative, [](Parts& p) { (void)p.view.swap_axes(-1, 0); },
     "the axis of an exchange must be one of the 3 axes of the view, counted from 0, got -1"},
    {"swap_axes, axis", Fault::too_large, [](Parts& p) { (void)p.view.swap_axes(0, 3); },
     "the axis of an exchange must be one of the 3 axes of the view, counted from 0, got 3"},
    {"swap_axes, strides of the view", Fault::wrong_length,
     [](Parts& p) {
       p.view.strides = {8};
       (void)p.view.swap_axes(0, 1);
     },
     one_stride},
    {"Eigen's slice, offsets", Fault::negative,
     [](Parts& p) {
       p.slice({0, -1, 0}, {8, 2, 5});
     },
     "a slice must lie within the 3 elements of axis 1, got 2 from -1 on",
     "peer: Eigen reads before the tensor"},
    {"Eigen's slice, offsets", Fault::too_large,
     [](Parts& p) {
       p.slice({1, 0, 0}, {8, 3, 5});
     },
     "a slice must lie within the 8 elements of axis 0, got 8 from 1 on",
     "peer: Eigen reads the next row"},
    {"Eigen's slice, extents", Fault::too_large,
     [](Parts& p) {
       p.slice({0, 0, 0}, {8, 3, 6});
     },
     "a slice must lie within the 5 elements of axis 2, got 6 from 0 on",
     "peer: Eigen reads behind the tensor"},
    {"Eigen's slice, extents", Fault::negative,
     [](Parts& p) {
       p.slice({0, 0, 0}, {8, 3, -1});
     },
     "a slice must lie within the 5 elements of axis 2, got -1 from 0 on"},
    {"Eigen's slice in RowMajor, extents", Fault::too_large,
     [](Parts& p) {
       const Parts::Indices first{0, 0, 0};
       const Parts::Indices size{6, 3, 8};
       (void)strided_view(p.reversed.slice(first, size));
     },
     "a slice must lie within the 5 elements of axis 0, got 6 from 0 on",
     "peer: Eigen reads behind the tensor"},
    {"Eigen's chip, offset", Fault::too_large,
     [](Parts& p) { (void)strided_view(p.tensor.chip(5, 2)); },
     "a chip must be one of the 5 elements of axis 2, got 5",
     "peer: Eigen reads behind the tensor"},
    {"Eigen's chip, offset", Fault::negative,
     [](Parts& p) { (void)strided_view(p.reversed.chip(-1, 0)); },
     "a chip must be one of the 5 elements of axis 0, got -1",
     "peer: Eigen reads before the tensor"},
    {"Eigen's chip, dimension", Fault::too_large,
     [](Parts& p) { (void)strided_view(p.tensor.chip(0, 3)); },
     "the axis of a chip must be one of the 3 axes of the view, counted from 0, got 3",
     "peer: Eigen counts 4 axes"},
    {"TensorRef", Fault::unknown,
     [](Parts& p) {
       const ReadOnlyRef<Eigen::Tensor<float, 3>> sum(p.tensor + p.tensor);
       (void)strided_view(sum);
     },
     "a TensorRef must refer to memory in one piece: evaluate the expression first, got an "
     "expression of shape [8, 3, 5]"},
};

const Area parts_area("parts of views", parts);
TEST(BadInput, ViewParts) { expect_refusals(parts); }

}  // namespace
}  // namespace eigen_rope::test::bad_view_parts_tests
