// SPDX-License-Identifier: Apache-2.0
//
// Does a converted file compute what the old one did? Asked of the files, not of the code that wrote them.
//
//   q = (W x + bias + sum of B z) * magnitude * norm + norm bias      for random x and z, of every head; k likewise with another x
//   rotate(q_old, from) . rotate(k_old, from)  =  rotate(q_new, to) . rotate(k_new, to)      at several positions
//
// The products on both sides are the same numbers, only summed in another order: with D of them, of total size S, the sums differ by at
// most 2 (D + 1) u S, u = 2^-53. Weights that pass have their pairs where the new pairing looks for them; the rows of every head are also
// compared as a multiset of bytes. Where an adapter changes q alone, a random k stands in for its base's. Leaves out what is the same on
// both sides: the root mean square a norm divides by. Not proof that the heads were described rightly.
#pragma once

#include <string>
#include <vector>

#include "convert_plan.hpp"

namespace rope::tool {

/// The largest difference of q.k over heads and positions, by its ratio to the bound that belongs to it.
struct LayerCheck {
  double difference = 0;
  double bound = 0;
};

/// One check for each layer of the plan. `converted` are the shards of `model`, written. Throws FileError, beginning with `name`, for the
/// first layer that fails.
std::vector<LayerCheck> verify_converted(const ConvertPlan& plan, const Model& model, const std::vector<Shard>& converted,
                                         const std::string& name);

}  // namespace rope::tool
