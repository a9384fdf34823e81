// SPDX-License-Identifier: Apache-2.0
//
// From one order of axes into another, and the loops written by hand that do the same:
//
//   to_dns      x [D, H, S] into y [S, H, D], through eigen_rope::rotate_to on strided views
//   from_dns    x [S, H, D] into y [D, H, S]
//   hand_<any>  the fastest of the loops that the processor can run, each with strips of several
//               sizes
#include <array>
#include <functional>
#include <memory>

#include "contender.hpp"
#include "expected.hpp"
#include "fastest_loop.hpp"
#include "timing.hpp"

namespace bench {
namespace {

/// What [S, H, D] becomes.
template <class T>
std::vector<T> rotated_slowest(const Case<T>& c) {
  const Index pairs = c.cache.pairs();
  const eigen_rope::TableView<typename Case<T>::TableScalar> table{
      c.cache.cos(), c.cache.sin(), pairs, {c.S(), 1}};
  std::vector<T> result(static_cast<std::size_t>(c.shape.size()));
  eigen_rope::reference::rotate(c.x.data(), result.data(), {c.S(), heads, c.D()}, table,
                                c.pairing.along(2));
  return result;
}

/// [D, H, S] as [S, H, D].
template <class T>
std::vector<T> with_features_slowest(const Case<T>& c, const std::vector<T>& y) {
  std::vector<T> result(y.size());
  const Index rows = c.S() * heads;
  for (Index s = 0; s < c.S(); ++s) {
    for (Index h = 0; h < heads; ++h) {
      for (Index d = 0; d < c.D(); ++d) {
        result[static_cast<std::size_t>(d * rows + h * c.S() + s)] =
            y[static_cast<std::size_t>((s * heads + h) * c.D() + d)];
      }
    }
  }
  return result;
}

template <class T>
eigen_rope::StridedView<T> features_fastest(T* data, const Case<std::remove_const_t<T>>& c) {
  return eigen_rope::strided_view(data, {c.D(), heads, c.S()});
}
template <class T>
eigen_rope::StridedView<T> features_slowest(T* data, const Case<std::remove_const_t<T>>& c) {
  return eigen_rope::strided_view(data, {c.S(), heads, c.D()}).swap_axes(0, 2);
}

template <class T>
Action into_slowest(Case<T>& c) {
  return [&c] {
    eigen_rope::rotate_to(features_slowest(c.y.data(), c), features_fastest<const T>(c.x.data(), c),
                          c.cache, c.pairing);
  };
}
template <class T>
Action out_of_slowest(Case<T>& c) {
  return [&c] {
    eigen_rope::rotate_to(features_fastest(c.y.data(), c), features_slowest<const T>(c.x.data(), c),
                          c.cache, c.pairing);
  };
}

template <class T>
Prepared to_slowest(Case<T>& c, const Action& run) {
  return into_y(c, run, [&c] { return with_features_slowest(c, rotated(c)); });
}
template <class T>
Prepared from_slowest(Case<T>& c, const Action& run) {
  return {run, [&c, run] {
            spoil(c);
            run();
            return agrees(
                with_features_slowest(c, {c.y.data(), c.y.data() + c.shape.size()}).data(),
                rotated_slowest(c));
          }};
}

/// A loop with strips of one size.
struct Crossing {
  std::function<void(const HandCrossing&)> run;
  bool streams;
};

constexpr Index bytes_of_tile = 256 * 1024;

/// Strips of the lines that their columns fill: few where the tensor stays in the near caches, and
/// more where it does not.
template <class T>
std::vector<std::array<Index, 2>> strips_of(const Case<T>& c) {
  constexpr auto line = static_cast<Index>(64 / sizeof(T));
  std::vector<std::array<Index, 2>> strips;
  for (Index tokens = c.S() < line ? c.S() : line; tokens <= c.S(); tokens *= 2) {
    if (c.S() > 64 && tokens < 4 * line) continue;
    for (Index together = 1; together <= heads; together *= tokens == c.S() ? 2 : 4) {
      const Index rows = tokens * together;
      if (rows % line != 0 || rows > 32 * line) continue;
      if (rows * c.D() * static_cast<Index>(sizeof(T)) <= bytes_of_tile)
        strips.push_back({together, tokens});
    }
  }
  return strips;
}

/// Each loop with each strip.
template <class T, std::size_t count>
std::vector<Crossing> loops_of(const Case<T>& c, const RunHandCrossing (&runs)[count]) {
  std::vector<Crossing> loops;
  for (const auto& [together, tokens] : strips_of(c)) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto run = [loop = runs[i], together = together, tokens = tokens](HandCrossing call) {
        call.strip_heads = together;
        call.strip_tokens = tokens;
        loop(call);
      };
      loops.push_back({run, i >= count / 2});
    }
  }
  return loops;
}

/// As many elements as a loop needs beside x and y.
template <class T>
struct CrossingMemory {
  PlacedArray<T> tile{bytes_of_tile / static_cast<Index>(sizeof(T))};
  PlacedArray<T> stage{32 * 33 * static_cast<Index>(64 / sizeof(T))};
};

template <class T, std::size_t count>
Action hand_crossing(Case<T>& c, const RunHandCrossing (&runs)[count]) {
  const auto memory = std::make_shared<const CrossingMemory<T>>();
  const HandCrossing call{
      c.x.data(), c.y.data(), c.cache.cos(),       c.cache.sin(),       heads, c.S(),
      1,          1,          memory->tile.data(), memory->stage.data()};
  const auto loops = loops_of(c, runs);
  const std::size_t bytes = 2 * c.bytes();
  // Past the caches goes nothing that stays in the near ones, and through them no large tensor.
  const auto worth_a_try = [&](const Crossing& loop) {
    return is_large(bytes) ? loop.streams : is_displaced(bytes) || !loop.streams;
  };
  const Crossing loop =
      fastest_of(loops.data(), static_cast<int>(loops.size()), call, bytes, worth_a_try);
  return [loop, call, memory] { loop.run(call); };
}

}  // namespace

template <class T>
void add_crossings(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing) {
  if (!shape.whole_rows() || shape.tokens == 1) return;
  list.push_back({"to_dns", [](Case<T>& c) { return to_slowest(c, into_slowest(c)); }});
  list.push_back({"from_dns", [](Case<T>& c) { return from_slowest(c, out_of_slowest(c)); }});
  const HandCrossings loops =
      hand_crossings(eigen_rope::kernel_target().c_str(), hand_scalar<T>, hand_pairs(pairing));
  if (loops.to_columns[0] == nullptr) return;
  list.push_back({"hand_to_dns", [loops](Case<T>& c) {
                    return to_slowest(c, hand_crossing(c, loops.to_columns));
                  }});
  list.push_back({"hand_from_dns", [loops](Case<T>& c) {
                    return from_slowest(c, hand_crossing(c, loops.from_columns));
                  }});
}

template void add_crossings(Contenders<float>&, const CaseShape&, eigen_rope::Pairing);
template void add_crossings(Contenders<double>&, const CaseShape&, eigen_rope::Pairing);
template void add_crossings(Contenders<Eigen::half>&, const CaseShape&, eigen_rope::Pairing);
template void add_crossings(Contenders<Eigen::bfloat16>&, const CaseShape&, eigen_rope::Pairing);

}  // namespace bench
