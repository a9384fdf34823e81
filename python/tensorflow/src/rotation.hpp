// SPDX-License-Identifier: Apache-2.0
//
// What an operator of a rotation is told, and whether its tensors fit: asked once while a graph is
// built, where extents may be unknown, and again with the tensors themselves.
//
//   const Choices choices = choices_of(context);   the attributes of a node
//   check({x, cos, sin, types...}, choices);       one sentence for what does not fit
//   const Merged m = merged(x, cos, choices);      the same rotation with as few axes as possible
//
// Neighbouring axes that the table varies along, or repeats along, are one axis of their product.
// So a tensor of any rank becomes one of few axes: [batch, tokens, heads, D] with a table
// [tokens, 1, D / 2] has four, and [.., .., .., D] with a table [D / 2] has two.
#pragma once

#include <eigen_rope/any/scalar_type.hpp>
#include <eigen_rope/choices/direction.hpp>
#include <eigen_rope/choices/pairing.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <eigen_rope/numbers/shape.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/types.h"

namespace eigen_rope_tensorflow {

namespace er = eigen_rope;
namespace tf = tensorflow;

/// The extents of a tensor, slowest axis first; `unknown` for those that a graph does not know.
using Extents = std::vector<std::int64_t>;
inline constexpr std::int64_t unknown = -1;

/// The attributes of a node.
struct Choices {
  std::string pairing;
  std::string direction = "forward";
  std::string outside = "copy";
  std::int64_t rotary_dims = -1;
  std::int64_t offset = 0;
  std::int64_t axis = -1;
};

/// A tensor as a graph knows it. Without a known rank there are no extents.
struct Argument {
  const char* name;
  tf::DataType type;
  bool ranked;
  Extents extents;
};

/// Returns the library's name of a scalar.
///
/// - Errors:   eigen_rope::Error for a type that is none of its four.
er::ScalarType scalar_type(tf::DataType type, const char* name);

/// - Errors:   eigen_rope::Error, with the argument, the rule and the value, for names that there
///             are not, types that do not go together, and known extents that do not fit.
void check(const Argument& x, const Argument& cos, const Argument& sin, const Choices& choices);

/// - Errors:   eigen_rope::Error unless b has a's type, and a's extents where they are known.
void check_alike(const Argument& a, const Argument& b);

/// A rotation with as few axes as possible, slowest first.
struct Merged {
  Extents x;
  Extents table;  // of x's rank; each outer extent is x's or 1
  int feature = 0;
  /// Over the axis `feature`.
  er::Pairing pairing = er::split_half;
};

/// \param x, cos  extents that check() has found to fit
///
/// - Errors:   eigen_rope::Error if more axes than the library has are left.
Merged merged(const Extents& x, const Extents& cos, const Choices& choices);

/// Calls `work` and turns what it throws into a status: nothing is thrown through TensorFlow.
template <class Work>
absl::Status guarded(const Work& work) {
  try {
    work();
    return absl::OkStatus();
  } catch (const er::Error& error) {
    return absl::InvalidArgumentError(error.what());
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("[rope] the rotation must have memory, got none");
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

/// Reads the attributes that a node has of those in Choices.
///
/// \param context  anything with GetAttr(name, pointer)
template <class Context>
absl::Status read_choices(Context& context, bool rotates, Choices& choices) {
  absl::Status status = context.GetAttr("pairing", &choices.pairing);
  if (status.ok()) status = context.GetAttr("rotary_dims", &choices.rotary_dims);
  if (status.ok()) status = context.GetAttr("offset", &choices.offset);
  if (status.ok()) status = context.GetAttr("axis", &choices.axis);
  if (!rotates) return status;
  if (status.ok()) status = context.GetAttr("direction", &choices.direction);
  if (status.ok()) status = context.GetAttr("outside", &choices.outside);
  return status;
}

}  // namespace eigen_rope_tensorflow
