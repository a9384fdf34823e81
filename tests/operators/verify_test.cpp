// SPDX-License-Identifier: Apache-2.0
//
// `eigen-rope verify`: the recordings under data/golden, small recordings computed here by plain
// loops in double, and every way a folder can be damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "eigen_rope/machine/kernel_target.hpp"
#include "support/verify_recordings.hpp"
#include "tool/verify/verify.hpp"

namespace eigen_rope::tool::verify_tests {
namespace {

namespace fs = std::filesystem;
using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::string golden = EIGEN_ROPE_TEST_DATA "/golden";

// All recordings, through the library, on every kernel target.

void expect_all_passed(const std::string& folder, std::int64_t cases) {
  for (const std::string& target : kernel_targets()) {
    set_kernel_target(target);
    const Report report = verify({golden + "/" + folder}, PrecisionChoice::both);
    set_kernel_target("");
    EXPECT_EQ(report.passed(), cases) << target;
    EXPECT_EQ(report.failed(), 0) << target << ": "
                                  << text_of(report, Detail::failures_only).substr(0, 4000);
  }
}

TEST(VerifyGolden, Ggml) { expect_all_passed("ggml", 1503); }
TEST(VerifyGolden, Onnx) { expect_all_passed("onnx", 237); }
TEST(VerifyGolden, Aclnn) { expect_all_passed("aclnn", 176); }
TEST(VerifyGolden, Scaling) { expect_all_passed("scaling", 19); }

TEST(VerifyGolden, TheTablesBesideTheIndicesHoldTheSameCases) {
  const std::pair<const char*, std::int64_t> folders[] = {
      {"onnx/node", 11}, {"onnx/ort", 214}, {"onnx/bf16", 12}, {"aclnn", 176}};
  for (const auto& [name, cases] : folders) {
    const TemporaryFolder folder;
    for (const char* file : {"cases.tsv", "data.bin"})
      fs::copy_file(golden + "/" + name + "/" + file, folder / file);
    const Report report = verify({folder.path()}, PrecisionChoice::both);
    EXPECT_EQ(report.passed(), cases) << name;
    EXPECT_EQ(report.failed(), 0) << name << text_of(report, Detail::failures_only).substr(0, 4000);
  }
}

// The program.

TEST(VerifyProgram, OneLineClosesSeveralFoldersAndAllBelowThem) {
  const Outcome outcome = run_tool("verify " + golden + "/onnx " + golden + "/aclnn " + golden +
                                   "/scaling " + golden + "/onnx/bf16");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, EndsWith("\n432 passed, 0 failed\n"));
  EXPECT_EQ(outcome.out.find("passed,"), outcome.out.rfind("passed,"));
  EXPECT_THAT(outcome.out, HasSubstr("onnx/errors.json: not checked: "));
}

TEST(VerifyProgram, QuietPrintsTheLastLineOnly) {
  const Outcome outcome = run_verify(golden + "/aclnn", "--quiet");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "176 passed, 0 failed\n");
}

TEST(VerifyProgram, HelpAndVersionSucceedWrongUsageIsTwo) {
  EXPECT_EQ(run_tool("--help").code, 0);
  EXPECT_THAT(run_tool("verify --help").out, HasSubstr("--precision"));
  EXPECT_THAT(run_tool("--version").out, StartsWith("eigen-rope 0."));
  for (const char* words :
       {"", "verify", "nothing", "verify . --precision half", "verify . --what"})
    EXPECT_EQ(run_tool(words).code, 2) << words;
}

TEST(VerifyProgram, PassesRecordingsItHasNeverSeen) {
  const TemporaryFolder folder;
  ggml_recording().write(folder / "ggml");
  onnx_recording().write(folder / "deep/er/onnx");
  aclnn_recording().write(folder / "aclnn");
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, EndsWith("\n3 passed, 0 failed\n")) << outcome.out;
}

TEST(VerifyProgram, EachPrecisionRunsAlone) {
  const TemporaryFolder folder;
  ggml_recording().write(folder.path());
  for (const std::string policy : {"exact", "float-recurrence"}) {
    const fs::path json = folder / "results.json";
    EXPECT_EQ(
        run_verify(folder.path(), "--precision " + policy + " --json '" + json.string() + "'").code,
        0);
    const Json results = Json::parse(file_bytes(json));
    ASSERT_EQ(results["cases"][0]["checks"].size(), 1U);
    EXPECT_EQ(results["cases"][0]["checks"][0]["policy"], policy);
  }
}

