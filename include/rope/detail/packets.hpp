// SPDX-License-Identifier: Apache-2.0
//
// One packet of a rotation, for nodes nested in larger expressions.
//
// A packet of results that lies in one half of a window needs two packets of x: its own slots and their partners', half a window away.
// For interleaved pairs it needs its own with neighbours swapped, which is what Eigen's complex packets call a flip. These, and what is
// copied, are made in `common_packet`, the simplest of them first. The inverse, interleaved_to_half, and packets that straddle an edge are
// made in `rare_packet`: whole, in halves, at last in coefficients. Only for float and double: the 16-bit types would be rounded on the
// way.
#pragma once

#include <complex>
#include <type_traits>

#include "rope/detail/coefficient.hpp"
#include "rope/detail/node.hpp"
#include "rope/detail/row_search.hpp"

namespace rope::detail {

template <class Packet>
using ScalarOf = typename Eigen::internal::unpacket_traits<Packet>::type;

template <class Packet>
inline constexpr Index size_of = Eigen::internal::unpacket_traits<Packet>::size;

/// Whether results come in packets: float or double throughout.
template <class XScalar, class TableScalar, class Scalar, class Packet>
inline constexpr bool has_packet_rotation = std::is_same_v<XScalar, TableScalar>&& std::is_same_v<XScalar, Scalar> &&
                                            (std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>)&&(size_of<Packet> > 1);

/// How a packet is made that lies where all its members are treated alike. Simple: rows of a power of two, rotated from end to end, that
/// find their table row by one product, and for neighbours a table of half width.
enum class PacketForm { simple_half, simple_neighbours, half, quarter, neighbours, rare };

/// All a packet needs besides x.
template <class Scalar>
struct PacketPlan : CoefficientPlan<Scalar> {
  PacketForm form = PacketForm::rare;
  bool forward = true;
  /// From a pair's first slot to its second.
  Index distance = 0;
  /// The factors of first and second members (where not `cos` itself) and of their partners: in the table's first row, of the first pair.
  const Scalar* second_cos = nullptr;
  const Scalar* first_sin = nullptr;
  const Scalar* second_sin = nullptr;
  /// From quarter pairing's first half of the window to its second, in the table.
  Index table_half = 0;

  PacketPlan() = default;
  explicit PacketPlan(const CoefficientPlan<Scalar>& plan) : CoefficientPlan<Scalar>(plan) {
    const RowPlan& row_plan = plan.row;
    const Index pairs = row_plan.rotary_dims / 2;
    forward = row_plan.direction == Direction::forward;
    distance = row_plan.kind == PairKind::quarter ? pairs / 2 : pairs;
    const Index table_distance = row_plan.full_width ? distance : 0;
    second_cos = plan.cos + table_distance;
    first_sin = plan.sin + (forward ? 0 : table_distance);
    second_sin = plan.sin + (forward ? table_distance : 0);
    table_half = row_plan.full_width ? pairs : distance;
    if (row_plan.direction == Direction::inverse || row_plan.permutes() || !plan.search.is_fast()) return;
    // Whole rows, half width.
    const bool simple = plan.search.is_simple() && row_plan.rotary_dims == row_plan.row_length;
    if (row_plan.kind == PairKind::interleaved) {
      form = simple && !row_plan.full_width ? PacketForm::simple_neighbours : PacketForm::neighbours;
    } else if (row_plan.kind == PairKind::quarter) {
      form = PacketForm::quarter;
    } else {
      form = simple ? PacketForm::simple_half : PacketForm::half;
    }
  }
};

/// x where it has raw data: packets of any size.
template <class Scalar>
struct RawArgument {
  const Scalar* x;

  template <class Packet>
  EIGEN_ALWAYS_INLINE Packet packet(Index index) const {
    return Eigen::internal::ploadu<Packet>(x + index);
  }
  Scalar coeff(Index index) const { return x[index]; }
};

/// Any other x: packets of its own size.
template <class Evaluator>
struct EvaluatedArgument {
  const Evaluator& x;

