// SPDX-License-Identifier: Apache-2.0
//
// The text of the example: what is read, how it is split, and the baselines, by hand.
#include "text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "baselines.hpp"
#include "error.hpp"
#include "train_lm/temporary_folder.hpp"

namespace train_lm {
namespace {

namespace fs = std::filesystem;

using TextTest = TemporaryFolderTest;

TEST_F(TextTest, ReadsFilesSortedByPath) {
  write("b", "second ");
  write("a", "first ");
  write("c/d", "third");
  EXPECT_EQ(read_text(folder()), "first second third");
}

TEST_F(TextTest, SkipsSymlinks) {
  write("GPL-3", "text");
  fs::create_symlink("GPL-3", folder() / "GPL");
  fs::create_symlink("nowhere", folder() / "broken");
  EXPECT_EQ(read_text(folder()), "text");
}

TEST_F(TextTest, ReadsOneFile) {
  write("a", std::string("x\0y\xff", 4));
  EXPECT_EQ(read_text(folder() / "a"), std::string("x\0y\xff", 4));
}

TEST_F(TextTest, RefusesWhatIsMissingOrEmpty) {
  EXPECT_THROW(read_text(folder() / "missing"), Error);
  EXPECT_THROW(read_text(folder()), Error);
  write("a", "");
  EXPECT_THROW(read_text(folder() / "a"), Error);
  EXPECT_THROW(read_text(folder()), Error);
  EXPECT_THROW(Corpus(""), Error);
  EXPECT_THROW(Corpus("aaaa"), Error);
}

TEST(Vocabulary, NumbersTheBytesThatOccur) {
  const Vocabulary vocabulary("banana\xff");
  EXPECT_EQ(vocabulary.size(), 4);
  EXPECT_EQ(vocabulary.encode("nab\xff"), (std::vector<int>{2, 0, 1, 3}));
  EXPECT_EQ(vocabulary.decode(3), '\xff');
  EXPECT_THROW(vocabulary.encode("x"), Error);
}

TEST(Corpus, ValidationIsTheTail) {
  const Corpus corpus("abcabcabcabcabcabcacb", 0.15);  // 21 characters, 3 of them
  EXPECT_EQ(corpus.train.size(), 18U);
  EXPECT_EQ(corpus.validation, (std::vector<int>{0, 2, 1}));
}

TEST(Corpus, ContextMustFitBothSplits) {
  const Corpus corpus(std::string(90, 'a') + std::string(10, 'b'), 0.1);
  EXPECT_NO_THROW(require_context_fits(corpus, 9));
  EXPECT_THROW(require_context_fits(corpus, 10), Error);
}

// Training split "aaabab", validation split "abab": targets b, a, b.
//   unigram: N = 6, V = 2; p(a) = (4 + 1) / 8, p(b) = (2 + 1) / 8
//   bigram:  a a, a a, a b, b a, a b; after a: 2 a, 2 b; after b: 1 a; p(b|a) = 3/6, p(a|b) = 2/3
TEST(Baselines, AddOneSmoothingByHand) {
  const Corpus corpus("aaabababab", 0.4);
  ASSERT_EQ(corpus.validation.size(), 4U);
  EXPECT_NEAR(unigram_bits(corpus), -(2 * std::log2(3.0 / 8) + std::log2(5.0 / 8)) / 3, 1e-12);
  EXPECT_NEAR(bigram_bits(corpus), -(2 * std::log2(3.0 / 6) + std::log2(2.0 / 3)) / 3, 1e-12);
}

// A character that occurs only in the validation split has probability 1 / (N + V).
TEST(Baselines, UnseenCharacters) {
  const Corpus corpus("abababac", 0.25);  // train "ababab", validation "ac"
  EXPECT_NEAR(unigram_bits(corpus), -std::log2(1.0 / 9), 1e-12);
  EXPECT_NEAR(bigram_bits(corpus), -std::log2(1.0 / 6), 1e-12);  // three pairs begin with a
}

}  // namespace
}  // namespace train_lm
