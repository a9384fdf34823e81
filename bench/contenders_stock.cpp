// SPDX-License-Identifier: Apache-2.0
//
// What a user has without the library's kernels.
//
//   reference   eigen_rope::reference, the definition
//   loop_o2     the loop one would write, at -O2                    loop_native
//                       the same at -O3 -march=native
//   composed    stock Eigen: slices, broadcasts, concatenation
//   complex     stock Eigen: a product of complex numbers (interleaved only)
#include "contender.hpp"
#include "expected.hpp"
#include "loops.hpp"

namespace bench {
namespace {

template <class T>
using Loop = void (*)(const T*, T*, const T*, const T*, LoopShape);

template <class T>
Contender<T> hand_written(const char* name, Loop<T> loop) {
  return {name, [loop](Case<T>& c) {
            const LoopShape shape{c.D(), heads, c.S(), c.shape.rotary_dims};
            return rotates_into_y(c, [&c, loop, shape] {
              loop(c.x.data(), c.y.data(), c.cache.cos(), c.cache.sin(), shape);
            });
          }};
}

template <class T>
Prepared complex_product(Case<T>& c) {
  using Table = decltype(eigen_rope::composed::complex_table<3, Eigen::ColMajor>(c.cache.view()));
  const auto table = std::make_shared<const Table>(
      eigen_rope::composed::complex_table<3, Eigen::ColMajor>(c.cache.view()));
  return rotates_into_y(c, [&c, table] { eigen_rope::composed::rotate_complex(c.y, c.x, *table); });
}

}  // namespace

template <class T>
void add_stock(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing) {
  const bool split_half = pairing.kind() == eigen_rope::PairKind::split_half;
  const bool narrow = sizeof(T) == 2;  // stock Eigen converts 16-bit types one by one, in software
  if (std::is_same_v<T, float> || (!narrow && shape.tokens <= 512) || shape.tokens == 1) {
    list.push_back({"composed",
                    [](Case<T>& c) {
                      return rotates_into_y(
                          c, [&c] { c.y = eigen_rope::composed::rotate(c.x, c.cache, c.pairing); });
                    },
                    1, shape.tokens > 1 ? Repetitions::few : Repetitions::many});
    list.push_back({"reference",
                    [](Case<T>& c) {
                      return rotates_into_y(c, [&c] {
                        eigen_rope::reference::rotate(c.x.data(), c.y.data(),
                                                      eigen_rope::Shape{c.D(), heads, c.S()},
                                                      c.cache.view(), c.pairing);
                      });
                    },
                    1, shape.tokens > 16 ? Repetitions::few : Repetitions::many});
  }
  if constexpr (std::is_floating_point_v<T>) {
    list.push_back(hand_written<T>(
        "loop_o2", split_half ? Loop<T>(&loop_o2::split_half) : Loop<T>(&loop_o2::interleaved)));
    list.push_back(hand_written<T>("loop_native", split_half ? Loop<T>(&loop_native::split_half)
                                                             : Loop<T>(&loop_native::interleaved)));
    if (!split_half && shape.whole_rows()) list.push_back({"complex", &complex_product<T>});
  }
}

template void add_stock(Contenders<float>&, const CaseShape&, eigen_rope::Pairing);
template void add_stock(Contenders<double>&, const CaseShape&, eigen_rope::Pairing);
template void add_stock(Contenders<Eigen::half>&, const CaseShape&, eigen_rope::Pairing);
template void add_stock(Contenders<Eigen::bfloat16>&, const CaseShape&, eigen_rope::Pairing);

}  // namespace bench
