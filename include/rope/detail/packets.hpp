// SPDX-License-Identifier: Apache-2.0
//
// One packet of a rotation, for nodes nested in larger expressions.
//
// A packet of results that lies in one half of a window needs two packets of x: its own slots and their partners', half a window away.
// For interleaved pairs it needs its own with neighbours swapped, which is what Eigen's complex packets call a flip. What straddles an
// edge is gathered from coefficients. Only for float and double: the 16-bit types would be rounded on the way.
#pragma once

#include <array>
#include <complex>
#include <type_traits>

#include "rope/detail/node.hpp"

namespace rope::detail {

/// Whether results come in packets: float or double throughout.
template <class XScalar, class TableScalar, class Scalar, class Packet>
inline constexpr bool has_packet_rotation = std::is_same_v<XScalar, TableScalar>&& std::is_same_v<XScalar, Scalar> &&
                                            (std::is_same_v<Scalar, float> ||
                                             std::is_same_v<Scalar, double>)&&(Eigen::internal::unpacket_traits<Packet>::size > 1);

/// Finds an element's place in its row and its row's place in the table by multiplications instead of divisions. Only table strides
/// matter, so axes along which the table broadcasts cost nothing.
class RowSearch {
 public:
  RowSearch(Index row_length, const Walk& walk)
      : row_length_(row_length), by_row_length_(row_length), power_of_two_((row_length & (row_length - 1)) == 0) {
    Index elements = row_length;
    for (int i = 0; i < walk.count; ++i) {
      const RowSteps& step = walk.levels[static_cast<std::size_t>(i)];
      if (step.table != 0) {
        levels_[static_cast<std::size_t>(count_++)] = {Divisor(elements), Divisor(step.count), step.count, step.table, i + 1 == walk.count};
      }
      elements *= step.count;
    }
  }

  EIGEN_ALWAYS_INLINE Index place_in_row(Index index) const {
    return power_of_two_ ? index & (row_length_ - 1) : index - index / by_row_length_ * row_length_;
  }

  EIGEN_ALWAYS_INLINE Index place_in_table(Index index) const {
    Index place = 0;
    for (int i = 0; i < count_; ++i) {
      const Level& level = levels_[static_cast<std::size_t>(i)];
      const Index group = index / level.by_elements;
      place += (level.outermost ? group : group - group / level.by_count * level.count) * level.table;
    }
    return place;
  }

 private:
  using Divisor = Eigen::internal::TensorIntDivisor<Index>;
  struct Level {
    Divisor by_elements;
    Divisor by_count;
    Index count;
    Index table;
    bool outermost;
  };

