// SPDX-License-Identifier: Apache-2.0
//
// What a model's rotation amounts to at some length: every derived number, every pair, and what a
// specialist would say about it.
//
//   ratio_k = rate_k / unscaled_k,  unscaled_k = base^(-2 e_k / d)
//                       what scaling, linear scale and frequency factors did
//   turns_k = rate_k * tokens / 2 pi
//
// Values only. Not read (scaling_text.hpp), not printed (report.hpp), not drawn (plot.cpp).
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "eigen_rope/models/model_rope.hpp"
#include "eigen_rope/numbers/double_double.hpp"

namespace eigen_rope::tool {

/// What became of a pair's rate.
enum class Treatment {
  kept,
  /// Between kept and interpolated.
  blended,
  /// Slowed as much as the scaling slows any pair; LongRoPE has a divisor for each.
  interpolated,
  /// Rate 0, or less than 2^-60 of what it was: GGUF files stop pairs by frequency factors of 1e30.
  stopped,
};
const char* name_of(Treatment treatment);

struct PairInspection {
  std::optional<PairSlots>
      slots{};   ///< in the row, the window's offset included; empty where the pairing is not known
  int axis = 0;  ///< of the position, where there are sections
  DoubleDouble unscaled{}, rate{};  ///< radians per token
  double ratio = 1;
  Treatment treatment = Treatment::kept;
  double turns = 0;  ///< within the length

  /// Tokens in a turn before and after; infinite for a pair that is stopped.
  double unscaled_wavelength() const;
  double wavelength() const;
};

/// A number that follows from the parameters, or a word.
struct Derived {
  std::string name{};
  std::variant<double, std::string> value{};
  std::string unit{};
};

/// An angle that came out wrong.
struct AngleError {
  double radians = 0;
  eigen_rope::Index position = 0, pair = 0;
};

struct LayerInspection {
  models::LayerRope layer{};
  DoubleDouble attention_factor{};
  std::vector<Derived> derived{};
  std::vector<PairInspection> pairs{};
  /// Of angles computed as float(rate) * float(position), rounded to float: a lower bound of what
  /// others get, since their rates are no better than rounded once.
  AngleError float_error{};
  /// The bound of a Cache's angles: positions * 2^-63 radians.
  double own_error = 0;
};

struct Inspection {
  models::ModelRope model{};
  eigen_rope::Index length = 0;  ///< tokens everything is computed for
  std::vector<LayerInspection> layers{};
  std::vector<std::string> warnings{};  ///< the reader's, then ours: what may go wrong
  std::vector<std::string> notes{};     ///< what is worth knowing and as it should be
};

struct InspectOptions {
  eigen_rope::Index length = 0;  ///< tokens; 0 for the model's context
  std::string layer_type{};      ///< only these layers; empty for all
};

/// A model without layers that rotate has none here. Throws eigen_rope::Error for a length that is
/// negative or not known, a layer type the model does not have, and as eigen_rope::frequencies.
Inspection inspect(const models::ModelRope& model, const InspectOptions& options);

/// The worst angle of positions 0 to length - 1 computed in float. After 2^22 angles, the last
/// positions first, the worst so far is taken: the search only gets there where positions
/// themselves do not fit a float.
AngleError float_angle_error(const std::vector<DoubleDouble>& rates, eigen_rope::Index length);

/// What the model's rates are before scaling: powers of the base alone.
std::vector<DoubleDouble> unscaled_rates(const Powers<>& powers);

}  // namespace eigen_rope::tool
