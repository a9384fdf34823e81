// SPDX-License-Identifier: Apache-2.0
//
// The loss of next-character prediction, forward and backward.
//
//   loss_n = log sum_v exp(z_vn) - z_(target_n),n      z [vocabulary, n], in nats; bits = nats / ln
//                                                      2
//   dz_vn  = (softmax_v(z_n) - [v = target_n]) / count
//
// A target of -1 is none: the place is padding, its loss is 0 and so is its gradient. Means are
// formed in double, so that the figure of a float model does not depend on how many characters it
// is averaged over.
#pragma once

#include <cmath>
#include <vector>

#include "tensor.hpp"

namespace train_lm {

inline constexpr double nats_per_bit = 0.6931471805599453;
inline constexpr int no_target = -1;

/// Turns each column of logits into probabilities, and sets the loss of each column, in nats.
template <class S>
void softmax_losses(Matrix<S>& logits, const int* targets, double* losses) {
  using std::log;
  for (Index n = 0; n < logits.cols(); ++n) {
    auto z = logits.col(n).array();
    z -= z.maxCoeff();
    losses[n] = targets[n] == no_target ? 0.0 : -static_cast<double>(z(targets[n]));
  }
  logits.array() = logits.array().exp();
  for (Index n = 0; n < logits.cols(); ++n) {
    auto z = logits.col(n).array();
    const S sum = z.sum();
    if (targets[n] != no_target) losses[n] += static_cast<double>(log(sum));
    z *= S(1) / sum;
  }
}

/// From probabilities to the gradient of the sum of the losses over `count`, in place.
template <class S>
void softmax_gradient(Matrix<S>& probabilities, const int* targets, Index count) {
  for (Index n = 0; n < probabilities.cols(); ++n) {
    if (targets[n] == no_target)
      probabilities.col(n).setZero();
    else
      probabilities(targets[n], n) -= S(1);
  }
  probabilities *= S(1) / S(count);
}

inline double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

inline double mean(const std::vector<double>& values) {
  return total(values) / static_cast<double>(values.size());
}

}  // namespace train_lm
