// SPDX-License-Identifier: Apache-2.0
//
// The gradients of a rotation, written out by hand as plain loops: what other people's autodiff,
// and the library, must agree with.
//
//   L = sum g y   y_A = m (cos t x_a - sin t x_b)   y_B = m (cos t x_b + sin t x_a)
//                       t = position * rate_k
//
//   dL/dx_a = m (cos t g_A + sin t g_B)                   dL/dt    = y_A g_B - y_B g_A
//   dL/dx_b = m (cos t g_B - sin t g_A)                   dL/dm    = sum (y_A g_A + y_B g_B) / m
//   dL/drate_k = sum over rows of position * dL/dt        dL/dposition = sum over pairs of rate_k *
//                                                         dL/dt
//   dL/dparameter = sum over k of dL/drate_k * drate_k/dparameter + dL/dm * dm/dparameter
//
// Shapes: x and g [features, heads, tokens, batches], t [pairs, tokens, batches], feature and pair
// axis fastest. Nothing of the library is used but the structs of parameters: neither its templates
// nor its pair slots. Every number knows how far a calculation in double may be from it (Tracked),
// so no test needs a tolerance found by trying.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "eigen_rope/choices/scaling.hpp"
#include "support/rotation_cases.hpp"

namespace eigen_rope::test::closed_form {

/// A number, and the error to first order that forming it in double may have, in units of double's
/// epsilon.
struct Tracked {
  long double value = 0;
  long double error = 0;

  Tracked() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): constants in formulas
  Tracked(double exact) : value(exact) {}
  Tracked(long double v, long double e) : value(v), error(e) {}
};

inline Tracked operator-(const Tracked& a) { return {-a.value, a.error}; }
inline Tracked operator+(const Tracked& a, const Tracked& b) {
  return {a.value + b.value, a.error + b.error + std::abs(a.value + b.value)};
}
inline Tracked operator-(const Tracked& a, const Tracked& b) { return a + -b; }
inline Tracked operator*(const Tracked& a, const Tracked& b) {
  const long double product = a.value * b.value;
  return {product, std::abs(a.value) * b.error + std::abs(b.value) * a.error + std::abs(product)};
}
inline Tracked operator/(const Tracked& a, const Tracked& b) {
  const long double quotient = a.value / b.value;
  return {quotient,
          (a.error + std::abs(quotient) * b.error) / std::abs(b.value) + std::abs(quotient)};
}
inline Tracked exp(const Tracked& a) {
  return {std::exp(a.value), std::exp(a.value) * (a.error + 1)};
}
inline Tracked log(const Tracked& a) {
  return {std::log(a.value), a.error / std::abs(a.value) + std::abs(std::log(a.value))};
}
inline Tracked cos(const Tracked& a) { return {std::cos(a.value), a.error + 1}; }
inline Tracked sin(const Tracked& a) { return {std::sin(a.value), a.error + 1}; }
inline Tracked& operator+=(Tracked& a, const Tracked& b) { return a = a + b; }

using List = std::vector<Tracked>;

inline List exactly(const std::vector<double>& values) {
  return List(values.begin(), values.end());
}

/// Which elements of x turn, and by which angles.
struct Extents {
  PairKind kind = PairKind::split_half;
  Index features = 0;
  Index offset = 0;
  Index dims = 0;
  Index heads = 1;
  Index tokens = 1;
  Index batches = 1;
  /// Which of a token's positions turns each pair; empty if there is one.
  std::vector<Index> axis_of_pair{};

  Index pairs() const { return dims / 2; }
  Index rows() const { return tokens * batches; }
  Index size() const { return features * heads * rows(); }
  Index axis(Index pair) const {
    return axis_of_pair.empty() ? 0 : axis_of_pair[static_cast<std::size_t>(pair)];
  }
};

/// One pair of one head: where it lies in x (a, b), in y and g (A, B), and which angle turns it.
struct Place {
  std::size_t a, b, A, B, angle;
};

template <class Visit>
void for_each_pair(const Extents& extents, const Visit& visit) {
  for (Index row = 0; row < extents.rows(); ++row) {
    for (Index head = 0; head < extents.heads; ++head) {
      const Index window = (row * extents.heads + head) * extents.features + extents.offset;
      for (Index k = 0; k < extents.pairs(); ++k) {
        const Members slots = members_of(extents.kind, k, extents.dims);
        visit(Place{
            static_cast<std::size_t>(window + slots.a), static_cast<std::size_t>(window + slots.b),
            static_cast<std::size_t>(window + slots.A), static_cast<std::size_t>(window + slots.B),
            static_cast<std::size_t>(row * extents.pairs() + k)});
      }
    }
  }
}

template <class Visit>
void for_each_copied(const Extents& extents, const Visit& visit) {
  for (Index i = 0; i < extents.size(); ++i) {
    const Index slot = i % extents.features - extents.offset;
    if (slot < 0 || slot >= extents.dims) visit(static_cast<std::size_t>(i));
  }
}

