// SPDX-License-Identifier: Apache-2.0
//
// aclnn calls checked and turned into what the core takes: views, tables and pairings.
//
//   aclnn     slowest axis first, optional strides          x [B, N, S, D]
//   the core  feature axis first, strides of the others     x [D, S, N, B]
//
// Everything that can be refused is refused here, before a byte is written. Nothing is computed and
// no table is copied.
#pragma once

#include <optional>

#include "eigen_rope/any/tensor.hpp"
#include "eigen_rope/operators/aclnn.hpp"
#include "eigen_rope/rows/strided_view.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn::translate {

/// What is being checked, and so what a refusal is about.
enum class Stage {
  pointers,    ///< data, and what must be given together
  parameters,  ///< types; strides and overlaps
  shapes       ///< ranks, extents, mode and layout
};

/// A tensor whose type, rank, extents and strides have been checked.
struct Operand {
  const char* name = "";
  ScalarType type = ScalarType::f32;
  const void* data = nullptr;
  Shape shape{};
  Strides strides{};  ///< of the outer axes; 0 where the extent is 1, so that equal rows
                      ///< have equal strides

  any::ConstTensor view() const {
    return {type, data, shape, all_strides(), any::Order::fastest_first};
  }
  Strides all_strides() const {
    Strides all{1};
    for (const Index stride : strides) all.push_back(stride);
    return all;
  }
};

/// An operand that is written.
struct Target {
  Operand operand{};
  void* data = nullptr;

  any::Tensor view() const {
    return {operand.type, data, operand.shape, operand.all_strides(), any::Order::fastest_first};
  }
};

struct Rotation {
  Target out{};
  Operand x{};
  Operand cos{};
  Operand sin{};
  Pairing pairing = eigen_rope::split_half;
};

struct Gradient {
  Rotation rotation{};  ///< dx from dy
  std::optional<Operand> x{};
  std::optional<Target> dcos{};
  std::optional<Target> dsin{};
};

struct Application {
  Rotation query{};
  Rotation key{};
};

/// Each throws eigen_rope::Error for the first rule that is broken.
Rotation check(const Tensor& out, const Inputs& inputs, Mode mode, Stage& stage);
Gradient check(const GradOutputs& outputs, const GradInputs& inputs, Mode mode, Stage& stage);
Application check(const ApplyInputs& inputs, Layout layout, Mode mode, Stage& stage);

/// The same but for outputs and memory: types, shapes and strides alone, and that x has the
/// layout's rank. `name` is that of inputs.x.
void check_shapes(const char* name, const Inputs& inputs, Mode mode, Layout layout);
void check_shapes(const GradInputs& inputs, Mode mode, Layout layout);
void check_shapes(const ApplyInputs& inputs, Mode mode, Layout layout);

/// "half", "interleave", "quarter" or "interleave-half"; throws for anything else.
const char* name_of_mode(Mode mode);

/// `[2, 4, 5, 8]`
std::string text(const Dims& dims);

/// "BSND", "SBND", "BNSD" or "TND"; throws for anything else.
const char* name_of_layout(Layout layout);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn::translate
