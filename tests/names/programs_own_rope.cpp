// SPDX-License-Identifier: Apache-2.0
//
// A program that has its own things called rope: a function, as hand-written inference code has, a
// class in a namespace that it opens, and the standard library's extension <ext/rope>, opened too.
// The library is included between them and takes none of these names.
void rope(float* x, int dims);

#include <cmath>
#include <cstdio>
#include <ext/rope>
#include <string>

#include "eigen_rope/eigen_rope.hpp"

namespace strings {
class rope {
 public:
  explicit rope(const char* text) : text_(text) {}
  std::size_t length() const { return text_.size(); }

 private:
  std::string text_;
};
}  // namespace strings

namespace hand_written {
// NOLINTNEXTLINE(google-build-using-namespace): what such programs do
using namespace __gnu_cxx;
// The rotation by position 1 of a row of one pair.
void rotate_pair(float* x) { ::rope(x, 2); }
}  // namespace hand_written

void rope(float* x, int dims) {
  const float a = x[0];
  const float b = x[dims / 2];
  x[0] = std::cos(1.0F) * a - std::sin(1.0F) * b;
  x[dims / 2] = std::cos(1.0F) * b + std::sin(1.0F) * a;
}

namespace er = eigen_rope;

int main() {
  // NOLINTNEXTLINE(google-build-using-namespace): what such programs do
  using namespace strings;
  const strings::rope text("hawser");
  const __gnu_cxx::crope line("hawser");
  Eigen::Tensor<float, 2> x(2, 2);
  x.setConstant(1.0F);
  const er::Cache<float> cache(er::Frequencies::powers({2}), er::Positions::range(0, 2),
                               er::Layout::tnd());
  const Eigen::Tensor<float, 3> y =
      er::rotate(x.reshape(Eigen::array<Eigen::Index, 3>{2, 1, 2}), cache, er::split_half);
  float mine[2] = {1.0F, 1.0F};
  hand_written::rotate_pair(mine);
  constexpr float tolerance = 4 * 0x1p-24F;  // two products, a sum, and their cosine
  const bool equal =
      std::abs(y(0, 0, 1) - mine[0]) <= tolerance && std::abs(y(1, 0, 1) - mine[1]) <= tolerance;
  std::printf("%zu letters in each rope; %s\n", text.length(),
              equal ? "both rotate alike" : "they differ");
  return equal && text.length() == line.size() ? 0 : 1;
}
