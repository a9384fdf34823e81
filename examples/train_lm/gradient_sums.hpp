// SPDX-License-Identifier: Apache-2.0
//
// The sum of the gradient over all ranks, which runs while the backward pass does.
//
//   backward pass of a rank's last window     head | layer n-1 | ... | layer 0 | embedding
//   sums over the ranks                              head | layer n-1 | ... | layer 0 | embedding
//
// A part of the gradient is final when the last window's backward pass has left it, and its sum
// starts there. finish() comes before the norm of the gradient is taken, so that all ranks clip by
// the same number. One rank has nothing to sum.
#pragma once

#include <cstddef>

#include "parameters.hpp"
#include "ranks.hpp"

namespace train_lm {

template <class S>
class GradientSums {
 public:
  /// The ranks must outlive this.
  explicit GradientSums(Ranks& ranks) : ranks_(&ranks) {}

  /// The tensors first, ..., last, which lie side by side, are final. They are left alone until
  /// finish().
  void start(Parameters<S>& gradient, std::size_t first, std::size_t last) {
    const Index begin = gradient.slot(first).offset;
    const Index end = gradient.slot(last).offset + gradient.slot(last).size();
    ranks_->start_sum(gradient.flat().data() + begin, end - begin);
  }

  void finish() { ranks_->finish_sums(); }

 private:
  Ranks* ranks_;
};

}  // namespace train_lm
