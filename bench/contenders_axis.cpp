// SPDX-License-Identifier: Apache-2.0
//
// Features that are not on the fastest axis, and the loops written by hand for them. All of them
// see the bytes of x in another shape, a ColMajor tensor whose table has the same order:
//
//   dns            [tokens, heads, dims], eigen_rope::rotate along(2); dns_inplace likewise
//   dnsb2, dnsb8   [batch, tokens, heads / batch, dims] with a batch of 2 and 8, along(3);
//                  dnsb2_inplace, dnsb8_inplace
//   middle         [tokens, dims, heads], along(1); middle_inplace
//   dns_usual      as dns, with the usual table, whose entries of a token follow each other
//   hand_<any>     the loop for that order: the fastest of those that the processor can run
#include <algorithm>
#include <memory>

#include "contender.hpp"
#include "expected.hpp"
#include "fastest_loop.hpp"
#include "timing.hpp"

namespace bench {
namespace {

using eigen_rope::Shape;

/// A shape of x's bytes, and of the table that goes with it.
struct Order {
  const char* name;
  Index batch;
  bool middle;

  Index heads_of_sequence() const { return heads / batch; }
  /// Extents, the fastest axis first.
  Shape shape(const CaseShape& s) const {
    if (middle) return {s.tokens, s.head_size, heads};
    return {batch, s.tokens, heads_of_sequence(), s.head_size};
  }
  int axis() const { return middle ? 1 : 3; }
  /// The table's outer extents.
  Shape outer(const CaseShape& s) const {
    if (middle) return {s.tokens, 1};
    return {1, s.tokens, 1};
  }
};

constexpr Order orders[] = {
    {"dns", 1, false}, {"dnsb2", 2, false}, {"dnsb8", 8, false}, {"middle", 1, true}};

/// A case's table in the order of the lanes: tokens next to each other.
template <class T>
struct ApartTable {
  using Scalar = typename Case<T>::TableScalar;

  ApartTable(const Case<T>& c, const Order& order)
      : pairs(c.cache.pairs()),
        outer(order.outer(c.shape)),
        cos(entries(c, c.cache.cos())),
        sin(entries(c, c.cache.sin())) {}

  eigen_rope::TableView<Scalar> view() const {
    eigen_rope::TableView<Scalar> table{cos.data(), sin.data(), pairs, outer};
    table.feature_axis = outer.rank() - 1;
    return table;
  }

  Index pairs;
  Shape outer;
  eigen_rope::detail::AlignedVector<Scalar> cos, sin;

 private:
  static eigen_rope::detail::AlignedVector<Scalar> entries(const Case<T>& c, const Scalar* rows) {
    const Index pairs = c.cache.pairs();
    eigen_rope::detail::AlignedVector<Scalar> result(static_cast<std::size_t>(pairs * c.S()));
    for (Index s = 0; s < c.S(); ++s) {
      for (Index k = 0; k < pairs; ++k)
        result[static_cast<std::size_t>(k * c.S() + s)] = rows[s * pairs + k];
    }
    return result;
  }
};

template <class T>
std::vector<T> rotated_in(const Case<T>& c, const Order& order) {
  const ApartTable<T> table(c, order);
  std::vector<T> result(static_cast<std::size_t>(c.shape.size()));
  eigen_rope::reference::rotate(c.x.data(), result.data(), order.shape(c.shape), table.view(),
                                c.pairing.along(order.axis()));
  return result;
}

template <class T, int rank>
Eigen::TensorMap<Eigen::Tensor<T, rank>> map_of(T* data, const Shape& shape) {
  Eigen::DSizes<Eigen::Index, rank> sizes;
  for (int axis = 0; axis < rank; ++axis) sizes[axis] = shape[axis];
  return {data, sizes};
}

/// `run` rotates y, which begins as x.
template <class T>
Prepared in_place_of(Case<T>& c, const Order& order, const Action& run) {
  return {run, [&c, order, run] {
            std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes());
            run();
            return agrees(c.y.data(), rotated_in(c, order));
          }};
}

template <class T, int rank>
Prepared expression(Case<T>& c, const Order& order, bool in_place) {
  const auto table = std::make_shared<const ApartTable<T>>(c, order);
  const Shape shape = order.shape(c.shape);
  const auto x = map_of<T, rank>(in_place ? c.y.data() : c.x.data(), shape);
  auto y = map_of<T, rank>(c.y.data(), shape);
  const Action run = [&c, order, table, x, y]() mutable {
    y = eigen_rope::rotate(x, table->view(), c.pairing.along(order.axis()));
  };
  if (in_place) return in_place_of(c, order, run);
  return into_y(c, run, [&c, order] { return rotated_in(c, order); });
}

template <class T>
Prepared of_order(Case<T>& c, const Order& order, bool in_place) {
  return order.middle ? expression<T, 3>(c, order, in_place) : expression<T, 4>(c, order, in_place);
}

template <class T>
Prepared with_usual_table(Case<T>& c) {
  const Shape shape = orders[0].shape(c.shape);
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), c.cache.pairs(), {1, c.S(), 1}};
  const auto x = map_of<T, 4>(c.x.data(), shape);
  auto y = map_of<T, 4>(c.y.data(), shape);
  return into_y(
      c, [&c, table, x, y]() mutable { y = eigen_rope::rotate(x, table, c.pairing.along(3)); },
      [&c] { return rotated_in(c, orders[0]); });
}

