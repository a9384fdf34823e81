// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope convert`, killed, without power, with a full disk, where it may not write: the
// destination is what it was or complete, and what a killed conversion left is gone after the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "support/killed_program.hpp"
#include "support/model_files.hpp"

namespace eigen_rope::tool::convert_kill_tests {
namespace {

using namespace kill_test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using test::file_of;
using test::random_tensor;
using test::TestModel;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

enum class Kind { file, folder };

const std::string before = "what was there before";

class ConvertKill : public testing::TestWithParam<Kind> {
 protected:
  // A layer in a file, or two in a folder with an index and a vocabulary.
  ConvertKill() {
    fs::create_directory(in_folder());
    Json map;
    for (const std::string layer : {"0", "1"}) {
      const std::string file = "shard-" + layer + ".safetensors";
      TestModel model;
      for (const char* name : {".q_proj.weight", ".k_proj.weight", ".v_proj.weight"}) {
        model.push_back({layer + name,
                         random_tensor("F32", {16, 64}, static_cast<unsigned>(model.size()) + 1)});
        map[layer + name] = file;
      }
      write_bytes(in_folder() / file, file_of(model));
    }
    write_bytes(in_folder() / "vocab.txt", "carried along");
    write_bytes(in_folder() / "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
  }

  using Json = nlohmann::json;

  fs::path in_folder() const { return folder_ / "in"; }
  fs::path in() const {
    return GetParam() == Kind::file ? in_folder() / "shard-0.safetensors" : in_folder();
  }
  fs::path place() const { return folder_ / "place"; }
  fs::path out() const { return place() / "out"; }
  const fs::path& folder() const { return folder_.path(); }

  std::vector<std::string> words(const fs::path& to) const {
    return {EIGEN_ROPE_TOOL, "convert", in().string(), to.string(), "--from",
            "split_half",    "--to",    "interleaved", "--heads",   "2",
            "--head-dims",   "8",       "--overwrite"};
  }

  // Files and their content; for a file, one without a name.
  static std::map<std::string, std::string> contents(const fs::path& of) {
    if (fs::is_regular_file(of)) return {{"", content(of)}};
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(of))
      all[entry.path().filename().string()] = content(entry.path());
    return all;
  }

  // The state before a conversion: for a file an older one, for a folder an empty one.
  void prepare() const {
    fs::remove_all(place());
    fs::create_directory(place());
    if (GetParam() == Kind::file) {
      write_bytes(out(), before);
    } else {
      fs::create_directory(out());
    }
  }

  std::map<std::string, std::string> prepared() const {
    return GetParam() == Kind::file ? std::map<std::string, std::string>{{"", before}}
                                    : std::map<std::string, std::string>{};
  }

  // The destination is one of the two and nothing else; what is left beside it goes with the next
  // conversion, which says so.
  void expect_old_or_new(const std::map<std::string, std::string>& expected, bool reported,
                         const std::vector<std::string>& again) const {
    const auto found = contents(out());
    EXPECT_TRUE(found == expected || (!reported && found == prepared()));
    const std::vector<std::string> left = names_ending(place(), ".tmp");
    if (GetParam() == Kind::folder && found == expected) fs::remove_all(out());
    const Ended next = run(again);
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_TRUE(contents(out()) == expected);
    EXPECT_THAT(names_ending(place(), ".tmp"), IsEmpty());
    for (const std::string& name : left) {
      if (name.find("report.json.") == 0) continue;
      EXPECT_THAT(next.out, HasSubstr("removed " + (place() / name).string() +
                                      ", left by a conversion that was killed\n"));
    }
  }

  // A close after reading or flushing may fail.
  static bool must_be_told(const Call& call) {
    return call.name == "write" || call.name == "fsync" || call.name == "rename";
  }

  static void expect_one_sentence(const Ended& ended) {
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, StartsWith("[rope] "));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }

