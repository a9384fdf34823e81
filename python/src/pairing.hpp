// SPDX-License-Identifier: Apache-2.0
//
// A pairing as Python has it: its axis is counted as numpy counts axes, from the end where
// negative.
#pragma once

#include <nanobind/nanobind.h>

#include <eigen_rope/choices/pairing.hpp>
#include <optional>
#include <string>

namespace eigen_rope_python {

namespace nb = nanobind;
namespace er = eigen_rope;

/// The Python class Pairing.
struct Pairing {
  er::PairKind kind = er::PairKind::split_half;
  std::optional<er::Index> rotary_dims{};
  er::Index offset = 0;
  int axis = -1;

  /// The pairing for arrays of this rank; throws for an axis that they do not have.
  er::Pairing for_rank(int rank) const;
  /// As Python writes it: `Pairing('interleaved', rotary_dims=32)`.
  std::string text() const;

  friend bool operator==(const Pairing& a, const Pairing& b) {
    return a.kind == b.kind && a.rotary_dims == b.rotary_dims && a.offset == b.offset &&
           a.axis == b.axis;
  }
};

/// The pairing of a model: what a reader has found, along the last axis.
Pairing pairing_of_model(const er::Pairing& pairing, er::Index head_dims);

/// A Pairing, or the name of one.
Pairing read_pairing(nb::handle object);

}  // namespace eigen_rope_python
