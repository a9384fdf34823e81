// SPDX-License-Identifier: Apache-2.0
#include "tool/gradcheck/problem.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "tool/verify/comparison.hpp"

namespace eigen_rope::tool {
namespace {

constexpr eigen_rope::Index features = 46, rotary_dims = 40, rotary_offset = 3;
constexpr eigen_rope::Index drawn_heads = 3, drawn_tokens = 3, drawn_batches = 2;

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

/// One number per pair.
std::vector<double> per_pair(Random& random, double low, double high) {
  std::vector<double> numbers;
  numbers.reserve(rotary_dims / 2);
  for (eigen_rope::Index k = 0; k < rotary_dims / 2; ++k)
    numbers.push_back(random.between(low, high));
  return numbers;
}

/// A name of --scaling, and what its problems have for it.
struct ScalingCase {
  std::string name;
  std::function<void(Problem& problem, Random& random)> set;
};

auto find_case(const std::vector<ScalingCase>& cases, const std::string& name) {
  return std::find_if(cases.begin(), cases.end(),
                      [&](const ScalingCase& each) { return each.name == name; });
}

/// A scaling whose real parameters are near their defaults, and none of them is 0.
template <class OneScaling>
OneScaling drawn(Random& random) {
  OneScaling scaling;
  for (const auto& [name, numbers, is_list] : numbers_of<double>(scaling)) {
    for (double* number : numbers)
      *number = *number == 0 ? random.between(0.25, 0.75) : *number * random.between(1.125, 1.875);
  }
  return scaling;
}

template <std::size_t... i>
void add_drawn(std::vector<ScalingCase>& cases, std::index_sequence<i...> /*alternatives*/) {
  const auto add = [&](auto index) {
    using OneScaling = std::variant_alternative_t<index, Scaling>;
    if (find_case(cases, OneScaling::name) != cases.end()) return;
    cases.push_back({OneScaling::name, [](Problem& problem, Random& random) {
                       problem.scaling = drawn<OneScaling>(random);
                     }});
  };
  (add(std::integral_constant<std::size_t, i>()), ...);
}

std::vector<ScalingCase> make_scaling_cases() {
  std::vector<ScalingCase> cases{
      {"default", [](Problem& /*problem*/, Random& /*random*/) {}},
      {"factors",
       [](Problem& problem, Random& random) {
         problem.powers.factors = per_pair(random, 0.75, 4);
         problem.powers.attention_factor = 1.19;
       }},
      {"ntk_base", [](Problem& problem, Random& /*random*/) { problem.beside.ntk_factor = 4; }},
      {"proportional",
       [](Problem& problem, Random& /*random*/) {
         problem.powers.linear_scale = 0.25;
         problem.scaling = Proportional<>(2.5, 13);
       }},
      {"ggml_yarn",
       [](Problem& problem, Random& /*random*/) {
         problem.powers.linear_scale = 0.25;
         problem.powers.attention_factor = 0.9;
         problem.scaling = GgmlYarn<>(0.75, 4096, 32.0, 1.0, RampEnds::rounded);
       }},
      {"ggml_yarn_exact",
       [](Problem& problem, Random& /*random*/) {
         problem.powers.base = 150000;
         problem.powers.linear_scale = 0.125;
         problem.scaling = GgmlYarn<>(1.0, 4096, 32.0, 1.0, RampEnds::exact);
       }},
      {"yarn",
       [](Problem& problem, Random& /*random*/) {
         Yarn<> yarn;
         yarn.factor = 4;
         yarn.original_context = 4096;
         yarn.mscale = 1;
         yarn.mscale_all_dim = 0.5;
         problem.scaling = yarn;
       }},
      {"yarn_deepseek",
       [](Problem& problem, Random& /*random*/) {
         Yarn<> yarn;
         yarn.factor = 40;
         yarn.original_context = 4096;
         yarn.ends = RampEnds::exact;
         yarn.magnitude = YarnMagnitude::deepseek;
         yarn.mscale = 0.75;
         yarn.mscale_all_dim = 1;
         yarn.extrapolation = 0.875;
         problem.scaling = yarn;
       }},
      {"longrope",
       [](Problem& problem, Random& random) {
         LongRope<> longrope;
         longrope.short_factor.assign(rotary_dims / 2, 1);
         longrope.long_factor = per_pair(random, 1, 40);
         longrope.factor = 32;
         problem.scaling = longrope;
       }},
      {"xpos",
       [](Problem& problem, Random& /*random*/) {
         problem.powers.attention_factor = 0.9;
         problem.beside.xpos_scale_base = 64;
         problem.beside.xpos_gamma = 0.4;
         problem.beside.xpos_center = 5;
       }},
      {"rates",
       [](Problem& problem, Random& random) {
         problem.rates = per_pair(random, 0.01, 1.5);
         for (std::size_t k = 1; k < problem.rates.size(); k += 3) problem.rates[k] *= -1;
         problem.powers.attention_factor = -0.8;
       }},
  };
  add_drawn(cases, std::make_index_sequence<std::variant_size_v<Scaling>>());
  return cases;
}

/// Those whose parameters have to be chosen, and every other one of the library's scalings.
const std::vector<ScalingCase>& scaling_cases() {
  static const std::vector<ScalingCase> cases = make_scaling_cases();
  return cases;
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

std::vector<std::string> all_scalings() {
  std::vector<std::string> names;
  for (const ScalingCase& scaling : scaling_cases()) names.push_back(scaling.name);
  return names;
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
  if (!rates.empty()) return Frequencies::explicit_rates(rates, powers.attention_factor);
  return Frequencies(stretched(powers, beside), scaling, sequence_length);
}

Positions Problem::positions() const {
  if (sections) return Positions::multi_axis(ids, *sections, {batches});
  return Positions::per_batch(ids, {batches});
}

Xpos Problem::xpos() const {
  return {*beside.xpos_scale_base, *beside.xpos_gamma, *beside.xpos_center};
}

const Layout& Problem::layout() const { return layout_for(at.layout); }

Problem make_problem(const GradcheckCase& at, std::uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.at = at;
  problem.pairing = Pairing(at.pairing).with_rotary_dims(rotary_dims).with_offset(rotary_offset);
  problem.powers.rotary_dims = rotary_dims;
  const auto scaling = find_case(scaling_cases(), at.scaling);
  if (scaling == scaling_cases().end())
    detail::fail("scaling must be one of gradcheck's", at.scaling);
  scaling->set(problem, random);
  if (at.layout == LayoutKind::bsnd || at.layout == LayoutKind::sbnd)
    problem.xpos_side = XposSide::key;
  problem.heads = drawn_heads;
  problem.tokens = drawn_tokens;
  problem.batches = at.layout == LayoutKind::tnd ? 1 : drawn_batches;
  if (at.layout == LayoutKind::bnsd)
    problem.sections = Sections(SectionPattern::interleaved_hf, {8, 6, 6});
  const eigen_rope::Index position_axes = problem.sections ? problem.sections->axes() : 1;
  for (eigen_rope::Index i = 0; i < position_axes * problem.batches * drawn_tokens; ++i)
    problem.ids.push_back(std::round(random.between(-800, 800)) / 8);

  problem.shape = {features};
  eigen_rope::Index rows = 1;
  for (int axis = 0; axis < problem.layout().axes(); ++axis) {
    const AxisRole role = problem.layout()[axis];
    if (role == AxisRole::token) problem.axes.push_back({"token", drawn_tokens});
    if (role == AxisRole::batch) problem.axes.push_back({"batch", problem.batches});
    if (role == AxisRole::other) problem.axes.push_back({"head", drawn_heads});
    problem.shape.push_back(problem.axes.back().extent);
    rows *= problem.axes.back().extent;
  }
  problem.x = random.values(rows * features, at.scalar);
  problem.g = random.values(rows * features, at.scalar);
  problem.v = random.values(rows * features, at.scalar);
  const eigen_rope::Index entries = rotary_dims / 2 * drawn_tokens * problem.batches;
  problem.angle_tangent = random.values(entries, ScalarType::f32);
  problem.log_magnitude_tangent = random.values(entries, ScalarType::f32);
  return problem;
}

}  // namespace eigen_rope::tool
