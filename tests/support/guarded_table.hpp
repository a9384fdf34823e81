// SPDX-License-Identifier: Apache-2.0
//
// A table whose cosines and sines each lie against a page that cannot be touched.
#pragma once

#include "support/guarded.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test {

template <class Scalar>
class GuardedTable {
 public:
  GuardedTable(const Table<Scalar>& table, Against against)
      : cos_(table.cos, against),
        sin_(table.sin, against),
        width_(table.width),
        outer_(table.outer) {}

  TableView<Scalar> view() const { return {cos_.data(), sin_.data(), width_, outer_}; }
  bool margins_untouched() const { return cos_.margins_untouched() && sin_.margins_untouched(); }

 private:
  Guarded<Scalar> cos_;
  Guarded<Scalar> sin_;
  Index width_;
  Shape outer_;
};

}  // namespace eigen_rope::test
