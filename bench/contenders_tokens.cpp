// SPDX-License-Identifier: Apache-2.0
//
// Tokens whose places are listed, as those of a paged cache are, through
// eigen_rope::rotate_tokens. All move the bytes of expr.
//
//   paged      token after token into pages of 16 slots, which lie in any order; row t for token t
//   scattered  each token into a slot of its own, by a table row of its own, both in any order
//   hand_paged, hand_scattered  the loops written by hand, which read the same lists
#include <numeric>
#include <random>

#include "contender.hpp"
#include "expected.hpp"
#include "fastest_loop.hpp"

namespace bench {
namespace {

/// Where token t is written and which row of the table it reads.
struct TokenPlaces {
  std::vector<std::int64_t> slots;
  std::vector<std::int32_t> rows;
};

template <class Number>
std::vector<Number> counted(Index count) {
  std::vector<Number> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), Number{0});
  return numbers;
}

TokenPlaces paged_places(Index tokens) {
  constexpr Index page = 16;
  std::vector<Index> pages = counted<Index>(tokens / page);
  std::shuffle(pages.begin(), pages.end(), std::mt19937(1));
  TokenPlaces places{{}, counted<std::int32_t>(tokens)};
  for (const Index number : pages)
    for (Index slot = 0; slot < page; ++slot) places.slots.push_back(number * page + slot);
  return places;
}

TokenPlaces scattered_places(Index tokens) {
  TokenPlaces places{counted<std::int64_t>(tokens), counted<std::int32_t>(tokens)};
  std::shuffle(places.slots.begin(), places.slots.end(), std::mt19937(2));
  std::shuffle(places.rows.begin(), places.rows.end(), std::mt19937(3));
  return places;
}

/// What must lie in y: each token rotated by its row, in its slot.
template <class T>
std::vector<T> expected_in_slots(const Case<T>& c, const TokenPlaces& places) {
  const Index token_size = c.D() * heads;
  std::vector<T> result(static_cast<std::size_t>(c.shape.size()));
  for (std::size_t t = 0; t < places.slots.size(); ++t) {
    auto row = c.cache.view();
    row.cos += places.rows[t] * row.width;
    row.sin += places.rows[t] * row.width;
    row.outer = eigen_rope::Shape{};
    eigen_rope::reference::rotate(c.x.data() + static_cast<Index>(t) * token_size,
                                  result.data() + places.slots[t] * token_size,
                                  eigen_rope::Shape{c.D(), heads}, row, c.pairing);
  }
  return result;
}

template <class T>
Prepared into_slots(Case<T>& c, TokenPlaces (*places_of)(Index tokens)) {
  const auto places = std::make_shared<const TokenPlaces>(places_of(c.S()));
  const eigen_rope::Shape shape{c.D(), heads, c.S()};
  const eigen_rope::Strides strides{c.D(), c.D() * heads};
  const eigen_rope::StridedView<const T> x{c.x.data(), shape, strides};
  const eigen_rope::StridedView<T> y{c.y.data(), shape, strides};
  const Action run = [&c, places, x, y] {
    eigen_rope::rotate_tokens({eigen_rope::TokenRows{y, x, places->slots}}, c.cache, places->rows,
                              c.pairing);
  };
  return into_y(c, run, [&c, places] { return expected_in_slots(c, *places); });
}

template <class T>
Prepared by_hand_into_slots(Case<T>& c, const HandLoops& loops,
                            TokenPlaces (*places_of)(Index tokens)) {
  const auto places = std::make_shared<const TokenPlaces>(places_of(c.S()));
  const Index token = c.D() * heads;
  const HandCall call{
      c.x.data(), c.y.data(), c.cache.cos(),        c.cache.sin(),      heads, c.S(), c.D(), token,
      c.D(),      token,      places->slots.data(), places->rows.data()};
  const HandLoop loop = fastest_loop<T>(loops, call, 2 * c.bytes());
  return into_y(
      c, [loop, call, places] { loop.run(call); },
      [&c, places] { return expected_in_slots(c, *places); });
}

}  // namespace

template <class T>
void add_tokens(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing) {
  if (!shape.whole_rows() || shape.tokens == 1) return;
  list.push_back({"paged", [](Case<T>& c) { return into_slots(c, &paged_places); }});
  list.push_back({"scattered", [](Case<T>& c) { return into_slots(c, &scattered_places); }});
  const HandLoops loops = loops_for<T>(shape, pairing);
  if (loops.count == 0) return;
  list.push_back(
      {"hand_paged", [loops](Case<T>& c) { return by_hand_into_slots(c, loops, &paged_places); }});
  list.push_back({"hand_scattered",
                  [loops](Case<T>& c) { return by_hand_into_slots(c, loops, &scattered_places); }});
}

template void add_tokens(Contenders<float>&, const CaseShape&, eigen_rope::Pairing);
template void add_tokens(Contenders<double>&, const CaseShape&, eigen_rope::Pairing);
template void add_tokens(Contenders<Eigen::half>&, const CaseShape&, eigen_rope::Pairing);
template void add_tokens(Contenders<Eigen::bfloat16>&, const CaseShape&, eigen_rope::Pairing);

}  // namespace bench
