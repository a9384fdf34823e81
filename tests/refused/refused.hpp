// SPDX-License-Identifier: Apache-2.0
//
// For programs with mistakes that the compiler must refuse in the words of the library.
//
// Such a file writes WRONG(mistake, correct) where a mistake lies, and before the statement a line
// with a comment `refused: <words of the sentence>`. check_refused.py compiles the file twice:
// without the mistakes there must be no error, and with them exactly one in each marked statement,
// which contains its words.
#pragma once

#ifdef EIGEN_ROPE_WITHOUT_MISTAKES
#define WRONG(mistake, correct) correct
#else
#define WRONG(mistake, correct) mistake
#endif
