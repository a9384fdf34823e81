// SPDX-License-Identifier: Apache-2.0
//
// Decoding past the original context with frequencies that depend on the length: cached keys move
// when the scaling says so, and end where keys rotated afresh would be.
//
// Under dynamic NTK every new token beyond the context changes the base, and with it all cached
// keys. A decoder that asks for the length it will reach soon, in steps of 16, moves them 16 times
// less. LongRoPE changes once, where its list does. (Hugging Face leaves cached keys as they were,
// and scores new queries against keys of another rotation.)
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <eigen_rope/eigen_rope.hpp>
#include <limits>

namespace er = eigen_rope;

namespace {

constexpr int D = 64, heads = 2, context = 64, end = 160;
const er::Powers powers{D, 10000.0};

using Keys = Eigen::Tensor<float, 3>;  // [D, heads, tokens]

/// A cache of rotated keys, one token after the other. A real one has no projections to go back to;
/// here they are kept for the comparison.
class KeyCache {
 public:
  KeyCache() : projected_(D, heads, end), keys_(D, heads, end) {
    projected_.setRandom();
    keys_.setZero();
  }

  void append(const er::Frequencies& frequencies) {
    const er::Cache<float> table(frequencies, er::Positions::range(tokens_, 1));
    er::rotate_to(tokens(keys_, tokens_, 1), tokens(projected_, tokens_, 1), table, er::split_half);
    ++tokens_;
  }

  void move(const er::Frequencies& from, const er::Frequencies& to) {
    const er::Positions positions = er::Positions::range(0, tokens_);
    er::rerotate(tokens(keys_, 0, tokens_), {from, positions}, {to, positions}, er::split_half);
    ++moves_;
  }

  /// The largest distance of a pair from where a rotation of the projections puts it, in eps of its
  /// length.
  double distance_from_fresh(const er::Frequencies& frequencies) {
    Keys fresh(D, heads, tokens_);
    fresh = er::rotate(projected_, er::Cache<float>(frequencies, er::Positions::range(0, tokens_)),
                       er::split_half);
    double worst = 0;
    for (er::Index row = 0; row < heads * tokens_; ++row) {
      const float* a = fresh.data() + row * D;
      const float* b = keys_.data() + row * D;
      for (int k = 0; k < D / 2; ++k) {
        const double off = std::hypot(a[k] - b[k], a[k + D / 2] - b[k + D / 2]);
        worst = std::max(worst, off / std::hypot(a[k], a[k + D / 2]));
      }
    }
    return worst / std::numeric_limits<float>::epsilon();
  }

  int moves() const { return moves_; }

 private:
  static er::StridedView<float> tokens(Keys& keys, er::Index first, er::Index count) {
    return er::strided_view(keys).slice(2, first, count);
  }

  Keys projected_;
  Keys keys_;
  er::Index tokens_ = 0;
  int moves_ = 0;
};

/// Whether the keys are where they should be: each move, and each rotation, costs at most 1.75 eps
/// of a pair's length.
bool report(const char* name, KeyCache& cache, const er::Frequencies& frequencies) {
  const double distance = cache.distance_from_fresh(frequencies);
  fmt::print("{:<28}{:>4} moves, keys at most {:.1f} eps from ones rotated afresh\n", name,
             cache.moves(), distance);
  return distance <= 1.75 * (cache.moves() + 2);
}

bool decode_with_dynamic_ntk(const char* name, er::Index step) {
  KeyCache cache;
  er::DynamicNtk ntk(powers, {4.0, context});
  for (er::Index length = 1; length <= end; ++length) {
    const er::Frequencies before = ntk.frequencies();
    const er::Index soon = (length + step - 1) / step * step;
    // The new token is rotated by the new frequencies, those before it move to them.
    if (ntk.update(soon) == er::CachedKeys::rerotate) cache.move(before, ntk.frequencies());
    cache.append(ntk.frequencies());
  }
  return report(name, cache, ntk.frequencies());
}

bool decode_with_longrope() {
  er::LongRope longrope;
  longrope.original_context = context;
  longrope.factor = 4;
  for (int k = 0; k < D / 2; ++k) {
    longrope.short_factor.push_back(1.0 + 0.01 * k);
    longrope.long_factor.push_back(1.0 + 0.1 * k);
  }
  const er::Scaling scaling = longrope;
  KeyCache cache;
  er::Frequencies frequencies = er::Frequencies(powers, scaling, 0);
  for (er::Index length = 1; length <= end; ++length) {
    if (length == context + 1) {
      const er::Frequencies longer = er::Frequencies(powers, scaling, length);
      cache.move(frequencies, longer);
      frequencies = longer;
    }
    cache.append(frequencies);
  }
  return report("LongRoPE", cache, frequencies);
}

}  // namespace

int main() {
  const bool each = decode_with_dynamic_ntk("dynamic NTK, each token", 1);
  const bool steps = decode_with_dynamic_ntk("dynamic NTK, 16 at a time", 16);
  return decode_with_longrope() && each && steps ? 0 : 1;
}
