// SPDX-License-Identifier: Apache-2.0
//
// Any scaling of RoPE as one value, for a program that learns only when it runs which scaling a
// model has.
//
//   const eigen_rope::Scaling scaling = eigen_rope::Llama3{8.0, 1.0, 4.0, 8192};
//   eigen_rope::Frequencies f({128, 5e5}, scaling);
//
// Powers say how fast the pairs turn without scaling, and a scaling changes that. Each scaling is
// one class in a header of its own, which has
//
//   name, required                its name in files and on the command line, and the parameters
//                                 that must be given there
//   uses_length                   whether rates change with the length of the sequence
//   members, for_each_parameter   the parameters, for any scalar
//   rates(powers, length)         the formula, for any scalar; it throws where it has no meaning
//
// Scaling is the list of these classes. Frequencies, gradients, printing, reading and comparing all
// work from it.
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

namespace eigen_rope::EIGEN_ROPE_ABI {

/// Any of the scalings, as one value; Unscaled stands for the powers alone.
///
/// \code{.cpp}
/// er::Scaling scaling = er::Unscaled();
/// scaling = er::Linear{4.0};
/// const er::Frequencies longer({D, 10000.0}, scaling);
/// \endcode
///
/// \see Frequencies, scaling_gradients(), \ref scalings "Scalings, with plots"
using Scaling = std::variant<Unscaled<>, Linear<>, Proportional<>, DynamicNtkScaling<>,
                             NtkScaling<>, Yarn<>, GgmlYarn<>, Llama3<>, LongRope<>>;

/// Returns the name that published configurations have for a scaling.
///
/// It is default, linear, proportional, dynamic, ntk, yarn, llama3 or longrope. Yarn and GgmlYarn
/// are both called yarn, although GgmlYarn::name is another word.
///
/// \code{.cpp}
/// const er::Scaling scaling = er::Llama3{8.0};
/// std::cout << er::scaling_name(scaling);  // llama3
/// \endcode
EIGEN_ROPE_API const char* scaling_name(const Scaling& scaling);

/// Returns the number of tokens the model was trained with before it was scaled, where the scaling
/// has that parameter; 0 or more.
///
/// \code{.cpp}
/// const er::Scaling scaling = er::Llama3{8.0, 1.0, 4.0, 8192};
/// const er::Index context = er::original_context(scaling).value_or(0);  // 8192
/// \endcode
EIGEN_ROPE_API std::optional<Index> original_context(const Scaling& scaling);

/// Returns whether the frequencies change with the length of the sequence, as they do for dynamic
/// NTK and LongRoPE.
///
/// \code{.cpp}
/// const er::Scaling scaling = er::DynamicNtkScaling{4.0, 2048};
/// const bool rates_move = er::depends_on_length(scaling);  // true
/// \endcode
///
/// \see DynamicNtk, rerotate(), \ref pitfalls "Pitfalls"
EIGEN_ROPE_API bool depends_on_length(const Scaling& scaling);

}  // namespace eigen_rope::EIGEN_ROPE_ABI
