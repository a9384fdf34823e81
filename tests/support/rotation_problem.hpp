// SPDX-License-Identifier: Apache-2.0
//
// A rotation drawn at random: rows anywhere in memory, any window, pairing, table, direction,
// instruction set and number of threads.
//
// A counterexample is printed as the C++ that makes it, to be pasted into a test:
//
//   eigen_rope::test::RotationProblem p;
//   p.kind = eigen_rope::PairKind::quarter; ...
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::test {

enum class Width { half, full };
enum class Place { apart, in_place };
enum class Stores { through_the_cache, past_the_cache };

struct RotationProblem {
  PairKind kind = PairKind::split_half;
  /// Pairs of the window; quarter has twice as many.
  Index pairs = 1;
  /// Elements of a row before and behind the window.
  Index offset = 0, tail = 0;
  Width width = Width::half;
  Direction direction = Direction::forward;
  /// Extents outside the row.
  std::vector<Index> outer{};
  /// Bit i: the table varies along outer axis i.
  unsigned table_axes = 0;
  /// Elements between the rows of x (and of y) along each outer axis; missing ones are 0.
  std::vector<Index> x_gaps{}, y_gaps{};
  /// Bit i: outer axis i runs backwards in memory.
  unsigned backwards = 0;
  /// Behind how many outer axes the features of x, of y and of the table lie in memory, counted
  /// round; the table's are in front where those of x and y are.
  int x_features = 0, y_features = 0, table_features = 0;
  /// Elements by which x and y miss an alignment.
  Index x_shift = 0, y_shift = 0;
  Place place = Place::apart;
  /// Of kernel_targets(), counted round.
  unsigned target = 0;
  Stores stores = Stores::through_the_cache;
  int threads = 1;
  std::uint64_t seed = 1;

  Index dims() const { return kind == PairKind::quarter ? 4 * pairs : 2 * pairs; }
  Index row_length() const { return offset + dims() + tail; }
  Shape outer_shape() const {
    Shape shape;
    for (const Index extent : outer) shape.push_back(extent);
    return shape;
  }
  Shape shape() const {
    Shape shape{row_length()};
    for (const Index extent : outer) shape.push_back(extent);
    return shape;
  }
  /// Of numbers counted round.
  int features_behind(int axes) const { return axes % (static_cast<int>(outer.size()) + 1); }
  Pairing pairing() const { return Pairing(kind).with_offset(offset).with_rotary_dims(dims()); }
  Index table_width() const { return width == Width::full ? dims() : dims() / 2; }
};

template <class T>
void write_list(std::ostream& out, const std::vector<T>& values) {
  out << '{';
  for (std::size_t i = 0; i < values.size(); ++i) out << (i == 0 ? "" : ", ") << values[i];
  out << '}';
}

inline void showValue(const RotationProblem& p, std::ostream& out) {
  static constexpr const char* kinds[] = {"split_half", "interleaved", "quarter",
                                          "interleaved_to_split_half"};
  static constexpr const char* directions[] = {"forward", "backward", "inverse"};
  out << "eigen_rope::test::RotationProblem p;\np.kind = eigen_rope::PairKind::"
      << kinds[static_cast<int>(p.kind)] << ";\np.pairs = " << p.pairs
      << ";\np.offset = " << p.offset << ";\np.tail = " << p.tail
      << ";\np.width = eigen_rope::test::Width::" << (p.width == Width::full ? "full" : "half")
      << ";\np.direction = eigen_rope::Direction::" << directions[static_cast<int>(p.direction)]
      << ";\np.outer = ";
  write_list(out, p.outer);
  out << ";\np.table_axes = " << p.table_axes << ";\np.x_gaps = ";
  write_list(out, p.x_gaps);
  out << ";\np.y_gaps = ";
  write_list(out, p.y_gaps);
  out << ";\np.backwards = " << p.backwards << ";\np.x_features = " << p.x_features
      << ";\np.y_features = " << p.y_features << ";\np.table_features = " << p.table_features
      << ";\np.x_shift = " << p.x_shift << ";\np.y_shift = " << p.y_shift
      << ";\np.place = eigen_rope::test::Place::"
      << (p.place == Place::in_place ? "in_place" : "apart") << ";\np.target = " << p.target
      << ";\np.stores = eigen_rope::test::Stores::"
      << (p.stores == Stores::past_the_cache ? "past_the_cache" : "through_the_cache")
      << ";\np.threads = " << p.threads << ";\np.seed = " << p.seed << ";\n";
}

}  // namespace eigen_rope::test

