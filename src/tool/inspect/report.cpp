// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "numbers/joined.hpp"
#include "tool/inspect/layer_kinds.hpp"
#include "tool/inspect/scaling_fields.hpp"

namespace eigen_rope::tool {
namespace {

constexpr int name_width = 26;

/// At most nine characters (ten for a negative number).
std::string short_number(double value) {
  const double size = std::fabs(value);
  if (size >= 99999.5 && size < 1e9) return fmt::format("{:.0f}", value);
  if (size != 0 && (size < 1e-3 || size >= 1e9)) return fmt::format("{:.3e}", value);
  return fmt::format("{:.5g}", value);
}

std::string text_of(const std::variant<double, std::string>& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return fmt::format("{:.10g}", std::get<double>(value));
}

std::string line_of(const std::string& name, const std::string& value,
                    const std::string& unit = "") {
  return fmt::format("  {:<{}}{}{}{}\n", name, name_width, value, unit.empty() ? "" : " ", unit);
}

std::string text_of_layers(const std::vector<eigen_rope::Index>& layers) {
  return fmt::format("{} of them: {}", layers.size(), text_of_numbers(layers));
}

/// Empty where the model does not say which of its layers rotate.
std::vector<eigen_rope::Index> resting_layers(const models::ModelRope& model) {
  std::vector<eigen_rope::Index> layers;
  const std::optional<std::vector<int>> kinds = kinds_of_layers(model);
  if (!kinds) return layers;
  for (std::size_t i = 0; i < kinds->size(); ++i) {
    if ((*kinds)[i] == not_rotated) layers.push_back(static_cast<eigen_rope::Index>(i));
  }
  return layers;
}

std::string text_of_sections(const Sections& sections) {
  return fmt::format("{} {}", name_of(sections.pattern()), detail::joined(sections.lengths(), " "));
}

std::string text_of_pairing(const models::LayerRope& layer) {
  if (!layer.pairing) return "not known";
  const eigen_rope::Index offset = layer.pairing->offset();
  return std::string(name_of(layer.pairing->kind())) +
         (offset == 0 ? "" : fmt::format(", from element {}", offset));
}

std::string parameters_of(const models::LayerRope& layer) {
  std::string text = line_of("pairing", text_of_pairing(layer));
  text += line_of("head dims, rotary dims",
                  fmt::format("{}, {}", layer.head_dims, layer.powers.rotary_dims));
  text += line_of("base", text_of_field(layer.powers.base));
  const Powers<> plain;
  layer.powers.for_each_parameter(
      [&](const char* name, const auto& value) {
        const std::string_view known(name);
        if (known == "rotary_dims" || known == "base") return;
        plain.for_each_parameter(
            [&](const char* other, const auto& usual) {
              if constexpr (std::is_same_v<decltype(value), decltype(usual)>) {
                if (known == other && value != usual) text += line_of(name, text_of_field(value));
              }
            },
            plain);
      },
      layer.powers);
  if (layer.sections) text += line_of("sections", text_of_sections(*layer.sections));
  text += line_of("scaling", type_name_of(layer.scaling));
  std::visit(
      [&](const auto& scaling) {
        scaling.for_each_parameter(
            [&](const char* name, const auto& value) {
              text += line_of(fmt::format("  {}", name), text_of_field(value));
            },
            scaling);
      },
      layer.scaling);
  return text;
}

std::string row_of(const LayerInspection& layer, std::size_t k) {
  constexpr const char* axes[] = {"t", "h", "w", "e"};
  const PairInspection& pair = layer.pairs[k];
  std::string slots = "-";
  if (pair.slots) slots = fmt::format("{} {}", pair.slots->a, pair.slots->b);
  if (layer.layer.sections) slots += fmt::format(" {}", axes[std::clamp(pair.axis, 0, 3)]);
  return fmt::format("{:>5}  {:<9} {:<10}{:<11}{:<10}{:<10}{:<13}{}\n", k, slots,
                     short_number(static_cast<double>(pair.unscaled)),
                     short_number(pair.unscaled_wavelength()),
                     short_number(static_cast<double>(pair.rate)), short_number(pair.ratio),
                     name_of(pair.treatment), short_number(pair.turns));
}

std::string table_of(const LayerInspection& layer, Rows rows, const Painter& painter) {
  std::string text =
      painter.bold(fmt::format("{:>5}  {:<9} {:<10}{:<11}{:<10}{:<10}{:<13}{}", "pair",
                               layer.layer.sections ? "slots axis" : "slots", "rad/token",
                               "wavelength", "scaled", "ratio", "what", "turns")) +
      "\n";
  if (rows == Rows::all) {
    for (std::size_t k = 0; k < layer.pairs.size(); ++k) text += row_of(layer, k);
    return text;
  }
  std::size_t next = 0;
  for (const std::size_t k : shown_pairs(layer)) {
    if (k > next) text += painter.faint("  ...") + "\n";
    text += row_of(layer, k);
    next = k + 1;
  }
  return text;
}

Json rotation_json(const models::LayerRope& layer) {
  Json result{{"layer_type", layer.layer_type},
              {"layers", layer.layers},
              {"head_dims", layer.head_dims},
              {"scaling", tool::json_of(layer.scaling)},
              {"softmax_multiplier", layer.softmax_multiplier},
              {"pairing", nullptr}};
  layer.powers.for_each_parameter(
      [&](const char* name, const auto& value) {
        // The m of the result has that name.
        result[std::string_view(name) == "attention_factor" ? "given_attention_factor" : name] =
            value;
      },
      layer.powers);
  if (layer.pairing) {
    result["pairing"] = name_of(layer.pairing->kind());
    result["offset"] = layer.pairing->offset();
  }
  if (layer.sections) {
    result["sections"] = {{"pattern", name_of(layer.sections->pattern())},
                          {"lengths", layer.sections->lengths()}};
  }
  return result;
}

Json layer_json(const LayerInspection& layer) {
  Json result = rotation_json(layer.layer);
  result["attention_factor"] = static_cast<double>(layer.attention_factor);
  Json derived = Json::object();
  for (const Derived& fact : layer.derived) {
    std::visit([&](const auto& value) { derived[fact.name] = value; }, fact.value);
  }
  result["derived"] = std::move(derived);
  for (const char* name :
       {"rates", "unscaled_rates", "ratios", "wavelengths", "turns", "treatments"})
    result[name] = Json::array();
  for (const PairInspection& pair : layer.pairs) {
    result["rates"].push_back(static_cast<double>(pair.rate));
    result["unscaled_rates"].push_back(static_cast<double>(pair.unscaled));
    result["ratios"].push_back(pair.ratio);
    result["wavelengths"].push_back(pair.wavelength());
    result["turns"].push_back(pair.turns);
    result["treatments"].push_back(name_of(pair.treatment));
  }
  result["float_angle_error"] = {{"radians", layer.float_error.radians},
                                 {"position", layer.float_error.position},
                                 {"pair", layer.float_error.pair}};
  result["angle_error_bound"] = layer.own_error;
  return result;
}

}  // namespace

Json json_of(const Scaling& scaling) {
  Json result{{"type", scaling_name(scaling)}};
  if (std::holds_alternative<GgmlYarn<>>(scaling) || std::holds_alternative<Yarn<>>(scaling)) {
    result["rule"] = std::holds_alternative<GgmlYarn<>>(scaling) ? "ggml" : "hugging_face";
  }
  std::visit(
      [&](const auto& one) {
        one.for_each_parameter(
            [&](const char* name, const auto& value) {
              using Value = std::decay_t<decltype(value)>;
              if constexpr (std::is_enum_v<Value>) {
                result[name] = name_of(value);
              } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
                result[name] = value ? Json(*value) : Json();
              } else {
                result[name] = value;
              }
            },
            one);
      },
      scaling);
  return result;
}

