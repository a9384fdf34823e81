// SPDX-License-Identifier: Apache-2.0
//
// A conversion that cannot finish leaves the destination as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "support/model_files.hpp"

namespace eigen_rope::tool::convert_interrupted_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::HasSubstr;

const std::string before = "what was there before";

class ConvertInterrupted : public testing::Test {
 protected:
  // q and k of a head, then `rest` bytes that exist in name only.
  void write_model(std::uintmax_t rest) {
    nlohmann::ordered_json header;
    std::string data;
    for (const char* name : {"q_proj.weight", "k_proj.weight"}) {
      const TestTensor tensor = random_tensor("F32", {4, 4}, 1);
      header[name] = {{"dtype", "F32"},
                      {"shape", {4, 4}},
                      {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
      data += tensor.bytes;
    }
    header["rest"] = {
        {"dtype", "U8"}, {"shape", {rest}}, {"data_offsets", {data.size(), data.size() + rest}}};
    const std::string file = safetensors_bytes(header.dump(), data);
    write_bytes(folder / "in.safetensors", file);
    fs::resize_file(folder / "in.safetensors", file.size() + rest);
    write_bytes(folder / "out.safetensors", before);
  }

  std::string words() const {
    return "convert " + (folder / "in.safetensors").string() + " " +
           (folder / "out.safetensors").string() +
           " --from split_half --to interleaved --heads 1 --head-dims 4 --overwrite";
  }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  }

  bool draft_has_begun() const {
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      std::error_code gone;
      if (entry.path().extension() == ".tmp" && fs::file_size(entry.path(), gone) > 0 && !gone)
        return true;
    }
    return false;
  }

  // The program's end after `signal`, sent when its draft has begun to grow.
  int status_after(int signal, void (*handler)(int) = SIG_DFL) const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(signal, handler);
      const std::string in = (folder / "in.safetensors").string(),
                        out = (folder / "out.safetensors").string();
      ::execl(EIGEN_ROPE_TOOL, EIGEN_ROPE_TOOL, "convert", in.c_str(), out.c_str(), "--from",
              "split_half", "--to", "interleaved", "--heads", "1", "--head-dims", "4", "--quiet",
              "--overwrite", nullptr);
      ::_exit(127);
    }
    for (int tries = 0; tries < 100'000 && !draft_has_begun(); ++tries)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  TemporaryFolder folder{};
};

TEST_F(ConvertInterrupted, NothingStopsASmallOne) {
  write_model(1 << 20);
  EXPECT_EQ(run_tool(words()).code, 0);
  EXPECT_NE(file_bytes(folder / "out.safetensors"), before);
  EXPECT_EQ(files(), 2U);
}

TEST_F(ConvertInterrupted, AFullDiskIsASentence) {
  write_model(1 << 20);
  // A limit on the size of files, as units of 512 bytes; what would be the signal becomes an error
  // of write().
  const std::string command =
      "ulimit -f 64; trap '' XFSZ; LLVM_PROFILE_FILE=/dev/null '" EIGEN_ROPE_TOOL "' " + words() +
      " 2>&1 >/dev/null | head -c 4000 >'" + (folder / "in.err").string() + "'; exit 0";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(file_bytes(folder / "in.err"), HasSubstr("cannot be written: File too large"));
  EXPECT_EQ(file_bytes(folder / "out.safetensors"), before);
  EXPECT_EQ(files(), 3U);
}

TEST_F(ConvertInterrupted, ASignalRemovesTheDraft) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    write_model(std::uintmax_t{4} << 30);
    const int status = status_after(signal);
    EXPECT_TRUE(WIFEXITED(status)) << signal;
    EXPECT_EQ(WEXITSTATUS(status), 2);
    EXPECT_EQ(file_bytes(folder / "out.safetensors"), before);
    EXPECT_EQ(files(), 2U);
  }
}

TEST_F(ConvertInterrupted, ASignalThatIsIgnoredStaysSo) {
  write_model(std::uintmax_t{64} << 20);
  const int status = status_after(SIGHUP, SIG_IGN);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(fs::file_size(folder / "out.safetensors"), before.size());
}

TEST_F(ConvertInterrupted, AKilledProgramLeavesItsDraftBeside) {
  write_model(std::uintmax_t{4} << 30);
  const int status = status_after(SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(file_bytes(folder / "out.safetensors"), before);
  EXPECT_EQ(files(), 3U);
}

}  // namespace
}  // namespace eigen_rope::tool::convert_interrupted_tests
