// SPDX-License-Identifier: Apache-2.0
//
// What may be a NumberList: how an object lies in memory, and which numbers are held exactly.
//
// What lies otherwise, or has an order of indices that would have to be guessed, is refused with a
// sentence when it is compiled. Eigen's types are known by their constants, so that no header of
// Eigen is needed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class List, class = void>
inline constexpr bool has_data = std::is_array_v<List>;
template <class List>
inline constexpr bool has_data<
    List, std::enable_if_t<
              std::is_pointer_v<decltype(std::declval<const List&>().data())> &&
              std::is_convertible_v<decltype(std::declval<const List&>().size()), std::size_t>>> =
    true;

template <class List, class = void>
inline constexpr bool are_neighbours = true;
/// Of Eigen's matrices, arrays, maps, references and blocks.
template <class List>
inline constexpr bool are_neighbours<
    List, std::enable_if_t<std::is_convertible_v<decltype(List::InnerStrideAtCompileTime), int>>> =
    !static_cast<bool>(List::IsVectorAtCompileTime) ||
    static_cast<int>(List::InnerStrideAtCompileTime) == 1;

template <class List, class = void>
inline constexpr bool has_one_axis = std::rank_v<List> <= 1;
template <class List>
inline constexpr bool has_one_axis<
    List, std::enable_if_t<std::is_convertible_v<decltype(List::IsVectorAtCompileTime), int>>> =
    static_cast<bool>(List::IsVectorAtCompileTime);
/// Of Eigen's tensors and their maps.
template <class List>
inline constexpr bool
    has_one_axis<List, std::enable_if_t<std::is_convertible_v<decltype(List::NumIndices), int>>> =
        static_cast<int>(List::NumIndices) == 1;

template <class Number>
inline constexpr bool is_character =
    std::is_same_v<Number, char> || std::is_same_v<Number, wchar_t> ||
#ifdef __cpp_char8_t
    std::is_same_v<Number, char8_t> ||
#endif
    std::is_same_v<Number, char16_t> || std::is_same_v<Number, char32_t>;

template <class Number>
inline constexpr bool is_listed =
    std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool> && !is_character<Number>;
/// Whether int64 or double holds every value of the type.
template <class Number>
constexpr bool is_held() {
  constexpr std::size_t most = sizeof(std::int64_t);
  if (std::is_same_v<Number, long double> || sizeof(Number) > most) return false;
  return sizeof(Number) < most || std::is_signed_v<Number>;
}

/// `number` as a `Held`: DoubleDouble for positions, int64 for what counts tokens.
///
/// - Errors:   eigen_rope::Error if it is not finite.
template <class Held, class Number>
Held exactly_held(Number number) {
  constexpr bool counts = std::is_same_v<Held, std::int64_t>;
  if constexpr (!is_listed<Number>) {
    static_assert(is_listed<Number>,
                  "[rope] a list must hold integers or floating-point numbers, not bool, "
                  "characters or other types");
  } else if constexpr (!is_held<Number>()) {
    static_assert(is_held<Number>(),
                  "[rope] a list must hold numbers that fit int64 or double: no 64-bit unsigned "
                  "integers and no long double");
  } else if constexpr (counts && !std::is_integral_v<Number>) {
    static_assert(std::is_integral_v<Number>,
                  "[rope] this list counts tokens: it must hold integers, not real numbers");
  } else if constexpr (counts) {
    return static_cast<std::int64_t>(number);
  } else if constexpr (std::is_integral_v<Number>) {
    return DoubleDouble::from_integer(static_cast<std::int64_t>(number));
  } else {
    require_finite("position", static_cast<double>(number));
    return static_cast<double>(number);
  }
}

/// Throws if there are numbers and no pointer to them, or a number of numbers that cannot be.
EIGEN_ROPE_API void require_list(const void* data, Index count);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