std::vector<std::size_t> shown_pairs(const LayerInspection& layer) {
  const std::size_t count = layer.pairs.size();
  std::vector<bool> shown(count, false);
  const auto show = [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k <= last && k < count; ++k) shown[k] = true;
  };
  show(0, 2);
  show(count < 3 ? 0 : count - 3, count - 1);
  for (std::size_t k = 1; k < count; ++k) {
    const PairInspection& before = layer.pairs[k - 1];
    const PairInspection& pair = layer.pairs[k];
    const bool slowed = std::fabs(before.turns) >= 1 && std::fabs(pair.turns) < 1;
    if (pair.treatment != before.treatment || slowed) show(k < 2 ? 0 : k - 2, k + 1);
  }
  const auto kept = static_cast<std::size_t>(std::count(shown.begin(), shown.end(), true));
  if (3 * kept > 2 * count) shown.assign(count, true);
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < count; ++k) {
    // A gap of one row is no shorter than the row.
    const bool lone = k > 0 && k + 1 < count && shown[k - 1] && shown[k + 1];
    if (shown[k] || lone) result.push_back(k);
  }
  return result;
}

std::string text_of(const Inspection& inspection, Rows rows, const TextOptions& options) {
  const Painter painter(options.colour);
  const models::ModelRope& model = inspection.model;
  std::string text = painter.bold_lines(
      wrapped(model.architecture.empty() ? "architecture not said" : model.architecture,
              options.width, ""));
  text += line_of("context", model.context > 0 ? fmt::format("{}", model.context) : "not said",
                  model.context > 0 ? "tokens" : "");
  if (inspection.length != model.context && !inspection.layers.empty())
    text += line_of("computed for", fmt::format("{}", inspection.length), "tokens");
  if (model.layer_count > 0) text += line_of("layers", fmt::format("{}", model.layer_count));
  if (model.heads > 0)
    text += line_of(
        "heads, key heads",
        fmt::format("{}, {}", model.heads, model.key_heads > 0 ? model.key_heads : model.heads));
  if (const std::vector<eigen_rope::Index> resting = resting_layers(model); !resting.empty()) {
    text += folded(line_of("not rotated", text_of_layers(resting)), options.width);
  }
  if (inspection.layers.empty()) text += "\nno layer of this model rotates\n";
  for (const LayerInspection& layer : inspection.layers) {
    text += "\n" +
            painter.bold(layer.layer.layer_type.empty() ? "all layers" : layer.layer.layer_type) +
            "\n";
    if (!layer.layer.layers.empty())
      text += folded(line_of("layers", text_of_layers(layer.layer.layers)), options.width);
    text += folded(parameters_of(layer.layer), options.width);
    for (const Derived& fact : layer.derived)
      text += line_of(fact.name, text_of(fact.value), fact.unit);
    text += "\n" + table_of(layer, rows, painter);
  }
  if (!inspection.layers.empty()) {
    text +=
        fmt::format("rad/token and wavelength (tokens) before scaling; turns within {} tokens\n",
                    inspection.length);
  }
  if (!inspection.notes.empty()) text += "\n" + painter.bold("Notes") + "\n";
  for (const std::string& note : inspection.notes) text += wrapped(note, options.width, "  ");
  if (!inspection.warnings.empty()) text += "\n" + painter.bold(painter.yellow("Warnings")) + "\n";
  for (const std::string& warning : inspection.warnings)
    text += wrapped(warning, options.width, "! ");
  return text;
}

Json json_of(const Inspection& inspection) {
  const models::ModelRope& model = inspection.model;
  Json layers = Json::array();
  for (const LayerInspection& layer : inspection.layers) layers.push_back(layer_json(layer));
  return {{"architecture", model.architecture},
          {"context", model.context},
          {"length", inspection.length},
          {"layer_count", model.layer_count},
          {"heads", model.heads},
          {"key_heads", model.key_heads},
          {"warnings", inspection.warnings},
          {"notes", inspection.notes},
          {"not_rotated", resting_layers(model)},
          {"layers", std::move(layers)}};
}

}  // namespace eigen_rope::tool
