// SPDX-License-Identifier: Apache-2.0
//
// The loss of next-character prediction, forward and backward.
//
//   loss_n = log sum_v exp(z_vn) - z_(target_n),n      z [vocabulary, n], in nats; bits = nats / ln
//                                                      2
//   dz_vn  = (softmax_v(z_n) - [v = target_n]) / count
//
// Means are formed in double, so that the figure of a float model does not depend on how many
// characters it is averaged over.
#pragma once

#include <cmath>
#include <vector>

#include "tensor.hpp"

namespace train_lm {

inline constexpr double nats_per_bit = 0.6931471805599453;

/// Turns each column of logits into probabilities and returns the loss of each, in nats.
template <class S>
std::vector<double> softmax_losses(Device& device, Matrix<S>& logits,
                                   const std::vector<int>& targets) {
  const Index vocabulary = logits.dimension(0);
  std::vector<double> losses(targets.size());
  parallel_for(device, logits.dimension(1), 20.0 * static_cast<double>(vocabulary), [&](Index n) {
    using std::exp;
    using std::log;
    Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>> z(logits.data() + n * vocabulary, vocabulary);
    const auto target = static_cast<Index>(targets[static_cast<std::size_t>(n)]);
    z -= z.maxCoeff();
    const S at_target = z(target);
    z = z.exp();
    const S sum = z.sum();
    losses[static_cast<std::size_t>(n)] = static_cast<double>(log(sum) - at_target);
    z *= S(1) / sum;
  });
  return losses;
}

/// From probabilities to the gradient of the mean loss with respect to the logits, in place.
template <class S>
void softmax_gradient(Device& device, Matrix<S>& probabilities, const std::vector<int>& targets) {
  for (std::size_t n = 0; n < targets.size(); ++n)
    probabilities(targets[n], static_cast<Index>(n)) -= S(1);
  probabilities.device(device) = probabilities * (S(1) / S(targets.size()));
}

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace train_lm
