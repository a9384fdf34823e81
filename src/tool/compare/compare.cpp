// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"
#include "tool/inspect/layer_kinds.hpp"
#include "tool/inspect/scaling_fields.hpp"

namespace eigen_rope::tool {
namespace {

/// Names and values, in order.
using Values = std::vector<std::pair<std::string, std::string>>;

/// Every digit, so that values which differ look different.
template <class Value>
std::string exact_text(const Value& value) {
  if constexpr (std::is_same_v<Value, double>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
    return value ? fmt::format("{}", *value) : "none";
  } else if constexpr (std::is_same_v<Value, std::vector<double>> ||
                       std::is_same_v<Value, std::vector<eigen_rope::Index>>) {
    return value.empty() ? "none" : detail::joined(value, " ");
  } else {
    return text_of_field(value);
  }
}

template <class Object>
Values values_of(const Object& object, const std::string& prefix) {
  Values values;
  object.for_each_parameter(
      [&](const char* name, const auto& value) {
        values.emplace_back(prefix + name, exact_text(value));
      },
      object);
  return values;
}

/// Adds to what decides and to the remarks, of one kind of layer or of the model.
class Findings {
 public:
  Findings(Comparison& comparison, std::string layer_type)
      : all_(comparison), layer_type_(std::move(layer_type)) {}

  void differ(const std::string& name, const std::string& a, const std::string& b,
              const std::string& note = "") {
    all_.differences.push_back({layer_type_, name, a, b, note});
  }
  void remark(const std::string& name, const std::string& a, const std::string& b) {
    if (a != b) all_.remarks.push_back({layer_type_, name, a, b, ""});
  }
  void remark_known(const std::string& name, eigen_rope::Index a, eigen_rope::Index b) {
    if (a != 0 && b != 0) remark(name, fmt::format("{}", a), fmt::format("{}", b));
  }
  /// Everything a has and everything b has.
  void remark(const Values& a, const Values& b) {
    const auto find = [](const Values& values, const std::string& name) {
      const auto found = std::find_if(values.begin(), values.end(),
                                      [&](const auto& one) { return one.first == name; });
      return found == values.end() ? std::string("-") : found->second;
    };
    for (const auto& [name, value] : a) remark(name, value, find(b, name));
    for (const auto& [name, value] : b) {
      if (find(a, name) == "-") remark(name, "-", value);
    }
  }
  void size(const std::string& name, eigen_rope::Index a, eigen_rope::Index b) {
    if (a != b) differ(name, fmt::format("{}", a), fmt::format("{}", b));
  }
  /// Factors, compared as ratios.
  void factor(const std::string& name, DoubleDouble a, DoubleDouble b) {
    const std::string text_a = exact_text(static_cast<double>(a)),
                      text_b = exact_text(static_cast<double>(b));
    const double apart = static_cast<double>(a) == static_cast<double>(b)
                             ? 0
                             : std::fabs(static_cast<double>(b / a) - 1);
    if (apart <= all_.tolerance) return remark(name, text_a, text_b);
    differ(name, text_a, text_b, fmt::format("by a factor {:.6g}", static_cast<double>(b / a)));
  }