TEST(VerifyProgram, JsonHoldsEveryCase) {
  const TemporaryFolder folder;
  const fs::path json = folder / "results.json";
  EXPECT_EQ(run_verify(golden, "--quiet --json '" + json.string() + "'").code, 0);
  const Json results = Json::parse(file_bytes(json));
  EXPECT_EQ(results["passed"], 1935);
  EXPECT_EQ(results["failed"], 0);
  ASSERT_EQ(results["cases"].size(), 1935U);
  for (const Json& one : results["cases"]) {
    EXPECT_TRUE(one["name"].is_string() && one["group"].is_string() && one["passed"] == true);
    ASSERT_FALSE(one["checks"].empty());
    for (const Json& check : one["checks"])
      EXPECT_TRUE(check["policy"].is_string() && check["error"].is_number() &&
                  check["bound"].is_number());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1)
      << "a draft was left behind";
}

TEST(VerifyProgram, JsonThatCannotBeWrittenIsTwo) {
  const Outcome missing = run_verify(golden + "/onnx/bf16", "--json /nowhere/at/all.json");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err,
            "[rope] /nowhere/at/all.json: cannot be written: there is no folder /nowhere/at\n");
  const TemporaryFolder folder;
  EXPECT_EQ(run_verify(golden + "/onnx/bf16", "--json '" + folder.path().string() + "'").code, 2);
}

// One changed number.

TEST(VerifyChange, BeyondTheBoundFailsThatCaseAlone) {
  const TemporaryFolder folder;
  for (const char* file : {"cases.json", "data.bin"})
    fs::copy_file(golden + "/onnx/ort/" + file, folder / file);
  const Json index = Json::parse(file_bytes(folder / "cases.json"));
  const Json& changed = index["cases"][0];
  Recording recording{index, file_bytes(folder / "data.bin")};
  const std::int64_t offset = changed["tensors"].back()["offset"].get<std::int64_t>() + 4 * 7;
  recording.set(offset, recording.get(offset) + 1e-4F);
  recording.write(folder.path());
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, EndsWith("\n213 passed, 1 failed\n"));
  EXPECT_THAT(outcome.out, HasSubstr("case " + changed["name"].get<std::string>() + " (group"));
  EXPECT_THAT(outcome.out, HasSubstr("\"rotary_embedding_dim\":2"));
  EXPECT_THAT(outcome.out, HasSubstr("element 7: mine "));
}

// The bound of a float is 2^-22 of its terms' magnitudes at least: one unit of the largest term's
// neighbourhood is 2^-24 of it or less.
TEST(VerifyChange, UnderTheBoundPasses) {
  const TemporaryFolder folder;
  Recording recording = onnx_recording();
  const std::int64_t offset = recording.index["cases"][0]["tensors"][4]["offset"];
  recording.set(offset, std::nextafter(recording.get(offset), 1.0F));
  recording.write(folder.path());
  EXPECT_EQ(run_verify(folder.path()).code, 0);
}

TEST(VerifyChange, OfGgmlsRotatedAndCopiedElements) {
  for (const std::int64_t element : {0, 2, 35}) {  // 0 is copied
    for (const char* policy : {"exact", "float-recurrence"}) {
      const TemporaryFolder folder;
      Recording recording = ggml_recording();
      const std::int64_t offset =
          recording.index["cases"][0]["output"]["offset"].get<std::int64_t>() + 4 * element;
      recording.set(offset, recording.get(offset) + 1e-4F);
      recording.write(folder.path());
      const Outcome outcome = run_verify(folder.path(), std::string("--precision ") + policy);
      EXPECT_EQ(outcome.code, 1) << element << policy;
      EXPECT_THAT(outcome.out, EndsWith("\n0 passed, 1 failed\n"));
    }
  }
}

