// SPDX-License-Identifier: Apache-2.0
//
// Axial RoPE for image patches: one half of each row turns with the patch's row, the other with its
// column. It is no scaling: it is two windows, each with positions of its own and the powers of its
// own width. Where positions on several axes (Sections) say the same, one rotation does both.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <eigen_rope/eigen_rope.hpp>
#include <limits>
#include <vector>

namespace er = eigen_rope;

namespace {

using Patches = Eigen::Tensor<float, 3>;  // [D, heads, patches]

constexpr int D = 64, heads = 4, height = 3, width = 5;

bool same(const Patches& a, const Patches& b) {
  const Eigen::Tensor<bool, 0> result = (a == b).all();
  return result();
}

}  // namespace

int main() {
  std::vector<int> rows, columns;
  for (int patch = 0; patch < height * width; ++patch) {
    rows.push_back(patch / width);
    columns.push_back(patch % width);
  }
  Patches x(D, heads, height * width);
  x.setRandom();

  // 1. A window for each axis: the powers of D/2 dims, the same for both.
  const er::Frequencies frequencies = er::Frequencies::powers({D / 2, 100.0});
  const er::Cache<float> by_row(frequencies, er::Positions::ids(rows));
  const er::Cache<float> by_column(frequencies, er::Positions::ids(columns));
  const auto windows = [&](er::Pairing pairing) {
    Patches y = er::rotate(x, by_row, pairing.with_rotary_dims(D / 2));
    er::rotate_inplace(y, by_column, pairing.with_offset(D / 2).with_rotary_dims(D / 2));
    return y;
  };

  // 2. One rotation with two positions a patch: the first D/4 pairs take the row, the others the
  // column, and exponents begin again.
  const er::Sections sections(er::SectionPattern::vision, {D / 4, D / 4});
  er::Powers powers{D, 100.0};
  powers.exponent_dims = D / 2;
  powers.exponents = sections.exponents(D / 2);
  std::vector<int> ids = rows;
  ids.insert(ids.end(), columns.begin(), columns.end());
  const er::Cache<float> both(er::Frequencies::powers(powers),
                              er::Positions::multi_axis(ids, sections));

  // Bit for bit the same, where the pairs of an axis fill its window: interleaved pairs, and
  // split-half pairs in each window, which are the quarter pairs of the whole row.
  const bool interleaved = same(windows(er::interleaved), er::rotate(x, both, er::interleaved));
  const bool blocks = same(windows(er::split_half), er::rotate(x, both, er::quarter));
  fmt::print("interleaved in two windows is one interleaved rotation: {}\n", interleaved);
  fmt::print("split_half in two windows is one quarter rotation: {}\n", blocks);

  // Hugging Face's axial frequencies, rows' then columns', with its rotate_half: pairs reach across
  // the row, (k, k + D/2). That is no window, but the same table.
  const Patches y = er::rotate(x, both, er::split_half);
  float worst = 0;
  for (int patch = 0; patch < height * width; ++patch) {
    for (int k = 0; k < D / 2; ++k) {
      const int position = k < D / 4 ? rows[static_cast<std::size_t>(patch)]
                                     : columns[static_cast<std::size_t>(patch)];
      const double angle = position * std::pow(100.0, -2.0 * (k % (D / 4)) / (D / 2));
      const double expected =
          std::cos(angle) * x(k, 0, patch) - std::sin(angle) * x(k + D / 2, 0, patch);
      worst = std::max(worst, std::abs(y(k, 0, patch) - static_cast<float>(expected)));
    }
  }
  fmt::print("split-half pairs across the row: {:.1g} from Hugging Face's formula\n", worst);
  return interleaved && blocks && worst <= 2 * std::numeric_limits<float>::epsilon() ? 0 : 1;
}
