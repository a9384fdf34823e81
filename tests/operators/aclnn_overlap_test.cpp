// SPDX-License-Identifier: Apache-2.0
//
// Whether the memory of two of aclnn's outputs meets is decided element by element: heads of q and
// k side by side in one buffer do not. What else the operators refuse is bad_input/aclnn_test.cpp.
#include <gmock/gmock.h>

#include "support/aclnn_cases.hpp"
#include "support/error_of.hpp"

namespace eigen_rope::test::aclnn_overlap_tests {
namespace {

using aclnn::tensor;
using ::testing::Each;

const std::string kNone = "no eigen_rope::Error";

/// Places of 512 elements in one stretch of memory.
class AclnnOverlap : public ::testing::Test {
 protected:
  static constexpr float kUntouched = 3.5F;
  std::vector<float> memory = std::vector<float>(4096, kUntouched);
  float* place(std::size_t number) { return memory.data() + 512 * number; }

  template <class Call>
  std::string checked(const Call& call) {
    std::string message = error_of(call);
    if (message != kNone) {
      EXPECT_THAT(memory, Each(kUntouched));
    }
    return message;
  }
};

/// Rows of dcos and dsin in turn in one buffer meet nowhere, though their stretches of memory do.
TEST_F(AclnnOverlap, GradTablesInTurn) {
  const Dims shape{2, 3, 4, 8};
  const Dims table{1, 1, 4, 8};
  const aclnn::GradInputs grad_inputs{tensor(place(0), shape), tensor(place(1), table),
                                      tensor(place(2), table), tensor(place(4), shape)};
  aclnn::GradOutputs grad_outputs{tensor(place(3), shape), tensor(place(5), table),
                                  tensor(place(6), table)};
  const auto grad_refusal = [&] {
    return checked(
        [&] { aclnn::rotary_position_embedding_grad(grad_outputs, grad_inputs, Mode::half); });
  };
  grad_outputs.dcos->strides = grad_outputs.dsin->strides = {64, 64, 16, 1};
  grad_outputs.dsin->data = place(5) + 8;
  EXPECT_EQ(kNone, grad_refusal());
  EXPECT_THAT(std::vector<float>(place(5), place(5) + 64), Each(::testing::Ne(kUntouched)));
  memory.assign(memory.size(), kUntouched);
  grad_outputs.dsin->data = place(5) + 7;
  EXPECT_EQ("[rope] dsin must not overlap dcos (distance in bytes), got 28", grad_refusal());
}

/// Whether the heads of q and k meet is decided exactly: each shift of k by an element within a
/// buffer of five heads of 8 a token.
TEST_F(AclnnOverlap, ApplyToHeadsSideBySide) {
  const Dims strides{160, 8, 40, 1};
  const Dims table{1, 1, 4, 8};
  for (std::size_t shift = 0; shift <= 40; ++shift) {
    memory.assign(memory.size(), kUntouched);
    const aclnn::ApplyInputs inputs{tensor(place(3), {2, 3, 4, 8}, strides),
                                    tensor(place(3) + shift, {2, 1, 4, 8}, strides),
                                    tensor(place(1), table), tensor(place(2), table)};
    // Three heads of query fill elements 0 to 23 of 40; a head of key from 33 on reaches the next
    // token's.
    const bool apart = shift >= 24 && shift <= 32;
    const std::string message =
        "[rope] key must not overlap query (distance in bytes), got " + std::to_string(4 * shift);
    EXPECT_EQ(apart ? kNone : message, checked([&] {
                aclnn::apply_rotary_pos_emb(inputs, aclnn::Layout::bnsd, Mode::half);
              }))
        << shift;
  }
}

}  // namespace
}  // namespace eigen_rope::test::aclnn_overlap_tests
