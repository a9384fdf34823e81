// SPDX-License-Identifier: Apache-2.0
#include "rope/models/model_rope.hpp"

namespace rope::models {

Frequencies LayerRope::frequencies(Index length) const { return rope::frequencies(powers, scaling, length); }

}  // namespace rope::models
