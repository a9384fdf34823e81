// SPDX-License-Identifier: Apache-2.0
//
// For programs with mistakes that the compiler must refuse in the words of the library.
//
// Such a file marks each line that has a mistake by a comment `refused: <words of the sentence>`,
// and writes WRONG(mistake, correct) where it lies. check_refused.py compiles the file twice:
// without the mistakes there must be no error, and with them exactly one for each marked line,
// which contains its words.
#pragma once

#ifdef EIGEN_ROPE_WITHOUT_MISTAKES
#define WRONG(mistake, correct) correct
#else
#define WRONG(mistake, correct) mistake
#endif
