// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/models/model_rope.hpp"

namespace eigen_rope::models {

Frequencies LayerRope::frequencies(Index length) const { return eigen_rope::frequencies(powers, scaling, length); }

}  // namespace eigen_rope::models
