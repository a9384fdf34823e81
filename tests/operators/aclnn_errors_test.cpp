// SPDX-License-Identifier: Apache-2.0
//
// What aclnn's operators refuse: the whole sentence of every rule, and nothing written.
#include <gmock/gmock.h>

#include <functional>

#include "error_of.hpp"
#include "operators/aclnn_cases.hpp"

namespace rope::test {
namespace {

using aclnn::tensor;
using ::testing::Each;

const std::string kNone = "no rope::Error";

/// A valid call, x [2, 3, 4, 8] and tables [1, 1, 4, 8], to be spoilt. Every array has room for more.
class AclnnErrors : public ::testing::Test {
 protected:
  static constexpr float kUntouched = 3.5F;
  std::vector<float> memory = std::vector<float>(4096, kUntouched);
  float* place(std::size_t number) { return memory.data() + 512 * number; }

  const Dims shape{2, 3, 4, 8};
  const Dims table{1, 1, 4, 8};
  aclnn::Inputs inputs{tensor(place(0), shape), tensor(place(1), table), tensor(place(2), table)};
  aclnn::Tensor out = tensor(place(3), shape);
  aclnn::GradInputs grad_inputs{tensor(place(0), shape), tensor(place(1), table), tensor(place(2), table), tensor(place(4), shape)};
  aclnn::GradOutputs grad_outputs{tensor(place(3), shape), tensor(place(5), table), tensor(place(6), table)};
  aclnn::ApplyInputs apply_inputs{tensor(place(0), shape), tensor(place(3), {2, 1, 4, 8}), tensor(place(1), table),
                                  tensor(place(2), table)};

  std::string refusal(Mode mode = Mode::half) {
    return checked([&] { aclnn::rotary_position_embedding(out, inputs, mode); });
  }
  std::string grad_refusal(Mode mode = Mode::half) {
    return checked([&] { aclnn::rotary_position_embedding_grad(grad_outputs, grad_inputs, mode); });
  }
  std::string apply_refusal(aclnn::Layout layout = aclnn::Layout::bnsd, Mode mode = Mode::half) {
    return checked([&] { aclnn::apply_rotary_pos_emb(apply_inputs, layout, mode); });
  }