TEST(VerifyChange, OfEachOutputOfAscends) {
  for (const std::size_t output : {4, 5, 6, 7}) {
    const TemporaryFolder folder;
    Recording recording = aclnn_recording();
    const auto offset = recording.index[0]["tensors"][output]["offset"].get<std::size_t>();
    double value;
    std::memcpy(&value, &recording.data[offset], sizeof value);
    value += 1e-5;
    std::memcpy(&recording.data[offset], &value, sizeof value);
    recording.write(folder.path());
    const Outcome outcome = run_verify(folder.path());
    EXPECT_EQ(outcome.code, 1) << output;
    EXPECT_THAT(
        outcome.out,
        HasSubstr("exact " + recording.index[0]["tensors"][output]["name"].get<std::string>() +
                  ": error"));
  }
}

TEST(VerifyChange, ANanWhereThereIsNoneFails) {
  Recording ggml = ggml_recording(), onnx = onnx_recording();
  ggml.set(ggml.index["cases"][0]["output"]["offset"].get<std::int64_t>() + 12, std::nanf(""));
  onnx.set(onnx.index["cases"][0]["tensors"][4]["offset"], std::nanf(""));
  for (const Recording& recording : {ggml, onnx}) {
    const TemporaryFolder folder;
    recording.write(folder.path());
    EXPECT_EQ(run_verify(folder.path()).code, 1);
  }
}

TEST(VerifyChange, WhatTheOperatorRefusesIsAFailedCaseWithItsSentence) {
  const TemporaryFolder folder;
  Recording recording = onnx_recording();
  recording.index["cases"][0]["attributes"]["rotary_embedding_dim"] = 3;
  recording.write(folder.path());
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("the operator refused it: [rope] "));
}

TEST(VerifyChange, WideCachesAreSlicedUnlessTheOriginIsALaterText) {
  const std::pair<Json, int> origins[] = {
      {"onnx v1.18.0", 0}, {"onnx v1.19.0", 0}, {nullptr, 0}, {"onnx v1.22.0", 1}};
  for (const auto& [origin, code] : origins) {
    const TemporaryFolder folder;
    Recording recording = onnx_recording();
    Json& one = recording.index["cases"][0];
    // Two rotated dims need one column of the caches' two. Y is that of the first column.
    one["attributes"]["rotary_embedding_dim"] = 2;
    one["origin"] = origin;
    const auto at = [&](std::size_t tensor, std::size_t i) {
      return one["tensors"][tensor]["offset"].get<std::int64_t>() +
             static_cast<std::int64_t>(4 * i);
    };
    const std::size_t ids[] = {4, 0, 2};
    for (std::size_t row = 0; row < 6; ++row) {
      const double c = recording.get(at(1, ids[row % 3] * 2)),
                   s = recording.get(at(2, ids[row % 3] * 2));
      const double a = recording.get(at(0, row * 6)), b = recording.get(at(0, row * 6 + 1));
      for (std::size_t d = 2; d < 6; ++d)
        recording.set(at(4, row * 6 + d), recording.get(at(0, row * 6 + d)));
      recording.set(at(4, row * 6), static_cast<float>(a * c - b * s));
      recording.set(at(4, row * 6 + 1), static_cast<float>(a * s + b * c));
    }
    recording.write(folder.path());
    EXPECT_EQ(run_verify(folder.path()).code, code) << origin;
  }
}

