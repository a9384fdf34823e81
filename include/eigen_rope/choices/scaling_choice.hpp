// SPDX-License-Identifier: Apache-2.0
//
// Any of the field's scalings as one value: what a program holds that learns only at run time which one a model has.
//
//   const eigen_rope::Scaling scaling = eigen_rope::Llama3{8.0, 1.0, 4.0, 8192};
//   eigen_rope::Frequencies f = eigen_rope::frequencies({128, 1e6}, scaling);          what Frequencies::yarn gives
//
// Powers say how fast pairs turn before, the scaling what becomes of it. Not the formulas (rates.hpp, scalings.hpp), and not where the
// values come from (models/).
#pragma once

#include <optional>
#include <variant>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/numbers/export.hpp"

namespace eigen_rope {

/// Yarn is Hugging Face's and DeepSeek's, GgmlYarn is ggml's.
using Scaling = std::variant<Unscaled, Linear, Proportional, DynamicNtkScaling, NtkScaling, Yarn, GgmlYarn, Llama3, LongRope>;

/// default, linear, proportional, dynamic, ntk, yarn (both), llama3 or longrope: the names of published configurations.
EIGEN_ROPE_API const char* scaling_name(const Scaling& scaling);

/// Tokens the model was trained with before it was scaled, where the scaling says; at least 0.
EIGEN_ROPE_API std::optional<Index> original_context(const Scaling& scaling);

/// Whether the frequencies change with the length of the sequence (dynamic NTK, LongRoPE).
EIGEN_ROPE_API bool depends_on_length(const Scaling& scaling);

/// The frequencies for a sequence of `length` tokens, which matters only where depends_on_length. Throws eigen_rope::Error as the factory
/// of Frequencies that the scaling names, and for a negative length. O(pairs).
EIGEN_ROPE_API Frequencies frequencies(const Powers& powers, const Scaling& scaling, Index length = 0);

}  // namespace eigen_rope
