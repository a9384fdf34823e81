// SPDX-License-Identifier: Apache-2.0
//
// The tables a model's layers rotate with, for windows of some length.
//
//   no frequencies    no layer rotates
//   one               all layers share a table
//   one per layer     each has its own: learned rates
//
// Only tables; where frequencies come from is frequencies.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/tables/cache.hpp"

namespace train_lm {

/// None, one for all layers, or one per layer.
using LayerFrequencies = std::vector<eigen_rope::Frequencies>;

template <class S>
class Rotations {
 public:
  Rotations() = default;
  Rotations(const LayerFrequencies& frequencies, const eigen_rope::Positions& positions)
      : positions_(positions) {
    for (const eigen_rope::Frequencies& of_layer : frequencies)
      tables_.emplace_back(of_layer, positions);
  }

  /// Null for a model without RoPE.
  const eigen_rope::Cache<S>* of(std::size_t layer) const {
    if (tables_.empty()) return nullptr;
    return &tables_[tables_.size() == 1 ? 0 : layer];
  }
  const eigen_rope::Positions& positions() const { return positions_; }

 private:
  eigen_rope::Positions positions_ = eigen_rope::Positions::range(0, 0);
  std::vector<eigen_rope::Cache<S>> tables_;
};

}  // namespace train_lm
