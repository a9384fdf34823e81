// SPDX-License-Identifier: Apache-2.0
//
// Damaged models: safetensors has no checksum, so a changed bit may make another model of it. It is
// refused in one sentence, or converted like any other: only rows have moved, and back again gives
// the same bytes. Never anything else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "eigen_rope/numbers/error.hpp"
#include "support/model_files.hpp"
#include "tool/convert/convert.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::convert_damaged_tests {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace): the helpers of these tests
using testing::StartsWith;

ConvertOptions options(PairKind from, PairKind to) {
  ConvertOptions o;
  o.from = from;
  o.to = to;
  o.heads = 1;
  o.head_dims = 4;
  return o;
}

class ConvertDamaged : public testing::Test {
 protected:
  ConvertDamaged()
      : model_({{"q_proj.weight", random_tensor("F32", {4, 1}, 1)},
                {"k_proj.weight", random_tensor("F32", {4, 1}, 2)}}),
        whole_(file_of(model_, R"({"a":"b"})")) {}

  // Empty if it was converted.
  std::string sentence(const fs::path& from, const fs::path& to, PairKind from_kind,
                       PairKind to_kind) const {
    try {
      convert(from, to, options(from_kind, to_kind), Writing::whole);
    } catch (const FileError& error) {
      return error.what();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  // Tries what in() holds. True if it was converted.
  bool refused_or_converted(const fs::path& source) {
    const std::string said = sentence(source, out(), PairKind::split_half, PairKind::interleaved);
    if (!said.empty()) {
      EXPECT_THAT(said, StartsWith("[rope] "));
      EXPECT_EQ(said.find('\n'), std::string::npos) << said;
      EXPECT_FALSE(fs::exists(out()));
      return false;
    }
    EXPECT_EQ(sentence(out(), folder_ / "back", PairKind::interleaved, PairKind::split_half), "");
    if (fs::is_regular_file(source))
      expect_same_tensors(read_model(source), read_model(out()), read_model(folder_ / "back"));
    fs::remove_all(out());
    fs::remove_all(folder_ / "back");
    return true;
  }

  static void expect_same_tensors(const ReadModel& before, const ReadModel& after,
                                  const ReadModel& back) {
    ASSERT_EQ(before.tensors.size(), after.tensors.size());
    ASSERT_EQ(before.tensors.size(), back.tensors.size());
    for (std::size_t i = 0; i < before.tensors.size(); ++i) {
      for (const ReadModel* other : {&after, &back}) {
        EXPECT_EQ(before.tensors[i].first, other->tensors[i].first);
        EXPECT_EQ(before.tensors[i].second.dtype, other->tensors[i].second.dtype);
        EXPECT_EQ(before.tensors[i].second.shape, other->tensors[i].second.shape);
      }
      EXPECT_EQ(before.tensors[i].second.bytes, back.tensors[i].second.bytes);
    }
  }

  fs::path in() const { return folder_ / "in.safetensors"; }
  fs::path out() const { return folder_ / "out"; }

  std::size_t header_size() const { return whole_.size() - 2 * 16; }

  TestModel model_;
  std::string whole_;
  TemporaryFolder folder_{};
};

TEST_F(ConvertDamaged, CutAnywhereItIsRefused) {
  write_bytes(in(), whole_);
  ASSERT_TRUE(refused_or_converted(in()));
  for (std::size_t size = whole_.size(); size-- > 0;) {
    fs::resize_file(in(), size);
    EXPECT_FALSE(refused_or_converted(in())) << size;
  }
}

TEST_F(ConvertDamaged, AnyBitOfTheHeader) {
  int tried = 0, converted = 0;
  for (std::size_t at = 0; at < header_size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE(testing::Message() << "bit " << bit << " of byte " << at);
      std::string damaged = whole_;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      fs::remove(in());
      write_bytes(in(), damaged);
      converted += refused_or_converted(in()) ? 1 : 0;
      ++tried;
    }
  }
  // Names of metadata may be anything, those of projections may not.
  EXPECT_GT(converted, 0);
  EXPECT_LT(converted, tried / 4);
  RecordProperty("tried", tried);
  RecordProperty("converted", converted);
}

TEST_F(ConvertDamaged, AnyBitOfTheIndex) {
  const fs::path source = folder_ / "in";
  fs::create_directory(source);
  write_bytes(source / "a.safetensors", whole_);
  const std::string index =
      R"({"weight_map":{"q_proj.weight":"a.safetensors","k_proj.weight":"a.safetensors"}})";
  const fs::path path = source / "model.safetensors.index.json";
  const auto tries = [&](const std::string& text) {
    fs::remove(path);
    write_bytes(path, text);
    return refused_or_converted(source);
  };
  ASSERT_TRUE(tries(index));
  for (std::size_t at = 0; at < index.size(); ++at) {
    EXPECT_FALSE(tries(index.substr(0, at))) << at;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = index;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(tries(damaged)) << damaged;
    }
  }
}

}  // namespace
}  // namespace eigen_rope::tool::convert_damaged_tests