  Index row_length_;
  Divisor by_row_length_;
  bool power_of_two_;
  std::array<Level, max_rank> levels_;
  int count_ = 0;
};

template <class Packet>
using ComplexPacketOf =
    typename Eigen::internal::packet_traits<std::complex<typename Eigen::internal::unpacket_traits<Packet>::type>>::type;

/// Each of half a packet's worth of values twice. Not ploaddup, which reads two floats as one double, aligned or not; compilers make
/// shuffles of this as well.
template <class Packet, class Scalar>
EIGEN_ALWAYS_INLINE Packet load_twice(const Scalar* from) {
  constexpr int size = Eigen::internal::unpacket_traits<Packet>::size;
  EIGEN_ALIGN_MAX Scalar values[size];
  for (int i = 0; i < size; ++i) values[i] = from[i / 2];
  return Eigen::internal::pload<Packet>(values);
}

/// Swaps the members of each interleaved pair.
template <class Packet>
EIGEN_ALWAYS_INLINE Packet swap_pairs(const Packet& v) {
  static_assert(sizeof(ComplexPacketOf<Packet>) == sizeof(Packet), "[rope] complex packets must be as wide as real ones");
  return Eigen::internal::pcplxflip(ComplexPacketOf<Packet>(v)).v;
}

/// Negates the second member of each interleaved pair.
template <class Packet>
EIGEN_ALWAYS_INLINE Packet negate_second(const Packet& v) {
  return Eigen::internal::pconj(ComplexPacketOf<Packet>(v)).v;
}

/// Pairs whose members lie apart. `self` is x at the packet's slots and `partner` at their partners'; `own` and `other` are the places of
/// their coefficients.
template <class Packet, class TableScalar>
EIGEN_ALWAYS_INLINE Packet rotate_apart(Direction direction, bool is_second, const Packet& self, const Packet& partner,
                                        const TableView<TableScalar>& table, Index own, Index other) {
  using Eigen::internal::padd;
  using Eigen::internal::pdiv;
  using Eigen::internal::ploadu;
  using Eigen::internal::pmul;
  using Eigen::internal::psub;
  const auto add_partner = [&](const Packet& cos, const Packet& sin, bool subtract) {
    return subtract ? psub(pmul(cos, self), pmul(sin, partner)) : padd(pmul(cos, self), pmul(sin, partner));
  };
  const Packet own_cos = ploadu<Packet>(table.cos + own);
  if (direction == Direction::forward) return add_partner(own_cos, ploadu<Packet>(table.sin + own), !is_second);
  const Packet other_sin = ploadu<Packet>(table.sin + other);
  if (direction == Direction::transpose) return add_partner(own_cos, other_sin, is_second);
  const Packet own_sin = ploadu<Packet>(table.sin + own);
  const Packet other_cos = ploadu<Packet>(table.cos + other);
  return pdiv(add_partner(other_cos, own_sin, is_second), padd(pmul(own_cos, other_cos), pmul(own_sin, other_sin)));
}

/// Pairs whose members are neighbours; cos and sin hold each slot's own coefficients.
template <class Packet>
EIGEN_ALWAYS_INLINE Packet rotate_neighbours(Direction direction, const Packet& self, const Packet& cos, const Packet& sin) {
  using Eigen::internal::padd;
  using Eigen::internal::pdiv;
  using Eigen::internal::pmul;
  using Eigen::internal::pnegate;
  const Packet partner = swap_pairs(self);
  if (direction == Direction::forward) return padd(pmul(cos, self), pmul(pnegate(negate_second(sin)), partner));
  const Packet other_sin = swap_pairs(sin);
  if (direction == Direction::transpose) return padd(pmul(cos, self), pmul(negate_second(other_sin), partner));
  const Packet other_cos = swap_pairs(cos);
  return pdiv(padd(pmul(other_cos, self), pmul(negate_second(sin), partner)), padd(pmul(cos, other_cos), pmul(sin, other_sin)));
}

/// The packet of results that begins at linear `index`; `gather(i)` makes one of coefficients.
template <class Packet, class TableScalar, class Argument, class Gather>
EIGEN_ALWAYS_INLINE Packet rotate_packet(const NodeParameters<TableScalar>& parameters, const RowSearch& search, const Argument& x,
                                         Index index, const Gather& gather) {
  using Eigen::internal::ploadu;
  constexpr Index size = Eigen::internal::unpacket_traits<Packet>::size;
  const RowPlan& plan = parameters.plan;
  const TableView<TableScalar>& table = parameters.table;
  const Index place = search.place_in_row(index);
  const Index slot = place - plan.offset;
  const PairKind kind = plan.kind;
  const auto packet_of_x = [&x](Index i) { return x.template packet<Eigen::Unaligned>(i); };

  if (slot >= 0 && slot + size <= plan.rotary_dims) {
    const Index pairs = plan.rotary_dims / 2;
    if (kind == PairKind::half || kind == PairKind::quarter) {
      const Index group = kind == PairKind::quarter && slot >= pairs ? pairs : 0;
      const Index distance = kind == PairKind::quarter ? pairs / 2 : pairs;
      const bool is_second = slot - group >= distance;
      const Index first = is_second ? slot - distance : slot;
      if (first - group + size <= distance) {
        const Index begin = search.place_in_table(index);
        const Index own = begin + (plan.full_width ? slot : first - group / 2);
        const Index other = !plan.full_width ? own : is_second ? own - distance : own + distance;
        return rotate_apart(plan.direction, is_second, packet_of_x(index), packet_of_x(is_second ? index - distance : index + distance),
                            table, own, other);
      }
    } else if (kind == PairKind::interleaved && slot % 2 == 0) {
      const Index begin = search.place_in_table(index);
      const Packet cos = plan.full_width ? ploadu<Packet>(table.cos + begin + slot) : load_twice<Packet>(table.cos + begin + slot / 2);
      const Packet sin = plan.full_width ? ploadu<Packet>(table.sin + begin + slot) : load_twice<Packet>(table.sin + begin + slot / 2);
      return rotate_neighbours(plan.direction, packet_of_x(index), cos, sin);
    }
  } else if (place + size <= plan.row_length && (slot + size <= 0 || slot >= plan.rotary_dims)) {
    return packet_of_x(index);
  }
  return gather(index);
}

}  // namespace rope::detail
