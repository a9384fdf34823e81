// SPDX-License-Identifier: Apache-2.0
//
// What learning needs besides dx: b stands for the rotation's input or output, x for the gradient
// that comes in or the direction.
//
//   table_gradient    d cos and d sin from b and x: table_gradient()
//   rate_gradients    d angle from b and x, and the gradient of each rate from it: gradients()
//                     without dx, then rate_gradients()
//   jvp               y = the derivative of rotate(b) along x and a direction of the angles, by
//                     jvp_to()
//   memcpy_of_three   copies one and a half tensors
//
// Bytes are counted as reads plus writes of tensors of x's size. The first two read two tensors, as
// many bytes as memcpy reads and writes, so they are compared with memcpy. jvp reads two and writes
// one: it is compared with memcpy_of_three. Tables, and gradients of a table, are not counted: they
// are as large as one of the 32 heads, and the sums of angles twice as large.
#include <cstring>

#include "contender.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "expected.hpp"

namespace bench {
namespace {

using Values = std::vector<float>;

std::size_t entries(const Case<float>& c) {
  return static_cast<std::size_t>(c.shape.rotary_dims / 2 * c.S());
}

/// x_a g_A + x_b g_B of each pair and token, summed over heads, in double.
std::vector<double> cosines(const Case<float>& c, const float* x, const float* g) {
  const Index pairs = c.shape.rotary_dims / 2;
  std::vector<double> sums(entries(c));
  for (Index row = 0; row < heads * c.S(); ++row) {
    for (Index k = 0; k < pairs; ++k) {
      const eigen_rope::PairSlots slot =
          eigen_rope::pair_slots(c.pairing.kind(), k, c.shape.rotary_dims);
      for (const Index at : {row * c.D() + slot.A, row * c.D() + slot.B}) {
        sums[static_cast<std::size_t>(row / heads * pairs + k)] +=
            static_cast<double>(x[at]) * static_cast<double>(g[at]);
      }
    }
  }
  return sums;
}

Prepared table_gradient(Case<float>& c) {
  struct Result {
    Values cos, sin;
  };
  auto result = std::make_shared<Result>(Result{Values(entries(c)), Values(entries(c))});
  const auto x = c.b();
  const eigen_rope::TableGradient<float> gradient{result->cos.data(), result->sin.data(),
                                                  c.cache.pairs(), c.cache.view().outer};
  const Action run = [&c, x, gradient, result] {
    eigen_rope::table_gradient(gradient, x, c.x, c.pairing);
  };
  const auto correct = [&c, x, run, result] {
    run();
    return agrees_with_angles(result->cos, cosines(c, x.data(), c.x.data())) &&
           agrees_with_angles(result->sin, angles(c, x.data(), c.x.data()));
  };
  return {run, correct};
}

/// Positions count from 0, so each sum has the tokens' numbers as weights, and its error is at most
/// that of the angles times the weights.
bool agrees_with_rates(const Case<float>& c, const std::vector<double>& rates,
                       const std::vector<double>& angles) {
  const std::size_t pairs = rates.size();
  const auto tokens = static_cast<double>(c.S());
  const double allowed = angle_tolerance * tokens * (tokens - 1) / 2;
  for (std::size_t k = 0; k < pairs; ++k) {
    double expected = 0;
    for (std::size_t s = 0; s * pairs < angles.size(); ++s)
      expected += static_cast<double>(s) * angles[s * pairs + k];
    if (!(std::abs(rates[k] - expected) <= allowed)) return false;
  }
  return pairs == static_cast<std::size_t>(c.shape.rotary_dims / 2);
}

Prepared rate_gradients(Case<float>& c) {
  struct Result {
    eigen_rope::Positions positions;
    eigen_rope::Gradients<double> sums{};
    std::vector<double> rates{};
  };
  auto result = std::make_shared<Result>(Result{eigen_rope::Positions::range(0, c.S())});
  const auto y = c.b();
  const Action run = [&c, y, result] {
    result->sums = eigen_rope::gradients(y, c.x, c.cache, c.pairing, {}, std::move(result->sums));
    result->rates =
        eigen_rope::rate_gradients(result->sums, result->positions, eigen_rope::Layout::tnd());
  };
  const auto correct = [&c, y, run, result] {
    run();
    return agrees_with_rates(c, result->rates, angles(c, y.data(), c.x.data()));
  };
  return {run, correct};
}

/// rotate(dx) + dt times the derivative of rotate(x) by its angles, in double.
Values derivative(const Case<float>& c, const float* x, const float* dx, const Values& dt) {
  Values result(static_cast<std::size_t>(c.shape.size()));
  const Index pairs = c.shape.rotary_dims / 2;
  for (Index row = 0; row < heads * c.S(); ++row) {
    for (Index k = 0; k < pairs; ++k) {
      const Index entry = row / heads * pairs + k;
      const double cos = static_cast<double>(c.cache.cos()[entry]);
      const double sin = static_cast<double>(c.cache.sin()[entry]);
      const auto turned = static_cast<double>(dt[static_cast<std::size_t>(entry)]);
      const eigen_rope::PairSlots slot =
          eigen_rope::pair_slots(c.pairing.kind(), k, c.shape.rotary_dims);
      const auto value = [&](const float* from, Index at) {
        return static_cast<double>(from[row * c.D() + at]);
      };
      const double y_A = cos * value(x, slot.a) - sin * value(x, slot.b);
      const double y_B = cos * value(x, slot.b) + sin * value(x, slot.a);
      const auto at = [&](Index element) {
        return static_cast<std::size_t>(row * c.D() + element);
      };
      result[at(slot.A)] =
          static_cast<float>(cos * value(dx, slot.a) - sin * value(dx, slot.b) - turned * y_B);
      result[at(slot.B)] =
          static_cast<float>(cos * value(dx, slot.b) + sin * value(dx, slot.a) + turned * y_A);
    }
  }
  return result;
}

Prepared jvp(Case<float>& c) {
  Values dt(entries(c));
  fill(dt.data(), static_cast<Index>(dt.size()), 4);
  const auto tangent =
      std::make_shared<const eigen_rope::TangentTable<float>>(eigen_rope::tangent_of(c.cache, dt));
  const auto x = c.b();
  const Action run = [&c, x, tangent] {
    eigen_rope::jvp_to(c.y, x, c.x, c.cache, *tangent, c.pairing);
  };
  // The errors of two rotations, of the tangent's entries, and of the sum.
  const auto correct = [&c, x, dt, run] {
    spoil(c);
    run();
    return agrees(c.y.data(), derivative(c, x.data(), c.x.data(), dt), 4 * tolerance<float>());
  };
  return {run, correct};
}

Prepared copy_of_three(Case<float>& c) {
  const auto half = std::make_shared<PlacedArray<float>>(c.shape.size() / 2);
  const auto other = c.b();
  const Action run = [&c, other, half] {
    std::memcpy(c.y.data(), c.x.data(), c.bytes());
    std::memcpy(half->data(), other.data(), c.bytes() / 2);
  };
  const auto correct = [&c, other, half, run] {
    spoil(c);
    std::memset(half->data(), 0xff, c.bytes() / 2);
    run();
    return std::memcmp(c.y.data(), c.x.data(), c.bytes()) == 0 &&
           std::memcmp(half->data(), other.data(), c.bytes() / 2) == 0;
  };
  return {run, correct};
}

}  // namespace

void add_learning(Contenders<float>& list, const CaseShape& shape) {
  if (shape.tokens < 512 || !shape.whole_rows()) return;
  list.push_back({"table_gradient", &table_gradient});
  list.push_back({"rate_gradients", &rate_gradients});
  list.push_back({"jvp", &jvp});
  list.push_back({"memcpy_of_three", &copy_of_three});
}

}  // namespace bench
