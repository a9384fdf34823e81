// SPDX-License-Identifier: Apache-2.0
#include "tool/convert/convert.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "eigen_rope/numbers/detail/sentence.hpp"
#include "numbers/joined.hpp"
#include "tool/convert/write.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/json_file.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

void check_destination(const Model& model, const fs::path& to, Existing existing) {
  std::error_code ignored;
  const fs::path folder = (to.has_filename() ? to : to.parent_path()).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    refuse(to.string(), "must be in a folder that exists");
  if (!fs::exists(fs::symlink_status(to, ignored))) return;
  if (model.folder) {
    if (!fs::is_directory(to, ignored) || !fs::is_empty(to, ignored))
      refuse(to.string(), "must be a new or empty folder, like its source");
  } else {
    if (!fs::is_regular_file(to, ignored)) refuse(to.string(), "must be a file, like its source");
    for (const Shard& shard : model.shards) {
      if (fs::equivalent(shard.file.path(), to, ignored))
        refuse(to.string(), "must be another file than its source");
    }
    if (existing == Existing::refused)
      refuse(to.string(), "must be new, a file of that name exists; --overwrite replaces it");
  }
}

void check_json(const Model& model, const fs::path& to, const fs::path& json) {
  std::error_code ignored;
  bool other = fs::absolute(json, ignored).lexically_normal() !=
               fs::absolute(to, ignored).lexically_normal();
  other =
      other && !fs::equivalent(json, to, ignored) && !fs::equivalent(json, model.index, ignored);
  for (const Shard& shard : model.shards)
    other = other && !fs::equivalent(json, shard.file.path(), ignored);
  if (!other) refuse(json.string(), "must be another file than those of the models");
}

// Everything but the destination's name and permissions.
void write_draft(const ConvertPlan& plan, const Carried& carried, const Model& model,
                 const fs::path& draft, Progress& progress) {
  std::uint64_t bytes = 0;
  for (const Shard& shard : model.shards) bytes += shard.file.size();
  progress.begin("writing", bytes);
  for (std::size_t i = 0; i < model.shards.size(); ++i) {
    write_converted(plan, model, i,
                    model.folder ? draft / model.shards[i].file.path().filename() : draft,
                    progress);
  }
  if (!model.index.empty()) copy_whole(model.index, draft / model.index.filename());
  write_carried(carried, model, draft);
}

// A draft as any model is opened, from the disk.
Model open_draft(const Model& model, const fs::path& draft) {
  Model written =
      open_model(model.folder && !model.index.empty() ? draft / model.index.filename() : draft);
  if (!model.folder) written.config_folder = folder_of(model);
  return written;
}

std::vector<std::string> notes_on(const ConvertReport& report, const Description& description,
                                  const Model& model) {
  std::vector<std::string> notes;
  if (report.config.empty()) {
    notes.emplace_back(
        "No config.json was read: the options alone say how many heads there are and how they "
        "pair, and are believed.");
  }
  if (model.folder && report.carried.files.empty())
    notes.emplace_back("There was no config.json and no tokeniser to carry along.");
  if (!model.folder)
    notes.emplace_back(
        "config.json and the tokeniser were not copied: a file was named, not a folder.");
  const bool adapted = model.folder && description.pairing_in_config;
  if (description.family_pairing && !adapted &&
      !same_pairs(*description.family_pairing, report.plan.to)) {
    notes.push_back(
        fmt::format("{} still names a family that transformers rotates as {}: the result is for "
                    "programs that rotate {}.",
                    fs::path(report.config).filename().string(),
                    name_of(*description.family_pairing), name_of(report.plan.to)));
  }
  notes.emplace_back(llama_cpp_note);
  return notes;
}

Json json_of(const ConvertedTensor& tensor, const ConvertReport& report) {
  Json heads = Json::array();
  for (const HeadRows& head : tensor.heads) {
    heads.push_back({{"role", head.role == Role::query ? "query" : "key"},
                     {"head", head.shared ? Json("all") : Json(head.head)},
                     {"first_row", head.first_row}});
  }
  return {{"name", tensor.name},          {"file", report.files[tensor.shard]},
          {"part", name_of(tensor.part)}, {"dtype", name_of(tensor.type)},
          {"columns", tensor.columns},    {"heads", heads}};
}

std::string json_text(const ConvertReport& report) {
  const AttentionShape& shape = report.plan.shape;
  Json layers = Json::array();
  for (std::size_t i = 0; i < report.plan.layers.size(); ++i) {
    Json layer{{"name", report.plan.layers[i].name}, {"tensors", Json::array()}};
    for (const ConvertedTensor& tensor : report.plan.layers[i].tensors)
      layer["tensors"].push_back(json_of(tensor, report));
    if (!report.checks.empty())
      layer["verification"] = {{"difference", report.checks[i].difference},
                               {"bound", report.checks[i].bound}};
    layers.push_back(std::move(layer));
  }
  const Json order = report.plan.order ? Json(name_of(*report.plan.order)) : Json();
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
                     {"qkv_order", order},
                     {"config", report.config.empty() ? Json() : Json(report.config)},
                     {"carried", report.carried.files},
                     {"left", report.carried.left},
                     {"warnings", report.warnings},
                     {"notes", report.notes},
                     {"files", report.files},
                     {"layers", layers}};
  return content.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

