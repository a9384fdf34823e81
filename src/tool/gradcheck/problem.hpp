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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope::tool {

enum class LayoutKind { bsnd, bnsd, sbnd, tnd };

inline constexpr PairKind all_pairings[] = {PairKind::split_half, PairKind::interleaved,
                                            PairKind::quarter, PairKind::interleaved_to_split_half};
inline constexpr ScalarType all_scalars[] = {ScalarType::f64, ScalarType::f32, ScalarType::f16,
                                             ScalarType::bf16};
inline constexpr LayoutKind all_layouts[] = {LayoutKind::bsnd, LayoutKind::bnsd, LayoutKind::sbnd,
                                             LayoutKind::tnd};

/// The scalings with the parameters they are checked with, as --scaling wants them.
std::vector<std::string> all_scalings();

/// As --layout wants it.
std::string name_of(LayoutKind layout);

struct GradcheckCase {
  PairKind pairing = PairKind::split_half;
  std::string scaling = "default";
  ScalarType scalar = ScalarType::f64;
  LayoutKind layout = LayoutKind::bsnd;
};

/// What a table may depend on beside powers and a scaling, in any scalar: NTK-aware scaling is a
/// larger base (ntk_base), and xPos has a magnitude by position.
template <class S = double>
struct BesideScaling : detail::Parameters<BesideScaling<S>> {
  static constexpr const char* name = "beside";
  std::optional<S> ntk_factor{};
  std::optional<S> xpos_scale_base{}, xpos_gamma{}, xpos_center{};  ///< All of them, or none.

  template <class Visit, class... Objects>
  static void for_each_parameter(Visit&& visit, Objects&... objects) {
    visit("ntk_factor", objects.ntk_factor...);
    visit("xpos_scale_base", objects.xpos_scale_base...);
    visit("xpos_gamma", objects.xpos_gamma...);
    visit("xpos_center", objects.xpos_center...);
  }
};

/// Of the sequence, for scalings that depend on it: beyond the original contexts.
inline constexpr eigen_rope::Index sequence_length = 5000;

/// What the powers are of, where NTK-aware scaling stretches their base.
template <class S>
Powers<S> stretched(Powers<S> powers, const BesideScaling<S>& beside) {
  if (beside.ntk_factor)
    powers.base = ntk_base(powers.rotary_dims, powers.base, *beside.ntk_factor);
  return powers;
}

/// A parameter's real numbers; several where it is a list.
template <class S>
struct ParameterNumbers {
  std::string name;
  std::vector<S*> numbers;
  bool is_list = false;
};

/// Collects them from for_each_parameter. Counts and enums have none, nor has an optional parameter
/// that is absent.
template <class S>
struct CollectNumbers {
  std::vector<ParameterNumbers<S>> all{};

  void operator()(const char* name, S& number) { all.push_back({name, {&number}}); }
  void operator()(const char* name, std::optional<S>& number) {
    if (number) all.push_back({name, {&*number}});
  }
  void operator()(const char* name, std::vector<S>& numbers) {
    all.push_back({name, {}, true});
    for (S& number : numbers) all.back().numbers.push_back(&number);
  }
  void operator()(const char* /*name*/, eigen_rope::Index& /*count*/) {}
  void operator()(const char* /*name*/, std::vector<eigen_rope::Index>& /*counts*/) {}
  template <class Enum, std::enable_if_t<std::is_enum_v<Enum>, int> = 0>
  void operator()(const char* /*name*/, Enum& /*choice*/) {}
};

/// Those of powers or of a scaling with scalar S, in the order of the members.
template <class S, class Object>
std::vector<ParameterNumbers<S>> numbers_of(Object& object) {
  CollectNumbers<S> collecting;
  Object::for_each_parameter(collecting, object);
  return std::move(collecting.all);
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
  Powers<> powers{};
  Scaling scaling = Unscaled<>{};
  BesideScaling<> beside{};
  std::vector<double> rates{};  ///< Explicit ones, which stand for the powers and the scaling.
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
  bool has_xpos() const { return beside.xpos_gamma.has_value(); }
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

/// The rates of a problem in S's arithmetic, and m.
template <class S>
Rates<S> rates_of(const Problem& problem) {
  const Powers<S> powers = problem.powers.cast<S>();
  if (!problem.rates.empty())
    return {{problem.rates.begin(), problem.rates.end()}, powers.attention_factor};
  return std::visit(
      [&](const auto& scaling) {
        return scaling.template cast<S>().rates(stretched(powers, problem.beside.cast<S>()),
                                                sequence_length);
      },
      problem.scaling);
}

/// The same numbers for the same case and seed.
Problem make_problem(const GradcheckCase& at, std::uint64_t seed);

}  // namespace eigen_rope::tool
