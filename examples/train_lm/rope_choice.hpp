// SPDX-License-Identifier: Apache-2.0
//
// Which rotation a model has, and how it is stretched to longer windows.
//
//   none      no rotation at all
//   default   rate_k = base^(-2k/d)
//   linear    every rate divided by the factor s
//   ntk       base * s^(d/(d-2))                    eigen_rope::ntk_base
//   yarn      blended rates, and m = 1 + 0.1 ln s   eigen_rope::Yarn; the original context is
//                                                   context / s
//
// `train_lm --rope linear --rope-factor 2` trains with such a rotation; stretched() gives the ones
// that are tried, without fine-tuning, on windows longer than the training context. Only
// parameters: the rates are eigen_rope::Frequencies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"

namespace train_lm {

enum class Scaling { none, linear, ntk, yarn };

/// The names used in options, tables and files. For Scaling::none: "none".
std::string_view name(Scaling scaling);

/// What --rope and --rope-factor say.
struct RopeChoice {
  /// none, default, linear, ntk, yarn.
  std::string kind = "default";
  double factor = 2.0;
  double base = 10000.0;

  bool rotates() const { return kind != "none"; }
};

/// A rotation as parameters, so that it can be changed further.
struct RopeParameters {
  eigen_rope::Powers<> powers;
  std::optional<eigen_rope::GgmlYarn<>> yarn;

  eigen_rope::Frequencies frequencies() const;
  /// Radians per token, one per pair.
  std::vector<double> rates() const;
};

/// The rotation of the training. choice.rotates(). Throws train_lm::Error for an unknown kind.
RopeParameters training_rope(const RopeChoice& choice, eigen_rope::Index head_dim,
                             eigen_rope::Index context);

/// The same rotation for windows `factor` times the training context. A model trained with YaRN
/// keeps its original context.
RopeParameters stretched(const RopeParameters& trained, Scaling scaling, double factor,
                         eigen_rope::Index context);

}  // namespace train_lm
