// SPDX-License-Identifier: Apache-2.0
#include "compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "rope/error.hpp"
#include "scaling_fields.hpp"

namespace rope::tool {
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
  } else if constexpr (std::is_same_v<Value, std::vector<double>> || std::is_same_v<Value, std::vector<rope::Index>>) {
    return value.empty() ? "none" : fmt::format("{}", fmt::join(value.begin(), value.end(), " "));
  } else {
    return text_of_field(value);
  }
}

template <class Object>
Values values_of(const Object& object, const std::string& prefix) {
  Values values;
  for_each_field(object, [&](const char* name, const auto& value) { values.emplace_back(prefix + name, exact_text(value)); });
  return values;
}

class Differences {
 public:
  Differences(std::vector<Difference>& all, std::string layer_type) : all_(all), layer_type_(std::move(layer_type)) {}

  void add(const std::string& name, const std::string& a, const std::string& b) {
    if (a != b) all_.push_back({layer_type_, name, a, b});
  }
  void add_known(const std::string& name, rope::Index a, rope::Index b) {
    if (a != 0 && b != 0) add(name, fmt::format("{}", a), fmt::format("{}", b));
  }
  /// Everything a has and everything b has.
  void add(const Values& a, const Values& b) {
    const auto find = [](const Values& values, const std::string& name) {
      const auto found = std::find_if(values.begin(), values.end(), [&](const auto& one) { return one.first == name; });
      return found == values.end() ? std::string("-") : found->second;
    };
    for (const auto& [name, value] : a) add(name, value, find(b, name));
    for (const auto& [name, value] : b) {
      if (find(a, name) == "-") add(name, "-", value);
    }
  }

 private:
  std::vector<Difference>& all_;
  std::string layer_type_;
};

std::string text_of(const Pairing& pairing) {
  const rope::Index offset = pairing.offset();
  return std::string(name_of_value(pairing.kind())) + (offset == 0 ? "" : fmt::format(" from element {}", offset));
}

std::string text_of(const std::optional<Sections>& sections) {
  if (!sections) return "none";
  return fmt::format("{} {}", name_of_value(sections->pattern()), fmt::join(sections->lengths().begin(), sections->lengths().end(), " "));
}

Values scaling_values(const Scaling& scaling) {
  return std::visit([](const auto& one) { return values_of(one, "scaling."); }, scaling);
}

void add_layer_differences(Differences& differences, const LayerInspection& a, const LayerInspection& b) {
  if (!a.layer.layers.empty() && !b.layer.layers.empty()) differences.add("layers", exact_text(a.layer.layers), exact_text(b.layer.layers));
  differences.add("head_dims", exact_text(a.layer.head_dims), exact_text(b.layer.head_dims));
  differences.add(values_of(a.layer.powers, ""), values_of(b.layer.powers, ""));
  differences.add("scaling", type_name_of(a.layer.scaling), type_name_of(b.layer.scaling));
  differences.add(scaling_values(a.layer.scaling), scaling_values(b.layer.scaling));
  differences.add("m", exact_text(static_cast<double>(a.attention_factor)), exact_text(static_cast<double>(b.attention_factor)));
  differences.add("softmax_multiplier", exact_text(a.layer.softmax_multiplier), exact_text(b.layer.softmax_multiplier));
  if (a.layer.pairing && b.layer.pairing) differences.add("pairing", text_of(*a.layer.pairing), text_of(*b.layer.pairing));
  differences.add("sections", text_of(a.layer.sections), text_of(b.layer.sections));
}

DoubleDouble distance(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble difference = b - a;
  if (std::fabs(difference.high) <= 0x1p-90 * std::max(std::fabs(a.high), std::fabs(b.high))) return 0;
  return difference.high < 0 ? -difference : difference;
}

double ratio(DoubleDouble a, DoubleDouble b) {
  if (a.high != 0) return static_cast<double>(b / a);
  return b.high == 0 ? 1 : std::copysign(std::numeric_limits<double>::infinity(), b.high);
}

