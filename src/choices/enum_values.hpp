// SPDX-License-Identifier: Apache-2.0
//
// The values of each enum among the parameters of scalings, for those who read them by name.
// Private to the library and its program.
#pragma once

#include <array>

#include "eigen_rope/choices/scaling.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// The values of an enum among a scaling's parameters, in order.
template <class Enum>
struct EnumValues;
template <>
struct EnumValues<RampEnds> {
  static constexpr std::array all{RampEnds::rounded, RampEnds::exact};
};
template <>
struct EnumValues<YarnMagnitude> {
  static constexpr std::array all{YarnMagnitude::hugging_face, YarnMagnitude::deepseek,
                                  YarnMagnitude::given};
};
template <>
struct EnumValues<LongRopeMagnitude> {
  static constexpr std::array all{LongRopeMagnitude::from_factor, LongRopeMagnitude::given};
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
