// SPDX-License-Identifier: Apache-2.0
//
// The library where it is assigned directly, in one thread.
//
//   inplace      y = eigen_rope::rotate(y)
//   backward     y = eigen_rope::rotate_backward(x)
//   inverse      y = eigen_rope::rotate_inverse(x)
//   bnsd         as expr, the same bytes seen as [D, S, H]
//   bnsd_inplace the same in place
//   view_inplace as inplace, through eigen_rope::rotate_inplace on a strided view
//   any          as expr, through eigen_rope::any::rotate_to on tensors that are typed at run time
//   plain_c      as any, through eigen_rope_rotate of the C interface
//   sbnd         the same bytes seen as [D, H / 2, 2, S], sequence outside batch
//   to_bnsd      x [D, H, S] into y [D, S, H], through eigen_rope::rotate_to on strided views
//   offset       as expr, x and y 3 and 1 elements behind a page
//   offset_16    the same with 16 bytes, where Eigen's own arrays begin
//   offset_0     the same arrays on a page. The memcpy before each call leaves a case's own x in
//                the last-level cache, but not these.
//   bnsd_offset  as bnsd, x and y 3 and 1 elements behind a page; bnsd_offset_0 likewise
//   bnsd_offset_48  the same with 16 and 48 bytes: rows end in the second half of a line
//   full_width   as expr, with one table entry per element
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include "contender.hpp"
#include "eigen_rope/c/eigen_rope.h"
#include "expected.hpp"
#include "shifted.hpp"

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
      [&c] { return rotated_heads_outside(c); });
}

template <class T>
Prepared heads_outermost_in_place(Case<T>& c) {
  using Map = typename Case<T>::Map;
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), c.cache.pairs(), {c.S(), 1}};
  const Action run = [&c, table, y = Map(c.y.data(), c.D(), c.S(), heads)]() mutable {
    y = eigen_rope::rotate(y, table, c.pairing);
  };
  return {run, [&c, run] {
            std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes());
            run();
            return agrees(c.y.data(), rotated_heads_outside(c));
          }};
}

template <class T>
Prepared view_in_place(Case<T>& c) {
  const Action run = [&c] {
    eigen_rope::rotate_inplace(eigen_rope::strided_view(c.y), c.cache, c.pairing);
  };
  return {run, [&c, run] {
            std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes());
            run();
            return agrees(c.y.data(), rotated(c));
          }};
}

template <class T>
Prepared sequence_outermost(Case<T>& c) {
  using Map4 = Eigen::TensorMap<Eigen::Tensor<T, 4>>;
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), c.cache.pairs(), {1, 1, c.S()}};
  const Map4 x(c.x.data(), c.D(), heads / 2, 2, c.S());
  Map4 y(c.y.data(), c.D(), heads / 2, 2, c.S());
  return rotates_into_y(
      c, [&c, table, x, y]() mutable { y = eigen_rope::rotate(x, table, c.pairing); });
}

template <class T>
Prepared typed_at_run_time(Case<T>& c) {
  const eigen_rope::Shape shape{c.S(), heads, c.D()};
  const eigen_rope::any::ConstTensor x{eigen_rope::scalar_type<T>, c.x.data(), shape};
  const eigen_rope::any::Tensor y{eigen_rope::scalar_type<T>, c.y.data(), shape};
  const eigen_rope::any::Table table = eigen_rope::any::table_of(c.cache);
  return rotates_into_y(c,
                        [&c, x, y, table] { eigen_rope::any::rotate_to(y, x, table, c.pairing); });
}

/// Tensors as the C interface has them, with the extents that they point to.
template <class T>
struct PlainC {
  explicit PlainC(Case<T>& c)
      : shape{c.S(), heads, c.D()},
        table_shape{c.S(), 1, c.cache.pairs()},
        x(tensor(c.x.data(), shape)),
        y(tensor(c.y.data(), shape)),
        cos(tensor(const_cast<typename Case<T>::TableScalar*>(c.cache.cos()), table_shape)),
        sin(tensor(const_cast<typename Case<T>::TableScalar*>(c.cache.sin()), table_shape)) {
    how.struct_size = sizeof how;
    how.pairing = c.split_half() ? EIGEN_ROPE_SPLIT_HALF : EIGEN_ROPE_INTERLEAVED;
    how.offset = c.pairing.offset();
    how.rotary_dims = c.pairing.rotary_dims(c.D());
  }

