// SPDX-License-Identifier: Apache-2.0
//
// Compiled as EIGEN_ROPE_TEST_RESULTS. Nothing here may itself depend on the flags: values are made
// of integers, and whatever is not the library's has no name outside this file.
#include "flags/results.hpp"

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <unsupported/Eigen/AutoDiff>
#include <utility>

#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/float_recurrence.hpp"
#include "eigen_rope/tables/token_row.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope::test {
namespace {

template <class Scalar>
constexpr const char* name_of = "?";
template <>
constexpr const char* name_of<float> = "float";
template <>
constexpr const char* name_of<double> = "double";
template <>
constexpr const char* name_of<long double> = "long double";
template <>
constexpr const char* name_of<Eigen::half> = "half";
template <>
constexpr const char* name_of<Eigen::bfloat16> = "bfloat16";

template <class... Scalars>
constexpr Reach reach_of = (std::is_same_v<Scalars, long double> || ...) ? Reach::this_processor
                                                                         : Reach::every_processor;

/// Numbers with as many digits as a scalar has, of one half to one and a half.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}

  template <class Scalar>
  Scalar next() {
    const auto high = static_cast<double>(bits() >> 11) / 9007199254740992.0;
    if constexpr (std::is_same_v<Scalar, long double>) {
      return (static_cast<long double>(high) + static_cast<long double>(bits() >> 53) / 0x1p64L) +
             0.5L;
    } else if constexpr (std::is_same_v<Scalar, DoubleDouble>) {
      return detail::quick_two_sum(high + 0.5, static_cast<double>(bits() >> 11) / 0x1p107);
    } else {
      return static_cast<Scalar>(high + 0.5);
    }
  }

  template <class Scalar>
  std::vector<Scalar> some(Index count) {
    std::vector<Scalar> values;
    for (Index i = 0; i < count; ++i)
      values.push_back(i % 3 == 2 ? -next<Scalar>() : next<Scalar>());
    return values;
  }

 private:
  std::uint64_t bits() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ ^ state_ >> 29;
  }

  std::uint64_t state_;
};

class Results {
 public:
  template <class Scalar>
  void add(const std::string& name, Reach reach, const Scalar* values, std::size_t count) {
    // Of a long double's bytes the last ones have no meaning everywhere.
    constexpr std::size_t size =
        std::is_same_v<Scalar, long double> && sizeof(Scalar) > 10 && __LDBL_MANT_DIG__ == 64
            ? 10
            : sizeof(Scalar);
    Result result{name, reach, {}};
    for (std::size_t i = 0; i < count; ++i) {
      std::uint8_t bytes[sizeof(Scalar)];
      std::memcpy(bytes, values + i, sizeof(Scalar));
      result.bytes.insert(result.bytes.end(), bytes, bytes + size);
    }
    all_.push_back(result);
  }
  template <class Scalar>
  void add(const std::string& name, Reach reach, const std::vector<Scalar>& values) {
    add(name, reach, values.data(), values.size());
  }
  template <class Scalar>
  void add(const std::string& name, Reach reach, const TableView<Scalar>& table) {
    const auto size = static_cast<std::size_t>(table.width * table.outer.size());
    add(name + ", cos", reach, table.cos, size);
    add(name + ", sin", reach, table.sin, size);
  }

  std::vector<Result> take() { return std::move(all_); }

 private:
  std::vector<Result> all_;
};

constexpr Index kTokens = 5;
constexpr Index kHeads = 3;
constexpr Index kDims = 76;  // vectors and a rest of every kernel
constexpr Index kLength = 80;
constexpr Wanted kAll = Wanted::angle | Wanted::log_magnitude | Wanted::table;

template <class Scalar>
struct Entries {
  std::vector<Scalar> cos, sin;
  Index width;

  TableView<Scalar> view() const { return {cos.data(), sin.data(), width, Shape{1, kTokens}}; }
};

template <class Scalar>
Entries<Scalar> entries(Index width, std::uint64_t seed) {
  Numbers numbers(seed);
  return {numbers.some<Scalar>(width * kTokens), numbers.some<Scalar>(width * kTokens), width};
}

template <class Scalar>
StridedView<Scalar> rows_of(std::vector<Scalar>& values) {
  return {values.data(), Shape{kLength, kHeads, kTokens}, {kLength, kLength * kHeads}};
}

