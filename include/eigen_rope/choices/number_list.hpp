// SPDX-License-Identifier: Apache-2.0
//
// The type of parameters that take any list of numbers, which it copies exactly.
//
//   {0, 1, 2}  {0, n, 2.5}              braces, also of several types
//   std::vector, std::array, int[3]     arrays, and whatever has data() and size()
//   Eigen::VectorXi, Tensor<int, 1>     the same, if their elements are neighbours in memory
//   {pointer, count}                    numbers anywhere
//
// Nobody writes this type: what is passed becomes one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "eigen_rope/choices/detail/listed.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

/// A list of numbers, as functions take it that make Positions.
///
/// Any of these becomes one, and is copied:
///
/// - numbers in braces: `{0, 1, 2}`;
/// - an array, a `std::vector` or `std::array`, an Eigen vector or Map, an Eigen Tensor or
///   TensorMap of one axis, or any other object whose data() and size() give neighbours in memory;
/// - a pointer and a count: `{pointer, count}`.
///
/// The numbers may have any integer or floating-point type whose values fit int64 or double: no
/// bool, no characters, no 64-bit unsigned type and no long double. A program that passes something
/// else does not compile. Strided vectors, matrices and tensors of several axes are refused as
/// well. If such a matrix or tensor lies in memory in the order of the list, its data() and size()
/// can be given as a pointer and a count.
///
/// `Held` is DoubleDouble for positions, which holds int64 and double exactly, and `std::int64_t`
/// for lists that count tokens, which take integers alone.
///
/// \code{.cpp}
/// const std::int32_t ids[] = {7, 8, 9};
/// const Eigen::VectorXi gathered = Eigen::VectorXi::LinSpaced(3, 7, 9);
/// bool same = er::Positions::ids({7, 8, 9}) == er::Positions::ids(ids);
/// same = er::Positions::ids(gathered) == er::Positions::ids({ids, 3});
/// \endcode
///
/// \see Positions
template <class Held>
class NumberList {
  struct Element {
    template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
    // NOLINTNEXTLINE(google-explicit-constructor): a number
    Element(Number number) : value(detail::exactly_held<Held>(number)) {}
    Held value;
  };

 public:
  /// Makes a list of no numbers.
  NumberList() = default;
  /// Makes a list of numbers of one type.
  ///
  /// - Errors:   eigen_rope::Error if one is not finite.
  template <class Number>
  // NOLINTNEXTLINE(google-explicit-constructor): the same numbers
  NumberList(std::initializer_list<Number> numbers) {
    copy(numbers.begin(), static_cast<Index>(numbers.size()));
  }
  /// Makes a list of numbers of several types.
  ///
  /// - Errors:   eigen_rope::Error if one is not finite.
  // NOLINTNEXTLINE(google-explicit-constructor): the same numbers
  NumberList(std::initializer_list<Element> numbers) {
    values_.reserve(numbers.size());
    for (const Element& number : numbers) values_.push_back(number.value);
  }
  /// Makes a list of the `count` numbers at a place in memory.
  ///
  /// - Errors:   eigen_rope::Error if one is not finite, for a null pointer to numbers, or for a
  ///             negative count.
  template <class Number>
  NumberList(const Number* numbers, Index count) {
    copy(numbers, count);
  }
  /// Makes a list of the numbers of an array, or of an object with data() and size().
  ///
  /// - Errors:   eigen_rope::Error under the same conditions.
  template <class List, std::enable_if_t<!std::is_same_v<std::decay_t<List>, NumberList>, int> = 0>
  // NOLINTNEXTLINE(google-explicit-constructor): the same numbers
  NumberList(const List& list) {
    if constexpr (!detail::has_data<List>) {
      static_assert(detail::has_data<List>,
                    "[rope] a list must have data() and size(), as std::vector, std::array and "
                    "Eigen's vectors have: copy the numbers into one of these");
    } else if constexpr (!detail::are_neighbours<List>) {
      static_assert(
          detail::are_neighbours<List>,
          "[rope] the numbers of a list must be neighbours in memory: copy a strided map, "
          "reference or row into a vector");
    } else if constexpr (!detail::has_one_axis<List>) {
      static_assert(detail::has_one_axis<List>,
                    "[rope] a list must have one axis: if a matrix or tensor lies in memory in the "
                    "order of the list, pass {data(), size()}");
    } else {
      copy(std::data(list), static_cast<Index>(std::size(list)));
    }
  }

  /// Returns the numbers.
  const std::vector<Held>& values() const& { return values_; }
  /// Returns the numbers of a list that is not used any more.
  std::vector<Held> values() && { return std::move(values_); }

 private:
  template <class Number>
  void copy(const Number* numbers, Index count) {
    detail::require_list(numbers, count);
    values_.reserve(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) values_.push_back(detail::exactly_held<Held>(numbers[i]));
  }

  std::vector<Held> values_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
