// SPDX-License-Identifier: Apache-2.0
#include "transformer.hpp"

namespace train_lm {

template class Transformer<float>;
template class Transformer<double>;

}  // namespace train_lm