std::string text(PairKind kind, Direction direction, Index width) {
  constexpr const char* kinds[] = {"split_half", "interleaved", "quarter",
                                   "interleaved_to_split_half"};
  constexpr const char* directions[] = {"forward", "backward", "inverse"};
  return std::string(kinds[static_cast<int>(kind)]) + ", " +
         directions[static_cast<int>(direction)] + (width == kDims ? ", full width" : "");
}

template <class Scalar>
using AtLeastFloat = std::conditional_t<sizeof(Scalar) == 2, float, Scalar>;
template <class X, class TableScalar>
using Widest = std::common_type_t<AtLeastFloat<X>, AtLeastFloat<TableScalar>>;

/// p a + q b, from the definition; what is volatile is rounded.
template <class X, class C>
C sum_by_definition(C p, C a, C q, C b) {
  const volatile C second = q * b;
  if constexpr (sizeof(X) == 2 && std::is_same_v<C, float>)
    return std::fma(p, a, static_cast<float>(second));
  const volatile C first = p * a;
  return first + second;
}

/// The rotation of x, from the definition in docs/design.md.
template <class X, class TableScalar>
std::vector<X> by_definition(const std::vector<X>& x, const Entries<TableScalar>& table,
                             Pairing pairing, Direction direction) {
  using Wide = Widest<X, TableScalar>;
  std::vector<X> y = x;
  for (Index row = 0; row < kHeads * kTokens; ++row) {
    const Index begin = row * kLength + pairing.offset();
    const Index entry = row / kHeads * table.width;
    for (Index k = 0; k < kDims / 2; ++k) {
      const PairSlots slots = pair_slots(pairing.kind(), k, kDims);
      const auto wide = [&](const auto& values, Index i) {
        return static_cast<Wide>(values[static_cast<std::size_t>(i)]);
      };
      const auto put = [&](Index slot, Wide value) {
        y[static_cast<std::size_t>(begin + slot)] = static_cast<X>(value);
      };
      const bool full = table.width == kDims;
      const Wide cos_a = wide(table.cos, entry + (full ? slots.A : k));
      const Wide cos_b = wide(table.cos, entry + (full ? slots.B : k));
      const Wide sin_a = wide(table.sin, entry + (full ? slots.A : k));
      const Wide sin_b = wide(table.sin, entry + (full ? slots.B : k));
      if (direction == Direction::forward) {
        const Wide a = wide(x, begin + slots.a);
        const Wide b = wide(x, begin + slots.b);
        put(slots.A, sum_by_definition<X, Wide>(cos_a, a, -sin_a, b));
        put(slots.B, sum_by_definition<X, Wide>(cos_b, b, sin_b, a));
        continue;
      }
      const Wide a = wide(x, begin + slots.A);
      const Wide b = wide(x, begin + slots.B);
      if (direction == Direction::backward) {
        put(slots.a, sum_by_definition<X, Wide>(cos_a, a, sin_b, b));
        put(slots.b, sum_by_definition<X, Wide>(cos_b, b, -sin_a, a));
        continue;
      }
      const Wide determinant = sum_by_definition<Wide, Wide>(cos_a, cos_b, sin_a, sin_b);
      put(slots.a, sum_by_definition<X, Wide>(cos_b / determinant, a, sin_a / determinant, b));
      put(slots.b, sum_by_definition<X, Wide>(cos_a / determinant, b, -sin_b / determinant, a));
    }
  }
  return y;
}

template <class X, class TableScalar>
void rotations(Results& results) {
  constexpr Reach reach = reach_of<X, TableScalar>;
  const std::string scalars = std::string(name_of<X>) + " by " + name_of<TableScalar>;
  std::uint64_t seed = 0;
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved, PairKind::quarter,
                              PairKind::interleaved_to_split_half}) {
    const Pairing pairing = Pairing(kind).with_offset(2).with_rotary_dims(kDims);
    for (const Direction direction :
         {Direction::forward, Direction::backward, Direction::inverse}) {
      for (const Index width : {kDims / 2, kDims}) {
        std::vector<X> x = Numbers(++seed).some<X>(kLength * kHeads * kTokens);
        const Entries<TableScalar> table = entries<TableScalar>(width, ++seed);
        std::vector<X> y(x.size());
        rotate_to(rows_of(y), rows_of(x), table, pairing, direction);
        results.add("rotation of " + scalars + ", " + text(kind, direction, width), reach, y);
        std::vector<X> plain(x.size());
        reference::rotate(x.data(), plain.data(), Shape{kLength, kHeads, kTokens}, table.view(),
                          pairing, direction);
        results.add("reference of " + scalars + ", " + text(kind, direction, width), reach, plain);
        results.add("definition of " + scalars + ", " + text(kind, direction, width), reach,
                    by_definition(x, table, pairing, direction));
      }
    }
  }
}