 private:
  TemporaryFolder folder_{Medium::memory};
};

INSTANTIATE_TEST_SUITE_P(Kinds, ConvertKill, testing::Values(Kind::file, Kind::folder),
                         [](const auto& kind) {
                           return kind.param == Kind::file ? "File" : "Folder";
                         });

TEST_P(ConvertKill, AtThirtyMoments) {
  constexpr int kills = 30, least_working = 3, most_tries = 20 * kills;
  const Ended unbroken = run(words(folder() / "unbroken"));
  ASSERT_EQ(unbroken.code, 0) << unbroken.err;
  const auto expected = contents(folder() / "unbroken");
  std::chrono::microseconds whole = unbroken.took;
  int killed = 0, working = 0;
  for (int i = 0; (killed < kills || working < least_working) && i < most_tries; ++i) {
    SCOPED_TRACE(i);
    prepare();
    Circumstances circumstances;
    circumstances.kill_after = whole * (2 * (i % kills) + 1) / (2 * kills);
    const Ended ended = run(words(out()), circumstances);
    const bool draft = !names_ending(place(), ".tmp").empty(), done = contents(out()) != prepared();
    killed += ended.killed ? 1 : 0;
    working += draft ? 1 : 0;
    // The machine has become faster, or slower, since.
    if (!ended.killed) whole = std::min(whole, ended.took);
    if (ended.killed && !draft && !done && 2 * circumstances.kill_after > whole) whole += whole / 4;
    expect_old_or_new(expected,
                      !ended.killed || ended.out.find("written and verified") != std::string::npos,
                      words(out()));
  }
  EXPECT_GE(killed, kills);
  EXPECT_GE(working, least_working);
  RecordProperty("killed", killed);
  RecordProperty("working", working);
}

TEST_P(ConvertKill, AFaultAtEveryCallThatChangesAFile) {
  prepare();
  const fs::path log = folder() / "calls";
  const auto words_for_json = [&] {
    std::vector<std::string> all = words(out());
    all.insert(all.end(), {"--json", (place() / "report.json").string()});
    return all;
  };
  const Ended unbroken = run(words_for_json(), fault("none", 0, place(), log));
  ASSERT_EQ(unbroken.code, 0) << unbroken.err;
  const auto expected = contents(out());
  const std::vector<Call> all = calls(log);
  EXPECT_EQ(durability_fault(all), "");
  const auto count = [&](const char* name) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Call& call) { return call.name == name; });
  };
  ASSERT_EQ(count("rename"), 2);  // the model and the report
  ASSERT_EQ(count("mkdir"), GetParam() == Kind::folder ? 1 : 0);

  int faults = 0;
  for (const std::string kind : {"kill", "torn", "power", "fail"}) {
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (same_as_the_one_before(kind, all, n)) continue;
      SCOPED_TRACE(kind + " at " + all[n].name + " " + all[n].path);
      prepare();
      const Ended ended = run(words_for_json(), fault(kind, static_cast<long>(n) + 1, place()));
      ++faults;
      // A report speaks of a model that is there.
      const bool reported = fs::exists(place() / "report.json") || ended.code == 0;
      EXPECT_EQ(ended.killed, kind != "fail");
      if (kind == "fail") {
        if (ended.code != 0) expect_one_sentence(ended);
        EXPECT_TRUE(ended.code == 2 || !must_be_told(all[n]));
        EXPECT_THAT(names_ending(place(), ".tmp"), IsEmpty());
      }
      expect_old_or_new(expected, reported, words_for_json());
    }
  }
  RecordProperty("faults", faults);
}

TEST_P(ConvertKill, AFullDiskIsASentence) {
  prepare();
  Circumstances full;
  full.largest_file = 5000;
  const Ended ended = run(words(out()), full);
  expect_one_sentence(ended);
  EXPECT_THAT(ended.err, HasSubstr(": cannot be written: File too large\n"));
  EXPECT_TRUE(contents(out()) == prepared());
  EXPECT_THAT(names_ending(place(), ".tmp"), IsEmpty());
}

TEST_P(ConvertKill, AFolderThatCannotBeWrittenIsASentence) {
  prepare();
  fs::permissions(place(), fs::perms::owner_read | fs::perms::owner_exec);
  Circumstances ordinary;
  ordinary.obeys_permissions = true;
  for (const char* name : {"out", "new"}) {
    const Ended ended = run(words(place() / name), ordinary);
    expect_one_sentence(ended);
    EXPECT_THAT(ended.err, HasSubstr(".tmp: cannot be made: Permission denied\n"));
  }
  fs::permissions(place(), fs::perms::owner_all);
  EXPECT_TRUE(contents(out()) == prepared());
  EXPECT_THAT(names_ending(place(), ""), SizeIs(1));

  // Nobody may write there.
  expect_one_sentence(run(words("/proc/out")));
  expect_one_sentence(run(words(in_folder() / "model.safetensors.index.json" / "out")));
}

// Drafts in use, and files that only look like drafts.
TEST_P(ConvertKill, OnlyAbandonedDraftsAreRemoved) {
  prepare();
  const std::vector<std::string> others{"out.tmp",      "out.1x.tmp",  "out..tmp",
                                        "other.12.tmp", "out.12.tmp2", "xout.12.tmp"};
  for (const std::string& name : others) write_bytes(place() / name, name);
  write_bytes(place() / "out.123.tmp", "in use");
  write_bytes(place() / "out.124.tmp", "abandoned");
  fs::create_directory(place() / "out.125.tmp");
  write_bytes(place() / "out.125.tmp" / "file", "abandoned");
  const int used = ::open((place() / "out.123.tmp").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(used, LOCK_EX), 0);
  EXPECT_EQ(run(words(out())).code, 0);
  for (const std::string& name : others) EXPECT_EQ(content(place() / name), name);
  EXPECT_EQ(content(place() / "out.123.tmp"), "in use");
  EXPECT_FALSE(fs::exists(place() / "out.124.tmp"));
  EXPECT_FALSE(fs::exists(place() / "out.125.tmp"));
  ::close(used);
}

TEST_P(ConvertKill, AReportIsNoFileOfTheModels) {
  prepare();
  const auto source = contents(in_folder());
  for (const fs::path& json :
       {in_folder() / "shard-0.safetensors", place() / ".." / "place" / "out"}) {
    std::vector<std::string> all = words(out());
    all.insert(all.end(), {"--json", json.string()});
    const Ended ended = run(all);
    expect_one_sentence(ended);
    EXPECT_THAT(ended.err,
                HasSubstr(json.string() + ": must be another file than those of the models\n"));
  }
  EXPECT_TRUE(contents(in_folder()) == source);
  EXPECT_TRUE(contents(out()) == prepared());
}

}  // namespace
}  // namespace eigen_rope::tool::convert_kill_tests
