// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/problem.hpp"

#include <random>

#include "tool/verify/comparison.hpp"

namespace eigen_rope::tool {
namespace {

constexpr eigen_rope::Index features = 46, rotary_dims = 40, rotary_offset = 3;
constexpr eigen_rope::Index heads = 3, tokens = 3, batches = 2;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11U) * 0x1p-53);
  }
  std::vector<double> values(eigen_rope::Index count, ScalarType type) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(count));
    for (eigen_rope::Index i = 0; i < count; ++i) values.push_back(round_to(type, between(-2, 2)));
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

ScalingParameters<double> parameters_for(ScalingKind kind, Random& random) {
  ScalingParameters<double> parameters;
  Powers<>& powers = parameters.powers;
  powers.rotary_dims = rotary_dims;
  switch (kind) {
    case ScalingKind::none: break;
    case ScalingKind::linear: powers.linear_scale = 0.25; break;
    case ScalingKind::factors:
      for (eigen_rope::Index k = 0; k < rotary_dims / 2; ++k)
        powers.factors.push_back(random.between(0.75, 4));
      powers.attention_factor = 1.19;
      break;
    case ScalingKind::ntk: parameters.ntk_factor = 4; break;
    case ScalingKind::ggml_yarn:
      powers.linear_scale = 0.25;
      powers.attention_factor = 0.9;
      parameters.ggml_yarn = {0.75, 4096, 32.0, 1.0, RampEnds::rounded};
      break;
    case ScalingKind::ggml_yarn_exact:
      powers.base = 150000;
      powers.linear_scale = 0.125;
      parameters.ggml_yarn = {1.0, 4096, 32.0, 1.0, RampEnds::exact};
      break;
    case ScalingKind::llama3: break;  // the defaults are the model's
    case ScalingKind::proportional: parameters.proportional = {2.5, 13}; break;
    case ScalingKind::dynamic: parameters.dynamic = {3.0, 2048}; break;
    case ScalingKind::ntk_mixed: parameters.ntk = {3.25, 0.625}; break;
    case ScalingKind::yarn:
      parameters.yarn.factor = 4;
      parameters.yarn.original_context = 4096;
      parameters.yarn.mscale = 1;
      parameters.yarn.mscale_all_dim = 0.5;
      break;
    case ScalingKind::yarn_deepseek:
      parameters.yarn.factor = 40;
      parameters.yarn.original_context = 4096;
      parameters.yarn.ends = RampEnds::exact;
      parameters.yarn.magnitude = YarnMagnitude::deepseek;
      parameters.yarn.mscale = 0.75;
      parameters.yarn.mscale_all_dim = 1;
      parameters.yarn.extrapolation = 0.875;
      break;
    case ScalingKind::longrope:
      for (eigen_rope::Index k = 0; k < rotary_dims / 2; ++k) {
        parameters.longrope.short_factor.push_back(1);
        parameters.longrope.long_factor.push_back(random.between(1, 40));
      }
      parameters.longrope.factor = 32;
      break;
    case ScalingKind::xpos:
      powers.attention_factor = 0.9;
      parameters.xpos = {64, 0.4, 5};
      break;
    case ScalingKind::rates:
      for (eigen_rope::Index k = 0; k < rotary_dims / 2; ++k)
        parameters.rates.push_back((k % 3 == 1 ? -1 : 1) * random.between(0.01, 1.5));
      powers.attention_factor = -0.8;
      break;
  }
  return parameters;
}

const Layout& layout_for(LayoutKind kind) {
  switch (kind) {
    case LayoutKind::bsnd: return Layout::bsnd();
    case LayoutKind::bnsd: return Layout::bnsd();
    case LayoutKind::sbnd: return Layout::sbnd();
    case LayoutKind::tnd: break;
  }
  return Layout::tnd();
}

}  // namespace

std::string name_of(ScalingKind scaling) {
  switch (scaling) {
    case ScalingKind::none: return "default";
    case ScalingKind::linear: return "linear";
    case ScalingKind::factors: return "factors";
    case ScalingKind::ntk: return "ntk";
    case ScalingKind::ggml_yarn: return "ggml_yarn";
    case ScalingKind::ggml_yarn_exact: return "ggml_yarn_exact";
    case ScalingKind::llama3: return "llama3";
    case ScalingKind::proportional: return "proportional";
    case ScalingKind::dynamic: return "dynamic";
    case ScalingKind::ntk_mixed: return "ntk_mixed";
    case ScalingKind::yarn: return "yarn";
    case ScalingKind::yarn_deepseek: return "yarn_deepseek";
    case ScalingKind::longrope: return "longrope";
    case ScalingKind::xpos: return "xpos";
    case ScalingKind::rates: break;
  }
  return "rates";
}