template <class T>
HandLaneCall call_of(const Case<T>& c, const ApartTable<T>& table, const Order& order, const T* x) {
  const bool split = c.split_half();
  const Index feature = order.middle ? c.S() : c.S() * heads;
  if (order.middle && split) {
    // The pairs of a head and their entries follow each other.
    const Index rows = c.S() * table.pairs;
    return {x,        c.y.data(), table.cos.data(), table.sin.data(), 1, heads, rows, 1, 0,
            2 * rows, rows};
  }
  return {x,
          c.y.data(),
          table.cos.data(),
          table.sin.data(),
          table.pairs,
          order.middle ? heads : order.heads_of_sequence(),
          c.S(),
          order.batch,
          split ? feature : 2 * feature,
          order.middle ? c.S() * c.D() : c.S() * order.batch,
          split ? feature * table.pairs : feature};
}

template <class T>
Prepared hand_of_order(Case<T>& c, const Order& order, bool in_place, const HandLaneLoops& loops) {
  const auto table = std::make_shared<const ApartTable<T>>(c, order);
  const HandLaneCall call = call_of(c, *table, order, in_place ? c.y.data() : c.x.data());
  const auto fits = [&](const HandLaneLoop& loop) {
    const auto aligned = [&](Index elements) {
      return static_cast<std::size_t>(elements) * sizeof(T) % loop.alignment == 0;
    };
    const bool whole = (call.tokens * call.batch) % loop.lanes == 0 ||
                       (call.head == call.tokens * call.batch && loop.lanes % call.head == 0);
    return whole && aligned(call.pair) && aligned(call.member) && aligned(call.head) &&
           reinterpret_cast<std::uintptr_t>(call.y) % loop.alignment == 0;
  };
  const auto loop = fastest_of(loops.loop, loops.count, call, 2 * c.bytes(), fits);
  const Action run = [loop, call, table] { loop.run(call); };
  if (in_place) return in_place_of(c, order, run);
  return into_y(c, run, [&c, order] { return rotated_in(c, order); });
}

}  // namespace

template <class T>
void add_axes(Contenders<T>& list, const CaseShape& shape) {
  if (!shape.whole_rows()) return;
  const std::string target = eigen_rope::kernel_target();
  const HandLaneLoops loops = hand_lane_loops(target.c_str(), hand_scalar<T>);
  for (const Order& order : orders) {
    if (shape.tokens == 1 && order.name != orders[0].name) break;
    for (const bool in_place : {false, true}) {
      const std::string name = std::string(order.name) + (in_place ? "_inplace" : "");
      list.push_back(
          {name, [order, in_place](Case<T>& c) { return of_order(c, order, in_place); }});
      if (loops.count == 0 || shape.tokens == 1) continue;
      list.push_back({"hand_" + name, [order, in_place, loops](Case<T>& c) {
                        return hand_of_order(c, order, in_place, loops);
                      }});
    }
  }
  if (shape.tokens == 1) return;
  list.push_back({"dns_usual", &with_usual_table<T>});
}

template void add_axes(Contenders<float>&, const CaseShape&);
template void add_axes(Contenders<double>&, const CaseShape&);
template void add_axes(Contenders<Eigen::half>&, const CaseShape&);
template void add_axes(Contenders<Eigen::bfloat16>&, const CaseShape&);

}  // namespace bench
