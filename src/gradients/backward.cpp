// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/detail/backward.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template void run_backward(const BackwardPass<float, float>&, const TableView<float>&, Products,
                           bool, const Device&, FinishRow<float, float>);
template void run_backward(const BackwardPass<double, double>&, const TableView<double>&, Products,
                           bool, const Device&, FinishRow<double, double>);
template void run_backward(const BackwardPass<Eigen::half, Eigen::half>&, const TableView<float>&,
                           Products, bool, const Device&, FinishRow<Eigen::half, Eigen::half>);
template void run_backward(const BackwardPass<Eigen::half, Eigen::half>&,
                           const TableView<Eigen::half>&, Products, bool, const Device&,
                           FinishRow<Eigen::half, Eigen::half>);
template void run_backward(const BackwardPass<Eigen::bfloat16, Eigen::bfloat16>&,
                           const TableView<float>&, Products, bool, const Device&,
                           FinishRow<Eigen::bfloat16, Eigen::bfloat16>);
template void run_backward(const BackwardPass<Eigen::bfloat16, Eigen::bfloat16>&,
                           const TableView<Eigen::bfloat16>&, Products, bool, const Device&,
                           FinishRow<Eigen::bfloat16, Eigen::bfloat16>);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