/// Derivatives by every x of one row in one direction, in Eigen's arithmetic.
void differentiable(Results& results) {
  using Scalar = Eigen::AutoDiffScalar<Eigen::Matrix<double, 1, 1>>;
  Numbers numbers(500);
  std::vector<Scalar> x(kDims), y(kDims);
  for (Scalar& element : x)
    element = Scalar(numbers.next<double>(), Eigen::Matrix<double, 1, 1>(numbers.next<double>()));
  const Entries<double> table = entries<double>(kDims / 2, 501);
  std::vector<double> values;
  for (const Direction direction : {Direction::forward, Direction::backward, Direction::inverse}) {
    rotate_to(StridedView<Scalar>{y.data(), Shape{kDims}, {}},
              StridedView<Scalar>{x.data(), Shape{kDims}, {}},
              TableView<double>{table.cos.data(), table.sin.data(), table.width, Shape()},
              split_half, direction);
    for (const Scalar& element : y)
      values.insert(values.end(), {element.value(), element.derivatives()(0)});
  }
  results.add("rotation of differentiable double", Reach::near, values);
}

template <class U, class G, class TableScalar>
void gradients_of(Results& results) {
  constexpr Reach reach = reach_of<U, G, TableScalar>;
  const std::string scalars =
      std::string(name_of<U>) + " and " + name_of<G> + " by " + name_of<TableScalar>;
  std::uint64_t seed = 1000;
  const auto add = [&](const std::string& name, const auto& gradient) {
    results.add(name + ": angle", reach, gradient.angle);
    results.add(name + ": log magnitude", reach, gradient.log_magnitude);
    results.add(name + ": cos", reach, gradient.cos);
    results.add(name + ": sin", reach, gradient.sin);
  };
  for (const PairKind kind : {PairKind::split_half, PairKind::interleaved}) {
    const Pairing pairing = Pairing(kind).with_offset(2).with_rotary_dims(kDims);
    std::vector<U> u = Numbers(++seed).some<U>(kLength * kHeads * kTokens);
    std::vector<G> g = Numbers(++seed).some<G>(kLength * kHeads * kTokens);
    for (const Index width : {kDims / 2, kDims}) {
      const Entries<TableScalar> table = entries<TableScalar>(width, ++seed);
      const std::string what = scalars + ", " + text(kind, Direction::forward, width);
      add("gradients from the input of " + what,
          gradients(rows_of(u), rows_of(g), table, pairing, {kAll, GradientsFrom::input}));
      if (width == kDims) continue;
      add("gradients from the output of " + what,
          gradients(rows_of(u), rows_of(g), table, pairing, {kAll}));
      std::vector<G> dx(g.size());
      const auto angles = gradients_to(rows_of(dx), rows_of(u), rows_of(g), table, pairing);
      results.add("angles from the output of " + what, reach, angles.angle);
      results.add("dx of " + what, reach, dx);
    }
  }
}

template <class Scalar>
void tangents(Results& results) {
  constexpr Reach reach = reach_of<Scalar>;
  const Entries<Scalar> table = entries<Scalar>(kDims / 2, 2000);
  Numbers numbers(2001);
  const std::vector<Scalar> angle = numbers.some<Scalar>(kDims / 2 * kTokens);
  const std::vector<Scalar> log_magnitude = numbers.some<Scalar>(kDims / 2 * kTokens);
  const auto tangent = tangent_of(table, angle, log_magnitude);
  results.add(std::string("tangent of ") + name_of<Scalar>, reach, tangent.view());
  std::vector<Scalar> x = numbers.some<Scalar>(kLength * kHeads * kTokens);
  std::vector<Scalar> dx = numbers.some<Scalar>(kLength * kHeads * kTokens);
  std::vector<Scalar> dy(x.size());
  jvp_to(rows_of(dy), rows_of(x), rows_of(dx), table, tangent,
         split_half.with_offset(2).with_rotary_dims(kDims));
  results.add(std::string("derivative of ") + name_of<Scalar>, reach, dy);
}

