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
  /// Of a Table, or of one with its features elsewhere.
  template <class AnyTable>
  GuardedTable(const AnyTable& table, Against against)
      : cos_(table.cos, against), sin_(table.sin, against), view_(table.view()) {
    view_.cos = cos_.data();
    view_.sin = sin_.data();
  }

  const TableView<Scalar>& view() const { return view_; }
  bool margins_untouched() const { return cos_.margins_untouched() && sin_.margins_untouched(); }

 private:
  Guarded<Scalar> cos_;
  Guarded<Scalar> sin_;
  TableView<Scalar> view_;
};

}  // namespace eigen_rope::test