namespace rc {

template <>
struct Arbitrary<eigen_rope::test::RotationProblem> {
  static Gen<eigen_rope::test::RotationProblem> arbitrary() {
    using eigen_rope::Index;
    using eigen_rope::test::RotationProblem;
    constexpr int most_axes = 4;
    // The size bounds the length of a list and, beneath it, every range: the elements get the usual
    // one back.
    const auto list = [](const Gen<Index>& one) {
      return gen::resize(most_axes,
                         gen::container<std::vector<Index>>(gen::resize(kNominalSize, one)));
    };
    // Mostly not empty.
    const auto extent =
        gen::weightedOneOf<Index>({{15, gen::inRange<Index>(1, 6)}, {1, gen::just<Index>(0)}});
    const auto gap = gen::inRange<Index>(0, 10);
    return gen::build<RotationProblem>(
        gen::set(&RotationProblem::kind,
                 gen::element(eigen_rope::PairKind::split_half, eigen_rope::PairKind::interleaved,
                              eigen_rope::PairKind::quarter,
                              eigen_rope::PairKind::interleaved_to_split_half)),
        // Around every vector's length, and head sizes of models.
        gen::set(&RotationProblem::pairs,
                 gen::oneOf(gen::inRange<Index>(1, 20), gen::inRange<Index>(1, 80),
                            gen::element<Index>(16, 32, 64))),
        gen::set(&RotationProblem::offset,
                 gen::oneOf(gen::just<Index>(0), gen::inRange<Index>(0, 20))),
        gen::set(&RotationProblem::tail,
                 gen::oneOf(gen::just<Index>(0), gen::inRange<Index>(0, 70))),
        gen::set(&RotationProblem::width,
                 gen::element(eigen_rope::test::Width::half, eigen_rope::test::Width::full)),
        gen::set(&RotationProblem::direction,
                 gen::element(eigen_rope::Direction::forward, eigen_rope::Direction::backward,
                              eigen_rope::Direction::inverse)),
        gen::set(&RotationProblem::outer, list(extent)),
        gen::set(&RotationProblem::table_axes, gen::inRange<unsigned>(0, 1U << most_axes)),
        gen::set(&RotationProblem::x_gaps, list(gap)),
        gen::set(&RotationProblem::y_gaps, list(gap)),
        gen::set(&RotationProblem::backwards,
                 gen::oneOf(gen::just(0U), gen::inRange<unsigned>(0, 1U << most_axes))),
        gen::set(&RotationProblem::x_shift, gen::inRange<Index>(0, 16)),
        gen::set(&RotationProblem::y_shift, gen::inRange<Index>(0, 16)),
        gen::set(&RotationProblem::place,
                 gen::element(eigen_rope::test::Place::apart, eigen_rope::test::Place::in_place)),
        gen::set(&RotationProblem::target, gen::inRange<unsigned>(0, 6)),
        gen::set(&RotationProblem::stores, gen::element(eigen_rope::test::Stores::through_the_cache,
                                                        eigen_rope::test::Stores::past_the_cache)),
        gen::set(&RotationProblem::x_features, gen::oneOf(gen::just(0), gen::inRange(0, 5))),
        gen::set(&RotationProblem::y_features, gen::oneOf(gen::just(0), gen::inRange(0, 5))),
        gen::set(&RotationProblem::table_features, gen::inRange(0, 5)),
        gen::set(&RotationProblem::threads, gen::inRange(1, 3)),
        gen::set(&RotationProblem::seed, gen::inRange<std::uint64_t>(1, 1000000)));
  }
};

}  // namespace rc
