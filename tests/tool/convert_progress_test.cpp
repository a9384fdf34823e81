// SPDX-License-Identifier: Apache-2.0
//
// Progress on a terminal, and none anywhere else.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/model_files.hpp"

namespace eigen_rope::tool::convert_progress_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConvertProgress : public testing::Test {
 protected:
  ConvertProgress() {
    write_bytes(folder / "in.safetensors",
                file_of({{"q_proj.weight", random_tensor("F32", {64, 64}, 1)},
                         {"k_proj.weight", random_tensor("F32", {64, 64}, 2)},
                         {"rest", {"U8", {1 << 22}, std::string(1 << 22, 'x')}}}));
  }

  // What the program writes to a terminal that is its stderr.
  std::string on_terminal(const char* kind, const char* more = nullptr) const {
    const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) return "no terminal";
    const int theirs = ::open(::ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
    const std::string in = (folder / "in.safetensors").string(),
                      out = (folder / "out.safetensors").string();
    const pid_t child = ::fork();
    if (child == 0) {
      if (kind == nullptr) {
        ::unsetenv("TERM");
      } else {
        ::setenv("TERM", kind, 1);
      }
      ::dup2(theirs, STDERR_FILENO);
      ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
      ::execl(EIGEN_ROPE_TOOL, EIGEN_ROPE_TOOL, "convert", in.c_str(), out.c_str(), "--from",
              "split_half", "--to", "interleaved", "--heads", "4", "--head-dims", "16",
              "--overwrite", more, nullptr);
      ::_exit(127);
    }
    ::close(theirs);
    std::string text;
    char buffer[4096];
    // The end of a terminal nobody writes to any more is an error.
    for (ssize_t got = 0; (got = ::read(ours, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(got));
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(ours);
    EXPECT_EQ(status, 0) << text;
    return text;
  }

  TemporaryFolder folder{};
};

TEST_F(ConvertProgress, IsALineThatIsGoneAtTheEnd) {
  const std::string text = on_terminal("xterm-256color");
  EXPECT_THAT(text, HasSubstr("\rwriting    0.0 of 4.0 MiB    0 %\033[K"));
  EXPECT_THAT(text, HasSubstr("\rverifying  "));
  EXPECT_THAT(text, EndsWith("\r\033[K"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST_F(ConvertProgress, NoneWhereItCannotBeShownOrIsNotWanted) {
  EXPECT_THAT(on_terminal("dumb"), IsEmpty());
  EXPECT_THAT(on_terminal(nullptr), IsEmpty());
  EXPECT_THAT(on_terminal("xterm", "--quiet"), IsEmpty());
  const Outcome piped =
      run_tool("convert " + (folder / "in.safetensors").string() + " " +
               (folder / "out.safetensors").string() +
               " --from split_half --to interleaved --heads 4 --head-dims 16 --overwrite");
  EXPECT_EQ(piped.code, 0);
  EXPECT_THAT(piped.err, IsEmpty());
}

}  // namespace
}  // namespace eigen_rope::tool::convert_progress_tests