/// dL/dx, dL/dt (summed over heads) and dL/dm.
struct RotationGradient {
  Tracked loss;
  List x;
  List angles;
  Tracked attention_factor;
};

inline RotationGradient rotation_gradient(const Extents& extents, const List& x, const List& g,
                                          const List& angles, const Tracked& m) {
  RotationGradient gradient{{}, List(x.size()), List(angles.size()), {}};
  for_each_copied(extents, [&](std::size_t i) {
    gradient.loss += g[i] * x[i];
    gradient.x[i] = g[i];
  });
  for_each_pair(extents, [&](const Place& p) {
    const Tracked c = cos(angles[p.angle]);
    const Tracked s = sin(angles[p.angle]);
    // y / m: m may be 0.
    const Tracked y_A = c * x[p.a] - s * x[p.b];
    const Tracked y_B = c * x[p.b] + s * x[p.a];
    gradient.loss += m * (y_A * g[p.A] + y_B * g[p.B]);
    gradient.x[p.a] = m * (c * g[p.A] + s * g[p.B]);
    gradient.x[p.b] = m * (c * g[p.B] - s * g[p.A]);
    gradient.angles[p.angle] += m * (y_A * g[p.B] - y_B * g[p.A]);
    gradient.attention_factor += y_A * g[p.A] + y_B * g[p.B];
  });
  return gradient;
}

/// t[k, token, batch]; positions are [axis][batch][token].
inline List angles_of(const Extents& extents, const List& rates, const List& positions) {
  List angles;
  for (Index row = 0; row < extents.rows(); ++row) {
    for (Index k = 0; k < extents.pairs(); ++k) {
      angles.push_back(rates[static_cast<std::size_t>(k)] *
                       positions[static_cast<std::size_t>(extents.axis(k) * extents.rows() + row)]);
    }
  }
  return angles;
}

inline List rates_gradient(const Extents& extents, const List& positions,
                           const List& angles_gradient) {
  List gradient(static_cast<std::size_t>(extents.pairs()));
  for (Index row = 0; row < extents.rows(); ++row) {
    for (Index k = 0; k < extents.pairs(); ++k) {
      gradient[static_cast<std::size_t>(k)] +=
          positions[static_cast<std::size_t>(extents.axis(k) * extents.rows() + row)] *
          angles_gradient[static_cast<std::size_t>(row * extents.pairs() + k)];
    }
  }
  return gradient;
}

inline List positions_gradient(const Extents& extents, const List& rates, std::size_t positions,
                               const List& angles_gradient) {
  List gradient(positions);
  for (Index row = 0; row < extents.rows(); ++row) {
    for (Index k = 0; k < extents.pairs(); ++k) {
      gradient[static_cast<std::size_t>(extents.axis(k) * extents.rows() + row)] +=
          rates[static_cast<std::size_t>(k)] *
          angles_gradient[static_cast<std::size_t>(row * extents.pairs() + k)];
    }
  }
  return gradient;
}

/// The gradients of (g, x, t) -> <v, dL/dx> + <w, dL/dt>, the vector-Jacobian product of the
/// vector-Jacobian product. Per pair, with R the rotation by t and R' its derivative in t (so R'' =
/// -R):
///
///   d/dg = R v + w R' x        d/dx = w R'^T g        d/dt = <R' v, g> - w <R x, g>
struct SecondOrder {
  List g;
  List x;
  List angles;
};

inline SecondOrder second_order(const Extents& extents, const List& x, const List& g,
                                const List& angles, const Tracked& m, const List& v,
                                const List& w) {
  SecondOrder result{List(g.size()), List(x.size()), List(angles.size())};
  for_each_copied(extents, [&](std::size_t i) { result.g[i] = v[i]; });
  for_each_pair(extents, [&](const Place& p) {
    const Tracked c = m * cos(angles[p.angle]);
    const Tracked s = m * sin(angles[p.angle]);
    const Tracked& w_t = w[p.angle];
    result.g[p.A] = c * v[p.a] - s * v[p.b] + w_t * (-s * x[p.a] - c * x[p.b]);
    result.g[p.B] = c * v[p.b] + s * v[p.a] + w_t * (-s * x[p.b] + c * x[p.a]);
    result.x[p.a] = w_t * (-s * g[p.A] + c * g[p.B]);
    result.x[p.b] = w_t * (-s * g[p.B] - c * g[p.A]);
    result.angles[p.angle] +=
        (-s * v[p.a] - c * v[p.b]) * g[p.A] + (-s * v[p.b] + c * v[p.a]) * g[p.B] -
        w_t * ((c * x[p.a] - s * x[p.b]) * g[p.A] + (c * x[p.b] + s * x[p.a]) * g[p.B]);
  });
  return result;
}

}  // namespace eigen_rope::test::closed_form
