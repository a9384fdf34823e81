// SPDX-License-Identifier: Apache-2.0
//
// A reverse-mode tape in a few lines, with the rotation as one of its operations: how to use the
// gradients in training code of your own.
//
//   forward   every operation appends a node that holds its value, and what it needs on the way
//             back
//   backward  from the last node to the first, each adds its share to the gradients of its operands
//
// The rotation takes over the memory of what it rotates: its backward pass needs y, not x. It hands
// gradients to x, to the rates and to the positions, and adds them up where several operations
// share an operand, as q and k share rates and positions here. The loss is that of attention which
// should look at the token before: mean of log sum_i exp s_ij - s_(j-1)j, s_ij = q'_j . k'_i /
// sqrt(D). At the end every gradient is compared with central differences.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <eigen_rope/eigen_rope.hpp>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace er = eigen_rope;

namespace {

// ---- the tape ----

using Tensor = Eigen::Tensor<double, 3>;  // [D, heads, tokens]; lists of numbers are [n, 1, 1]

struct Node {
  explicit Node(Tensor v) : value(std::move(v)), gradient(value.dimensions()) {
    gradient.setZero();
  }

  Tensor value;
  /// Of the last node with respect to this one.
  Tensor gradient;
  /// Adds this node's share to its operands' gradients.
  std::function<void()> backward = [] {};
};

class Tape {
 public:
  Node& add(Tensor value) { return nodes_.emplace_back(std::move(value)); }

  /// After this every node has its gradient. The last node is a single number.
  void backward() {
    nodes_.back().gradient.setConstant(1.0);
    std::for_each(nodes_.rbegin(), nodes_.rend(), [](Node& node) { node.backward(); });
  }

 private:
  std::deque<Node> nodes_;  // references stay valid
};

// ---- its operations ----

std::vector<double> numbers(const Tensor& x) { return {x.data(), x.data() + x.size()}; }
void add_to(Tensor& sum, const std::vector<double>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) sum.data()[i] += x[i];
}

/// rates: radians per token, one per pair; positions: one per token, fractions allowed. x gives up
/// its value.
Node& rotate(Tape& tape, Node& x, Node& rates, Node& positions) {
  const er::Frequencies frequencies = er::Frequencies::explicit_rates(numbers(rates.value));
  const er::Positions places = er::Positions::ids(numbers(positions.value));
  const er::Cache<double> cache(frequencies, places);
  er::rotate_inplace(x.value, cache, er::split_half);
  Node& y = tape.add(std::move(x.value));
  y.backward = [&x, &y, &rates, &positions, frequencies, places, cache] {
    Tensor dx(y.value.dimensions());
    const auto d = er::gradients_to(dx, y.value, y.gradient, cache, er::split_half);
    x.gradient += dx;
    add_to(rates.gradient, er::rate_gradients(d, places));
    add_to(positions.gradient, er::position_gradients(d, frequencies, places));
  };
  return y;
}

/// The loss of attention that should look at the token before.
Node& looks_back(Tape& tape, Node& q, Node& k) {
  using Head = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;  // [D, tokens]
  const auto head = [](Tensor& x, er::Index h) {
    return Head(&x(0, h, 0), x.dimension(0), x.dimension(2),
                Eigen::OuterStride<>(x.dimension(0) * x.dimension(1)));
  };
  const er::Index heads = q.value.dimension(1), tokens = q.value.dimension(2);
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.value.dimension(0)));
  const double share = 1.0 / static_cast<double>(heads * (tokens - 1));
  Tensor loss(1, 1, 1);
  loss.setZero();
  std::vector<Eigen::MatrixXd> d_scores;
  for (er::Index h = 0; h < heads; ++h) {
    const Eigen::MatrixXd scores =
        scale * head(k.value, h).transpose() * head(q.value, h);  // [i, j]
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(tokens, tokens);
    for (er::Index j = 1; j < tokens; ++j) {
      const Eigen::VectorXd odds = scores.col(j).array().exp();
      loss(0, 0, 0) += share * (std::log(odds.sum()) - scores(j - 1, j));
      d.col(j) = share * scale * odds / odds.sum();
      d(j - 1, j) -= share * scale;
    }
    d_scores.push_back(d);
  }
  Node& result = tape.add(loss);
  result.backward = [&q, &k, &result, d_scores, head] {
    for (std::size_t i = 0; i < d_scores.size(); ++i) {
      const auto h = static_cast<er::Index>(i);
      const double g = result.gradient(0, 0, 0);
      head(q.gradient, h) += g * head(k.value, h) * d_scores[i];
      head(k.gradient, h) += g * head(q.value, h) * d_scores[i].transpose();
    }
  };
  return result;
}

// ---- a use of it ----

struct Inputs {
  Tensor q, k, rates, positions;
};

/// The loss; with `gradient`, also what backward() gives.
double loss(const Inputs& x, Inputs* gradient = nullptr) {
  Tape tape;
  Node &q = tape.add(x.q), &k = tape.add(x.k), &rates = tape.add(x.rates),
       &positions = tape.add(x.positions);
  Node& result =
      looks_back(tape, rotate(tape, q, rates, positions), rotate(tape, k, rates, positions));
  if (gradient != nullptr) {
    tape.backward();
    *gradient = {q.gradient, k.gradient, rates.gradient, positions.gradient};
  }
  return result.value(0, 0, 0);
}

/// The largest difference to (L(x + h) - L(x - h)) / 2h, over every element.
double worst_difference(Inputs& x, Tensor& part, const Tensor& gradient) {
  constexpr double h = 1e-5;  // truncation about h^2, rounding about 1e-16 / h
  double worst = 0;
  for (er::Index i = 0; i < part.size(); ++i) {
    const double kept = part.data()[i];
    part.data()[i] = kept + h;
    const double above = loss(x);
    part.data()[i] = kept - h;
    const double below = loss(x);
    part.data()[i] = kept;
    worst = std::max(worst, std::abs(gradient.data()[i] - (above - below) / (2 * h)));
  }
  return worst;
}

}  // namespace

int main() {
  constexpr er::Index D = 8, heads = 2, tokens = 6;
  constexpr double tolerance = 1e-9;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  Inputs x{Tensor(D, heads, tokens), Tensor(D, heads, tokens), Tensor(D / 2, 1, 1),
           Tensor(tokens, 1, 1)};
  for (Tensor* t : {&x.q, &x.k})
    std::generate_n(t->data(), t->size(), [&] { return uniform(random); });
  x.rates.setValues({{{1.0}}, {{0.4}}, {{0.1}}, {{0.02}}});
  for (er::Index s = 0; s < tokens; ++s)
    x.positions(s, 0, 0) = static_cast<double>(s) + 0.3 * uniform(random);

  Inputs gradient;
  fmt::print(
      "loss {:.6f}\n\n  gradient      largest entry    largest difference to central differences\n",
      loss(x, &gradient));
  bool agrees = true;
  const auto row = [&](const char* name, Tensor& part, const Tensor& d) {
    const Eigen::Tensor<double, 0> largest = d.abs().maximum();
    const double worst = worst_difference(x, part, d);
    fmt::print("  {:<12} {:>14.3e} {:>28.1e}\n", name, largest(), worst);
    agrees = agrees && worst <= tolerance && largest() > 1e3 * tolerance;
  };
  row("q", x.q, gradient.q);
  row("k", x.k, gradient.k);
  row("rates", x.rates, gradient.rates);
  row("positions", x.positions, gradient.positions);
  return agrees ? 0 : 1;
}
