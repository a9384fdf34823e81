// SPDX-License-Identifier: Apache-2.0
//
// Pairing, direction, layout and positions as files and other languages have them: names, and
// numbers behind a pointer whose type is a value.
#pragma once

#include <optional>
#include <string_view>

#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::any {

/// Returns the pairing of that name, over whole rows along the fastest axis.
///
/// \code{.cpp}
/// const er::Pairing pairing = er::any::pairing_of("interleaved").with_rotary_dims(32);
/// \endcode
///
/// \param name  split_half, interleaved, quarter or interleaved_to_split_half, as name_of(PairKind)
///              writes them
///
/// - Errors:   eigen_rope::Error for any other name; it lists those there are.
EIGEN_ROPE_API Pairing pairing_of(std::string_view name);

/// Returns the direction of that name.
///
/// \code{.cpp}
/// const er::Direction direction = er::any::direction_of("backward");
/// \endcode
///
/// \param name  forward, backward or inverse
///
/// - Errors:   eigen_rope::Error for any other name; it lists those there are.
EIGEN_ROPE_API Direction direction_of(std::string_view name);

/// Returns the layout of that name.
///
/// \code{.cpp}
/// const er::Layout& layout = er::any::layout_of("bnsd");
/// \endcode
///
/// \param name  bsnd, bnsd, sbnd, tnd, bsd, sd, dnsb, dsnb, dns, dsb or ds, as the functions of
///              Layout are called: the axes from the slowest to the fastest
///
/// - Errors:   eigen_rope::Error for any other name; it lists those there are.
EIGEN_ROPE_API const Layout& layout_of(std::string_view name);

/// The type of positions behind a pointer.
enum class PositionType {
  i32,  ///< std::int32_t.
  i64,  ///< std::int64_t; every one is kept exactly.
  f32,  ///< float.
  f64   ///< double.
};

/// Numbers in the caller's memory, one behind the other, that say where tokens stand.
///
/// \code{.cpp}
/// const std::vector<std::int64_t> ids{0, 1, 2, 0, 1};
/// const er::any::PositionIds numbers{er::any::PositionType::i64, ids.data(), 5};
/// \endcode
///
/// \see positions()
struct PositionIds {
  PositionType type = PositionType::i32;  ///< The type of the numbers.
  const void* data = nullptr;             ///< The first number; it is read by positions() alone.
  Index count = 0;                        ///< How many there are: axes x batches x tokens.
  Batches batches{};                      ///< The number of sequences with positions of their own.
  std::optional<Sections> sections{};     ///< The axes, where a token has several positions.
};

/// Returns the positions that these numbers are, copied and exact.
///
/// \code{.cpp}
/// const std::vector<std::int32_t> ids{7, 8, 9, 500, 501, 502};  // two sequences of three tokens
/// const er::Positions two = er::any::positions(
///     {er::any::PositionType::i32, ids.data(), 6, er::Batches{2}});
/// \endcode
///
/// \param ids  on axis a, token s of batch b stands at number (a * batches + b) * tokens + s
///
/// - Errors:   eigen_rope::Error for a negative count, where there are numbers for a null pointer
/// or
///             one that is not aligned to its type, and under the conditions of
///             Positions::multi_axis().
/// - Cost:     O(count).
///
/// \see Positions
EIGEN_ROPE_API Positions positions(const PositionIds& ids);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::any
