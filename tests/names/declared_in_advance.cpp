// SPDX-License-Identifier: Apache-2.0
//
// A program that declares classes of the library before it includes them, specialises templates of
// others for them, and adds functions of its own to the library's namespace. None of this needs the
// name of the inline namespace that holds the library, but for the first.
#include <eigen_rope/version.hpp>

namespace eigen_rope::EIGEN_ROPE_ABI {
class Frequencies;
template <class Scalar>
class Cache;
}  // namespace eigen_rope::EIGEN_ROPE_ABI

double first_rate(const eigen_rope::Frequencies& frequencies);
int pairs_of(const eigen_rope::Cache<float>& cache);

#include <eigen_rope/eigen_rope.hpp>
#include <functional>
#include <sstream>
#include <type_traits>
#include <unordered_set>

template <>
struct std::hash<eigen_rope::PairKind> {
  std::size_t operator()(eigen_rope::PairKind kind) const { return static_cast<std::size_t>(kind); }
};

namespace Eigen {
template <>
struct NumTraits<eigen_rope::DoubleDouble> : GenericNumTraits<eigen_rope::DoubleDouble> {
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 1 };
};
}  // namespace Eigen

namespace eigen_rope {
std::ostream& operator<<(std::ostream& out, const PairSlots& slots) {
  return out << slots.a << ' ' << slots.b;
}
}  // namespace eigen_rope

double first_rate(const eigen_rope::Frequencies& frequencies) {
  return static_cast<double>(frequencies.rates().front());
}
int pairs_of(const eigen_rope::Cache<float>& cache) { return static_cast<int>(cache.pairs()); }

namespace er = eigen_rope;

int main() {
  static_assert(std::is_same_v<er::Frequencies, eigen_rope::EIGEN_ROPE_ABI::Frequencies>);
  const er::Frequencies frequencies = er::Frequencies::powers({8});
  const std::unordered_set<er::PairKind> kinds{er::PairKind::split_half, er::PairKind::split_half};
  const Eigen::Matrix<er::DoubleDouble, 2, 1> numbers{er::DoubleDouble(1.0), er::DoubleDouble(2.0)};
  std::ostringstream out;
  out << er::pair_slots(er::PairKind::split_half, 1, 8);
  const bool good = first_rate(frequencies) == 1.0 && kinds.size() == 1 &&
                    static_cast<double>(numbers[1]) == 2.0 && out.str() == "1 5" &&
                    pairs_of(er::Cache<float>(frequencies, er::Positions::range(0, 3))) == 4;
  return good ? 0 : 1;
}
