// SPDX-License-Identifier: Apache-2.0
//
// Which axis turns each pair, and which power it takes: the patterns pair by pair, and where the
// two interleaved ones differ.
#include "eigen_rope/choices/sections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eigen_rope::sections_tests {
namespace {

using testing::ElementsAre;

/// The axes of pairs 0 to pairs - 1, as a word of t, h, w and e.
std::string word(const Sections& sections, Index pairs) {
  std::string axes;
  for (Index pair = 0; pair < pairs; ++pair) axes += "thwe"[sections.axis(pair)];
  return axes;
}

std::string repeated(const std::string& part, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += part;
  return result;
}

const std::vector<SectionPattern> all_patterns{SectionPattern::contiguous, SectionPattern::vision,
                                               SectionPattern::interleaved_ggml,
                                               SectionPattern::interleaved_hf};

/// Lengths the pattern accepts.
std::vector<Index> lengths_for(SectionPattern pattern) {
  return pattern == SectionPattern::interleaved_hf ? std::vector<Index>{5, 3, 2}
                                                   : std::vector<Index>{5, 3, 2, 4};
}

TEST(Sections, EveryAxisIsOneOfTheSectionsAndSectionsAreKept) {
  for (const SectionPattern pattern : all_patterns) {
    const std::vector<Index> lengths = lengths_for(pattern);
    const Sections sections(pattern, lengths);
    EXPECT_EQ(sections.pattern(), pattern);
    EXPECT_EQ(sections.lengths(), lengths);
    EXPECT_EQ(sections.axes(), static_cast<int>(lengths.size()));
    for (Index pair = 0; pair < 100; ++pair) {
      EXPECT_GE(sections.axis(pair), 0);
      EXPECT_LT(sections.axis(pair), sections.axes());
    }
  }
}

TEST(Sections, PatternsRepeatAfterTheSumOfTheirLengthsExceptHuggingFaces) {
  for (const SectionPattern pattern :
       {SectionPattern::contiguous, SectionPattern::vision, SectionPattern::interleaved_ggml}) {
    const Sections sections(pattern, lengths_for(pattern));
    for (Index pair = 0; pair < 50; ++pair)
      EXPECT_EQ(sections.axis(pair + 14), sections.axis(pair));
  }
  const Sections hf(SectionPattern::interleaved_hf, lengths_for(SectionPattern::interleaved_hf));
  EXPECT_EQ(word(hf, 20), "thwthwthtttttttttttt");
}

TEST(Sections, ContiguousTakesEachAxisForItsLength) {
  EXPECT_EQ(word(Sections(SectionPattern::contiguous, {5, 3, 2, 4}), 14), "ttttthhhwweeee");
  // A section of length 0 takes no pair, wherever it stands.
  EXPECT_EQ(word(Sections(SectionPattern::contiguous, {0, 3, 0, 2}), 10), "hhheehhhee");
  // Qwen2-VL.
  EXPECT_EQ(word(Sections(SectionPattern::contiguous, {16, 24, 24}), 64),
            repeated("t", 16) + repeated("h", 24) + repeated("w", 24));
  EXPECT_EQ(word(Sections(SectionPattern::contiguous, {4}), 6), "tttttt");
}

TEST(Sections, VisionIsContiguousAndItsExponentsRestart) {
  const std::vector<Index> lengths{3, 2, 0, 1};
  const Sections vision(SectionPattern::vision, lengths);
  EXPECT_EQ(word(vision, 9), "ttthhettt");
  EXPECT_THAT(vision.exponents(9), ElementsAre(0, 1, 2, 0, 1, 0, 0, 1, 2));
  for (Index pair = 0; pair < 9; ++pair)
    EXPECT_EQ(vision.axis(pair), Sections(SectionPattern::contiguous, lengths).axis(pair));
}

TEST(Sections, OtherPatternsCountTheirExponentsThrough) {
  for (const SectionPattern pattern : {SectionPattern::contiguous, SectionPattern::interleaved_ggml,
                                       SectionPattern::interleaved_hf}) {
    EXPECT_THAT(Sections(pattern, pattern == SectionPattern::interleaved_hf
                                      ? std::vector<Index>{1, 1, 1}
                                      : std::vector<Index>{1, 1, 1, 0})
                    .exponents(5),
                ElementsAre(0, 1, 2, 3, 4));
  }
}

TEST(Sections, TheInterleavedPatternsDifferInTheLastPairsOnly) {
  const Sections ggml(SectionPattern::interleaved_ggml, {24, 20, 20, 0});
  const Sections hf(SectionPattern::interleaved_hf, {24, 20, 20});
  const std::string common = repeated("thw", 20);
  EXPECT_EQ(word(ggml, 64), common + "teet");
  EXPECT_EQ(word(hf, 64), common + "tttt");
}

TEST(Sections, InterleavedGgmlFallsBackToTheExtraAxis) {
  // q = 0..9, three times each length: t below 6, h below 9, w below 3, the rest e.
  EXPECT_EQ(word(Sections(SectionPattern::interleaved_ggml, {2, 3, 1, 4}), 12), "thwtheeheeth");
}

TEST(Sections, InterleavedHuggingFaceFallsBackToTime) {
  // h below 9, w below 3, the rest t; the pattern does not wrap.
  EXPECT_EQ(word(Sections(SectionPattern::interleaved_hf, {2, 3, 1}), 12), "thwthtthtttt");
}

TEST(Sections, MayBeLargeButTheirSumStaysBelowTheMaximum) {
  const Sections large(SectionPattern::contiguous, {detail::max_section_total - 2, 1});
  EXPECT_EQ(large.axis(detail::max_section_total - 3), 0);
  EXPECT_EQ(large.axis(detail::max_section_total - 2), 1);
  EXPECT_EQ(large.axis(detail::max_section_total - 1), 0) << "wraps";
}

TEST(Sections, NoPairsHaveNoExponents) {
  EXPECT_THAT(Sections(SectionPattern::vision, {2}).exponents(0), testing::IsEmpty());
}

}  // namespace
}  // namespace eigen_rope::sections_tests
