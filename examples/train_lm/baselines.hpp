// SPDX-License-Identifier: Apache-2.0
//
// What counting alone reaches, in bits per character, on the same split and the same targets as the
// model: every character of the validation split but the first, given (or not) the one before it.
//
//   unigram   p(c)     = (n_c + 1) / (N + V)       counts n from the training split, V the size of
//                                                  the vocabulary
//   bigram    p(c | a) = (n_ac + 1) / (n_a. + V)   n_a. = sum_c n_ac
#pragma once

#include "text.hpp"

namespace train_lm {

double unigram_bits(const Corpus& corpus);
double bigram_bits(const Corpus& corpus);

}  // namespace train_lm
