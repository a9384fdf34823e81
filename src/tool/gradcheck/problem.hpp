// SPDX-License-Identifier: Apache-2.0
//
// One cell of gradcheck's matrix, and the numbers it is checked with.
//
//   pairing x scaling x scalar x layout   46 features, 40 of them rotated from the 4th on; 3 heads,
//                                         3 tokens, 2 sequences (tnd: 1)
//
// Parameters are chosen so that every branch is taken: pairs on both sides of YaRN's ramp and
// inside it, in all three bands of Llama 3.1, rates of both signs and 0, magnitudes below 1, below
// 0 and different in every entry (xpos), positions that are negative and fractional. Random numbers
// are rounded to the scalar here, so that nobody rounds them again. Computes nothing of a rotation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/operators/scalar_type.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope::tool {

enum class ScalingKind {
  none,
  linear,
  proportional,
  factors,
  ntk,
  ntk_mixed,
  dynamic,
  ggml_yarn,
  ggml_yarn_exact,
  yarn,
  yarn_deepseek,
  llama3,
  longrope,
  xpos,
  rates
};
enum class LayoutKind { bsnd, bnsd, sbnd, tnd };

inline constexpr PairKind all_pairings[] = {PairKind::split_half, PairKind::interleaved,
                                            PairKind::quarter, PairKind::interleaved_to_split_half};
inline constexpr ScalingKind all_scalings[] = {
    ScalingKind::none,     ScalingKind::linear,        ScalingKind::proportional,
    ScalingKind::factors,  ScalingKind::ntk,           ScalingKind::ntk_mixed,
    ScalingKind::dynamic,  ScalingKind::ggml_yarn,     ScalingKind::ggml_yarn_exact,
    ScalingKind::yarn,     ScalingKind::yarn_deepseek, ScalingKind::llama3,
    ScalingKind::longrope, ScalingKind::xpos,          ScalingKind::rates};
inline constexpr ScalarType all_scalars[] = {ScalarType::f64, ScalarType::f32, ScalarType::f16,
                                             ScalarType::bf16};
inline constexpr LayoutKind all_layouts[] = {LayoutKind::bsnd, LayoutKind::bnsd, LayoutKind::sbnd,
                                             LayoutKind::tnd};

/// As --scaling and --layout want them.
std::string name_of(ScalingKind scaling);
std::string name_of(LayoutKind layout);

struct GradcheckCase {
  PairKind pairing = PairKind::split_half;
  ScalingKind scaling = ScalingKind::none;
  ScalarType scalar = ScalarType::f64;
  LayoutKind layout = LayoutKind::bsnd;
};

/// eigen_rope::Xpos in any scalar.
template <class S>
struct XposParameters {
  S scale_base = S(512.0), gamma = S(0.4), center = S(0.0);
};

/// The parameters of every scaling, in any scalar; which of them count depends on the kind.
template <class S>
struct ScalingParameters {
  Powers<S> powers{};
  GgmlYarn<S> ggml_yarn{};
  Llama3<S> llama3{};
  S ntk_factor = S(1.0);
  Proportional<S> proportional{};
  DynamicNtkScaling<S> dynamic{};
  NtkScaling<S> ntk{};
  Yarn<S> yarn{};
  LongRope<S> longrope{};
  XposParameters<S> xpos{};
  std::vector<S> rates{};  ///< explicit ones

  template <class T>
  ScalingParameters<T> cast() const {
    ScalingParameters<T> result{powers.template cast<T>(),
                                ggml_yarn.template cast<T>(),
                                llama3.template cast<T>(),
                                T(ntk_factor),
                                proportional.template cast<T>(),
                                dynamic.template cast<T>(),
                                ntk.template cast<T>(),
                                yarn.template cast<T>(),
                                longrope.template cast<T>(),
                                {T(xpos.scale_base), T(xpos.gamma), T(xpos.center)},
                                {}};
    for (const S& rate : rates) result.rates.push_back(T(rate));
    return result;
  }
};

/// Of the sequence, for scalings that depend on it: beyond the original contexts.
inline constexpr eigen_rope::Index sequence_length = 5000;

/// What the powers are of: NTK-aware scaling is a larger base.
template <class S>
Powers<S> stretched_powers(ScalingKind kind, const ScalingParameters<S>& parameters) {
  Powers<S> powers = parameters.powers;
  if (kind == ScalingKind::ntk)
    powers.base = ntk_base(powers.rotary_dims, parameters.powers.base, parameters.ntk_factor);
  return powers;
}

template <class S>
Rates<S> rates_of(ScalingKind kind, const ScalingParameters<S>& parameters) {
  switch (kind) {
    case ScalingKind::none:
    case ScalingKind::linear:
    case ScalingKind::factors:
    case ScalingKind::ntk:
    case ScalingKind::xpos: return stretched_powers(kind, parameters).rates();
    case ScalingKind::proportional: return parameters.proportional.rates(parameters.powers);
    case ScalingKind::dynamic: return parameters.dynamic.rates(parameters.powers, sequence_length);
    case ScalingKind::ntk_mixed: return parameters.ntk.rates(parameters.powers);
    case ScalingKind::yarn:
    case ScalingKind::yarn_deepseek: return parameters.yarn.rates(parameters.powers);
    case ScalingKind::longrope:
      return parameters.longrope.rates(parameters.powers, sequence_length);
    case ScalingKind::ggml_yarn:
    case ScalingKind::ggml_yarn_exact: return parameters.ggml_yarn.rates(parameters.powers);
    case ScalingKind::llama3: return parameters.llama3.rates(parameters.powers);
    case ScalingKind::rates: break;
  }
  return {parameters.rates, parameters.powers.attention_factor};
}

/// What an axis outside the features counts, and its extent.
struct Axis {
  std::string name{};
  eigen_rope::Index extent = 0;
};

/// Everything a check needs. All tensors are dense, the feature axis fastest, then `axes`.
struct Problem {
  GradcheckCase at{};
  Pairing pairing = split_half;
  ScalingParameters<double> parameters{};
  XposSide xpos_side = XposSide::query;  ///< keys with bsnd and sbnd
  eigen_rope::Index heads = 0, tokens = 0, batches = 0;
  /// Positions on several axes where there are sections.
  std::optional<Sections> sections{};
  std::vector<double> ids{};  ///< [axis][batch][token]
  std::vector<Axis> axes{};   ///< outside the features, fastest first
  Shape shape{};
  /// x-shaped: the rotation's input, the loss's gradient, a tangent of x.
  std::vector<double> x{}, g{}, v{};
  /// Tangents of the angles and of log m, one per pair and table row.
  std::vector<double> angle_tangent{}, log_magnitude_tangent{};

  eigen_rope::Index pairs() const { return pairing.rotary_dims(shape[0]) / 2; }
  Frequencies frequencies() const;
  Positions positions() const;
  Xpos xpos() const;
  const Layout& layout() const;
};

/// Full-width tables are made from the half-width one: entry A of pair k is a_cos cos_k, and so on.
/// Rounded to the table's scalar.
struct FullWidth {
  double a_cos, b_cos, a_sin, b_sin;
};
inline constexpr FullWidth full_width{1.0, 0.75, 1.25, -0.5};

/// The scalar of the tables: that of double for double, float for others.
ScalarType table_scalar(ScalarType scalar);

/// The same numbers for the same case and seed.
Problem make_problem(const GradcheckCase& at, std::uint64_t seed);

}  // namespace eigen_rope::tool