LayerComparison compare_layers(const LayerInspection& a, const LayerInspection& b, rope::Index length) {
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
  const auto less = [](DoubleDouble x, DoubleDouble y) { return x.high < y.high || (x.high == y.high && x.low < y.low); };
  const auto widest = std::max_element(result.rate_differences.begin(), result.rate_differences.end(), less);
  result.widest = widest - result.rate_differences.begin();
  const auto difference_at = [&](rope::Index position) { return static_cast<double>(from_integer(position) * *widest); };
  std::vector<rope::Index> positions;
  for (rope::Index position = 1; position < length; position *= 2) {
    positions.push_back(position);
    if (position > length / 2) break;
  }
  if (length > 1 && positions.back() != length - 1) positions.push_back(length - 1);
  for (const rope::Index position : positions) result.angles.push_back({position, result.widest, difference_at(position)});
  if (length > 1 && difference_at(length - 1) > apart_radians) {
    rope::Index together = 0, apart = length - 1;
    while (apart - together > 1) {
      const rope::Index middle = together + (apart - together) / 2;
      (difference_at(middle) > apart_radians ? apart : together) = middle;
    }
    result.first_apart = apart;
  }
  return result;
}

bool has_layer_type(const models::ModelRope& model, const std::string& type) {
  return std::any_of(model.layers.begin(), model.layers.end(), [&](const models::LayerRope& layer) { return layer.layer_type == type; });
}

/// A model that has no such layers because it has only one kind is taken whole.
Inspection inspect_one(const Operand& operand, const InspectOptions& options) {
  InspectOptions own = options;
  if (operand.model.layers.size() == 1 && !has_layer_type(operand.model, options.layer_type)) own.layer_type.clear();
  return inspect(operand.model, own);
}

/// Calls match(a, b) for kinds of layers that belong together, and alone(layer, is_a) for those that have no counterpart.
void match_layers(const Inspection& a, const Inspection& b,
                  const std::function<void(const LayerInspection&, const LayerInspection&)>& match,
                  const std::function<void(const LayerInspection&, bool)>& alone) {
  if (a.layers.size() == 1 || b.layers.size() == 1) {
    for (const LayerInspection& one : a.layers) {
      for (const LayerInspection& other : b.layers) match(one, other);
    }
    return;
  }
  const auto find = [](const Inspection& in, const LayerInspection& layer) {
    return std::find_if(in.layers.begin(), in.layers.end(),
                        [&](const LayerInspection& one) { return one.layer.layer_type == layer.layer.layer_type; });
  };
  for (const LayerInspection& one : a.layers) {
    const auto other = find(b, one);
    other == b.layers.end() ? alone(one, true) : match(one, *other);
  }
  for (const LayerInspection& other : b.layers) {
    if (find(a, other) == a.layers.end()) alone(other, false);
  }
}

}  // namespace

Comparison compare(const Operand& a, const Operand& b, const InspectOptions& options) {
  if (!options.layer_type.empty() && !has_layer_type(a.model, options.layer_type) && !has_layer_type(b.model, options.layer_type))
    detail::fail("--layer must be a type of layer that one of the two has", std::string_view(options.layer_type));
  InspectOptions common = options;
  if (common.length == 0) common.length = std::max(a.model.context, b.model.context);
  if (common.length == 0) detail::fail("neither says for how many tokens it is: give --context");
  const Inspection inspected_a = inspect_one(a, common), inspected_b = inspect_one(b, common);
  Comparison result;
  result.name_a = a.name;
  result.name_b = b.name;
  result.length = common.length;
  for (const std::string& warning : a.model.warnings) result.warnings.push_back("a: " + warning);
  for (const std::string& warning : b.model.warnings) result.warnings.push_back("b: " + warning);
  Differences of_model(result.differences, "");
  // A scaling from the command line is its own name, which says nothing of an architecture.
  const bool both_said = a.model.architecture != a.name && b.model.architecture != b.name;
  if (both_said) of_model.add("architecture", a.model.architecture, b.model.architecture);
  of_model.add_known("context", a.model.context, b.model.context);
  of_model.add_known("layer_count", a.model.layer_count, b.model.layer_count);
  of_model.add_known("heads", a.model.heads, b.model.heads);
  of_model.add_known("key_heads", a.model.key_heads, b.model.key_heads);
  match_layers(
      inspected_a, inspected_b,
      [&](const LayerInspection& one, const LayerInspection& other) {
        result.layers.push_back(compare_layers(one, other, result.length));
        Differences differences(result.differences, result.layers.back().layer_type);
        add_layer_differences(differences, one, other);
      },
      [&](const LayerInspection& layer, bool is_a) {
        Differences differences(result.differences, layer.layer.layer_type);
        const std::string type = type_name_of(layer.layer.scaling);
        differences.add("layers of this type", is_a ? type : "-", is_a ? "-" : type);
      });
  return result;
}

}  // namespace rope::tool