 private:
  Comparison& all_;
  std::string layer_type_;
};

std::string text_of(const Pairing& pairing) {
  const eigen_rope::Index offset = pairing.offset();
  return std::string(name_of(pairing.kind())) +
         (offset == 0 ? "" : fmt::format(" from element {}", offset));
}

std::string text_of(const std::optional<Sections>& sections) {
  if (!sections) return "none";
  return fmt::format("{} {}", name_of(sections->pattern()),
                     detail::joined(sections->lengths(), " "));
}

Values scaling_values(const Scaling& scaling) {
  return std::visit([](const auto& one) { return values_of(one, "scaling."); }, scaling);
}

/// Whether the row is nothing but what rotates: the part that latent attention splits off.
bool is_rotated_part(const models::LayerRope& layer) {
  return layer.head_dims == layer.powers.rotary_dims &&
         (!layer.pairing || layer.pairing->offset() == 0);
}

/// Whether what rotates is the last part of a wider row.
bool rotates_the_end(const models::LayerRope& layer) {
  return layer.pairing && layer.pairing->offset() > 0 &&
         layer.pairing->offset() + layer.powers.rotary_dims == layer.head_dims;
}

/// Head dims, rotary dims and where they begin. Of latent attention one reader gives the rotated
/// part, the other the head that ends in it.
void compare_sizes(Findings& findings, const models::LayerRope& a, const models::LayerRope& b) {
  findings.size("rotary_dims", a.powers.rotary_dims, b.powers.rotary_dims);
  const bool same_part =
      a.powers.rotary_dims == b.powers.rotary_dims &&
      ((is_rotated_part(a) && rotates_the_end(b)) || (is_rotated_part(b) && rotates_the_end(a)));
  if (same_part)
    return findings.remark("head_dims", exact_text(a.head_dims), exact_text(b.head_dims));
  findings.size("head_dims", a.head_dims, b.head_dims);
  if (a.pairing && b.pairing)
    findings.size("first rotated element", a.pairing->offset(), b.pairing->offset());
}

/// The axis of each pair decides, not the words for it: Hugging Face and ggml interleave in
/// different terms.
void compare_sections(Findings& findings, const LayerInspection& a, const LayerInspection& b) {
  const std::size_t pairs = std::min(a.pairs.size(), b.pairs.size());
  const std::string text_a = text_of(a.layer.sections), text_b = text_of(b.layer.sections);
  for (std::size_t k = 0; k < pairs; ++k) {
    if (a.pairs[k].axis == b.pairs[k].axis) continue;
    return findings.differ(
        "sections", text_a, text_b,
        fmt::format("pair {} takes axis {} and {}", k, a.pairs[k].axis, b.pairs[k].axis));
  }
  findings.remark("sections", text_a, text_b);
}

void compare_values(Findings& findings, const LayerComparison& layer, double tolerance) {
  const LayerInspection &a = layer.a, &b = layer.b;
  if (layer.worst.radians > tolerance) {
    const auto pair = static_cast<std::size_t>(layer.worst.pair);
    const bool shorter = layer.worst_length < layer.angles.back().position + 1;
    const auto rate_of = [&](const LayerInspection& one) {
      return fmt::format(
          "{:.9g}", static_cast<double>(one.layer.frequencies(layer.worst_length).rates()[pair]));
    };
    findings.differ(
        fmt::format("rate of pair {}", pair), rate_of(a), rate_of(b),
        fmt::format("{:.6g} rad apart at position {}{}", layer.worst.radians, layer.worst.position,
                    shorter ? fmt::format(" of {} tokens", layer.worst_length) : ""));
  }
  findings.factor("m", a.attention_factor, b.attention_factor);
  findings.factor("softmax_multiplier", a.layer.softmax_multiplier, b.layer.softmax_multiplier);
  compare_sizes(findings, a.layer, b.layer);
  compare_sections(findings, a, b);
  Values powers_a = values_of(a.layer.powers, ""), powers_b = values_of(b.layer.powers, "");
  const auto is_size = [](const auto& value) { return value.first == "rotary_dims"; };
  powers_a.erase(std::remove_if(powers_a.begin(), powers_a.end(), is_size), powers_a.end());
  powers_b.erase(std::remove_if(powers_b.begin(), powers_b.end(), is_size), powers_b.end());
  findings.remark(powers_a, powers_b);
  findings.remark("scaling", type_name_of(a.layer.scaling), type_name_of(b.layer.scaling));
  findings.remark(scaling_values(a.layer.scaling), scaling_values(b.layer.scaling));
  if (a.layer.pairing && b.layer.pairing)
    findings.remark("pairing", text_of(*a.layer.pairing), text_of(*b.layer.pairing));
}

DoubleDouble distance(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble difference = b - a;
  if (std::fabs(difference.high) <= 0x1p-90 * std::max(std::fabs(a.high), std::fabs(b.high)))
    return 0;
  return difference.high < 0 ? -difference : difference;
}

double ratio(DoubleDouble a, DoubleDouble b) {
  if (a.high != 0) return static_cast<double>(b / a);
  return b.high == 0 ? 1 : std::copysign(std::numeric_limits<double>::infinity(), b.high);
}

/// Lengths below this one at which rates that depend on the length are others.
std::vector<eigen_rope::Index> shorter_lengths(const models::LayerRope& a,
                                               const models::LayerRope& b,
                                               eigen_rope::Index length) {
  std::vector<eigen_rope::Index> lengths;
  for (const models::LayerRope* layer : {&a, &b}) {
    const eigen_rope::Index original = original_context(layer->scaling).value_or(0);
    if (depends_on_length(layer->scaling) && original > 1 && original < length)
      lengths.push_back(original);
  }
  return lengths;
}

void look_for_worse(LayerComparison& layer, eigen_rope::Index length) {
  const Frequencies a = layer.a.layer.frequencies(length), b = layer.b.layer.frequencies(length);
  for (std::size_t k = 0; k < layer.rate_differences.size(); ++k) {
    const auto radians = static_cast<double>(DoubleDouble::from_integer(length - 1) *
                                             distance(a.rates()[k], b.rates()[k]));
    if (radians <= layer.worst.radians) continue;
    layer.worst = {length - 1, static_cast<eigen_rope::Index>(k), radians};
    layer.worst_length = length;
  }
}

LayerComparison compare_layers(const LayerInspection& a, const LayerInspection& b,
                               eigen_rope::Index length) {
  LayerComparison result;
  result.a = a;
  result.b = b;
  result.layer_type = a.layer.layer_type;
  if (result.layer_type.empty()) {
    result.layer_type = b.layer.layer_type;
  } else if (!b.layer.layer_type.empty() && b.layer.layer_type != a.layer.layer_type) {
    result.layer_type += " / " + b.layer.layer_type;
  }
  const std::size_t pairs = std::min(a.pairs.size(), b.pairs.size());
  for (std::size_t k = 0; k < pairs; ++k) {
    result.rate_differences.push_back(distance(a.pairs[k].rate, b.pairs[k].rate));
    result.ratios.push_back(ratio(a.pairs[k].rate, b.pairs[k].rate));
  }
  const auto widest =
      std::max_element(result.rate_differences.begin(), result.rate_differences.end());
  result.widest = widest - result.rate_differences.begin();
  const auto difference_at = [&](eigen_rope::Index position) {
    return static_cast<double>(DoubleDouble::from_integer(position) * *widest);
  };
  std::vector<eigen_rope::Index> positions;
  for (eigen_rope::Index position = 1; position < length; position *= 2) {
    positions.push_back(position);
    if (position > length / 2) break;
  }
  if (length > 1 && positions.back() != length - 1) positions.push_back(length - 1);
  for (const eigen_rope::Index position : positions)
    result.angles.push_back({position, result.widest, difference_at(position)});
  if (length > 1 && difference_at(length - 1) > apart_radians) {
    eigen_rope::Index together = 0, apart = length - 1;
    while (apart - together > 1) {
      const eigen_rope::Index middle = together + (apart - together) / 2;
      (difference_at(middle) > apart_radians ? apart : together) = middle;
    }
    result.first_apart = apart;
  }
  result.worst_length = length;
  if (!result.angles.empty()) result.worst = result.angles.back();
  for (const eigen_rope::Index shorter : shorter_lengths(a.layer, b.layer, length))
    look_for_worse(result, shorter);
  return result;
}

bool has_layer_type(const models::ModelRope& model, const std::string& type) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [&](const models::LayerRope& layer) { return layer.layer_type == type; });
}

