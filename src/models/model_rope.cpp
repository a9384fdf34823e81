// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

Frequencies LayerRope::frequencies(Index length) const {
  return Frequencies(powers, scaling, length);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
