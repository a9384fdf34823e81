// SPDX-License-Identifier: Apache-2.0
//
// Lists of numbers that a caller gives: whatever numpy makes an array of.
//
//   const Numbers ids(object, "ids");
//   er::any::positions(ids.ids());
//
// Unlike x, they are few, and copied where they are not int64 or float64 one behind the other.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <eigen_rope/any/choices.hpp>
#include <eigen_rope/numbers/shape.hpp>
#include <eigen_rope/rows/index_list.hpp>
#include <vector>

namespace eigen_rope_python {

namespace nb = nanobind;
namespace er = eigen_rope;

/// Numbers as an array of int64 or float64 that lie one behind the other, and their extents.
class Numbers {
 public:
  /// - Errors:   TypeError for what are no numbers, eigen_rope::Error for those that do not fit.
  Numbers(nb::handle given, const char* name);

  int rank() const { return static_cast<int>(held_.ndim()); }
  er::Index extent(int axis) const {
    return static_cast<er::Index>(held_.shape(static_cast<std::size_t>(axis)));
  }
  er::Index count() const { return static_cast<er::Index>(held_.size()); }

  /// All of them as positions, of one sequence.
  er::any::PositionIds ids() const;
  /// As whole numbers of one axis, which must outlive the result.
  er::IndexList index_list() const;
  /// As whole numbers of one axis.
  std::vector<std::int64_t> list() const;

 private:
  void require_list() const;

  const char* name_;
  bool integers_ = true;
  nb::ndarray<nb::ro, nb::c_contig> held_;
};

}  // namespace eigen_rope_python
