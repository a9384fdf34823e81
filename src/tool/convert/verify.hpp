// SPDX-License-Identifier: Apache-2.0
//
// Does a converted model compute what the old one did? Asked of the files on the disk, and of
// nothing that the writer used.
//
// Heads, windows, the pairing and the order of fused rows are derived anew from the output: its
// config.json, the record in its metadata, and, where neither says it, the user's options. Which
// row belongs to which element of which head follows here from the definition of the order, row by
// row; the rotation is its definition in double.
//
//   q = (W x + bias + sum of B z) * magnitude * norm + norm bias
//                       for random x and z, of every head; k likewise with another x
//   rotate(q_old, from) . rotate(k_old, from)  =  rotate(q_new, to) . rotate(k_new, to)
//                       at several positions
//
// The products on both sides are the same numbers, only summed in another order: with D of them, of
// total size S, the sums differ by at most 2 (D + 1) u S, u = 2^-53. The rows of every head are
// also compared as a multiset of bytes, and everything that is neither q nor k, the values of a
// fused projection included, byte by byte. Where an adapter changes q alone, a random k stands in
// for its base's. Leaves out what is the same on both sides: the root mean square a norm divides
// by. Where there is no config.json, this is no proof that the options described the heads rightly.
#pragma once

#include <string>
#include <vector>

#include "tool/convert/plan.hpp"
#include "tool/convert/progress.hpp"

namespace eigen_rope::tool {

/// The largest difference of q.k over heads and positions, by its ratio to the bound that belongs
/// to it.
struct LayerCheck {
  /// As in ConvertedLayer.
  std::string layer{};
  double difference = 0;
  double bound = 0;
};

/// One check for each layer, in the order of the files. `options` are those of the conversion from
/// `before` to `after`. Throws FileError, beginning with `name`, for the first thing that is wrong.
std::vector<LayerCheck> verify_converted(const ConvertOptions& options, const Model& before,
                                         const Model& after, const std::string& name,
                                         Progress& progress);

}  // namespace eigen_rope::tool