constexpr int report_width = 120;
constexpr std::size_t longest_warning = 600;

// A line of names, or nothing.
std::string listed(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::vector<std::string> shown;
  shown.reserve(names.size());
  for (const std::string& name : names) shown.push_back(detail::one_line(name, 120));
  return wrapped(detail::joined(shown, ", "), report_width, fmt::format("{}: ", what));
}

}  // namespace

ConvertReport convert(const fs::path& from, const fs::path& to, const ConvertOptions& options,
                      Writing writing, const fs::path& json, std::FILE* terminal) {
  const Model model = open_model(from);
  check_destination(model, to, options.existing);
  if (!json.empty()) check_json(model, to, json);
  ConvertReport report;
  report.from_path = from.string();
  report.to_path = to.string();
  for (const Shard& shard : model.shards)
    report.files.push_back(shard.file.path().filename().string());
  const Description description = describe(options, model);
  report.plan = make_plan(options, description, model);
  report.carried = plan_carried(model, options.to, to);
  report.config = description.config.string();
  report.warnings = description.warnings;
  report.notes = notes_on(report, description, model);
  if (writing == Writing::plan_only) {
    if (!json.empty()) write_json(report, json);
    return report;
  }
  Progress progress(terminal);
  Draft draft(to, model.folder ? DraftKind::folder : DraftKind::file, DraftAccess::owner);
  for (const fs::path& removed : draft.removed()) report.removed.push_back(removed.string());
  write_draft(report.plan, report.carried, model, draft.path(), progress);
  report.checks =
      verify_converted(options, model, open_draft(model, draft.path()), to.string(), progress);
  progress.end();
  if (report.checks.size() != report.plan.layers.size())
    refuse(to.string(), "must be verified in every layer");
  if (model.folder) {
    set_folder_mode(draft.path(), mode_of(folder_of(model)));
    bring_to_disk(draft.path());
  }
  // A report that cannot be written prevents the conversion, and one that is there speaks of a
  // model that is there.
  std::optional<TextDraft> report_draft;
  if (!json.empty()) report_draft.emplace(json, json_text(report));
  check_destination(model, to, options.existing);  // it may have come meanwhile
  draft.publish();
  if (report_draft) report_draft->publish();
  return report;
}

std::string text_of(const ConvertReport& report) {
  const auto label = [](const ConvertedLayer& layer) {
    return layer.name.empty() ? std::string("all") : layer.name.substr(0, layer.name.size() - 1);
  };
  const AttentionShape& shape = report.plan.shape;
  std::string text = fmt::format("{} to {}: {} heads, {} key heads, {} of {} dims rotated\n",
                                 name_of(report.plan.from), name_of(report.plan.to), shape.heads,
                                 shape.key_heads, shape.rotary_dims, shape.query.dims);
  std::size_t width = std::string_view("layer").size();
  for (const ConvertedLayer& layer : report.plan.layers)
    width = std::max(width, label(layer).size());
  const bool written = !report.checks.empty();
  text += fmt::format("{:<{}}  {:>7}", "layer", width, "tensors");
  text += written ? fmt::format("  {:>17}  {:>9}\n", "difference of q.k", "bound") : "\n";
  for (std::size_t i = 0; i < report.plan.layers.size(); ++i) {
    const ConvertedLayer& layer = report.plan.layers[i];
    text += fmt::format("{:<{}}  {:>7}", label(layer), width, layer.tensors.size());
    text += written ? fmt::format("  {:>17.3g}  {:>9.3g}\n", report.checks[i].difference,
                                  report.checks[i].bound)
                    : "\n";
    if (written) continue;
    for (const ConvertedTensor& tensor : layer.tensors) {
      text +=
          fmt::format("  {}  {}, {} heads\n", tensor.name, name_of(tensor.part),
                      tensor.heads.front().shared ? "all" : fmt::format("{}", tensor.heads.size()));
    }
  }
  text += listed(written ? "carried along" : "to be carried along", report.carried.files);
  if (!report.carried.adapted.empty()) text += fmt::format("adapted: {}\n", report.carried.adapted);
  text += listed("left behind", report.carried.left);
  for (const std::string& warning : report.warnings)
    text += wrapped(detail::one_line(warning, longest_warning), report_width, "warning: ");
  for (const std::string& removed : report.removed)
    text += fmt::format("removed {}, left by a conversion that was killed\n", removed);
  text +=
      written ? fmt::format("written and verified: {}\n", report.to_path) : "nothing was written\n";
  for (const std::string& note : report.notes) text += wrapped(note, report_width, "note: ");
  return text;
}

void write_json(const ConvertReport& report, const fs::path& path) {
  TextDraft(path, json_text(report)).publish();
}

}  // namespace eigen_rope::tool
