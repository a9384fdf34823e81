// SPDX-License-Identifier: Apache-2.0
//
// Attention in PyTorch's order of indices: tensors (batch, tokens, heads, dims) in Eigen's own
// storage order, rotated along axis 3, forward and backward. The gradients are checked against
// central differences.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <eigen_rope/eigen_rope.hpp>
#include <limits>
#include <tuple>
#include <vector>

namespace er = eigen_rope;
using er::Index;

template <class Scalar>
class Attention {
 public:
  using Tensor = Eigen::Tensor<Scalar, 4>;  // (batch, tokens, heads, dims), ColMajor
  struct Gradients {
    Tensor q, k, v;
  };

  // The features are on axis 3 of the tensors, which is their slowest one. A cache for
  // Layout::dnsb() has its entries in that order, too.
  Attention(const er::Frequencies& frequencies, const er::Positions& positions)
      : cache_(frequencies, positions, er::Layout::dnsb()) {}

  Tensor forward(const Tensor& q, const Tensor& k, const Tensor& v) {
    q_ = er::rotate(q, cache_, pairing_);
    k_ = er::rotate(k, cache_, pairing_);
    v_ = v;
    Tensor out(v.dimensions());
    weights_.clear();
    for_each_head([&](Index b, Index h) {
      Matrix w = head(q_, b, h).contract(head(k_, b, h), along(1, 1)) * scale();
      causal_softmax(w);
      head(out, b, h) = w.contract(head(v_, b, h), along(1, 0));
      weights_.push_back(w);
    });
    return out;
  }

  // dL/dq, dL/dk and dL/dv of the last forward pass, from dL/dout.
  Gradients backward(const Tensor& dout) const {
    Gradients d{Tensor(dout.dimensions()), Tensor(dout.dimensions()), Tensor(dout.dimensions())};
    auto next = weights_.begin();
    for_each_head([&](Index b, Index h) {
      const Matrix& w = *next++;
      const Matrix dw = head(dout, b, h).contract(head(v_, b, h), along(1, 1));
      const Matrix ds = w * (dw - row_sums(w * dw)) * scale();
      head(d.q, b, h) = ds.contract(head(k_, b, h), along(1, 0));
      head(d.k, b, h) = ds.contract(head(q_, b, h), along(0, 0));
      head(d.v, b, h) = w.contract(head(dout, b, h), along(0, 0));
    });
    d.q = er::rotate_backward(d.q, cache_, pairing_);  // q and k were rotated first,
    d.k = er::rotate_backward(d.k, cache_, pairing_);  // so their gradients are turned back last
    return d;
  }

 private:
  using Matrix = Eigen::Tensor<Scalar, 2>;  // (queries, keys)

  // x[b, :, h, :], which is (tokens, dims).
  template <class T>
  static auto head(T& x, Index b, Index h) {
    return x.chip(b, 0).chip(h, 1);
  }
  static Eigen::array<Eigen::IndexPair<int>, 1> along(int left, int right) {
    return {Eigen::IndexPair<int>(left, right)};
  }
  Scalar scale() const { return 1 / std::sqrt(static_cast<Scalar>(q_.dimension(3))); }

  // The sum of each row, in every column of it.
  static Matrix row_sums(const Matrix& m) {
    const Eigen::Tensor<Scalar, 1> sums = m.sum(Eigen::array<int, 1>{1});
    return sums.reshape(Eigen::array<Index, 2>{m.dimension(0), 1})
        .broadcast(Eigen::array<Index, 2>{1, m.dimension(1)});
  }
  static void causal_softmax(Matrix& w) {
    for (Index query = 0; query < w.dimension(0); ++query) {
      Scalar largest = w(query, 0);
      for (Index key = 1; key <= query; ++key) largest = std::max(largest, w(query, key));
      for (Index key = 0; key < w.dimension(1); ++key)
        w(query, key) = key <= query ? std::exp(w(query, key) - largest) : Scalar(0);
    }
    w = (w / row_sums(w)).eval();
  }
  template <class Visit>
  void for_each_head(const Visit& visit) const {
    for (Index b = 0; b < q_.dimension(0); ++b)
      for (Index h = 0; h < q_.dimension(2); ++h) visit(b, h);
  }

  er::Cache<Scalar> cache_;
  er::Pairing pairing_ = er::split_half.along(3);
  Tensor q_{}, k_{}, v_{};  // q and k rotated
  std::vector<Matrix> weights_{};
};

int main() {
  const Index batch = 2, tokens = 6, heads = 2, dims = 8;
  er::Powers powers{dims};
  powers.attention_factor = 1.2;  // as with YaRN: backward and inverse differ
  const er::Frequencies frequencies = er::Frequencies::powers(powers);
  const er::Positions positions = er::Positions::range(100, tokens);
  using Tensor = Eigen::Tensor<double, 4>;
  Tensor q(batch, tokens, heads, dims), k = q, v = q, dout = q;
  for (Tensor* x : {&q, &k, &v, &dout}) x->setRandom();

  // In double, against central differences of every entry. The check estimates the errors of both
  // sides itself, so there is no tolerance to choose.
  Attention<double> layer(frequencies, positions);
  const auto forward = [&](const Tensor& a, const Tensor& b, const Tensor& c) {
    return layer.forward(a, b, c);
  };
  const auto backward = [&](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& g) {
    layer.forward(a, b, c);
    const auto d = layer.backward(g);
    return std::make_tuple(d.q, d.k, d.v);
  };
  er::GradientCheckOptions options;
  options.method = er::NumericMethod::central_differences;
  options.names = {"q", "k", "v"};
  const er::GradientReport report =
      er::check_gradient(forward, backward, std::tie(q, k, v), options);

  // In float, as a model runs it. Each entry of dq sums over tokens and dims a few times.
  Attention<float> fast(frequencies, positions);
  const auto out = fast.forward(q.cast<float>(), k.cast<float>(), v.cast<float>());
  const Tensor dq = fast.backward(dout.cast<float>()).q.cast<double>();
  layer.forward(q, k, v);
  const Tensor exact = layer.backward(dout).q;
  const Eigen::Tensor<double, 0> difference = (dq - exact).abs().maximum();
  const Eigen::Tensor<double, 0> largest = exact.abs().maximum();
  const double roundings = 2 * static_cast<double>(tokens + dims);
  const double bound = roundings * std::numeric_limits<float>::epsilon() * largest();

  fmt::print("q, k, v, out: ({}, {}, {}, {}), rotated along axis 3\n", out.dimension(0),
             out.dimension(1), out.dimension(2), out.dimension(3));
  fmt::print("gradients in double, against central differences:\n{}\n", report.text());
  fmt::print("dq in float: at most {:.1e} from dq in double, {:.1e} allowed\n", difference(),
             bound);
  return report && difference() <= bound ? 0 : 1;
}