  template <class Packet>
  EIGEN_ALWAYS_INLINE Packet packet(Index index) const {
    return x.template packet<Eigen::Unaligned>(index);
  }
  auto coeff(Index index) const { return x.coeff(index); }
};

/// v0 v0 v1 v1 ...
template <class Packet>
EIGEN_ALWAYS_INLINE Packet load_twice(const ScalarOf<Packet>* from) {
#ifdef EIGEN_VECTORIZE_SSE
  // Eigen's own reads two floats as one double.
  if constexpr (std::is_same_v<ScalarOf<Packet>, float> && sizeof(Packet) == sizeof(__m128)) {
    const __m128 two = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return _mm_unpacklo_ps(two, two);
  }
#endif
  return Eigen::internal::ploaddup<Packet>(from);
}

/// Complex packets of the size of real ones.
template <class Packet, class Complex = typename Eigen::internal::packet_traits<std::complex<ScalarOf<Packet>>>::type>
struct ComplexPacket {
  using Half = typename Eigen::internal::unpacket_traits<Complex>::half;
  using type =
      typename std::conditional_t<sizeof(Complex) == sizeof(Packet), std::enable_if<true, Complex>, ComplexPacket<Packet, Half>>::type;
};

/// Swaps the members of each interleaved pair.
template <class Packet>
EIGEN_ALWAYS_INLINE Packet swap_pairs(const Packet& v) {
  return Eigen::internal::pcplxflip(typename ComplexPacket<Packet>::type(v)).v;
}

/// Negates the second member of each interleaved pair.
template <class Packet>
EIGEN_ALWAYS_INLINE Packet negate_second(const Packet& v) {
  return Eigen::internal::pconj(typename ComplexPacket<Packet>::type(v)).v;
}

/// A packet of pairs whose members lie apart, all first or all second ones. `slot` is counted from the first of their kind, `table` is the
/// place of its coefficients.
template <class Packet, class Scalar, class Argument>
EIGEN_ALWAYS_INLINE Packet apart_packet(const PacketPlan<Scalar>& plan, const Argument& x, Index index, Index table, bool second) {
  using namespace Eigen::internal;  // NOLINT(google-build-using-namespace): packet operations
  const Packet self = x.template packet<Packet>(index);
  const Packet partner = x.template packet<Packet>(second ? index - plan.distance : index + plan.distance);
  const Packet cos = ploadu<Packet>((second ? plan.second_cos : plan.cos) + table);
  const Packet sin = ploadu<Packet>((second ? plan.second_sin : plan.first_sin) + table);
  if (plan.forward != second) return psub(pmul(cos, self), pmul(sin, partner));
  return padd(pmul(cos, self), pmul(sin, partner));
}

template <class Packet, class Scalar, class Argument>
EIGEN_ALWAYS_INLINE Packet neighbour_packet(const PacketPlan<Scalar>& plan, const Argument& x, Index index, Index table, Index slot) {
  using namespace Eigen::internal;  // NOLINT(google-build-using-namespace): packet operations
  const Packet self = x.template packet<Packet>(index);
  const Packet partner = swap_pairs(self);
  Packet cos, sin;
  if (plan.row.full_width) {
    cos = ploadu<Packet>(plan.cos + table + slot);
    sin = ploadu<Packet>(plan.sin + table + slot);
    if (!plan.forward) sin = swap_pairs(sin);
  } else {
    cos = load_twice<Packet>(plan.cos + table + slot / 2);
    sin = load_twice<Packet>(plan.sin + table + slot / 2);
  }
  const Packet cross = negate_second(sin);
  if (plan.forward) return psub(pmul(cos, self), pmul(cross, partner));
  return padd(pmul(cos, self), pmul(cross, partner));
}

/// cos self +- cross partner.
template <class Packet>
EIGEN_ALWAYS_INLINE Packet neighbour_sum(bool forward, const Packet& cos, const Packet& self, const Packet& cross) {
  using namespace Eigen::internal;  // NOLINT(google-build-using-namespace): packet operations
  const Packet partner = swap_pairs(self);
  return forward ? psub(pmul(cos, self), pmul(cross, partner)) : padd(pmul(cos, self), pmul(cross, partner));
}

/// The packet of results that begins at linear `index`, if it is common.
template <class Packet, class Scalar, class Argument>
EIGEN_ALWAYS_INLINE bool common_packet(const PacketPlan<Scalar>& plan, const Argument& x, const Index index, Packet& result) {
  constexpr Index size = size_of<Packet>;
  const PacketForm form = plan.form;
  if (form == PacketForm::simple_half) {
    const Index slot = plan.search.simple_place_in_row(index);
    const Index table = plan.search.simple_place_in_table(index) + slot;
    if (slot + size <= plan.distance) {
      result = apart_packet<Packet>(plan, x, index, table, false);
      return true;
    }
    if (slot >= plan.distance && slot + size <= 2 * plan.distance) {
      result = apart_packet<Packet>(plan, x, index, table - plan.distance, true);
      return true;
    }
    return false;
  }
  if (form == PacketForm::simple_neighbours) {
    const Index slot = plan.search.simple_place_in_row(index);
    if (slot % 2 != 0 || slot + size > 2 * plan.distance) return false;
    const Index pair = plan.search.simple_place_in_table(index) + slot / 2;
    const Packet self = x.template packet<Packet>(index);
    const Packet cross = negate_second(load_twice<Packet>(plan.sin + pair));
    result = neighbour_sum(plan.forward, load_twice<Packet>(plan.cos + pair), self, cross);
    return true;
  }
  if (form == PacketForm::rare) return false;
  const Index place = plan.search.fast_place_in_row(index);
  const Index slot = place - plan.row.offset;
  if (form != PacketForm::neighbours) {
    Index first = slot;
    Index table = slot;
    if (form == PacketForm::quarter && slot >= 2 * plan.distance) {
      first -= 2 * plan.distance;
      table = first + plan.table_half;
    }
    if (first >= 0 && first + size <= plan.distance) {
      result = apart_packet<Packet>(plan, x, index, plan.search.fast_place_in_table(index) + table, false);
      return true;
    }
    if (first >= plan.distance && first + size <= 2 * plan.distance) {
      result = apart_packet<Packet>(plan, x, index, plan.search.fast_place_in_table(index) + table - plan.distance, true);
      return true;
    }
  } else if (slot >= 0 && slot + size <= plan.row.rotary_dims && slot % 2 == 0) {
    result = neighbour_packet<Packet>(plan, x, index, plan.search.fast_place_in_table(index), slot);
    return true;
  }
  if (slot + size <= 0 || (slot >= plan.row.rotary_dims && place + size <= plan.row.row_length)) {
    result = x.template packet<Packet>(index);
    return true;
  }
  return false;
}

/// Half a packet's worth of x, each twice.
template <class Packet, class Argument>
Packet each_twice(const Argument& x, Index index) {
  EIGEN_ALIGN_MAX ScalarOf<Packet> values[size_of<Packet>];
  for (Index i = 0; i < size_of<Packet>; ++i) values[i] = x.coeff(index + i / 2);
  return Eigen::internal::pload<Packet>(values);
}

/// Half of two packets' worth of x.
template <class Packet, class Argument>
Packet every_other(const Argument& x, Index index) {
  EIGEN_ALIGN_MAX ScalarOf<Packet> values[size_of<Packet>];
  for (Index i = 0; i < size_of<Packet>; ++i) values[i] = x.coeff(index + 2 * i);
  return Eigen::internal::pload<Packet>(values);
}

/// Results that lie apart: forward interleaved_to_half, and the inverse of half and quarter. `slot` is that of the pairs' first members.
template <class Packet, class Scalar, class Argument>
Packet rare_apart_packet(const PacketPlan<Scalar>& plan, const Argument& x, Index window, Index table, Index slot, bool second) {
  using namespace Eigen::internal;  // NOLINT(google-build-using-namespace): packet operations
  const Index pair = slot >= 2 * plan.distance ? slot - plan.distance : slot;
  const Index table_a = table + (plan.row.full_width ? slot : pair);
  const Index table_b = table + (plan.row.full_width ? slot + plan.distance : pair);
  const bool inverse = !plan.row.permutes();
  const Packet a = inverse ? x.template packet<Packet>(window + slot) : every_other<Packet>(x, window + 2 * slot);
  const Packet b = inverse ? x.template packet<Packet>(window + slot + plan.distance) : every_other<Packet>(x, window + 2 * slot + 1);
  const Packet cos_a = ploadu<Packet>(plan.cos + table_a);
  const Packet cos_b = ploadu<Packet>(plan.cos + table_b);
  const Packet sin_a = ploadu<Packet>(plan.sin + table_a);
  const Packet sin_b = ploadu<Packet>(plan.sin + table_b);
  if (!inverse) return second ? padd(pmul(cos_b, b), pmul(sin_b, a)) : psub(pmul(cos_a, a), pmul(sin_a, b));
  const Packet determinant = padd(pmul(cos_a, cos_b), pmul(sin_a, sin_b));
  if (second) return psub(pmul(pdiv(cos_a, determinant), b), pmul(pdiv(sin_b, determinant), a));
  return padd(pmul(pdiv(cos_b, determinant), a), pmul(pdiv(sin_a, determinant), b));
}

/// Results that are neighbours: transposed and inverse interleaved_to_half, and the inverse of interleaved.
template <class Packet, class Scalar, class Argument>
Packet rare_neighbour_packet(const PacketPlan<Scalar>& plan, const Argument& x, Index window, Index table, Index slot) {
  using namespace Eigen::internal;  // NOLINT(google-build-using-namespace): packet operations
  const Index pairs = plan.row.rotary_dims / 2;
  const Packet even = peven_mask(pset1<Packet>(Scalar(0)));
  Packet self;
  if (plan.row.permutes()) {
    self = pselect(even, each_twice<Packet>(x, window + slot / 2), each_twice<Packet>(x, window + pairs + slot / 2));
  } else {
    self = x.template packet<Packet>(window + slot);
  }
  const auto coefficients = [&](const Scalar* row) {
    if (!plan.row.full_width) return load_twice<Packet>(row + slot / 2);
    if (!plan.row.permutes()) return ploadu<Packet>(row + slot);
    return Packet(pselect(even, load_twice<Packet>(row + slot / 2), load_twice<Packet>(row + pairs + slot / 2)));
  };
  const Packet cos = coefficients(plan.cos + table);
  const Packet sin = coefficients(plan.sin + table);
  const Packet other_sin = swap_pairs(sin);
  const Packet partner = swap_pairs(self);
  if (plan.row.direction == Direction::transpose) return padd(pmul(cos, self), negate_second(pmul(other_sin, partner)));
  const Packet other_cos = swap_pairs(cos);
  const Packet determinant = padd(pmul(cos, other_cos), pmul(sin, other_sin));
  return padd(pmul(pdiv(other_cos, determinant), self), negate_second(pmul(pdiv(sin, determinant), partner)));
}

/// The same for the rare forms.
template <class Packet, class Scalar, class Argument>
bool rare_form_packet(const PacketPlan<Scalar>& plan, const Argument& x, const Index index, Packet& result) {
  constexpr Index size = size_of<Packet>;
  if (plan.form != PacketForm::rare) return false;
  const Index place = plan.search.place_in_row(index);
  const Index slot = place - plan.row.offset;
  const Index dims = plan.row.rotary_dims;
  if (slot + size <= 0 || (slot >= dims && place + size <= plan.row.row_length)) {
    result = x.template packet<Packet>(index);
    return true;
  }
  if (slot < 0 || slot + size > dims) return false;
  const Index table = plan.search.place_in_table(index);
  const Index window = index - slot;
  if (written_kind(plan.row) == PairKind::interleaved) {
    if (slot % 2 != 0) return false;
    result = rare_neighbour_packet<Packet>(plan, x, window, table, slot);
    return true;
  }
  const Index region = slot / plan.distance;
  if (slot + size > (region + 1) * plan.distance) return false;
  const bool second = region % 2 != 0;
  result = rare_apart_packet<Packet>(plan, x, window, table, second ? slot - plan.distance : slot, second);
  return true;
}

template <class Argument>
inline constexpr bool is_raw = false;
template <class Scalar>
inline constexpr bool is_raw<RawArgument<Scalar>> = true;

/// A packet's worth of results, in as large pieces as their places allow.
template <class Packet, class Scalar, class Argument>
void store_pieces(const PacketPlan<Scalar>& plan, const Argument& x, Index index, Scalar* results) {
  using Half = typename Eigen::internal::unpacket_traits<Packet>::half;
  constexpr Index size = size_of<Packet>;
  Packet packet;
  if (common_packet(plan, x, index, packet) || rare_form_packet(plan, x, index, packet)) {
    Eigen::internal::pstoreu(results, packet);
  } else if constexpr (is_raw<Argument> && sizeof(Half) < sizeof(Packet)) {
    store_pieces<Half>(plan, x, index, results);
    store_pieces<Half>(plan, x, index + size / 2, results + size / 2);
  } else {
    for (Index i = 0; i < size; ++i) results[i] = rotated_coefficient<Scalar, Scalar>(plan, x, index + i);
  }
}

/// Any packet.
template <class Packet, class Scalar, class Argument>
EIGEN_DONT_INLINE Packet rare_packet(const PacketPlan<Scalar>& plan, const Argument& x, const Index index) {
  EIGEN_ALIGN_MAX Scalar results[size_of<Packet>];
  store_pieces<Packet>(plan, x, index, results);
  return Eigen::internal::pload<Packet>(results);
}

/// The packet of results that begins at linear `index`.
template <class Packet, class Scalar, class Evaluator>
EIGEN_ALWAYS_INLINE Packet rotated_packet(const PacketPlan<Scalar>& plan, const Evaluator& evaluator, Index index) {
  Packet result;
  if constexpr (Evaluator::RawAccess) {
    const RawArgument<Scalar> x{evaluator.data()};
    if (common_packet(plan, x, index, result)) return result;
    return rare_packet<Packet>(plan, x, index);
  } else {
    const EvaluatedArgument<Evaluator> x{evaluator};
    if (common_packet(plan, x, index, result)) return result;
    return rare_packet<Packet>(plan, x, index);
  }
}

}  // namespace rope::detail
