// SPDX-License-Identifier: Apache-2.0
//
// Every scaling, and any of them as one value: what a program holds that learns only at run time
// which one a model has.
//
//   const eigen_rope::Scaling scaling = eigen_rope::Llama3{8.0, 1.0, 4.0, 8192};
//   eigen_rope::Frequencies f({128, 5e5}, scaling);
//
// Powers say how fast pairs turn before, the scaling what becomes of it. Each scaling is one class
// in a header of its own:
//
//   name, required                its word in files and on the command line, and what must be given
//                                 there
//   uses_length                   whether rates change with the length of the sequence
//   members, for_each_parameter   the parameters, for any scalar
//   rates(powers, length)         the formula, for any scalar; refuses what has no meaning
//
// The list below is the only other place: frequencies, gradients, printing, reading and comparing
// go over it.
#pragma once

#include <optional>
#include <variant>

#include "eigen_rope/choices/ggml_yarn.hpp"
#include "eigen_rope/choices/linear.hpp"
#include "eigen_rope/choices/llama3.hpp"
#include "eigen_rope/choices/longrope.hpp"
#include "eigen_rope/choices/ntk.hpp"
#include "eigen_rope/choices/powers.hpp"
#include "eigen_rope/choices/yarn.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope {

/// Any of them; Unscaled is the powers alone.
using Scaling = std::variant<Unscaled<>, Linear<>, Proportional<>, DynamicNtkScaling<>,
                             NtkScaling<>, Yarn<>, GgmlYarn<>, Llama3<>, LongRope<>>;

/// default, linear, proportional, dynamic, ntk, yarn (both), llama3 or longrope: the names of
/// published configurations.
EIGEN_ROPE_API const char* scaling_name(const Scaling& scaling);

/// Tokens the model was trained with before it was scaled, where the scaling says; at least 0.
EIGEN_ROPE_API std::optional<Index> original_context(const Scaling& scaling);

/// Whether the frequencies change with the length of the sequence (dynamic NTK, LongRoPE).
EIGEN_ROPE_API bool depends_on_length(const Scaling& scaling);

}  // namespace eigen_rope
