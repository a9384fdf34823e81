// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/any/choices.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::any {
namespace {

template <class Number>
Positions positions_of(const PositionIds& ids) {
  const std::uintptr_t remainder = reinterpret_cast<std::uintptr_t>(ids.data) % sizeof(Number);
  if (ids.count > 0 && remainder != 0) {
    detail::fail(fmt::format("positions must be aligned to their size, {} bytes (remainder)",
                             sizeof(Number)),
                 static_cast<std::int64_t>(remainder));
  }
  detail::checked_product("the number of bytes of all positions", ids.count, sizeof(DoubleDouble));
  const auto* first = static_cast<const Number*>(ids.data);
  const std::vector<Number> numbers(first, first + ids.count);
  return ids.sections ? Positions::multi_axis(numbers, *ids.sections, ids.batches)
                      : Positions::per_batch(numbers, ids.batches);
}

}  // namespace

Pairing pairing_of(std::string_view name) {
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                              PairKind::interleaved_to_split_half}) {
    if (name == name_of(kind)) return Pairing(kind);
  }
  detail::fail("pairing must be split_half, interleaved, quarter or interleaved_to_split_half",
               name);
}

Direction direction_of(std::string_view name) {
  if (name == "forward") return Direction::forward;
  if (name == "backward") return Direction::backward;
  if (name == "inverse") return Direction::inverse;
  detail::fail("direction must be forward, backward or inverse", name);
}

const Layout& layout_of(std::string_view name) {
  struct Named {
    std::string_view name;
    const Layout& (*layout)();
  };
  static constexpr Named every_layout[] = {
      {"bsnd", &Layout::bsnd}, {"bnsd", &Layout::bnsd}, {"sbnd", &Layout::sbnd},
      {"tnd", &Layout::tnd},   {"bsd", &Layout::bsd},   {"sd", &Layout::sd},
      {"dnsb", &Layout::dnsb}, {"dsnb", &Layout::dsnb}, {"dns", &Layout::dns},
      {"dsb", &Layout::dsb},   {"ds", &Layout::ds}};
  for (const Named& one : every_layout) {
    if (name == one.name) return one.layout();
  }
  detail::fail("layout must be one of bsnd, bnsd, sbnd, tnd, bsd, sd, dnsb, dsnb, dns, dsb and ds",
               name);
}

Positions positions(const PositionIds& ids) {
  if (ids.count < 0)
    detail::fail("the number of positions must not be negative",
                 static_cast<std::int64_t>(ids.count));
  if (ids.count > 0 && ids.data == nullptr)
    detail::fail("positions must have data, got a null pointer");
  switch (ids.type) {
    case PositionType::i32: return positions_of<std::int32_t>(ids);
    case PositionType::i64: return positions_of<std::int64_t>(ids);
    case PositionType::f32: return positions_of<float>(ids);
    case PositionType::f64: return positions_of<double>(ids);
  }
  detail::fail("the type of positions must be i32, i64, f32 or f64",
               static_cast<std::int64_t>(ids.type));
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::any
