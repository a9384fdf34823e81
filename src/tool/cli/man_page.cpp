// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/man_page.hpp"

#include <fmt/core.h>

#include "numbers/joined.hpp"
#include "tool/io/terminal.hpp"

namespace eigen_rope::tool {
namespace {

constexpr const char* introduction =
    R"(computes rotary position embeddings as published models configure them, and shows that it does: it reads configurations, compares scalings, rewrites weights from one pairing to the other, and checks its own results against recorded answers of other systems and its gradients against independent methods.)";

constexpr const char* after_commands = R"(.SH EXIT STATUS
.TP
.B 0
Done; for
.BR verify " and " gradcheck :
everything passed; for
.BR compare :
equal within the tolerance.
.TP
.B 1
A check failed, or what was compared differs by more.
.TP
.B 2
The input or the command line cannot be used. One sentence on standard error says why; nothing has been written.
.SH ENVIRONMENT
.TP
.B EIGEN_ROPE_KERNEL_TARGET
The instructions to use instead of the best ones this processor has: AVX3, AVX2, SSE4, NEON or SCALAR.
Results are the same bits.
.TP
.B EIGEN_ROPE_STREAM_BYTES
From how many bytes, read and written together, a rotation bypasses the cache; measured where it is not set.
.TP
.B NO_COLOR
Set to anything but nothing: no colours, also on a terminal.
.TP
.B TERM
Where it is dumb or not set: no colours either.
.TP
.B COLUMNS
How wide reports are where standard output is no terminal; 120 where it is not set.
.SH EXAMPLES
What a model's configuration means, with a picture of it:
.PP
.RS 4
.nf
eigen-rope inspect config.json \-\-context 131072 \-\-plot rates.svg
.fi
.RE
.PP
Two scalings against each other:
.PP
.RS 4
.nf
eigen-rope compare config.json yarn:dims=128,base=10000,factor=4,original=4096
.fi
.RE
.PP
In a script: whether a converted model still rotates as before, to a thousandth of a radian:
.PP
.RS 4
.nf
eigen-rope compare config.json model.gguf \-\-tolerance 1e\-3 \-\-json \- > differences.json || exit
.fi
.RE
.PP
What a context of a million tokens takes on each of 64 ranks:
.PP
.RS 4
.nf
eigen-rope plan \-\-config config.json \-\-context 1e6 \-\-ranks 64 \-\-plot plan.svg
.fi
.RE
.PP
Weights made for split-half pairs, for a program that takes interleaved ones:
.PP
.RS 4
.nf
eigen-rope convert in.safetensors out.safetensors \-\-from split_half \-\-to interleaved \-\-config config.json
.fi
.RE
)";

/// Text of a paragraph: no line may begin with a control character, and a dash is a dash.
std::string escaped(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char letter : text) {
    if (line_begins && (letter == '.' || letter == '\'')) result += "\\&";
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
    line_begins = letter == '\n';
  }
  return result;
}

/// Lines of at most 100 columns, which man fills anew.
std::string filled(const std::string& text) {
  std::string lines = escaped(wrapped(text, 100, ""));
  lines.pop_back();
  return lines;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string option_head(const OptionOutline& option) {
  if (option.names.empty()) return italic(option.value);
  std::vector<std::string> names;
  names.reserve(option.names.size());
  for (const std::string& name : option.names) names.push_back(bold(name));
  std::string head = detail::joined(names, ", ");
  if (!option.value.empty())
    head += " " + (option.choices.empty() ? italic(option.value) : escaped(option.value));
  return head;
}

std::string options_text(const CommandOutline& command) {
  std::string text;
  for (const OptionOutline& option : command.options) {
    text += fmt::format(".TP\n{}\n{}\n", option_head(option), filled(option.description));
  }
  return text;
}

std::string synopsis(const CommandOutline& program, const CommandOutline& command) {
  std::string line = bold(program.name) + " " + bold(command.name);
  for (const OptionOutline& option : command.options) {
    if (option.names.empty()) line += " " + italic(option.value);
  }
  return line + " [" + italic("option") + " ...]";
}

/// Footers are laid out for a terminal: they keep their lines.
std::string command_text(const CommandOutline& program, const CommandOutline& command) {
  std::string text = fmt::format(".SS {}\n{}\n.PP\n{}\n", escaped(command.name),
                                 synopsis(program, command), filled(command.description));
  text += options_text(command);
  if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(command.footer));
  return text;
}

}  // namespace

std::string man_page(const CommandOutline& program, const std::string& version) {
  std::string text = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH EIGEN\\-ROPE 1 \"\" \"eigen\\-rope {}\" "
      "\"User Commands\"\n",
      version);
  text += fmt::format(
      ".SH NAME\n{} \\- rotary position embedding: inspect, compare, convert, check\n.SH "
      "SYNOPSIS\n",
      program.name);
  for (const CommandOutline& command : program.commands)
    text += synopsis(program, command) + "\n.br\n";
  text += fmt::format("{} [{}]\n", bold(program.name), italic("option"));
  text += fmt::format(".SH DESCRIPTION\n.B {}\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n", program.name,
                      filled(introduction), options_text(program));
  for (const CommandOutline& command : program.commands) text += command_text(program, command);
  return text + after_commands;
}

}  // namespace eigen_rope::tool
