// SPDX-License-Identifier: Apache-2.0
//
// The backward pass: x is the gradient that comes in, b stands for the rotation's output, y
// receives dx.
//
//   dx_dangle            dx and d angle, as learned frequencies or positions need them
//   dx_dangle_inplace    the same, dx over the incoming gradient
//   dx_everything        dx, d angle, d log m, d cos and d sin
//   dx_dtable            dx, d cos and d sin from the rotation's input, as trained tables need them
#include <cstring>

#include "contender.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "expected.hpp"

namespace bench {
namespace {

using eigen_rope::Wanted;

/// In-place passes rotate y, which begins as x.
template <class T>
Prepared backward(Case<T>& c, const eigen_rope::StridedView<T>& y,
                  const eigen_rope::StridedView<T>& g, Wanted wanted) {
  auto result = std::make_shared<eigen_rope::Gradients<double>>();
  const Action run = [&c, y, g, wanted, result] {
    *result = eigen_rope::gradients_to(c.y, y, g, c.cache, c.pairing, {wanted}, std::move(*result));
  };
  const auto correct = [&c, y, run, result] {
    std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes());
    run();
    if (!agrees(c.y.data(), rotated(c, eigen_rope::Direction::backward))) return false;
    return agrees_with_angles(result->angle, angles(c, y.data, c.x.data()));
  };
  return {run, correct};
}

template <class T>
Prepared backward_of_table(Case<T>& c) {
  auto result = std::make_shared<eigen_rope::Gradients<double>>();
  const auto x = eigen_rope::strided_view(c.b());
  return into_y(
      c,
      [&c, x, result] {
        *result = eigen_rope::gradients_to(c.y, x, c.x, c.cache, c.pairing,
                                           {Wanted::table, eigen_rope::GradientsFrom::input},
                                           std::move(*result));
      },
      [&c] { return rotated(c, eigen_rope::Direction::backward); });
}

}  // namespace

template <class T>
void add_gradients(Contenders<T>& list, const CaseShape&) {
  list.push_back({"dx_dangle", [](Case<T>& c) {
                    return backward(c, eigen_rope::strided_view(c.b()),
                                    eigen_rope::strided_view(c.x), Wanted::angle);
                  }});
  list.push_back({"dx_dangle_inplace", [](Case<T>& c) {
                    return backward(c, eigen_rope::strided_view(c.b()),
                                    eigen_rope::strided_view(c.y), Wanted::angle);
                  }});
  list.push_back({"dx_everything", [](Case<T>& c) {
                    return backward(c, eigen_rope::strided_view(c.b()),
                                    eigen_rope::strided_view(c.x),
                                    Wanted::angle | Wanted::log_magnitude | Wanted::table);
                  }});
  list.push_back({"dx_dtable", &backward_of_table<T>});
}

template void add_gradients(Contenders<float>&, const CaseShape&);
template void add_gradients(Contenders<double>&, const CaseShape&);
template void add_gradients(Contenders<Eigen::half>&, const CaseShape&);
template void add_gradients(Contenders<Eigen::bfloat16>&, const CaseShape&);

}  // namespace bench
