// SPDX-License-Identifier: Apache-2.0
#include "tensor.hpp"

namespace train_lm {
namespace {

Eigen::array<Eigen::IndexPair<Index>, 1> over(Index a, Index b) {
  return {Eigen::IndexPair<Index>(a, b)};
}

}  // namespace

template <class S>
void contract(Device& device, MatrixMap<const S> a, Index axis_of_a, MatrixMap<const S> b,
              Index axis_of_b, MatrixMap<S> out) {
  out.device(device) = a.contract(b, over(axis_of_a, axis_of_b));
}

template <class S>
void add_contraction(Device& device, MatrixMap<const S> a, Index axis_of_a, MatrixMap<const S> b,
                     Index axis_of_b, MatrixMap<S> out) {
  out.device(device) += a.contract(b, over(axis_of_a, axis_of_b));
}

template void contract(Device&, MatrixMap<const float>, Index, MatrixMap<const float>, Index,
                       MatrixMap<float>);
template void contract(Device&, MatrixMap<const double>, Index, MatrixMap<const double>, Index,
                       MatrixMap<double>);
template void add_contraction(Device&, MatrixMap<const float>, Index, MatrixMap<const float>, Index,
                              MatrixMap<float>);
template void add_contraction(Device&, MatrixMap<const double>, Index, MatrixMap<const double>,
                              Index, MatrixMap<double>);

}  // namespace train_lm
