// SPDX-License-Identifier: Apache-2.0
//
// Lists of positions that hold no numbers, hold numbers that do not fit, or lie in memory in
// another way than a list does.
#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include <eigen_rope/eigen_rope.hpp>

#include "refused/refused.hpp"

namespace {

using eigen_rope::Positions;

[[maybe_unused]] void holds_no_positions(const eigen_rope::Sections& sections) {
  // refused: a list must hold integers or floating-point numbers
  (void)Positions::ids(std::vector<WRONG(std::string, int)>(3));
  // refused: a list must hold integers
  (void)Positions::ids({WRONG(true, 1), WRONG(false, 0)});
  // refused: a list must hold integers
  (void)Positions::per_batch({WRONG('a', 1), WRONG('b', 0)}, eigen_rope::Batches{2});
  const WRONG(wchar_t, int) letters[3] = {};
  // refused: a list must hold integers
  (void)Positions::ids(letters);
  const std::array<WRONG(const char*, int), 2> texts{};
  // refused: a list must hold integers
  (void)Positions::multi_axis(texts, sections);
  const WRONG(char16_t, short) units[3] = {};
  // refused: a list must hold integers
  (void)Positions::ids(units, 3);

  // refused: a list must hold numbers that fit int64 or double
  (void)Positions::ids({WRONG(std::uint64_t{1}, 1U), WRONG(std::uint64_t{0}, 0U)});
  // refused: a list must hold numbers that fit
  (void)Positions::ids(std::vector<WRONG(long double, double)>(3));
  // refused: a list must hold numbers that fit
  (void)Positions::packed(std::vector<WRONG(unsigned long long, long long)>(3));
  // refused: this list counts tokens: it must hold integers
  (void)Positions::packed({WRONG(0.0, 0), WRONG(3.0, 3)});
  const std::vector<WRONG(float, int)> starts(1);
  // refused: this list counts tokens
  (void)Positions::packed({0, 3}, starts);
}

[[maybe_unused]] void lies_elsewhere(const eigen_rope::Sections& sections) {
  // refused: a list must have data() and size()
  (void)Positions::ids(WRONG(std::list<int>, std::vector<int>){});
  // refused: a list must have data() and size()
  (void)Positions::ids(std::vector<WRONG(bool, int)>(3));
  // refused: a list must have data() and size()
  (void)Positions::packed(WRONG(std::deque<int>, std::vector<int>){});
  const Eigen::VectorXi ids = Eigen::VectorXi::Zero(4);
  // refused: a list must have data() and size()
  (void)Positions::ids(WRONG(ids + ids, ids));

  Eigen::MatrixXi table = Eigen::MatrixXi::Zero(4, 2);
  // refused: the numbers of a list must be neighbours in memory
  (void)Positions::ids(table.WRONG(row, col)(0));
  const Eigen::Ref<const Eigen::VectorXi, 0, Eigen::InnerStride<WRONG(, 1)>> reference(ids);
  // refused: the numbers of a list must be neighbours
  (void)Positions::ids(reference);
  using Strided = Eigen::InnerStride<WRONG(2, 1)>;
  // refused: the numbers of a list must be neighbours
  (void)Positions::ids(Eigen::Map<Eigen::VectorXi, 0, Strided>(table.data(), 4));

  // refused: a list must have one axis
  (void)Positions::per_batch(WRONG(table, ids), eigen_rope::Batches{2});
  const Eigen::Tensor<double, WRONG(2, 1)> tensor;
  // refused: a list must have one axis
  (void)Positions::multi_axis(tensor, sections);
  const std::int16_t rows[2] WRONG([3], ) = {};
  // refused: a list must have one axis
  (void)Positions::ids(rows);
}

}  // namespace
