// SPDX-License-Identifier: Apache-2.0
//
// Loops written by hand for one head size and one instruction set: what the library's speed is
// measured against.
//
//   x [tokens, heads, D] -> y, one table row [R / 2] for each token; steps between tokens and
//   between heads are given, so that one loop serves every layout
//
// A loop loads a token's coefficients and walks that token's heads, or walks one head's tokens, or
// four heads together; it stores through the caches or past them. It makes no checks and no
// choices. hand_loops() returns all loops that the processor at hand can run; a caller that wants
// the best one times them. The sources are compiled for AVX-512 and for AVX2, and
// share no inline function with anything else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

enum class HandScalar { f32, f64, f16, bf16 };
enum class HandPairs { split_half, interleaved };
/// How many rows go between two loads of coefficients, and in which order rows go. The first of
/// them takes lists of slots and rows.
enum class HandOrder { token_by_token, row_by_row, four_heads };

/// Steps are elements. The table is of double for f64, and of float otherwise.
struct HandCall {
  const void* x;
  void* y;
  const void* cos;
  const void* sin;
  std::ptrdiff_t heads, tokens;
  std::ptrdiff_t x_head, x_token, y_head, y_token;
  /// For each token its slot in y and its row of the table; null for its own number.
  const std::int64_t* slots = nullptr;
  const std::int32_t* rows = nullptr;
};

/// The backward pass of float: dx = the transposed rotation of g, and for each token and pair the
/// sum over heads of y_A g_B - y_B g_A in double. All arrays are [tokens, heads, 128].
struct HandGradientCall {
  const float* y;
  const float* g;
  float* dx;
  const float* cos;
  const float* sin;
  double* angle;
  std::ptrdiff_t heads, tokens;
};

/// Features that are not on the fastest axis: element i of a pair's first members lies at pair k *
/// `pair` + head h * `head` + i, its partner `member` further, where i counts `batch` sequences
/// inside `tokens` tokens. The table is [pairs, tokens], tokens next to each other.
struct HandLaneCall {
  const void* x;
  void* y;
  const void* cos;
  const void* sin;
  std::ptrdiff_t pairs, heads, tokens, batch;
  std::ptrdiff_t pair, head, member;
};

/// From one order of axes into another: one of x and y is [tokens, heads, 128], the other
/// [128, heads, tokens]. A strip has some tokens of some heads, which divide those of the call.
struct HandCrossing {
  const void* x;
  void* y;
  const void* cos;
  const void* sin;
  std::ptrdiff_t heads, tokens;
  std::ptrdiff_t strip_heads, strip_tokens;
  /// Rows of a strip; 32 columns of it, with a line between them.
  void* tile;
  void* stage;
};

struct HandLaneLoop {
  /// Which tokens * batch must be a multiple of, unless rows of all heads follow each other.
  std::ptrdiff_t lanes;
  /// Which every run of y must be aligned to, in bytes.
  std::size_t alignment;
  void (*run)(const HandLaneCall&);
};

struct HandLaneLoops {
  static constexpr int most = 8;
  HandLaneLoop loop[most];
  int count = 0;
};

using RunHandCrossing = void (*)(const HandCrossing&);

/// Null where the processor lacks the instructions. The first half of each store through the
/// caches, the others past them, for which y and what a strip has of a row or column must fill
/// lines. Of those from columns, every second one copies to the stage.
struct HandCrossings {
  RunHandCrossing to_columns[2];
  RunHandCrossing from_columns[4];
};

struct HandLoop {
  const char* name;
  HandOrder order;
  /// Which every row of y must be aligned to, in bytes.
  std::size_t alignment;
  void (*run)(const HandCall&);
};

/// Stores through the caches or past them; null where the processor lacks the instructions.
struct HandGradients {
  void (*cached)(const HandGradientCall&);
  void (*streaming)(const HandGradientCall&);
};

/// A plain aggregate: files compiled for other instruction sets share no function with this one.
struct HandLoops {
  static constexpr int most = 6;
  HandLoop loop[most];
  int count = 0;
};

/// Of AVX-512 if `target` begins with AVX3, of AVX2 for AVX2; those are the library's own names.
/// None for other targets and sizes, or if the processor lacks the instructions.
HandLoops hand_loops(const char* target, HandScalar scalar, HandPairs pairs,
                     std::ptrdiff_t head_size, std::ptrdiff_t rotary);

HandGradients hand_gradients(const char* target, HandPairs pairs);

/// Those of AVX2, too, where AVX-512 is the target: their vectors fit fewer tokens.
HandLaneLoops hand_lane_loops(const char* target, HandScalar scalar);
void add_hand_lane_loops_avx512(HandLaneLoops& list, HandScalar scalar);
void add_hand_lane_loops_avx2(HandLaneLoops& list, HandScalar scalar);

HandCrossings hand_crossings(const char* target, HandScalar scalar, HandPairs pairs);
HandCrossings hand_crossings_avx512(HandScalar scalar, HandPairs pairs);
HandCrossings hand_crossings_avx2(HandScalar scalar, HandPairs pairs);

HandGradients hand_gradients_avx512(HandPairs pairs);
HandGradients hand_gradients_avx2(HandPairs pairs);
HandLoops hand_loops_avx512(HandScalar scalar, HandPairs pairs, std::ptrdiff_t head_size,
                            std::ptrdiff_t rotary);
HandLoops hand_loops_avx2(HandScalar scalar, HandPairs pairs, std::ptrdiff_t head_size,
                          std::ptrdiff_t rotary);

}  // namespace bench
