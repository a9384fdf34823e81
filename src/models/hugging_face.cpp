// SPDX-License-Identifier: Apache-2.0
#include "rope/models/hugging_face.hpp"
