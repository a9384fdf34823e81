// SPDX-License-Identifier: Apache-2.0
#include "baselines.hpp"

#include <cmath>
#include <vector>

namespace train_lm {

double unigram_bits(const Corpus& corpus) {
  const auto vocabulary = static_cast<std::size_t>(corpus.vocabulary.size());
  std::vector<double> counts(vocabulary, 1.0);
  for (const int c : corpus.train) counts[static_cast<std::size_t>(c)] += 1.0;
  const double total = static_cast<double>(corpus.train.size() + vocabulary);
  double bits = 0;
  for (std::size_t i = 1; i < corpus.validation.size(); ++i) {
    bits -= std::log2(counts[static_cast<std::size_t>(corpus.validation[i])] / total);
  }
  return bits / static_cast<double>(corpus.validation.size() - 1);
}

double bigram_bits(const Corpus& corpus) {
  const auto vocabulary = static_cast<std::size_t>(corpus.vocabulary.size());
  std::vector<double> counts(vocabulary * vocabulary, 1.0);
  std::vector<double> totals(vocabulary, static_cast<double>(vocabulary));
  const auto code = [](const std::vector<int>& text, std::size_t i) {
    return static_cast<std::size_t>(text[i]);
  };
  for (std::size_t i = 1; i < corpus.train.size(); ++i) {
    const std::size_t before = code(corpus.train, i - 1);
    counts[before * vocabulary + code(corpus.train, i)] += 1.0;
    totals[before] += 1.0;
  }
  double bits = 0;
  for (std::size_t i = 1; i < corpus.validation.size(); ++i) {
    const std::size_t before = code(corpus.validation, i - 1);
    bits -= std::log2(counts[before * vocabulary + code(corpus.validation, i)] / totals[before]);
  }
  return bits / static_cast<double>(corpus.validation.size() - 1);
}

}  // namespace train_lm
