// SPDX-License-Identifier: Apache-2.0
//
// What the manual page and the completions of the shells are made of, and whether they hold
// everything the parser knows.
#include "tool/cli/command_outline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tool/cli/completion.hpp"
#include "tool/cli/man_page.hpp"

namespace eigen_rope::tool::command_outline_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A program with one of everything.
class Outline : public testing::Test {
 protected:
  Outline() : app_("A program.", "prog") {
    CLI::App* look = app_.add_subcommand("look", "Look at 'a' file: [quickly].");
    look->add_option("FILE", file_, "What to look at")->required();
    look->add_option("--how", how_, "In which\nway")->option_text("near|far-off");
    look->add_option("-o,--out", out_, "Where to")->option_text("FILE");
    look->add_option("--count", count_, "How often")->option_text("N");
    look->add_flag("--quiet", quiet_, "Say .less");
    look->footer("Exit code:\n.0 fine");
    CLI::App* tell = app_.add_subcommand("tell", "Tell.");
    tell->add_option("WHOM", whom_, "Whom")->option_text("one|all");
  }

  CommandOutline outline() const { return outline_of(app_); }

 private:
  CLI::App app_;
  std::string file_, how_, out_, whom_;
  int count_ = 0;
  bool quiet_ = false;
};

const OptionOutline& option(const CommandOutline& command, const std::string& name) {
  for (const OptionOutline& candidate : command.options) {
    if (candidate.names.empty() ? candidate.value == name : candidate.names.back() == name)
      return candidate;
  }
  throw std::runtime_error("no option " + name);
}

TEST_F(Outline, HasEveryCommandAndOption) {
  const CommandOutline program = outline();
  EXPECT_EQ(program.name, "prog");
  ASSERT_EQ(program.commands.size(), 2);
  const CommandOutline& look = program.commands[0];
  EXPECT_EQ(look.name, "look");
  EXPECT_EQ(look.options.size(), 6);  // with --help
  EXPECT_TRUE(option(look, "FILE").required);
  EXPECT_THAT(option(look, "FILE").choices, IsEmpty());
  EXPECT_THAT(option(look, "--how").choices, ElementsAre("near", "far-off"));
  EXPECT_EQ(option(look, "--how").description, "In which way");
  EXPECT_THAT(option(look, "--out").names, ElementsAre("-o", "--out"));
  EXPECT_EQ(option(look, "--count").value, "N");
  EXPECT_EQ(option(look, "--quiet").value, "");
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, n);
  if (pclose(pipe) != 0) throw std::runtime_error("failed: " + command + "\n" + text);
  return text;
}

/// What bash offers for the words of a line, the last of which is being written.
std::vector<std::string> offered(const CommandOutline& program,
                                 const std::vector<std::string>& line) {
  const std::filesystem::path script =
      std::filesystem::path(testing::TempDir()) / "prog_completion.bash";
  std::ofstream file(script);
  file << completion(program, Shell::bash) << "COMP_WORDS=(";
  for (const std::string& word : line) file << "'" << word << "' ";
  file << ")\nCOMP_CWORD=" << line.size() - 1 << "\n_prog\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  file.close();
  std::istringstream lines(output_of("bash '" + script.string() + "' 2>&1"));
  std::vector<std::string> words;
  for (std::string word; std::getline(lines, word);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

TEST_F(Outline, CompletesInBash) {
  const CommandOutline program = outline();
  EXPECT_THAT(offered(program, {"prog", ""}), UnorderedElementsAre("look", "tell", "-h", "--help"));
  EXPECT_THAT(offered(program, {"prog", "lo"}), ElementsAre("look"));
  EXPECT_THAT(offered(program, {"prog", "look", "--"}),
              UnorderedElementsAre("--help", "--how", "--out", "--count", "--quiet"));
  EXPECT_THAT(offered(program, {"prog", "look", "--how", ""}),
              UnorderedElementsAre("near", "far-off"));
  EXPECT_THAT(offered(program, {"prog", "look", "--how", "f"}), ElementsAre("far-off"));
  EXPECT_THAT(offered(program, {"prog", "look", "--count", ""}), IsEmpty());
  EXPECT_THAT(offered(program, {"prog", "look", "/bin/s"}), testing::Contains("/bin/sh"));
  EXPECT_THAT(offered(program, {"prog", "look", "-o", "/bin/s"}), testing::Contains("/bin/sh"));
  EXPECT_THAT(offered(program, {"prog", "tell", ""}), UnorderedElementsAre("one", "all"));
}

TEST_F(Outline, CompletesEverythingInZshAndFish) {
  for (const Shell shell : {Shell::zsh, Shell::fish}) {
    const std::string text = completion(outline(), shell);
    for (const char* word : {"look", "tell", "how", "out", "count", "quiet", "near", "far-off"})
      EXPECT_THAT(text, HasSubstr(word));
  }
}

TEST_F(Outline, MakesAManualPageWithEverything) {
  const std::string page = man_page(outline(), "1.2.3");
  for (const char* word : {"\\-\\-how", "near|far\\-off", "\\-\\-quiet", "\\fIFILE\\fR",
                           "eigen\\-rope 1.2.3", "EXIT STATUS", "EIGEN_ROPE_KERNEL_TARGET"}) {
    EXPECT_THAT(page, HasSubstr(word));
  }
  // A full stop at the beginning of a line would be read as a request.
  EXPECT_THAT(page, HasSubstr("\n\\&.0 fine"));
}

}  // namespace
}  // namespace eigen_rope::tool::command_outline_tests
