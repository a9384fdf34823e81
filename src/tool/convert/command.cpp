// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>

#include "tool/cli/commands.hpp"
#include "tool/convert/convert.hpp"
#include "tool/io/choice.hpp"
#include "tool/io/interrupt.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace {

struct ConvertArguments {
  std::string from{}, to{}, json{};
  ConvertOptions options{};
  bool dry_run = false, quiet = false, force = false, overwrite = false, lenient = false;
};

int run(const ConvertArguments& arguments) {
  catch_interrupts({SIGINT, SIGTERM, SIGHUP});
  const Writing writing = arguments.dry_run ? Writing::plan_only : Writing::whole;
  ConvertOptions options = arguments.options;
  if (arguments.force) options.contradiction = Contradiction::overridden;
  if (arguments.overwrite) options.existing = Existing::replaced;
  if (arguments.lenient) options.strictness = models::Strictness::lenient;
  std::FILE* terminal = arguments.quiet ? nullptr : progress_terminal(stderr);
  const ConvertReport report =
      convert(arguments.from, arguments.to, options, writing, arguments.json, terminal);
  if (!arguments.quiet) print_text(text_of(report));
  return fine;
}

}  // namespace

Command add_convert(CLI::App& app) {
  std::vector<std::pair<std::string, PairKind>> pairings;
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                              PairKind::interleaved_to_split_half}) {
    pairings.emplace_back(name_of(kind), kind);
  }
  const auto arguments = std::make_shared<ConvertArguments>();
  ConvertOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "convert", "Permute a model's query and key projections from one pairing to another.");
  command
      ->add_option("IN", arguments->from, "A .safetensors file, or a folder of them with an index")
      ->required()
      ->option_text("(required)");
  command
      ->add_option("OUT", arguments->to,
                   "A file, or a new folder; appears when it is whole and verified")
      ->required()
      ->option_text("(required)");
  add_choice(*command, "--from", options.from, pairings, "The pairing the model is for")
      ->required();
  add_choice(*command, "--to", options.to, pairings, "The pairing it shall be for")->required();
  command
      ->add_option("--config", options.config,
                   "A configuration that lies elsewhere; config.json beside IN is always read")
      ->option_text("FILE");
  const auto count = [&](const char* name, std::optional<eigen_rope::Index>& value,
                         const char* text) {
    command->add_option(name, value, text)->option_text("N");
  };
  count("--heads", options.heads, "Query heads; what config.json says must not be contradicted");
  count("--kv-heads", options.key_heads, "Key heads (default: as config.json says, or as many)");
  count("--head-dims", options.head_dims, "Elements of a head, of queries and keys alike");
  count("--rotary-dims", options.rotary_dims,
        "Rotated elements of a head (default: as config.json says, or all)");
  count("--offset", options.offset, "Where they begin (default: as config.json says, or 0)");
  count("--key-head-dims", options.key_head_dims,
        "Where key heads differ (latent attention): their elements");
  count("--key-offset", options.key_offset, "and where the rotated ones begin");
  const auto names = [&](const char* name, std::string& expression, const char* text) {
    command->add_option(name, expression, text)->option_text("REGEX");
  };
  names("--q", options.query,
        "Query modules, up to the end of their name: 'language_model.*q_proj'");
  names("--k", options.key, "Key modules");
  names("--qkv", options.fused,
        "Fused modules; with one of these three only what they name is converted");
  add_choice<std::optional<QkvOrder>>(
      *command, "--qkv-order", options.order,
      {{"concatenated", QkvOrder::concatenated}, {"grouped", QkvOrder::grouped}},
      "How a fused projection's rows lie: q, k, v; or for each key head its queries, the key, the "
      "value (default: the "
      "family's)");
  names("--keep", options.keep, "Tensors beside them that stay as they are");
  command->add_flag("--force", arguments->force,
                    "Let options override what config.json says, with a warning");
  command->add_flag("--lenient", arguments->lenient,
                    "Read a configuration that strict reading refuses, with a warning");
  command->add_flag("--overwrite", arguments->overwrite, "Replace OUT if it is a file that exists");
  command->add_flag("--dry-run", arguments->dry_run, "Print what would be done and write nothing");
  command->add_option("--json", arguments->json, "Write plan and verification to this file")
      ->option_text("FILE");
  command->add_flag("--quiet", arguments->quiet, "Print nothing");
  constexpr int footer_width = 100;
  command->footer(wrapped("config.json and the tokeniser in a folder IN are carried along to OUT. "
                          "Every converted head is verified from OUT's own "
                          "files: q.k of random input, old weights rotated the old way and new "
                          "weights the new way. What cannot be shown to "
                          "be safe is refused.",
                          footer_width, "") +
                  wrapped(llama_cpp_note, footer_width, "") +
                  "Exit code: 0 converted, 2 refused or unusable.");
  return {command, [arguments] { return run(*arguments); }};
}

}  // namespace eigen_rope::tool