// The comparisons themselves.

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Comparison, RoundsToSixteenBitsOnce) {
  // Just above the midpoint of the halves 1 and 1 + 2^-10: rounded to float first it would be the
  // midpoint, and then 1.
  EXPECT_EQ(round_to(ScalarType::f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(round_to(ScalarType::f16, 1 + 0x1p-11), 1.0);
  EXPECT_EQ(round_to(ScalarType::f16, -1 - 0x1p-11 + 0x1p-40), -1.0);
  EXPECT_EQ(round_to(ScalarType::bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(round_to(ScalarType::f16, 65520.0), infinity);
  EXPECT_EQ(round_to(ScalarType::f16, 65519.999999999), 65504.0);
  EXPECT_EQ(round_to(ScalarType::bf16, -1e300), -infinity);
}

TEST(Comparison, UnitsInTheLastPlace) {
  EXPECT_EQ(unit_at(ScalarType::f16, 1.5), 0x1p-10);
  EXPECT_EQ(unit_at(ScalarType::f16, -1e-9), 0x1p-24);
  EXPECT_EQ(unit_at(ScalarType::bf16, 0), 0x1p-133);
  EXPECT_EQ(unit_at(ScalarType::f32, 2), 0x1p-22);
  EXPECT_EQ(largest_finite(ScalarType::f16), 65504.0);
  EXPECT_EQ(smallest_positive(ScalarType::f32), 0x1p-149);
}

TEST(Comparison, NmseOfZerosAndOfWhatIsNotFinite) {
  const double nan = std::nan("");
  EXPECT_EQ(nmse({0, 0}, {0, 0}, {1, 1}).value, 0);
  EXPECT_EQ(nmse({0, 1e-30}, {0, 0}, {1, 1}).value, infinity);
  EXPECT_EQ(nmse({nan, 1}, {nan, 1}, {1, 1}).value, 0);
  EXPECT_EQ(nmse({nan, 1}, {1, 1}, {1, 1}).value, infinity);
  EXPECT_EQ(nmse({infinity, 1}, {-infinity, 1}, {1, 1}).value, infinity);
  EXPECT_EQ(nmse({5, 1}, {7, 2}, {0, 1}).value, 0.25);
}

TEST(Comparison, InfinitiesAreEqualOnlyWhereRoundingDecides) {
  const auto ratio = [](double mine, double stored, double exact) {
    return compare({mine}, {stored}, {ScalarType::f16, {exact}, {32.0}}).ratio;
  };
  EXPECT_EQ(ratio(65504, infinity, 65519), 0);
  EXPECT_EQ(ratio(infinity, 65504, 65521), 0);
  EXPECT_EQ(ratio(-infinity, infinity, 65521), infinity);
  EXPECT_EQ(ratio(65504, infinity, 1), infinity);
  EXPECT_EQ(ratio(3, infinity, 70000), infinity);
  EXPECT_EQ(ratio(std::nan(""), 1, 1), infinity);
  EXPECT_EQ(compare({3.0}, {infinity}, {ScalarType::f32, {infinity}, {infinity}}).ratio, infinity);
}

TEST(Report, AGroupMayHaveItsShareOfUnequalElements) {
  const auto failed = [](std::int64_t rounded, std::int64_t unequal, const char* other_policy) {
    Report report;
    for (int i = 0; i < 3; ++i) {
      Check check;
      check.policy = i == 2 ? other_policy : "exact";
      check.rounded = rounded;
      check.unequal = i == 0 ? 0 : unequal;
      check.share = 1000;
      report.cases.push_back({"folder", "name", "group", "", "", {check}});
    }
    report.apply_group_rules();
    return report.failed();
  };
  EXPECT_EQ(failed(1000, 1, "exact"), 0);  // 2 of 3000
  EXPECT_EQ(failed(1000, 2, "exact"), 2);  // 4 of 3000: the two cases that have some
  EXPECT_EQ(failed(10, 1, "exact"), 2);    // 2 of 30
  EXPECT_EQ(failed(10, 1, "other"), 0);    // 1 of 20, and 1 of 10: one may always differ
}

// Damage: exit code 2 and one sentence.

struct Damage {
  const char* name;
  Recording (*recording)();
  std::function<void(Recording&)> change;
  const char* sentence;  ///< after the path of cases.json and its colon
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class VerifyDamage : public testing::TestWithParam<Damage> {};

TEST_P(VerifyDamage, IsOneSentence) {
  const TemporaryFolder folder;
  Recording recording = GetParam().recording();
  GetParam().change(recording);
  recording.write(folder.path());
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "[rope] " + (folder / "cases.json").string() + ": " + GetParam().sentence + "\n");
}

Json& ggml_case(Recording& recording) { return recording.index["cases"][0]; }
Json& onnx_tensor(Recording& recording, std::size_t i) {
  return recording.index["cases"][0]["tensors"][i];
}

INSTANTIATE_TEST_SUITE_P(
    All, VerifyDamage,
    testing::Values(
        Damage{"TruncatedData", onnx_recording, [](Recording& r) { r.data.resize(500); },
               "case \"mine\": tensor \"Y\" ends at byte 528 but data.bin has 500 bytes"},
        Damage{
            "OffsetBeyondTheEnd", onnx_recording,
            [](Recording& r) { onnx_tensor(r, 1)["offset"] = 100000; },
            "case \"mine\": tensor \"cos_cache\" ends at byte 100040 but data.bin has 528 bytes"},
        Damage{"OffsetNegative", onnx_recording,
               [](Recording& r) { onnx_tensor(r, 1)["offset"] = -64; },
               "case \"mine\": the offset of tensor \"cos_cache\" must not be negative, got -64"},
        Damage{"ShapeNegative", onnx_recording,
               [](Recording& r) {
                 onnx_tensor(r, 0)["shape"] = {1, 2, -3, 6};
               },
               "case \"mine\": extents of tensor \"X\" must not be negative, got [1,2,-3,6]"},
        Damage{"ShapeOverflows", onnx_recording,
               [](Recording& r) {
                 onnx_tensor(r, 0)["shape"] = {4294967296, 4294967296, 3, 6};
               },
               "case \"mine\": the elements of tensor \"X\" must fit a 64-bit count of bytes, got "
               "[4294967296,4294967296,3,6]"},
        Damage{"BytesDoNotFitTheShape", onnx_recording,
               [](Recording& r) { onnx_tensor(r, 0)["bytes"] = 140; },
               "case \"mine\": tensor \"X\" has 140 bytes but its shape and type need 144"},
        Damage{"UnknownType", onnx_recording,
               [](Recording& r) { onnx_tensor(r, 0)["dtype"] = "float8"; },
               "case \"mine\": tensor \"X\": \"dtype\" must be float32, float64, float16, "
               "bfloat16, int32 or int64, got \"float8\""},
        Damage{"NoOutput", onnx_recording,
               [](Recording& r) { onnx_tensor(r, 4)["role"] = "input"; },
               "case \"mine\": there must be one output, got 0"},
        Damage{"TensorsMissing", onnx_recording,
               [](Recording& r) { ggml_case(r).erase("tensors"); },
               "case \"mine\": \"tensors\" is missing"},
        Damage{"AttributeOfNoType", onnx_recording,
               [](Recording& r) { ggml_case(r)["attributes"]["interleaved"] = "yes"; },
               "case \"mine\": attributes: \"interleaved\" must be an integer of 64 bits, got "
               "\"yes\""},
        Damage{"DataOutsideTheFolder", onnx_recording,
               [](Recording& r) { r.index["data"] = "../data.bin"; },
               "case \"mine\": a data file must lie in the folder, got \"../data.bin\""},
        Damage{"NoCases", onnx_recording, [](Recording& r) { r.index["cases"] = Json::array(); },
               "must hold at least one case"},
        Damage{"CasesOfNoList", onnx_recording, [](Recording& r) { r.index["cases"] = 5; },
               "must hold a list of cases"},
        Damage{"CaseOfNoKind", onnx_recording,
               [](Recording& r) { r.index["cases"] = Json::array({7}); },
               "must hold cases of ggml, ONNX or Ascend's RotaryPositionEmbedding"},
        Damage{"GgmlCaseIsNoObject", ggml_recording,
               [](Recording& r) { r.index["cases"].push_back(7); },
               "case 1: must be an object, got 7"},
        Damage{"GgmlExtentsAreText", ggml_recording,
               [](Recording& r) { ggml_case(r)["ne"] = "6,3,2,1"; },
               "case 12: \"ne\" must be a list of integers, got \"6,3,2,1\""},
        Damage{"GgmlThreeExtents", ggml_recording,
               [](Recording& r) {
                 ggml_case(r)["ne"] = {6, 3, 2};
               },
               "case 12: \"ne\" must have 4 extents, got 3"},
        Damage{"GgmlExtentsOverflow", ggml_recording,
               [](Recording& r) {
                 ggml_case(r)["ne"] = {4611686018427387904, 4, 2, 1};
               },
               "case 12: the elements of \"ne\" must fit a 64-bit count of bytes, got "
               "[4611686018427387904,4,2,1]"},
        Damage{"GgmlCountDoesNotFit", ggml_recording,
               [](Recording& r) { ggml_case(r)["input"]["count"] = 35; },
               "case 12: array \"input\" must have 36 elements, got 35"},
        Damage{"GgmlCountLies", ggml_recording,
               [](Recording& r) { ggml_case(r)["input"]["count"] = 1000000000000; },
               "case 12: array \"input\" ends at byte 4000000000000 but data.bin has 392 bytes"},
        Damage{"GgmlTooFewPositions", ggml_recording,
               [](Recording& r) { ggml_case(r)["positions"]["count"] = 1; },
               "case 12: array \"positions\" must have 2 elements, got 1"},
        Damage{"GgmlPositionsOfNoType", ggml_recording,
               [](Recording& r) { ggml_case(r)["positions"]["dtype"] = "f32"; },
               "case 12: array \"positions\" must hold integers"},
        Damage{"GgmlFileMissing", ggml_recording,
               [](Recording& r) { ggml_case(r)["output"]["file"] = "other.bin"; },
               "case 12: other.bin must be a file that can be read"},
        Damage{"GgmlModesDisagree", ggml_recording, [](Recording& r) { ggml_case(r)["mode"] = 2; },
               "case 12: \"mode\" of normal must be 0, got 2"},
        Damage{"GgmlNumberBeyondFloat", ggml_recording,
               [](Recording& r) { ggml_case(r)["freq_base"] = 1e60; },
               "case 12: \"freq_base\" must be a number that fits float, got 1e+60"},
        Damage{"GgmlInputIsNoHalf", ggml_recording,
               [](Recording& r) {
                 ggml_case(r)["type"] = "f16";
                 r.set(0, 1.0009765F);
               },
               "case 12: array \"input\" must hold values of type f16, got 1.0009764432907104"},
        Damage{"AscendTensorMissing", aclnn_recording,
               [](Recording& r) { r.index[0]["tensors"].erase(2); },
               "case \"mine\": tensor \"sin\" is missing, every case needs it"},
        Damage{"AscendModeIsText", aclnn_recording,
               [](Recording& r) { r.index[0]["mode"] = "half"; },
               "case \"mine\": \"mode\" must be an integer of 64 bits, got \"half\""},
        Damage{"AscendOutputOfAnotherShape", aclnn_recording,
               [](Recording& r) {
                 r.index[0]["tensors"][4]["shape"] = {2, 3, 4};
               },
               "case \"mine\": tensor \"y\" must have the shape of \"x\""}),
    [](const testing::TestParamInfo<Damage>& damage) { return std::string(damage.param.name); });

TEST(VerifyDamagedFile, MalformedJson) {
  const TemporaryFolder folder;
  write_bytes(folder / "cases.json", R"({"cases": [)");
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              StartsWith("[rope] " + (folder / "cases.json").string() + ": must be JSON, got "));
}

TEST(VerifyDamagedFile, NestingDeeperThanTheStack) {
  const TemporaryFolder folder;
  write_bytes(folder / "cases.json", std::string(3000000, '[') + std::string(3000000, ']'));
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, EndsWith("must not be nested deeper than 64 levels\n"));
}

TEST(VerifyDamagedFile, MissingData) {
  const TemporaryFolder folder;
  aclnn_recording().write(folder.path());
  fs::remove(folder / "data.bin");
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "[rope] " + (folder / "cases.json").string() +
                             ": case \"mine\": data.bin must be a file that can be read\n");
}

TEST(VerifyDamagedFile, IndexThatIsAFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "cases.json");
  EXPECT_EQ(run_verify(folder.path()).err,
            "[rope] " + (folder / "cases.json").string() + ": must be a file that can be read\n");
}