 private:
  std::string checked(const std::function<void()>& call) {
    const std::string message = error_of(call);
    if (message == kNone) return message;
    EXPECT_THAT(memory, Each(kUntouched));
    return message;
  }
};

TEST_F(AclnnErrors, TheCallsAreValidUnspoilt) {
  EXPECT_EQ(kNone, refusal());
  EXPECT_EQ(kNone, grad_refusal());
  EXPECT_EQ(kNone, apply_refusal());
}

TEST_F(AclnnErrors, Mode) {
  for (const std::int64_t mode : {-1, 4}) {
    const std::string expected =
        "[rope] mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half), got " + std::to_string(mode);
    EXPECT_EQ(expected, refusal(static_cast<Mode>(mode)));
    EXPECT_EQ(expected, grad_refusal(static_cast<Mode>(mode)));
    EXPECT_EQ(expected, apply_refusal(aclnn::Layout::bnsd, static_cast<Mode>(mode)));
  }
}

TEST_F(AclnnErrors, Rank) {
  inputs.x.shape = {4, 8};
  EXPECT_EQ("[rope] x must have 3 or 4 axes, got 2", refusal());
  inputs.x.shape = {1, 2, 3, 4, 8};
  EXPECT_EQ("[rope] x must have 3 or 4 axes, got 5", refusal());
  inputs.x.shape = {};
  EXPECT_EQ("[rope] x must have 3 or 4 axes, got 0", refusal());
  inputs.x.shape = {3, 4, 8};
  EXPECT_EQ("[rope] cos must have x's 3 axes, got 4", refusal());
}

TEST_F(AclnnErrors, Extents) {
  inputs.x.shape = {2, -3, 4, 8};
  EXPECT_EQ("[rope] the extents of x must not be negative, got [2, -3, 4, 8]", refusal());
  inputs.x.shape = {2, 3, 4, 7};
  EXPECT_EQ("[rope] the last axis of x must be even, got 7", refusal());
  for (const std::int64_t width : {6, 7}) {
    inputs.x.shape = {2, 3, 4, width};
    EXPECT_EQ("[rope] the last axis of x must be divisible by 4 in mode quarter, got " + std::to_string(width), refusal(Mode::quarter));
  }
}

TEST_F(AclnnErrors, ShapeTooLarge) {
  const std::int64_t large = std::int64_t{1} << 40;
  inputs.x.shape = out.shape = {large, large, 4, 8};
  EXPECT_THAT(refusal(), ::testing::StartsWith("[rope] out: "));
}

TEST_F(AclnnErrors, TableAxes) {
  inputs.cos.shape = {1, 2, 4, 8};
  EXPECT_EQ("[rope] axis 1 of cos must be 1 or 3 for x [2, 3, 4, 8], got 2", refusal());
  inputs.cos.shape = {1, 1, 0, 8};
  EXPECT_EQ("[rope] axis 2 of cos must be 1 or 4 for x [2, 3, 4, 8], got 0", refusal());
  inputs.cos.shape = {1, 1, -1, 8};
  EXPECT_EQ("[rope] axis 2 of cos must be 1 or 4 for x [2, 3, 4, 8], got -1", refusal());
  inputs.cos.shape = {2, 1, 4, 8};
  EXPECT_EQ("[rope] sin must have cos's shape [2, 1, 4, 8], got [1, 1, 4, 8]", refusal());
  inputs.cos.shape = inputs.sin.shape = {1, 1, 4, 4};
  EXPECT_EQ("[rope] the last axis of cos must be x's 8, got 4", refusal());
  inputs.cos.shape = inputs.sin.shape = {1, 1, 4, 1};
  EXPECT_EQ("[rope] the last axis of cos must be x's 8, got 1", refusal());
  inputs.x.shape = {1, 3, 4, 8};
  inputs.cos.shape = {2, 1, 4, 8};
  EXPECT_EQ("[rope] axis 0 of cos must be 1 for x [1, 3, 4, 8], got 2", refusal());
}

TEST_F(AclnnErrors, Types) {
  inputs.x.type = static_cast<ScalarType>(9);
  EXPECT_EQ("[rope] x must be f32, f64, f16 or bf16, got type 9", refusal());
  inputs.x.type = ScalarType::f16;
  EXPECT_EQ("[rope] cos must have x's type f16, got f32", refusal());
  inputs.cos.type = ScalarType::f16;
  EXPECT_EQ("[rope] sin must have x's type f16, got f32", refusal());
  inputs.sin.type = ScalarType::f16;
  EXPECT_EQ("[rope] out must have x's type f16, got f32", refusal());
}

TEST_F(AclnnErrors, Out) {
  out.shape = {2, 3, 8, 4};
  EXPECT_EQ("[rope] out must have x's shape [2, 3, 4, 8], got [2, 3, 8, 4]", refusal());
}

TEST_F(AclnnErrors, Strides) {
  inputs.x.strides = {96, 32, 1};
  EXPECT_EQ("[rope] x must have one stride for each of its 4 axes, or none, got 3", refusal());
  inputs.x.strides = {96, 32, 8, 2};
  EXPECT_EQ("[rope] the last stride of x must be 1, got 2", refusal());
  inputs.x.strides = {};
  inputs.sin.strides = {0, 0, 8, 0};
  EXPECT_EQ("[rope] the last stride of sin must be 1, got 0", refusal());
  inputs.sin.strides = {};
  out.strides = {96, 32, 4, 1};
  EXPECT_EQ("[rope] out: strides must step over the 8 elements inside them, or rows share elements, got 4", refusal());
  out.strides = {0, 32, 8, 1};
  EXPECT_EQ("[rope] out: strides must step over the 8 elements inside them, or rows share elements, got 0", refusal());
}

TEST_F(AclnnErrors, StridesThatOnlyReadersMayHave) {
  inputs.x.strides = {0, 32, 8, 1};
  inputs.cos.strides = {0, 0, 0, 1};
  EXPECT_EQ(kNone, refusal());
}

TEST_F(AclnnErrors, NullData) {
  inputs.x.data = nullptr;
  EXPECT_EQ("[rope] x must have data, got a null pointer", refusal());
  inputs.x.data = place(0);
  inputs.cos.data = nullptr;
  EXPECT_EQ("[rope] cos must have data, got a null pointer", refusal());
  inputs.cos.data = place(1);
  inputs.sin.data = nullptr;
  EXPECT_EQ("[rope] sin must have data, got a null pointer", refusal());
  inputs.sin.data = place(2);
  out.data = nullptr;
  EXPECT_EQ("[rope] out must have data, got a null pointer", refusal());
}

TEST_F(AclnnErrors, Overlap) {
  out.data = place(0) + 8;
  EXPECT_EQ("[rope] out must be x's own rows or not overlap x (distance in bytes), got 32", refusal());
  out.data = place(0);
  out.strides = {192, 64, 16, 1};
  EXPECT_EQ("[rope] out must be x's own rows or not overlap x (distance in bytes), got 0", refusal());
  out.strides = {};
  out.data = place(1) + 31;
  EXPECT_EQ("[rope] out must not overlap cos (distance in bytes), got 124", refusal());
  out.data = place(2) - 191;
  EXPECT_EQ("[rope] out must not overlap sin (distance in bytes), got -764", refusal());
  out.data = place(2) - 192;
  EXPECT_EQ(kNone, refusal());
}

/// Strides of axes of one element mean nothing.
TEST_F(AclnnErrors, InPlaceWhateverTheStridesOfSingleElements) {
  inputs.x.shape = out.shape = {1, 3, 4, 8};
  inputs.x.strides = {5, 32, 8, 1};
  out.data = place(0);
  EXPECT_EQ(kNone, refusal());
}

TEST_F(AclnnErrors, GradOutputsBelongTogether) {
  const auto dsin = grad_outputs.dsin;
  grad_outputs.dsin.reset();
  EXPECT_EQ("[rope] dcos and dsin must both be given, or neither, got dcos alone", grad_refusal());
  grad_outputs.dsin = dsin;
  grad_inputs.x.reset();
  EXPECT_EQ("[rope] dcos and dsin need x, got none", grad_refusal());
  grad_outputs.dcos.reset();
  EXPECT_EQ("[rope] dcos and dsin must both be given, or neither, got dsin alone", grad_refusal());
}

TEST_F(AclnnErrors, GradTypes) {
  grad_inputs.x->type = ScalarType::bf16;
  EXPECT_EQ("[rope] x must have dy's type f32, got bf16", grad_refusal());
  grad_inputs.x->type = ScalarType::f32;
  grad_outputs.dx.type = ScalarType::f16;
  EXPECT_EQ("[rope] dx must have dy's type f32, got f16", grad_refusal());
  grad_outputs.dx.type = ScalarType::f32;
  grad_outputs.dcos->type = ScalarType::f64;
  EXPECT_EQ("[rope] dcos must have dy's type f32, got f64", grad_refusal());
  grad_outputs.dcos->type = ScalarType::f32;
  grad_outputs.dsin->type = ScalarType::f64;
  EXPECT_EQ("[rope] dsin must have dy's type f32, got f64", grad_refusal());
  grad_inputs.cos.type = ScalarType::f16;
  EXPECT_EQ("[rope] cos must have dy's type f32, got f16", grad_refusal());
}

TEST_F(AclnnErrors, GradShapes) {
  grad_inputs.x->shape = {2, 3, 4, 4};
  EXPECT_EQ("[rope] x must have dy's shape [2, 3, 4, 8], got [2, 3, 4, 4]", grad_refusal());
  grad_inputs.x->shape = shape;
  grad_outputs.dx.shape = {2, 3, 4};
  EXPECT_EQ("[rope] dx must have dy's shape [2, 3, 4, 8], got [2, 3, 4]", grad_refusal());
  grad_outputs.dx.shape = shape;
  grad_outputs.dcos->shape = shape;
  EXPECT_EQ("[rope] dcos must have cos's shape [1, 1, 4, 8], got [2, 3, 4, 8]", grad_refusal());
  grad_outputs.dcos->shape = table;
  grad_outputs.dsin->shape = shape;
  EXPECT_EQ("[rope] dsin must have cos's shape [1, 1, 4, 8], got [2, 3, 4, 8]", grad_refusal());
  grad_inputs.dy.shape = {2, 3, 4, 9};
  EXPECT_EQ("[rope] the last axis of dy must be even, got 9", grad_refusal());
}

TEST_F(AclnnErrors, GradNullData) {
  for (const auto& [name, data] :
       {std::pair{"dcos", &grad_outputs.dcos->data}, {"dsin", &grad_outputs.dsin->data}, {"dx", &grad_outputs.dx.data}}) {
    void* const kept = *data;
    *data = nullptr;
    EXPECT_EQ(std::string("[rope] ") + name + " must have data, got a null pointer", grad_refusal());
    *data = kept;
  }
  grad_inputs.x->data = nullptr;
  EXPECT_EQ("[rope] x must have data, got a null pointer", grad_refusal());
  grad_inputs.dy.data = nullptr;
  EXPECT_EQ("[rope] dy must have data, got a null pointer", grad_refusal());
}

TEST_F(AclnnErrors, GradOverlap) {
  const struct {
    std::size_t at;
    const char* name;
  } others[] = {{0, "dy"}, {1, "cos"}, {2, "sin"}, {4, "x"}, {3, "dx"}};
  for (const auto& other : others) {
    const std::string expected = std::string(" must not overlap ") + other.name + " (distance in bytes), got 4";
    grad_outputs.dcos->data = place(other.at) + 1;
    EXPECT_EQ("[rope] dcos" + expected, grad_refusal());
    grad_outputs.dcos->data = place(5);
    grad_outputs.dsin->data = place(other.at) + 1;
    EXPECT_EQ("[rope] dsin" + expected, grad_refusal());
    grad_outputs.dsin->data = place(6);
  }
  grad_outputs.dsin->data = place(5);
  EXPECT_EQ("[rope] dsin must not overlap dcos (distance in bytes), got 0", grad_refusal());
  grad_outputs.dsin->data = place(6);
  grad_outputs.dx.data = place(4);
  EXPECT_EQ("[rope] dx must not overlap x (distance in bytes), got 0", grad_refusal());
  grad_outputs.dx.data = place(0) + 4;
  EXPECT_EQ("[rope] dx must be dy's own rows or not overlap dy (distance in bytes), got 16", grad_refusal());
}

/// Rows of dcos and dsin in turn in one buffer meet nowhere, though their stretches of memory do.
TEST_F(AclnnErrors, GradTablesInTurn) {
  grad_outputs.dcos->strides = grad_outputs.dsin->strides = {64, 64, 16, 1};
  grad_outputs.dsin->data = place(5) + 8;
  EXPECT_EQ(kNone, grad_refusal());
  EXPECT_THAT(std::vector<float>(place(5), place(5) + 64), Each(::testing::Ne(kUntouched)));
  memory.assign(memory.size(), kUntouched);
  grad_outputs.dsin->data = place(5) + 7;
  EXPECT_EQ("[rope] dsin must not overlap dcos (distance in bytes), got 28", grad_refusal());
}

TEST_F(AclnnErrors, ApplyLayout) {
  for (const std::int64_t layout : {0, 5}) {
    EXPECT_EQ("[rope] layout must be 1 (BSND), 2 (SBND), 3 (BNSD) or 4 (TND), got " + std::to_string(layout),
              apply_refusal(static_cast<aclnn::Layout>(layout)));
  }
  EXPECT_EQ("[rope] query must have 3 axes in layout TND, got 4", apply_refusal(aclnn::Layout::tnd));
  apply_inputs.key.shape = {1, 4, 8};
  EXPECT_EQ("[rope] key must have 4 axes in layout BNSD, got 3", apply_refusal());
}

TEST_F(AclnnErrors, ApplyTypes) {
  apply_inputs.key.type = ScalarType::f16;
  EXPECT_EQ("[rope] key must have query's type f32, got f16", apply_refusal());
  apply_inputs.key.type = ScalarType::f32;
  apply_inputs.sin.type = ScalarType::f16;
  EXPECT_EQ("[rope] sin must have query's type f32, got f16", apply_refusal());
}

TEST_F(AclnnErrors, ApplyShapes) {
  apply_inputs.key.shape = {2, 1, 5, 8};
  EXPECT_EQ("[rope] axis 2 of key must be query's 4, got 5", apply_refusal());
  apply_inputs.key.shape = {1, 1, 4, 8};
  EXPECT_EQ("[rope] axis 0 of key must be query's 2, got 1", apply_refusal());
  apply_inputs.key.shape = {2, 1, 4, 4};
  EXPECT_EQ("[rope] axis 3 of key must be query's 8, got 4", apply_refusal());
  apply_inputs.key.shape = {2, -1, 4, 8};
  EXPECT_EQ("[rope] the extents of key must not be negative, got [2, -1, 4, 8]", apply_refusal());
  apply_inputs.key.shape = {2, 1, 4, 8};
  apply_inputs.cos.shape = apply_inputs.sin.shape = {1, 3, 4, 8};
  EXPECT_EQ("[rope] axis 1 of cos, the head axis, must be 1, got 3", apply_refusal());
  apply_inputs.cos.shape = apply_inputs.sin.shape = {1, 1, 3, 8};
  EXPECT_EQ("[rope] axis 2 of cos must be 1 or 4 for query [2, 3, 4, 8], got 3", apply_refusal());
}

TEST_F(AclnnErrors, ApplyWidth) {
  const auto with_width = [&](std::int64_t width, Mode mode) {
    apply_inputs.cos.shape = apply_inputs.sin.shape = {1, 1, 4, width};
    return apply_refusal(aclnn::Layout::bnsd, mode);
  };
  EXPECT_EQ("[rope] the last axis of cos must be at most query's 8, got 10", with_width(10, Mode::half));
  EXPECT_EQ("[rope] the last axis of cos must be at most query's 8, got -2", with_width(-2, Mode::half));
  EXPECT_EQ("[rope] the last axis of cos must be even, got 5", with_width(5, Mode::half));
  EXPECT_EQ("[rope] the last axis of cos must be divisible by 4 in mode quarter, got 6", with_width(6, Mode::quarter));
  EXPECT_EQ(kNone, with_width(6, Mode::half));
}

TEST_F(AclnnErrors, ApplyOverlap) {
  apply_inputs.key.data = place(0) + 191;
  EXPECT_EQ("[rope] key must not overlap query (distance in bytes), got 764", apply_refusal());
  apply_inputs.key.data = place(0);
  EXPECT_EQ("[rope] key must not overlap query (distance in bytes), got 0", apply_refusal());
  apply_inputs.key.data = place(1);
  EXPECT_EQ("[rope] key must not overlap cos (distance in bytes), got 0", apply_refusal());
  apply_inputs.query.data = place(2) + 1;
  EXPECT_EQ("[rope] query must not overlap sin (distance in bytes), got 4", apply_refusal());
}

/// Whether the heads of q and k meet is decided exactly: each shift of k by an element within a buffer of five heads of 8 a token.
TEST_F(AclnnErrors, ApplyToHeadsSideBySide) {
  const Dims strides{160, 8, 40, 1};
  for (std::size_t shift = 0; shift <= 40; ++shift) {
    memory.assign(memory.size(), kUntouched);
    apply_inputs.query = tensor(place(3), {2, 3, 4, 8}, strides);
    apply_inputs.key = tensor(place(3) + shift, {2, 1, 4, 8}, strides);
    // Three heads of query fill elements 0 to 23 of 40; a head of key from 33 on reaches the next token's.
    const bool apart = shift >= 24 && shift <= 32;
    const std::string message = "[rope] key must not overlap query (distance in bytes), got " + std::to_string(4 * shift);
    EXPECT_EQ(apart ? kNone : message, apply_refusal()) << shift;
  }
}

/// The key is refused before the query has been rotated.
TEST_F(AclnnErrors, ApplyChecksKeyFirst) {
  apply_inputs.key.strides = {32, 8, 4, 1};
  EXPECT_EQ("[rope] key: strides must step over the 8 elements inside them, or rows share elements, got 4", apply_refusal());
  apply_inputs.key.strides = {};
  apply_inputs.key.data = nullptr;
  EXPECT_EQ("[rope] key must have data, got a null pointer", apply_refusal());
}

}  // namespace
}  // namespace rope::test
