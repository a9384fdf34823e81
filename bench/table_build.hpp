// SPDX-License-Identifier: Apache-2.0
//
// What a table costs: 4096 positions x 64 pairs of float, for consecutive positions and for
// arbitrary ids below 131072.
//
//   table_build   eigen_rope::Cache<float>(frequencies, positions)
//   libm          double angle = position * rate; libm's sin and cos of it, rounded to float, into
//                 arrays that are already there
#pragma once

#include "session.hpp"

namespace bench {

void run_table_build(Session& session);

}  // namespace bench
