// SPDX-License-Identifier: Apache-2.0
//
// Tables of cosines and sines as Python has them.
//
//   Table          what a rotation reads: entries somewhere, and whatever keeps them there
//   Cache          a Table that owns its entries
//   GrowingCache   makes Tables of the rows 0, 1, 2, ...
//
// A pair of arrays (cos, sin) serves wherever a Table does.
#pragma once

#include <nanobind/nanobind.h>

#include <eigen_rope/any/tensor.hpp>
#include <memory>
#include <vector>

#include "arrays.hpp"

namespace eigen_rope_python {

/// The Python class Table.
struct Table {
  er::any::Table view;
  std::shared_ptr<const void> owner;

  /// The extents, slowest axis first.
  std::vector<er::Index> shape() const;
};

/// The table that a function is given: a Table, or cosines and sines.
class TableArgument {
 public:
  explicit TableArgument(nb::handle object);
  const er::any::Table& view() const { return view_; }

 private:
  std::vector<Array> arrays_;
  er::any::Table view_;
};

}  // namespace eigen_rope_python
