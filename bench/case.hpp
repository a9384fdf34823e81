// SPDX-License-Identifier: Apache-2.0
//
// What the contenders of one shape, scalar and pairing share: arrays, their places in memory, and
// the table.
//
//   x [D, H, S] -> y [D, H, S]   one table row per token; D = head size, H = 32 heads, S tokens
//
// Where arrays lie decides more than who writes them, so they are placed: each begins on a page of
// its own, as large allocations do, and is written before anything is timed. memcpy and every
// contender use the same x and y. Scalars: float, double, Eigen::half, Eigen::bfloat16; the table
// is double for double and float for the rest.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/eigen_rope.hpp"

namespace bench {

using eigen_rope::Index;

constexpr Index heads = 32;

struct CaseShape {
  const char* name;
  Index head_size;
  Index rotary_dims;
  Index tokens;

  Index size() const { return head_size * heads * tokens; }
  bool whole_rows() const { return rotary_dims == head_size; }
};

constexpr CaseShape shapes[] = {
    {"decode", 128, 128, 1},         {"tok16", 128, 128, 16},     {"prefill512", 128, 128, 512},
    {"prefill4096", 128, 128, 4096}, {"partial512", 80, 32, 512},
};

template <class T>
inline constexpr const char* scalar_name = nullptr;
template <>
inline constexpr const char* scalar_name<float> = "f32";
template <>
inline constexpr const char* scalar_name<double> = "f64";
template <>
inline constexpr const char* scalar_name<Eigen::half> = "f16";
template <>
inline constexpr const char* scalar_name<Eigen::bfloat16> = "bf16";

inline std::string pairing_name(eigen_rope::Pairing pairing) {
  return pairing.kind() == eigen_rope::PairKind::split_half ? "split_half" : "interleaved";
}

/// Uninitialised memory that begins on a page.
template <class T>
class PlacedArray {
 public:
  explicit PlacedArray(Index size) {
    const std::size_t bytes =
        (static_cast<std::size_t>(size) * sizeof(T) + page - 1) / page * page + page;
    memory_.reset(std::aligned_alloc(page, bytes));
    if (!memory_) throw std::bad_alloc();
    data_ = static_cast<T*>(memory_.get());
  }
  T* data() const { return data_; }

 private:
  static constexpr std::size_t page = 4096;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  T* data_;
};

/// The same numbers in [-1, 1) in every run.
template <class T>
void fill(T* data, Index size, std::uint32_t seed) {
  for (Index i = 0; i < size; ++i) {
    seed = seed * 1664525U + 1013904223U;
    data[i] = static_cast<T>(static_cast<float>(seed >> 8) / 8388608.0F - 1.0F);
  }
}

template <class T>
struct Case {
  using Scalar = T;
  using TableScalar = std::conditional_t<std::is_same_v<T, double>, double, float>;
  using Map = Eigen::TensorMap<Eigen::Tensor<T, 3>>;

  Case(const CaseShape& s, eigen_rope::Pairing kind)
      : shape(s),
        pairing(kind.with_rotary_dims(s.rotary_dims)),
        x_memory(s.size()),
        y_memory(s.size()),
        x(x_memory.data(), s.head_size, heads, s.tokens),
        y(y_memory.data(), s.head_size, heads, s.tokens),
        cache(eigen_rope::Frequencies::powers({s.rotary_dims}),
              eigen_rope::Positions::range(0, s.tokens), eigen_rope::Layout::tnd()) {
    fill(x.data(), s.size(), 1);
    fill(y.data(), s.size(), 2);
  }

  /// A third array of the same shape, for whichever contenders add one.
  Map b() {
    if (!b_memory) {
      b_memory.emplace(shape.size());
      fill(b_memory->data(), shape.size(), 3);
    }
    return Map(b_memory->data(), D(), heads, S());
  }

  Index D() const { return shape.head_size; }
  Index S() const { return shape.tokens; }
  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * sizeof(T); }
  bool split_half() const { return pairing.kind() == eigen_rope::PairKind::split_half; }

  CaseShape shape;
  eigen_rope::Pairing pairing;
  /// What eigen_rope::reference makes of x, once it was asked for.
  std::vector<T> expected;
  PlacedArray<T> x_memory, y_memory;
  std::optional<PlacedArray<T>> b_memory;
  Map x, y;
  eigen_rope::Cache<TableScalar> cache;
};

}  // namespace bench
