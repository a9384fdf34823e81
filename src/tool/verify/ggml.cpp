// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/ggml.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "eigen_rope/operators/ggml.hpp"

namespace eigen_rope::tool {
namespace {

using ggml::Precision;

constexpr std::int64_t share_not_rounded_once = 1000;
constexpr double f32_floor = 1e-12;

struct Case {
  ScalarType type = ScalarType::f32;
  ggml::Extents ne{};
  ggml::RopeParams params{};
  bool backward = false;
  std::vector<std::int64_t> positions{};
  std::vector<double> input{}, output{};
  std::optional<double> nmse_vs_double{};
};

bool is_multi_axis(std::int32_t mode) {
  return mode == ggml::mode_mrope || mode == ggml::mode_vision || mode == ggml::mode_imrope;
}

ScalarType type_of(const Entry& entry) {
  const std::string name = entry.text("type");
  if (name == "f32") return ScalarType::f32;
  if (name == "f16") return ScalarType::f16;
  if (name == "bf16") return ScalarType::bf16;
  entry.refuse(fmt::format("\"type\" must be f32, f16 or bf16, got \"{}\"", name));
}

std::int32_t mode_of(const Entry& entry) {
  static constexpr std::pair<const char*, std::int32_t> names[] = {{"normal", ggml::mode_normal},
                                                                   {"neox", ggml::mode_neox},
                                                                   {"mrope", ggml::mode_mrope},
                                                                   {"vision", ggml::mode_vision},
                                                                   {"imrope", ggml::mode_imrope}};
  const std::int32_t mode = entry.integer32("mode");
  if (!entry.has("mode_name")) return mode;
  const std::string name = entry.text("mode_name");
  for (const auto& [known, number] : names) {
    if (name == known && mode != number)
      entry.refuse(fmt::format("\"mode\" of {} must be {}, got {}", name, number, mode));
  }
  return mode;
}

Array read_array(const GoldenIndex& index, const Entry& owner, const char* name) {
  const Entry place = owner.object(name, name);
  const std::int64_t count = place.integer("count");
  return read_span(
      index.folder(), owner, fmt::format("array \"{}\"", name),
      {place.text("file"), place.integer("offset"), place.data_type("dtype"), {count}});
}

// An array of `count` floats.
std::vector<double> read_floats(const GoldenIndex& index, const Entry& owner, const char* name,
                                std::int64_t count) {
  const Array array = read_array(index, owner, name);
  if (!scalar_type_of(array.type)) owner.refuse(fmt::format("array \"{}\" must hold floats", name));
  if (array.count != count)
    owner.refuse(
        fmt::format("array \"{}\" must have {} elements, got {}", name, count, array.count));
  return array.as_doubles();
}

std::vector<std::int64_t> read_positions(const GoldenIndex& index, const Entry& owner,
                                         std::int64_t count) {
  const Array array = read_array(index, owner, "positions");
  if (scalar_type_of(array.type)) owner.refuse("array \"positions\" must hold integers");
  if (array.count != count)
    owner.refuse(
        fmt::format("array \"positions\" must have {} elements, got {}", count, array.count));
  return array.as_integers();
}

ggml::RopeParams read_params(const GoldenIndex& index, const Entry& entry) {
  ggml::RopeParams params;
  params.n_dims = entry.integer32("n_dims");
  params.mode = mode_of(entry);
  params.n_ctx_orig = entry.integer32("n_ctx_orig");
  params.freq_base = entry.number32("freq_base");
  params.freq_scale = entry.number32("freq_scale");
  params.ext_factor = entry.number32("ext_factor");
  params.attn_factor = entry.number32("attn_factor");
  params.beta_fast = entry.number32("beta_fast");
  params.beta_slow = entry.number32("beta_slow");
  if (entry.has("n_offs")) params.n_offs = entry.integer32("n_offs");
  if (entry.has("sections")) {
    const Dims sections = entry.integers("sections");
    if (sections.size() != params.sections.size())
      entry.refuse(fmt::format("\"sections\" must have 4 lengths, got {}", sections.size()));
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (sections[i] != static_cast<std::int32_t>(sections[i]))
        entry.refuse("\"sections\" must be integers of 32 bits");
      params.sections[i] = static_cast<std::int32_t>(sections[i]);
    }
  }
  if (entry.has("freq_factors")) {
    const Array array = read_array(index, entry, "freq_factors");
    if (array.type != DataType::f32) entry.refuse("array \"freq_factors\" must hold f32");
    params.freq_factors.resize(static_cast<std::size_t>(array.count));
    if (array.count > 0)
      std::memcpy(params.freq_factors.data(), array.bytes.data(), array.bytes.size());
  }
  return params;
}

Case read_case(const GoldenIndex& index, const Entry& entry) {
  Case c;
  c.type = type_of(entry);
  const Dims ne = entry.integers("ne");
  if (ne.size() != c.ne.size())
    entry.refuse(fmt::format("\"ne\" must have 4 extents, got {}", ne.size()));
  std::copy(ne.begin(), ne.end(), c.ne.begin());
  const std::int64_t count = checked_count(entry, "\"ne\"", ne);
  const std::string direction = entry.has("direction") ? entry.text("direction") : "forward";
  if (direction != "forward" && direction != "backward") {
    entry.refuse(fmt::format("\"direction\" must be forward or backward, got \"{}\"", direction));
  }
  c.backward = direction == "backward";
  c.params = read_params(index, entry);
  c.input = read_floats(index, entry, "input", count);
  c.output = read_floats(index, entry, "output", count);
  const std::int64_t axes = is_multi_axis(c.params.mode) ? 4 : 1;
  c.positions = read_positions(index, entry, checked_count(entry, "\"positions\"", {ne[2], axes}));
  if (entry.has("nmse_vs_double")) {
    c.nmse_vs_double = entry.number("nmse_vs_double");
    if (!(*c.nmse_vs_double >= 0)) entry.refuse("\"nmse_vs_double\" must not be negative");
  }
  for (const double value : c.input) {
    if (!std::isnan(value) && round_to(c.type, value) != value) {
      entry.refuse(fmt::format("array \"input\" must hold values of type {}, got {:.17g}",
                               name_of(c.type), value));
    }
  }
  return c;
}

template <class Scalar>
std::vector<double> rotated_as(const Case& c, Precision precision) {
  std::vector<Scalar> in(c.input.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<Scalar>(c.input[i]);
  std::vector<Scalar> out(in.size());
  const ggml::Tensor dst = ggml::dense(out.data(), c.ne);
  const ggml::ConstTensor a = ggml::dense(static_cast<const Scalar*>(in.data()), c.ne);
  const ggml::Options options{precision, {}};
  const bool multi = is_multi_axis(c.params.mode);
  const auto call = multi ? (c.backward ? ggml::rope_multi_back : ggml::rope_multi)
                          : (c.backward ? ggml::rope_ext_back : ggml::rope_ext);
  call(dst, a, c.positions, c.params, options);
  return std::vector<double>(out.begin(), out.end());
}

std::vector<double> rotated(const Case& c, ScalarType type, Precision precision) {
  return eigen_rope::detail::with_scalar(
      type, [&](auto tag) { return rotated_as<typename decltype(tag)::type>(c, precision); });
}

// 1 for every element that takes part in the rotation, 0 for those that are copied.
std::vector<char> window(const Case& c) {
  const bool all = c.params.mode == ggml::mode_vision;
  const std::int64_t first = all ? 0 : c.params.n_offs;
  const std::int64_t last = all ? c.ne[0] : first + c.params.n_dims;
  std::vector<char> chosen(c.input.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto d = static_cast<std::int64_t>(i) % c.ne[0];
    chosen[i] = d >= first && d < last ? 1 : 0;
  }
  return chosen;
}

double nmse_bound(const Case& c) {
  constexpr double f16_floor = 1e-9;
  constexpr double bf16_floor =
      64 * f16_floor;  // three digits fewer than half: errors 2^3 times as large
  const double floor = c.type == ScalarType::f32   ? f32_floor
                       : c.type == ScalarType::f16 ? f16_floor
                                                   : bf16_floor;
  if (c.nmse_vs_double) return floor + 1.5 * *c.nmse_vs_double;
  const double of_exact = 8 * half_unit(ScalarType::f32);
  return c.type == ScalarType::f32 ? of_exact * of_exact : floor;
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Elements outside the window: the input's in my answer and in the recording.
void check_copies(Check& check, const Case& c, const std::vector<double>& mine,
                  const std::vector<char>& chosen) {
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (chosen[i] || (same_bits(mine[i], c.input[i]) && same_bits(mine[i], c.output[i]))) continue;
    check.problem = fmt::format(
        "element {} lies outside the rotated dims: input {:.17g}, mine {:.17g}, stored {:.17g}", i,
        c.input[i], mine[i], c.output[i]);
    return;
  }
}

Check check_nmse(const Case& c, double bound, const std::vector<double>& mine,
                 const std::vector<char>& chosen) {
  const Nmse distance = nmse(mine, c.output, chosen);
  Check check;
  check.error = distance.value;
  check.bound = bound;
  check.ratio = ratio_of(check.error, check.bound);
  check.element = distance.worst;
  if (!mine.empty()) {
    check.mine = mine[static_cast<std::size_t>(distance.worst)];
    check.stored = c.output[static_cast<std::size_t>(distance.worst)];
  }
  return check;
}

// Element by element against the recording.
Check check_units(const Case& c, const std::vector<double>& mine, const std::vector<char>& chosen) {
  double largest = 0;
  for (const double value : c.output) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  Bounds bounds{c.type, c.output, std::vector<double>(mine.size())};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const double unit = std::max(unit_at(c.type, mine[i]), unit_at(c.type, c.output[i]));
    bounds.allowed[i] = std::max(unit, 4 * half_unit(ScalarType::f32) * largest);
  }
  Check check = compare(mine, c.output, bounds);
  count_unequal(check, mine, c.output, share_not_rounded_once, chosen);
  return check;
}

Check check_case(const Case& c, Precision precision) {
  const std::vector<double> mine = rotated(c, c.type, precision);
  const std::vector<char> chosen = window(c);
  const bool exact = precision == Precision::exact;
  const bool narrow = c.type != ScalarType::f32;
  Check check = exact    ? check_nmse(c, nmse_bound(c), mine, chosen)
                : narrow ? check_units(c, mine, chosen)
                         : check_nmse(c, f32_floor, mine, chosen);
  check.policy = exact ? "exact" : "float-recurrence";
  check.output = "output";
  check_copies(check, c, mine, chosen);
  if (exact && narrow) {
    std::vector<double> once = rotated(c, ScalarType::f64, precision);
    for (double& value : once) value = round_to(c.type, value);
    count_unequal(check, mine, once, share_not_rounded_once, chosen);
  }
  return check;
}

}  // namespace

bool is_ggml(const GoldenIndex& index) {
  const Json& content = index.content;
  if (content.is_object() && content.contains("source") && content["source"].is_string() &&
      content["source"].get<std::string>().find("ggml") != std::string::npos) {
    return true;
  }
  const Json& first = index.cases()[0];
  return first.is_object() && first.contains("n_dims") && first.contains("ne");
}

void verify_ggml(Report& report, const GoldenIndex& index, PrecisionChoice precision) {
  for (std::size_t i = 0; i < index.cases().size(); ++i) {
    const Entry entry = index.entry(i);
    const Case c = read_case(index, entry);
    CaseResult result = run_case(index, entry, [&] {
      std::vector<Check> checks;
      if (precision != PrecisionChoice::float_recurrence)
        checks.push_back(check_case(c, Precision::exact));
      if (precision != PrecisionChoice::exact)
        checks.push_back(check_case(c, Precision::float_recurrence));
      return checks;
    });
    result.name = entry.has("id") ? fmt::format("{}", entry.integer("id")) : fmt::format("{}", i);
    result.group = entry.text("group");
    report.cases.push_back(std::move(result));
  }
}

}  // namespace eigen_rope::tool