  std::int64_t shape[3], table_shape[3];
  eigen_rope_tensor x, y, cos, sin;
  eigen_rope_rotation how{};

 private:
  template <class Scalar>
  static eigen_rope_tensor tensor(Scalar* data, const std::int64_t (&extents)[3]) {
    const bool bfloat = std::is_same_v<Scalar, Eigen::bfloat16>;
    return eigen_rope_cpu_tensor(data, bfloat ? EIGEN_ROPE_BFLOAT : EIGEN_ROPE_FLOAT,
                                 8 * sizeof(Scalar), 3, extents);
  }
};

template <class T>
Prepared in_plain_c(Case<T>& c) {
  const auto tensors = std::make_shared<PlainC<T>>(c);
  return rotates_into_y(c, [tensors] {
    const PlainC<T>& t = *tensors;
    if (eigen_rope_rotate(&t.y, &t.x, &t.cos, &t.sin, &t.how) != EIGEN_ROPE_OK) std::abort();
  });
}

template <class T>
Prepared to_heads_outermost(Case<T>& c) {
  const Action run = [&c] {
    const auto x = eigen_rope::strided_view(c.x.data(), {c.D(), heads, c.S()});
    const auto y = eigen_rope::strided_view(c.y.data(), {c.D(), c.S(), heads});
    eigen_rope::rotate_to(y.swap_axes(1, 2), x, c.cache, c.pairing);
  };
  return into_y(c, run, [&c] { return with_heads_outside(c, rotated(c)); });
}

template <class T>
Prepared displaced(Case<T>& c, Index x_offset, Index y_offset) {
  const auto shifted = std::make_shared<Shifted<T>>(c, x_offset, y_offset);
  return into(c, shifted,
              [&c, shifted] { shifted->y = eigen_rope::rotate(shifted->x, c.cache, c.pairing); });
}

template <class T>
Prepared heads_outermost_displaced(Case<T>& c, Index x_offset, Index y_offset) {
  using Map = typename Case<T>::Map;
  const auto shifted = std::make_shared<Shifted<T>>(c, x_offset, y_offset);
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), c.cache.pairs(), {c.S(), 1}};
  const Map x(shifted->x.data(), c.D(), c.S(), heads);
  Map y(shifted->y.data(), c.D(), c.S(), heads);
  const Action run = [&c, shifted, table, x, y]() mutable {
    y = eigen_rope::rotate(x, table, c.pairing);
  };
  return {run, [&c, shifted, run] {
            std::memset(static_cast<void*>(shifted->y.data()), 0xff, c.bytes());
            run();
            return agrees(shifted->y.data(), rotated_heads_outside(c));
          }};
}

}  // namespace

template <class T>
void add_rotations(Contenders<T>& list, const CaseShape& shape) {
  list.push_back({"any", &typed_at_run_time<T>});
  list.push_back({"plain_c", &in_plain_c<T>});
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
  list.push_back({"view_inplace", &view_in_place<T>});
  list.push_back({"offset", [](Case<T>& c) { return displaced(c, 3, 1); }});
  list.push_back({"offset_0", [](Case<T>& c) { return displaced(c, 0, 0); }});
  constexpr Index elements_of_16 = 16 / static_cast<Index>(sizeof(T));
  list.push_back(
      {"offset_16", [](Case<T>& c) { return displaced(c, elements_of_16, elements_of_16); }});
  if (shape.whole_rows() && shape.tokens > 1) {
    list.push_back({"bnsd", &heads_outermost<T>});
    list.push_back({"bnsd_inplace", &heads_outermost_in_place<T>});
    list.push_back({"bnsd_offset", [](Case<T>& c) { return heads_outermost_displaced(c, 3, 1); }});
    list.push_back(
        {"bnsd_offset_0", [](Case<T>& c) { return heads_outermost_displaced(c, 0, 0); }});
    list.push_back({"bnsd_offset_48", [](Case<T>& c) {
                      return heads_outermost_displaced(c, elements_of_16, 3 * elements_of_16);
                    }});
    list.push_back({"sbnd", &sequence_outermost<T>});
    list.push_back({"to_bnsd", &to_heads_outermost<T>});
  }
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