/// A model that has no such layers because it has only one kind is taken whole.
Inspection inspect_one(const Operand& operand, const InspectOptions& options) {
  InspectOptions own = options;
  if (operand.model.layers.size() < 2 && !has_layer_type(operand.model, options.layer_type))
    own.layer_type.clear();
  return inspect(operand.model, own);
}

class Comparer {
 public:
  Comparer(Comparison& result, const Operand& a, const Operand& b, const InspectOptions& options)
      : result_(result), a_(a), b_(b), options_(options) {}

  void compare_layer_by_layer(const std::vector<int>& kinds_a, const std::vector<int>& kinds_b) {
    const InspectOptions all{options_.length, ""};
    const Inspection a = inspect(a_.model, all), b = inspect(b_.model, all);
    std::map<std::pair<int, int>, std::vector<eigen_rope::Index>> groups;
    std::vector<eigen_rope::Index> only_a, only_b;
    for (std::size_t i = 0; i < std::max(kinds_a.size(), kinds_b.size()); ++i) {
      const int kind_a = i < kinds_a.size() ? kinds_a[i] : not_rotated,
                kind_b = i < kinds_b.size() ? kinds_b[i] : not_rotated;
      if (!is_asked_for(a, kind_a) && !is_asked_for(b, kind_b)) continue;
      const auto layer = static_cast<eigen_rope::Index>(i);
      if (kind_a != not_rotated && kind_b != not_rotated) groups[{kind_a, kind_b}].push_back(layer);
      if (kind_a != not_rotated && kind_b == not_rotated) only_a.push_back(layer);
      if (kind_a == not_rotated && kind_b != not_rotated) only_b.push_back(layer);
    }
    Findings of_model(result_, "");
    const auto alone = [](const std::vector<eigen_rope::Index>& layers) {
      return layers.empty() ? std::string("-") : text_of_numbers(layers);
    };
    if (!only_a.empty() || !only_b.empty())
      of_model.differ("layers rotated in one only", alone(only_a), alone(only_b));
    for (auto& [kinds, layers] : groups) {
      match(a.layers[static_cast<std::size_t>(kinds.first)],
            b.layers[static_cast<std::size_t>(kinds.second)], std::move(layers));
    }
  }