std::string name_of(LayoutKind layout) {
  switch (layout) {
    case LayoutKind::bsnd: return "bsnd";
    case LayoutKind::bnsd: return "bnsd";
    case LayoutKind::sbnd: return "sbnd";
    case LayoutKind::tnd: break;
  }
  return "tnd";
}

ScalarType table_scalar(ScalarType scalar) {
  return scalar == ScalarType::f64 ? ScalarType::f64 : ScalarType::f32;
}

Frequencies Problem::frequencies() const {
  switch (at.scaling) {
    case ScalingKind::none:
    case ScalingKind::linear:
    case ScalingKind::factors:
    case ScalingKind::ntk:
    case ScalingKind::xpos: return Frequencies::powers(stretched_powers(at.scaling, parameters));
    case ScalingKind::proportional: return Frequencies(parameters.powers, parameters.proportional);
    case ScalingKind::dynamic:
      return Frequencies(parameters.powers, parameters.dynamic, sequence_length);
    case ScalingKind::ntk_mixed: return Frequencies(parameters.powers, parameters.ntk);
    case ScalingKind::yarn:
    case ScalingKind::yarn_deepseek: return Frequencies(parameters.powers, parameters.yarn);
    case ScalingKind::longrope:
      return Frequencies(parameters.powers, parameters.longrope, sequence_length);
    case ScalingKind::ggml_yarn:
    case ScalingKind::ggml_yarn_exact: return Frequencies(parameters.powers, parameters.ggml_yarn);
    case ScalingKind::llama3: return Frequencies(parameters.powers, parameters.llama3);
    case ScalingKind::rates: break;
  }
  return Frequencies::explicit_rates(parameters.rates, parameters.powers.attention_factor);
}

Positions Problem::positions() const {
  if (sections) return Positions::multi_axis(ids, *sections, {batches});
  return Positions::per_batch(ids, {batches});
}

Xpos Problem::xpos() const {
  return {parameters.xpos.scale_base, parameters.xpos.gamma, parameters.xpos.center};
}

const Layout& Problem::layout() const { return layout_for(at.layout); }

Problem make_problem(const GradcheckCase& at, std::uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.at = at;
  problem.pairing = Pairing(at.pairing).with_rotary_dims(rotary_dims).with_offset(rotary_offset);
  problem.parameters = parameters_for(at.scaling, random);
  if (at.layout == LayoutKind::bsnd || at.layout == LayoutKind::sbnd)
    problem.xpos_side = XposSide::key;
  problem.heads = heads;
  problem.tokens = tokens;
  problem.batches = at.layout == LayoutKind::tnd ? 1 : batches;
  if (at.layout == LayoutKind::bnsd)
    problem.sections = Sections(SectionPattern::interleaved_hf, {8, 6, 6});
  const eigen_rope::Index position_axes = problem.sections ? problem.sections->axes() : 1;
  for (eigen_rope::Index i = 0; i < position_axes * problem.batches * tokens; ++i)
    problem.ids.push_back(std::round(random.between(-800, 800)) / 8);

  problem.shape = {features};
  eigen_rope::Index rows = 1;
  for (int axis = 0; axis < problem.layout().axes(); ++axis) {
    const AxisRole role = problem.layout()[axis];
    if (role == AxisRole::token) problem.axes.push_back({"token", tokens});
    if (role == AxisRole::batch) problem.axes.push_back({"batch", problem.batches});
    if (role == AxisRole::other) problem.axes.push_back({"head", heads});
    problem.shape.push_back(problem.axes.back().extent);
    rows *= problem.axes.back().extent;
  }
  problem.x = random.values(rows * features, at.scalar);
  problem.g = random.values(rows * features, at.scalar);
  problem.v = random.values(rows * features, at.scalar);
  const eigen_rope::Index entries = rotary_dims / 2 * tokens * problem.batches;
  problem.angle_tangent = random.values(entries, ScalarType::f32);
  problem.log_magnitude_tangent = random.values(entries, ScalarType::f32);
  return problem;
}

}  // namespace eigen_rope::tool