TEST(VerifyDamagedFile, FoldersWithoutRecordings) {
  const TemporaryFolder folder;
  const Outcome empty = run_verify(folder.path());
  EXPECT_EQ(empty.code, 2);
  EXPECT_EQ(empty.err, "[rope] " + folder.path().string() +
                           ": must hold a recording somewhere: cases.json, cases.tsv, "
                           "inv_freq.json or errors.json\n");
  const Outcome missing = run_verify(folder / "none");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err, "[rope] " + (folder / "none").string() + ": must be a folder\n");
  EXPECT_EQ(run_tool("verify '" + golden + "/onnx' '" + folder.path().string() + "'").code, 2)
      << "one good folder does not excuse another";
}

TEST(VerifyDamagedFile, TableWithAWrongNumber) {
  const TemporaryFolder folder;
  write_bytes(folder / "cases.tsv",
              "case\tmode\tlayout\ttable\ttensor\trole\tdtype\tshape\toffset\tbytes\na\tx\tTND\tTN1"
              "\tx\tinput\tfloat32\t1x1x2\t0\t8\n");
  const Outcome outcome = run_verify(folder.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "[rope] " + (folder / "cases.tsv").string() +
                             ": line 2: \"mode\" must be an integer of 64 bits, got \"x\"\n");
}

}  // namespace
}  // namespace eigen_rope::tool::verify_tests