  /// Where one of the two does not say which layers its kinds are.
  void compare_kinds() {
    const Inspection a = inspect_one(a_, options_), b = inspect_one(b_, options_);
    if (a.layers.size() == 1 || b.layers.size() == 1) {
      for (const LayerInspection& one : a.layers) {
        for (const LayerInspection& other : b.layers) match(one, other, {});
      }
    }
    const bool by_name = a.layers.size() != 1 && b.layers.size() != 1;
    const auto find = [](const Inspection& in, const LayerInspection& layer) {
      const auto has_its_name = [&](const LayerInspection& one) {
        return one.layer.layer_type == layer.layer.layer_type;
      };
      return std::find_if(in.layers.begin(), in.layers.end(), has_its_name);
    };
    const auto alone = [&](const LayerInspection& layer, bool is_a) {
      const std::string type = type_name_of(layer.layer.scaling);
      Findings(result_, layer.layer.layer_type)
          .differ("layers of this type", is_a ? type : "-", is_a ? "-" : type);
    };
    for (const LayerInspection& one : a.layers) {
      const auto other = find(b, one);
      if (by_name && other != b.layers.end()) match(one, *other, {});
      if (b.layers.empty() || (by_name && other == b.layers.end())) alone(one, true);
    }
    for (const LayerInspection& other : b.layers) {
      if (a.layers.empty() || (by_name && find(a, other) == a.layers.end())) alone(other, false);
    }
  }

 private:
  bool is_asked_for(const Inspection& model, int kind) const {
    return options_.layer_type.empty() ||
           (kind != not_rotated &&
            model.layers[static_cast<std::size_t>(kind)].layer.layer_type == options_.layer_type);
  }

  void match(const LayerInspection& one, const LayerInspection& other,
             std::vector<eigen_rope::Index> layers) {
    LayerComparison layer = compare_layers(one, other, result_.length);
    layer.layers = std::move(layers);
    Findings findings(result_, layer.layer_type);
    compare_values(findings, layer, result_.tolerance);
    for (const eigen_rope::Index shorter :
         shorter_lengths(one.layer, other.layer, result_.length)) {
      const DoubleDouble m_a = one.layer.frequencies(shorter).attention_factor(),
                         m_b = other.layer.frequencies(shorter).attention_factor();
      if (m_a != one.attention_factor || m_b != other.attention_factor)
        findings.factor(fmt::format("m of {} tokens", shorter), m_a, m_b);
    }
    result_.layers.push_back(std::move(layer));
  }

  Comparison& result_;
  const Operand &a_, &b_;
  const InspectOptions& options_;
};

/// Where the other one says it.
std::string silent_about_layers(const Operand& operand, const char* which) {
  // A scaling from the command line is its own name, and has no layers.
  if (operand.model.architecture == operand.name) return "";
  return fmt::format(
      "{} does not say which of its layers rotate: kinds of layers are compared, not layers",
      which);
}

}  // namespace

Comparison compare(const Operand& a, const Operand& b, const InspectOptions& options,
                   double tolerance) {
  if (!(tolerance >= 0 && std::isfinite(tolerance)))
    detail::fail("--tolerance must be a number from 0", tolerance);
  if (!options.layer_type.empty() && !has_layer_type(a.model, options.layer_type) &&
      !has_layer_type(b.model, options.layer_type))
    detail::fail("--layer must be a type of layer that one of the two has",
                 std::string_view(options.layer_type));
  InspectOptions common = options;
  if (common.length == 0) common.length = std::max(a.model.context, b.model.context);
  if (common.length == 0) detail::fail("neither says for how many tokens it is: give --context");
  Comparison result;
  result.name_a = a.name;
  result.name_b = b.name;
  result.length = common.length;
  result.tolerance = tolerance;
  for (const std::string& warning : a.model.warnings) result.warnings.push_back("a: " + warning);
  for (const std::string& warning : b.model.warnings) result.warnings.push_back("b: " + warning);
  Findings of_model(result, "");
  // A scaling from the command line is its own name, which says nothing of an architecture.
  const bool both_said = a.model.architecture != a.name && b.model.architecture != b.name;
  if (both_said) of_model.remark("architecture", a.model.architecture, b.model.architecture);
  of_model.remark_known("context", a.model.context, b.model.context);
  of_model.remark_known("layer_count", a.model.layer_count, b.model.layer_count);
  of_model.remark_known("heads", a.model.heads, b.model.heads);
  of_model.remark_known("key_heads", a.model.key_heads, b.model.key_heads);
  const std::optional<std::vector<int>> kinds_a = kinds_of_layers(a.model),
                                        kinds_b = kinds_of_layers(b.model);
  Comparer comparer(result, a, b, common);
  if (kinds_a && kinds_b) {
    comparer.compare_layer_by_layer(*kinds_a, *kinds_b);
  } else {
    comparer.compare_kinds();
    const std::string note = kinds_a   ? silent_about_layers(b, "b")
                             : kinds_b ? silent_about_layers(a, "a")
                                       : "";
    if (!note.empty()) result.notes.push_back(note);
  }
  return result;
}

}  // namespace eigen_rope::tool
