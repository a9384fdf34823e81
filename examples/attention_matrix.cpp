// SPDX-License-Identifier: Apache-2.0
//
// Attention with Eigen's matrices, tokens x (heads * dims): projections are matrix products, and
// queries and keys are rotated where they lie in the product. Forward, backward by hand, and the
// gradients checked against central differences. It needs no Tensor module.
#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <eigen_rope/rotation/matrix_view.hpp>
#include <eigen_rope/rotation/rotate_strided.hpp>
#include <eigen_rope/tables/cache.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace er = eigen_rope;
using Eigen::Index;

template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;  // float: MatrixXf

// What the layer computes with, and the gradients of the same.
template <class Scalar>
struct Parameters {
  MatrixOf<Scalar> x;      // tokens x model
  MatrixOf<Scalar> qkv;    // model x 3 model: the projections to q, k and v side by side
  MatrixOf<Scalar> mixed;  // model x model: the projection behind the heads
};

template <class Scalar>
class Attention {
 public:
  using Matrix = MatrixOf<Scalar>;

  Attention(Index heads, er::Cache<Scalar> cache) : heads_(heads), cache_(std::move(cache)) {}

  Matrix forward(const Parameters<Scalar>& p) {
    model_ = p.x.cols();
    qkv_ = p.x * p.qkv;
    rotate(qkv_, er::Direction::forward);
    mixed_.resize(p.x.rows(), model_);
    weights_.clear();
    for (Index h = 0; h < heads_; ++h) {
      Matrix w = scale() * head(qkv_, 0, h) * head(qkv_, 1, h).transpose();  // queries x keys
      for (Index query = 0; query < w.rows(); ++query) {
        auto row = w.row(query);
        row = (row.array() - row.head(query + 1).maxCoeff()).exp().matrix().eval();
        row.tail(w.cols() - query - 1).setZero();  // no key after the query
        row /= row.sum();
      }
      head(mixed_, 0, h) = w * head(qkv_, 2, h);
      weights_.push_back(std::move(w));
    }
    return mixed_ * p.mixed;
  }

  // The gradients of the last forward pass, from dL/dy of its result.
  Parameters<Scalar> backward(const Parameters<Scalar>& p, const Matrix& dy) {
    Matrix dmixed = dy * p.mixed.transpose();
    Matrix dqkv(qkv_.rows(), qkv_.cols());
    for (Index h = 0; h < heads_; ++h) {
      const Matrix& w = weights_[static_cast<std::size_t>(h)];
      const Matrix dw = head(dmixed, 0, h) * head(qkv_, 2, h).transpose();
      const Matrix sums = w.cwiseProduct(dw).rowwise().sum();
      const Matrix ds = scale() * w.cwiseProduct(dw - sums.replicate(1, w.cols()));
      head(dqkv, 0, h) = ds * head(qkv_, 1, h);
      head(dqkv, 1, h) = ds.transpose() * head(qkv_, 0, h);
      head(dqkv, 2, h) = w.transpose() * head(dmixed, 0, h);
    }
    rotate(dqkv, er::Direction::backward);
    return {dqkv * p.qkv.transpose(), p.x.transpose() * dqkv, mixed_.transpose() * dy};
  }

 private:
  // q and k lie side by side in each token: one view of twice as many heads rotates both.
  void rotate(Matrix& qkv, er::Direction direction) const {
    er::rotate_inplace(er::tokens_in_rows(qkv.leftCols(2 * model_), 2 * heads_), cache_,
                       er::split_half, direction);
  }
  // One head, tokens x dims. Part 0 of qkv is q, 1 is k and 2 is v.
  auto head(Matrix& m, Index part, Index h) const {
    return m.middleCols(part * model_ + h * dims(), dims());
  }
  Index dims() const { return model_ / heads_; }
  Scalar scale() const { return 1 / std::sqrt(static_cast<Scalar>(dims())); }

  Index heads_;
  Index model_ = 0;
  er::Cache<Scalar> cache_;
  Matrix qkv_{}, mixed_{};  // q and k rotated
  std::vector<Matrix> weights_{};
};

int main() {
  const Index tokens = 7, heads = 2, dims = 8, model = heads * dims;
  er::Powers powers{dims};
  powers.attention_factor = 1.2;  // as with YaRN: backward and inverse differ
  const er::Frequencies frequencies = er::Frequencies::powers(powers);
  const er::Positions positions = er::Positions::range(100, tokens);
  Attention<double> layer(heads, er::Cache<double>(frequencies, positions));
  Parameters<double> p{Eigen::MatrixXd::Random(tokens, model),
                       Eigen::MatrixXd::Random(model, 3 * model),
                       Eigen::MatrixXd::Random(model, model)};
  const auto loss = [&] { return layer.forward(p).squaredNorm() / 2; };
  const double value = loss();
  const Parameters<double> d = layer.backward(p, layer.forward(p));  // dL/dy of this loss is y

  // A difference (L(h) - L(-h)) / 2h errs by h^2 / 6 of the third derivative, a third of its
  // distance from the difference over 2h, and by the rounding of L over h. A number of L is rounded
  // about `roundings` times on its way, so h = cbrt(roundings * epsilon) balances both errors.
  const double epsilon = std::numeric_limits<double>::epsilon();
  const auto roundings = static_cast<double>(2 * model + 2 * dims + 2 * tokens);
  const double step = std::cbrt(roundings * epsilon);
  bool agree = true;
  fmt::print("x: {} x {}, {} heads side by side; loss {:.6f}\n", tokens, model, heads, value);
  const auto check = [&](const char* name, Eigen::MatrixXd& parameter,
                         const Eigen::MatrixXd& gradient) {
    const Eigen::MatrixXd before = parameter;
    double worst = 0, allowed = 0;
    for (Index i = 0; i < parameter.size(); ++i) {
      const auto difference = [&](double h) {
        parameter(i) = before(i) + h;
        const double above = loss();
        parameter(i) = before(i) - h;
        const double below = loss();
        parameter(i) = before(i);
        return (above - below) / (2 * h);
      };
      const double numeric = difference(step), farther = difference(2 * step);
      const double tolerance = std::abs(farther - numeric) + roundings * epsilon * value / step;
      const double error = std::abs(gradient(i) - numeric);
      if (error > tolerance) agree = false;
      worst = std::max(worst, error);
      allowed = std::max(allowed, tolerance);
    }
    fmt::print("dL/d{:<6} {:>3} entries up to {:6.2f}; from differences {:.0e}, allowed {:.0e}\n",
               name, parameter.size(), gradient.cwiseAbs().maxCoeff(), worst, allowed);
  };
  check("x", p.x, d.x);
  check("qkv", p.qkv, d.qkv);
  check("mixed", p.mixed, d.mixed);

  // In float, as a model runs it: MatrixXf.
  Attention<float> fast(heads, er::Cache<float>(frequencies, positions));
  const Parameters<float> f{p.x.cast<float>(), p.qkv.cast<float>(), p.mixed.cast<float>()};
  const double in_float = static_cast<double>(fast.forward(f).squaredNorm()) / 2;
  const double allowed = roundings * std::numeric_limits<float>::epsilon() * value;
  fmt::print("the loss in float: {:.6f}\n", in_float);
  return agree && std::abs(in_float - value) <= allowed ? 0 : 1;
}