template <class Scalar>
void tables(Results& results) {
  constexpr Reach reach = reach_of<Scalar>;
  const std::string name = std::string("table of ") + name_of<Scalar>;
  Powers<> powers{kDims};
  powers.linear_scale = 0.25;
  const Frequencies yarn = Frequencies(powers, GgmlYarn<>{1.0, 4096});
  results.add(name, reach, Cache<Scalar>(yarn, Positions::range(123456, 40)).view());
  results.add(name + ", fractions", reach,
              Cache<Scalar>(yarn, Positions::ids(Numbers(3000).some<double>(40))).view());
  TokenRow<Scalar> row(yarn);
  results.add(name + ", one token", reach, row.at(-987654321).view());
  results.add(name + ", xPos", reach,
              xpos_cache<Scalar>(yarn, Positions::range(100, 40), {}, XposSide::query).view());
}

template <class S>
void rates(Results& results, const char* name) {
  constexpr Reach reach =
      std::is_same_v<S, DoubleDouble> ? Reach::every_processor : Reach::this_processor;
  const auto add = [&](const std::string& what, const Rates<S>& rates) {
    if constexpr (std::is_same_v<S, DoubleDouble>) {
      std::vector<double> parts;
      for (const S& rate : rates.rates) parts.insert(parts.end(), {rate.high, rate.low});
      parts.insert(parts.end(), {rates.attention_factor.high, rates.attention_factor.low});
      results.add(what + " of " + name, reach, parts);
    } else {
      std::vector<S> all = rates.rates;
      all.push_back(rates.attention_factor);
      results.add(what + " of " + name, reach, all);
    }
  };
  Powers<S> powers;
  powers.rotary_dims = 128;
  powers.linear_scale = S(0.3);
  powers.attention_factor = S(1.1);
  add("powers", powers.rates());
  GgmlYarn<S> yarn;
  yarn.ext_factor = S(0.7);
  yarn.original_context = 4096;
  add("YaRN's rates", yarn.rates(powers));
  yarn.ends = RampEnds::exact;
  add("YaRN's rates between exact ends", yarn.rates(powers));
  add("Llama 3's rates", Llama3<S>{}.rates(powers));
  Yarn<S> hugging_face;
  hugging_face.factor = S(3.7);
  hugging_face.original_context = 4096;
  hugging_face.extrapolation = S(0.9);
  add("Hugging Face's YaRN", hugging_face.rates(powers));
}

void double_doubles(Results& results) {
  Numbers numbers(4000);
  std::vector<double> parts;
  const auto keep = [&](DoubleDouble v) { parts.insert(parts.end(), {v.high, v.low}); };
  for (int i = 0; i < 500; ++i) {
    const auto a = numbers.next<DoubleDouble>();
    const auto b = numbers.next<DoubleDouble>();
    keep(a + b);
    keep(a - b);
    keep(a * b);
    keep(a / b);
    keep(a * b + b);
    keep(exp(a));
    keep(log(b));
  }
  results.add("double-doubles", Reach::every_processor, parts);
}

void everything(Results& results) {
  rotations<float, float>(results);
  rotations<double, double>(results);
  rotations<Eigen::half, float>(results);
  rotations<Eigen::bfloat16, float>(results);
  rotations<Eigen::half, Eigen::half>(results);
  rotations<Eigen::bfloat16, Eigen::bfloat16>(results);
  rotations<long double, long double>(results);
  rotations<float, double>(results);
  rotations<double, float>(results);
  rotations<Eigen::half, double>(results);
  rotations<float, long double>(results);
  differentiable(results);
  gradients_of<float, float, float>(results);
  gradients_of<double, double, double>(results);
  gradients_of<Eigen::half, Eigen::half, float>(results);
  gradients_of<Eigen::bfloat16, Eigen::bfloat16, float>(results);
  gradients_of<long double, long double, long double>(results);
  gradients_of<float, double, double>(results);
  gradients_of<Eigen::half, float, float>(results);
  tangents<float>(results);
  tangents<double>(results);
  tangents<long double>(results);
  tables<float>(results);
  tables<double>(results);
  tables<long double>(results);
  tables<Eigen::half>(results);
  tables<Eigen::bfloat16>(results);
  rates<float>(results, "float");
  rates<double>(results, "double");
  rates<long double>(results, "long double");
  rates<DoubleDouble>(results, "double-double");
  double_doubles(results);
}

}  // namespace

std::vector<Result> EIGEN_ROPE_TEST_RESULTS() {
  Results results;
  everything(results);
  return results.take();
}

}  // namespace eigen_rope::test
