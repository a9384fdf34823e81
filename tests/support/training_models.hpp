// SPDX-License-Identifier: Apache-2.0
//
// Models to plan a training for, as values: no reader of files is involved.
#pragma once

#include "tool/plan/training_model.hpp"

namespace eigen_rope::tool::test {

/// Sizes of Llama 3.1 8B.
inline TrainingModel llama_31_8b() {
  TrainingModel model;
  model.architecture = "llama";
  model.context = 131072;
  model.width = 4096;
  model.mlp_width = 14336;
  model.vocabulary = 128256;
  model.heads = 32;
  model.key_heads = 8;
  model.layers = {{"", 32, 128, 128, 0, 0}};
  return model;
}

/// Two layers of which one sees 64 tokens, with other heads.
inline TrainingModel small_windows() {
  TrainingModel model;
  model.architecture = "gemma2";
  model.context = 4096;
  model.width = 48;
  model.mlp_width = 100;
  model.vocabulary = 50;
  model.heads = 4;
  model.key_heads = 2;
  model.head = HeadMatrix::tied;
  model.layers = {{"full_attention", 1, 16, 16, 0, 0}, {"sliding_attention", 1, 16, 8, 64, 1}};
  return model;
}

}  // namespace eigen_rope::tool::test
