// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "convert_write.hpp"
#include "file_error.hpp"
#include "gradcheck_problem.hpp"
#include "json_file.hpp"

namespace rope::tool {
namespace fs = std::filesystem;
namespace {

void check_destination(const Model& model, const fs::path& to) {
  std::error_code ignored;
  const fs::path folder = (to.has_filename() ? to : to.parent_path()).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) refuse(to.string(), "must be in a folder that exists");
  if (!fs::exists(to, ignored)) return;
  if (model.folder) {
    if (!fs::is_directory(to, ignored) || !fs::is_empty(to, ignored)) refuse(to.string(), "must be a new or empty folder, like its source");
  } else {
    if (!fs::is_regular_file(to, ignored)) refuse(to.string(), "must be a file, like its source");
    for (const Shard& shard : model.shards) {
      if (fs::equivalent(shard.file.path(), to, ignored)) refuse(to.string(), "must be another file than its source");
    }
  }
}

void check_json(const Model& model, const fs::path& to, const fs::path& json) {
  std::error_code ignored;
  bool other = fs::absolute(json, ignored).lexically_normal() != fs::absolute(to, ignored).lexically_normal();
  other = other && !fs::equivalent(json, to, ignored) && !fs::equivalent(json, model.index, ignored);
  for (const Shard& shard : model.shards) other = other && !fs::equivalent(json, shard.file.path(), ignored);
  if (!other) refuse(json.string(), "must be another file than those of the models");
}

// The converted files, in the order of the model's.
std::vector<Shard> write_draft(const ConvertPlan& plan, const Model& model, const fs::path& draft) {
  std::vector<Shard> converted;
  for (std::size_t i = 0; i < model.shards.size(); ++i) {
    const fs::path path = model.folder ? draft / model.shards[i].file.path().filename() : draft;
    write_converted(plan, model, i, path);
    InputFile file(path);
    SafetensorsHeader header = read_safetensors_header(file);
    converted.push_back({std::move(file), std::move(header)});
  }
  if (!model.index.empty()) copy_whole(model.index, draft / model.index.filename());
  if (model.folder) bring_to_disk(draft);
  return converted;
}

Json json_of(const ConvertedTensor& tensor, const ConvertReport& report) {
  Json heads = Json::array();
  for (const HeadRows& head : tensor.heads) {
    heads.push_back({{"role", head.role == Role::query ? "query" : "key"},
                     {"head", head.shared ? Json("all") : Json(head.head)},
                     {"first_row", head.first_row}});
  }
  return {{"name", tensor.name},           {"file", report.files[tensor.shard]}, {"part", name_of(tensor.part)},
          {"dtype", name_of(tensor.type)}, {"columns", tensor.columns},          {"heads", heads}};
}

std::string json_text(const ConvertReport& report) {
  const AttentionShape& shape = report.plan.shape;
  Json layers = Json::array();
  for (std::size_t i = 0; i < report.plan.layers.size(); ++i) {
    Json layer{{"name", report.plan.layers[i].name}, {"tensors", Json::array()}};
    for (const ConvertedTensor& tensor : report.plan.layers[i].tensors) layer["tensors"].push_back(json_of(tensor, report));
    if (!report.checks.empty()) layer["verification"] = {{"difference", report.checks[i].difference}, {"bound", report.checks[i].bound}};
    layers.push_back(std::move(layer));
  }
  const Json content{{"from", name_of(report.plan.from)},
                     {"to", name_of(report.plan.to)},
                     {"source", report.from_path},
                     {"destination", report.to_path},
                     {"verified", !report.checks.empty()},
                     {"heads", shape.heads},
                     {"key_heads", shape.key_heads},
                     {"rotary_dims", shape.rotary_dims},
                     {"query", {{"head_dims", shape.query.dims}, {"offset", shape.query.offset}}},
                     {"key", {{"head_dims", shape.key.dims}, {"offset", shape.key.offset}}},
                     {"files", report.files},
                     {"layers", layers}};
  return content.dump(2) + "\n";
}

}  // namespace

ConvertReport convert(const fs::path& from, const fs::path& to, const ConvertOptions& options, Writing writing, const fs::path& json) {
  const Model model = open_model(from);
  check_destination(model, to);
  if (!json.empty()) check_json(model, to, json);
  ConvertReport report;
  report.from_path = from.string();
  report.to_path = to.string();
  for (const Shard& shard : model.shards) report.files.push_back(shard.file.path().filename().string());
  report.plan = make_plan(options, attention_shape(options, model), model);
  if (writing == Writing::plan_only) {
    if (!json.empty()) write_json(report, json);
    return report;
  }
  Draft draft(to, model.folder ? DraftKind::folder : DraftKind::file);
  for (const fs::path& removed : draft.removed()) report.removed.push_back(removed.string());
  {
    const std::vector<Shard> converted = write_draft(report.plan, model, draft.path());
    report.checks = verify_converted(report.plan, model, converted, to.string());
  }
  // A report that cannot be written prevents the conversion, and one that is there speaks of a model that is there.
  std::optional<TextDraft> report_draft;
  if (!json.empty()) report_draft.emplace(json, json_text(report));
  draft.publish();
  if (report_draft) report_draft->publish();
  return report;
}

std::string text_of(const ConvertReport& report) {
  const auto label = [](const ConvertedLayer& layer) {
    return layer.name.empty() ? std::string("all") : layer.name.substr(0, layer.name.size() - 1);
  };
  const AttentionShape& shape = report.plan.shape;
  std::string text = fmt::format("{} to {}: {} heads, {} key heads, {} of {} dims rotated\n", name_of(report.plan.from),
                                 name_of(report.plan.to), shape.heads, shape.key_heads, shape.rotary_dims, shape.query.dims);
  std::size_t width = std::string_view("layer").size();
  for (const ConvertedLayer& layer : report.plan.layers) width = std::max(width, label(layer).size());
  const bool written = !report.checks.empty();
  text += fmt::format("{:<{}}  {:>7}", "layer", width, "tensors");
  text += written ? fmt::format("  {:>17}  {:>9}\n", "difference of q.k", "bound") : "\n";
  for (std::size_t i = 0; i < report.plan.layers.size(); ++i) {
    const ConvertedLayer& layer = report.plan.layers[i];
    text += fmt::format("{:<{}}  {:>7}", label(layer), width, layer.tensors.size());
    text += written ? fmt::format("  {:>17.3g}  {:>9.3g}\n", report.checks[i].difference, report.checks[i].bound) : "\n";
    if (written) continue;
    for (const ConvertedTensor& tensor : layer.tensors) {
      text += fmt::format("  {}  {}, {} heads\n", tensor.name, name_of(tensor.part),
                          tensor.heads.front().shared ? "all" : fmt::format("{}", tensor.heads.size()));
    }
  }
  for (const std::string& removed : report.removed) text += fmt::format("removed {}, left by a conversion that was killed\n", removed);
  return text + (written ? fmt::format("written and verified: {}\n", report.to_path) : "nothing was written\n");
}

void write_json(const ConvertReport& report, const fs::path& path) { TextDraft(path, json_text(report)).publish(); }

}  // namespace rope::tool
