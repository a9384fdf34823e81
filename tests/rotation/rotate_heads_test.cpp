// SPDX-License-Identifier: Apache-2.0
//
// Heads whose rows lie apart are rotated a few at a time or all of a token together, by the
// distance of their rows and the size of the tensor. Either way y has the reference's bits, and
// nothing between its rows is written. Every instruction set, kind of stores and direction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/numbers/detail/aligned.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "support/kernel_paths.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::rotate_heads_tests {
namespace {

/// The distances of neighbouring heads and tokens, in elements.
struct Steps {
  Index head, token;
};

/// Rows [D, heads, tokens] of x and y, which are one array where `in_place`.
struct Problem {
  Shape shape;
  Pairing pairing;
  Steps x, y;
  bool in_place = false;
  /// So many elements lie before the first row, in x and in y.
  Index first = 0;

  std::string text() const {
    return shape.text() + ", " + pairing.text() + ", x " + std::to_string(x.head) + " " +
           std::to_string(x.token) + ", y " + std::to_string(y.head) + " " +
           std::to_string(y.token) + (in_place ? ", in place" : "") +
           (first == 0 ? "" : ", behind " + std::to_string(first));
  }
};

/// The array that has these rows behind `first` elements, and 77 elsewhere. It begins on a line,
/// where passes write past the caches themselves.
template <class Scalar>
detail::AlignedVector<Scalar> laid_out(const std::vector<Scalar>& dense, const Shape& shape,
                                       const Steps& steps, Index first) {
  const Index last = first + (shape[1] - 1) * steps.head + (shape[2] - 1) * steps.token;
  detail::AlignedVector<Scalar> memory(static_cast<std::size_t>(last + shape[0]), Scalar(77));
  for (Index t = 0; t < shape[2]; ++t) {
    for (Index h = 0; h < shape[1]; ++h) {
      std::copy_n(dense.begin() + (t * shape[1] + h) * shape[0], shape[0],
                  memory.begin() + first + h * steps.head + t * steps.token);
    }
  }
  return memory;
}

/// The same rows whichever of heads and tokens a view names first.
template <class Scalar>
StridedView<Scalar> view_of(Scalar* data, const Shape& shape, const Steps& steps,
                            bool tokens_first) {
  if (tokens_first) return {data, {shape[0], shape[2], shape[1]}, {steps.token, steps.head}};
  return {data, shape, {steps.head, steps.token}};
}

template <class Scalar>
void compare(const Problem& p, Direction direction) {
  SCOPED_TRACE(p.text());
  using TableScalar = std::conditional_t<std::is_same_v<Scalar, double>, double, float>;
  const Index tokens = p.shape[2];
  const auto dense = random_values<Scalar>(p.shape.size(), 7);
  const auto table =
      random_table<TableScalar>(p.pairing.rotary_dims(p.shape[0]) / 2, Shape{1, tokens}, 8);
  std::vector<Scalar> expected(dense.size());
  reference::rotate(dense.data(), expected.data(), p.shape, table.view(), p.pairing, direction);
  const detail::AlignedVector<Scalar> x = laid_out(dense, p.shape, p.x, p.first);
  const detail::AlignedVector<Scalar> wanted = laid_out(expected, p.shape, p.y, p.first);
  const detail::AlignedVector<Scalar> untouched(wanted.size(), Scalar(77));
  for (const bool tokens_first : {false, true}) {
    TableView<TableScalar> entries = table.view();
    if (tokens_first) entries.outer = Shape{tokens, 1};
    on_every_path([&](Path) {
      detail::AlignedVector<Scalar> y = p.in_place ? x : untouched;
      const auto to = view_of(y.data() + p.first, p.shape, p.y, tokens_first);
      if (p.in_place) {
        rotate_inplace(to, entries, p.pairing, direction);
      } else {
        rotate_to(to, view_of(x.data() + p.first, p.shape, p.x, tokens_first), entries, p.pairing,
                  direction);
      }
      ASSERT_TRUE(same_bits(wanted.data(), y.data(), static_cast<Index>(y.size())))
          << (tokens_first ? "tokens first" : "heads first");
    });
  }
}

/// Into heads outside tokens, from either order, and in place. `gap` elements follow each head.
template <class Scalar>
void heads_outside_tokens(const Shape& shape, const Pairing& pairing, Index gap = 0) {
  const Steps tokens_outside{shape[0], shape[0] * shape[1]};
  const Steps heads_outside{shape[0] * shape[2] + gap, shape[0]};
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    compare<Scalar>({shape, pairing, heads_outside, heads_outside}, direction);
    compare<Scalar>({shape, pairing, tokens_outside, heads_outside}, direction);
    compare<Scalar>({shape, pairing, heads_outside, tokens_outside}, direction);
    compare<Scalar>({shape, pairing, heads_outside, heads_outside, true}, direction);
    compare<Scalar>({shape, pairing, heads_outside, heads_outside, false, 1}, direction);
  }
}

/// Nine heads are more than go together at most. With 16 tokens and with 64 of 40 elements rows lie
/// a multiple of 2 KiB apart, with 17 they do not, and with 600 they outgrow a second-level cache.
/// Rows of 128 and 256 go several lines at a time, those of 96 (float, double) and 192 (all but
/// double) line by line.
template <class Scalar>
void few_and_all() {
  for (const Pairing& pairing : {split_half, interleaved, split_half.with_rotary_dims(32)}) {
    heads_outside_tokens<Scalar>({128, 9, 16}, pairing);
    heads_outside_tokens<Scalar>({128, 9, 17}, pairing);
    heads_outside_tokens<Scalar>({128, 9, 15}, pairing, 128);
  }
  for (const Pairing& pairing : {split_half, interleaved}) {
    heads_outside_tokens<Scalar>({96, 9, 64}, pairing);
    heads_outside_tokens<Scalar>({192, 9, 16}, pairing);
    heads_outside_tokens<Scalar>({256, 9, 16}, pairing);
  }
  heads_outside_tokens<Scalar>({40, 9, 64}, split_half);
  heads_outside_tokens<Scalar>({128, 9, 600}, split_half);
}

TEST(RotateHeads, Floats) { few_and_all<float>(); }
TEST(RotateHeads, Doubles) { few_and_all<double>(); }
TEST(RotateHeads, Halves) { few_and_all<Eigen::half>(); }
TEST(RotateHeads, Bfloat16s) { few_and_all<Eigen::bfloat16>(); }

}  // namespace
}  // namespace eigen_rope::test::rotate_heads_tests
