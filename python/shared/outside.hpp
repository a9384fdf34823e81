// SPDX-License-Identifier: Apache-2.0
//
// What becomes of the elements outside of the window of a rotation. A rotation copies them, and its
// derivative in the table has zeros there: with
//
//   outside_of("zero")             from the attribute of an operator
//   clear_outside(y, pairing)      after the rotation
//
// that derivative is a rotation, too, so the operators of a framework are closed under
// differentiation.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <eigen_rope/any/tensor.hpp>
#include <eigen_rope/choices/pairing.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <string>
#include <string_view>

namespace eigen_rope_packages {

enum class Outside { copied, zero };

/// - Errors:   eigen_rope::Error for a name that there is not.
inline Outside outside_of(std::string_view name) {
  if (name == "copy") return Outside::copied;
  if (name == "zero") return Outside::zero;
  throw eigen_rope::Error("[rope] outside must be copy or zero, got " + std::string(name));
}

namespace detail {

/// Elements first, ..., last - 1 of each row as zeros; rows lie along `feature_axis`, and `at` is
/// where the axes from `axis` on begin.
struct Zeros {
  const eigen_rope::Shape& shape;
  std::array<eigen_rope::Index, eigen_rope::max_rank> strides;
  int feature_axis;
  eigen_rope::Index first, last;
  std::size_t element;

  void fill(char* at, int axis) const {
    const bool is_feature = axis == feature_axis;
    const eigen_rope::Index begin = is_feature ? first : 0;
    const eigen_rope::Index end = is_feature ? last : shape[axis];
    const eigen_rope::Index stride = strides[static_cast<std::size_t>(axis)];
    const auto step = stride * static_cast<eigen_rope::Index>(element);
    if (axis < shape.rank() - 1) {
      for (eigen_rope::Index i = begin; i < end; ++i) fill(at + i * step, axis + 1);
    } else if (stride == 1) {
      std::memset(at + begin * step, 0, static_cast<std::size_t>((end - begin) * step));
    } else {
      for (eigen_rope::Index i = begin; i < end; ++i) std::memset(at + i * step, 0, element);
    }
  }
};

}  // namespace detail

/// Sets what a rotation copies to zeros. y has its slowest axis first, and strides or is dense; the
/// pairing is one that its rotation has accepted.
inline void clear_outside(const eigen_rope::any::Tensor& y, const eigen_rope::Pairing& pairing) {
  if (y.shape.size() == 0) return;
  std::array<eigen_rope::Index, eigen_rope::max_rank> strides{};
  eigen_rope::Index dense = 1;
  for (int i = y.shape.rank() - 1; i >= 0; --i) {
    const auto place = static_cast<std::size_t>(i);
    strides[place] = y.strides.size() == 0 ? dense : y.strides[place];
    dense *= y.shape[i];
  }
  const int axis = pairing.axis().value_or(y.shape.rank() - 1);
  const eigen_rope::Index row = y.shape[axis];
  const eigen_rope::Index first = pairing.offset();
  const eigen_rope::Index last = first + pairing.rotary_dims(row);
  auto* const data = static_cast<char*>(y.data);
  const std::size_t element = eigen_rope::size_of(y.type);
  if (first > 0) detail::Zeros{y.shape, strides, axis, 0, first, element}.fill(data, 0);
  if (last < row) detail::Zeros{y.shape, strides, axis, last, row, element}.fill(data, 0);
}

}  // namespace eigen_rope_packages
