// SPDX-License-Identifier: Apache-2.0
//
// The library where it is assigned directly, in one thread.
//
//   inplace      y = eigen_rope::rotate(y)
//   backward     y = eigen_rope::rotate_backward(x)          inverse
//                       y = eigen_rope::rotate_inverse(x)
//   bnsd         as expr, the same bytes seen as [D, S, H]
//   full_width   as expr, with one table entry per element
#include <cstring>

#include "contender.hpp"
#include "expected.hpp"

namespace bench {

namespace {

/// The half-width table of a case, repeated to one entry per element.
template <class T>
struct FullWidthTable {
  using Scalar = typename Case<T>::TableScalar;

  explicit FullWidthTable(const Case<T>& c)
      : width(c.shape.rotary_dims),
        outer(c.cache.outer()),
        cos(entries(c, c.cache.cos())),
        sin(entries(c, c.cache.sin())) {}

  eigen_rope::TableView<Scalar> view() const { return {cos.data(), sin.data(), width, outer}; }

  Index width;
  eigen_rope::Shape outer;
  eigen_rope::detail::AlignedVector<Scalar> cos, sin;

 private:
  static eigen_rope::detail::AlignedVector<Scalar> entries(const Case<T>& c,
                                                           const Scalar* of_pairs) {
    const Index dims = c.shape.rotary_dims;
    eigen_rope::detail::AlignedVector<Scalar> result(static_cast<std::size_t>(dims * c.S()));
    for (Index s = 0; s < c.S(); ++s) {
      for (Index d = 0; d < dims; ++d) {
        const Index pair = c.split_half() ? d % (dims / 2) : d / 2;
        result[static_cast<std::size_t>(s * dims + d)] = of_pairs[s * (dims / 2) + pair];
      }
    }
    return result;
  }
};

template <class T>
Prepared in_place(Case<T>& c) {
  const Action run = [&c] { c.y = eigen_rope::rotate(c.y, c.cache, c.pairing); };
  const auto correct = [&c, run] {
    std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes());
    run();
    return agrees(c.y.data(), rotated(c));
  };
  return {run, correct};
}

template <class T>
Prepared heads_outermost(Case<T>& c) {
  using Map = typename Case<T>::Map;
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), c.cache.pairs(), {c.S(), 1}};
  const Map x(c.x.data(), c.D(), c.S(), heads);
  Map y(c.y.data(), c.D(), c.S(), heads);
  return into_y(
      c, [&c, table, x, y]() mutable { y = eigen_rope::rotate(x, table, c.pairing); },
      [&c, table] {
        std::vector<T> result(static_cast<std::size_t>(c.shape.size()));
        eigen_rope::reference::rotate(c.x.data(), result.data(),
                                      eigen_rope::Shape{c.D(), c.S(), heads}, table, c.pairing);
        return result;
      });
}

}  // namespace

template <class T>
void add_rotations(Contenders<T>& list, const CaseShape& shape) {
  list.push_back({"inplace", &in_place<T>});
  list.push_back({"backward", [](Case<T>& c) {
                    return into_y(
                        c, [&c] { c.y = eigen_rope::rotate_backward(c.x, c.cache, c.pairing); },
                        [&c] { return rotated(c, eigen_rope::Direction::backward); });
                  }});
  list.push_back({"inverse", [](Case<T>& c) {
                    return into_y(
                        c, [&c] { c.y = eigen_rope::rotate_inverse(c.x, c.cache, c.pairing); },
                        [&c] { return rotated(c, eigen_rope::Direction::inverse); });
                  }});
  if (shape.whole_rows() && shape.tokens > 1) list.push_back({"bnsd", &heads_outermost<T>});
  if (shape.whole_rows() && shape.tokens == 512) {
    list.push_back({"full_width", [](Case<T>& c) {
                      const auto table = std::make_shared<const FullWidthTable<T>>(c);
                      return rotates_into_y(c, [&c, table] {
                        c.y = eigen_rope::rotate(c.x, table->view(), c.pairing);
                      });
                    }});
  }
}

template void add_rotations(Contenders<float>&, const CaseShape&);
template void add_rotations(Contenders<double>&, const CaseShape&);
template void add_rotations(Contenders<Eigen::half>&, const CaseShape&);
template void add_rotations(Contenders<Eigen::bfloat16>&, const CaseShape&);

}  // namespace bench
