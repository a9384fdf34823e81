// SPDX-License-Identifier: Apache-2.0
//
// Rates and a base learned by gradient descent, on a task whose answer is known. A teacher turns
// queries and keys by rates it does not tell; the student sees q, k and the teacher's scores only,
// and fits its own rates, or a single base:
//
//   loss = mean over heads and token pairs (i, j) of (q'_j . k'_i - teacher's)^2 / D
//                       q' = R q, k' = R k, the teacher's with noise
//
//   d loss/dq', dk'  ->  er::gradients  ->  er::rate_gradients  ->  er::powers_gradients
//                       scores, angles,
//   rates, base
//
// On average over q and k a pair whose rate is wrong by e costs 1 - cos(e r) at distance r. Over
// distances up to r that is a bowl only while |e| < about pi / r; beyond it are ripples with a
// minimum each, and descent on long windows stops in one of those. So windows start at two tokens,
// where the bowl reaches half a turn per token to either side, and double: each length leaves
// errors far smaller than the next bowl. And what a window tells of a rate grows with its length,
// so that only the last ones lift the slow rates out of the noise. For comparison the same number
// of steps is taken on the longest windows alone.
//
//   learn_frequencies [PATH.gp]     writes a gnuplot script that draws how the rates got there
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <eigen_rope/eigen_rope.hpp>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace er = eigen_rope;

namespace {

constexpr er::Index D = 16, heads = 4, sequences = 2, longest = 64;
constexpr int steps_per_window = 150;
/// What counts as recovered: the largest error of an angle, in radians, at the longest distance.
constexpr double tolerance = 1e-2;
/// Standard deviation of the noise on each of the teacher's scores, which themselves have sqrt(D)
/// = 4.
constexpr double noise = 0.5;

using Tensor = Eigen::Tensor<double, 4>;  // [D, heads, tokens, sequences]
using Square = Eigen::MatrixXd;           // [key, query]
using Head = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

/// One head of one sequence as a matrix [D, tokens].
Head head(Tensor& x, er::Index h, er::Index b) {
  return {&x(0, h, 0, b), D, x.dimension(2), Eigen::OuterStride<>(D * heads)};
}

/// Queries and keys turned by some rates, or the gradient with respect to them.
struct Turned {
  Tensor q, k;

  Square scores(er::Index h, er::Index b) { return head(k, h, b).transpose() * head(q, h, b); }
};

Turned turned(Turned x, const er::Cache<double>& cache) {
  er::rotate_inplace(x.q, cache, er::split_half);
  er::rotate_inplace(x.k, cache, er::split_half);
  return x;
}

Turned random_pair(er::Index tokens, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Turned x{Tensor(D, heads, tokens, sequences), Tensor(D, heads, tokens, sequences)};
  for (Tensor* t : {&x.q, &x.k})
    std::generate_n(t->data(), t->size(), [&] { return normal(random); });
  return x;
}

struct Loss {
  double value = 0;
  /// d value / d rate, one per pair.
  std::vector<double> rates;
};

/// The loss on one batch. The teacher's scores carry fresh noise.
Loss compare(const Turned& x, const er::Frequencies& student, const er::Frequencies& teacher,
             std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const er::Index tokens = x.q.dimension(2);
  const er::Positions positions = er::Positions::range(0, tokens);
  const er::Cache<double> cache(student, positions);
  Turned y = turned(x, cache);
  Turned target = turned(x, er::Cache<double>(teacher, positions));

  Loss loss;
  Turned dy{Tensor(y.q.dimensions()), Tensor(y.k.dimensions())};
  const double scale = 1.0 / static_cast<double>(D * heads * sequences * tokens * tokens);
  for (er::Index b = 0; b < sequences; ++b) {
    for (er::Index h = 0; h < heads; ++h) {
      const Square disturbance =
          Square::NullaryExpr(tokens, tokens, [&] { return noise * normal(random); });
      const Square difference = y.scores(h, b) - (target.scores(h, b) + disturbance);
      loss.value += scale * difference.squaredNorm();
      head(dy.q, h, b) = 2 * scale * head(y.k, h, b) * difference;
      head(dy.k, h, b) = 2 * scale * head(y.q, h, b) * difference.transpose();
    }
  }
  const auto rates_of = [&](const Tensor& out, const Tensor& d_out) {
    const auto d = er::gradients(out, d_out, cache, er::split_half);
    return er::rate_gradients(d, positions);
  };
  loss.rates = rates_of(y.q, dy.q);
  const std::vector<double> from_keys = rates_of(y.k, dy.k);
  std::transform(from_keys.begin(), from_keys.end(), loss.rates.begin(), loss.rates.begin(),
                 std::plus<>());
  return loss;
}

/// A student: numbers to learn, the frequencies they mean, and the gradient of its numbers from
/// that of the rates.
struct LearnsRates {
  static er::Frequencies frequencies(const std::vector<double>& rates) {
    return er::Frequencies::explicit_rates(rates);
  }
  static std::vector<double> gradient(const std::vector<double>&,
                                      const std::vector<double>& d_rates) {
    return d_rates;
  }
};

/// Its one number is ln base, so that steps are relative.
struct LearnsBase {
  static er::Powers<> powers(const std::vector<double>& log_base) {
    return {D, std::exp(log_base[0])};
  }
  static er::Frequencies frequencies(const std::vector<double>& log_base) {
    return er::Frequencies::powers(powers(log_base));
  }
  static std::vector<double> gradient(const std::vector<double>& log_base,
                                      const std::vector<double>& d_rates) {
    const er::Powers p = powers(log_base);
    return {p.base * er::powers_gradients(p, {d_rates, 0.0}).base};
  }
};

/// Adam (Kingma and Ba 2015). The step falls to zero by a half cosine, so that a window ends where
/// it was heading.
class Adam {
 public:
  Adam(std::size_t size, double rate) : m_(size), v_(size), rate_(rate) {}

  void step(std::vector<double>& x, const std::vector<double>& gradient) {
    constexpr double b1 = 0.9, b2 = 0.99, pi = 3.141592653589793;
    const double rate = rate_ * 0.5 * (1 + std::cos(pi * taken_ / steps_per_window));
    ++taken_;
    for (std::size_t i = 0; i < x.size(); ++i) {
      m_[i] = b1 * m_[i] + (1 - b1) * gradient[i];
      v_[i] = b2 * v_[i] + (1 - b2) * gradient[i] * gradient[i];
      const double m = m_[i] / (1 - std::pow(b1, taken_)), v = v_[i] / (1 - std::pow(b2, taken_));
      x[i] -= rate * m / (std::sqrt(v) + 1e-300);
    }
  }

 private:
  std::vector<double> m_, v_;
  double rate_;
  int taken_ = 0;
};

std::vector<double> rates_of(const er::Frequencies& frequencies) {
  std::vector<double> rates;
  for (const er::DoubleDouble& rate : frequencies.rates())
    rates.push_back(static_cast<double>(rate));
  return rates;
}

/// How a student got where it is: the loss and the rates before each step, and where it ended.
struct Path {
  std::vector<double> loss;
  std::vector<std::vector<double>> rates;
  std::vector<double> numbers;
};

/// A gnuplot script with its data: each rate over the steps, and what it should become.
void write_script(const std::string& file, const Path& path, const std::vector<double>& hidden) {
  std::ofstream out(file);
  out << "set terminal pngcairo size 900,560 font 'sans,11'\nset output "
         "'learn_frequencies.png'\nset title 'Learned rates'\n"
         "set logscale y\nset xlabel 'step'\nset ylabel 'radians per token'\nset grid\nset key "
         "off\n$rates << EOD\n";
  for (std::size_t i = 0; i < path.rates.size(); ++i) {
    out << i;
    for (const double rate : path.rates[i]) out << ' ' << rate;
    out << '\n';
  }
  out << "EOD\n";
  for (std::size_t i = 1; i < path.loss.size() / steps_per_window; ++i)
    out << fmt::format("set arrow from {0},graph 0 to {0},graph 1 nohead dt 3 lc rgb '#999999'\n",
                       i * steps_per_window);
  out << "plot ";
  for (std::size_t k = 0; k < hidden.size(); ++k)
    out << fmt::format("{}$rates using 1:{} with lines lw 2, {} with lines dt 2 lc rgb '#444444'",
                       k == 0 ? "" : ", ", k + 2, hidden[k]);
  out << '\n';
}

/// Descends from `numbers`, a while on windows of each length. `stride` is the largest step on
/// windows of two tokens; it falls as the bowl narrows.
template <class Student>
Path fit(std::vector<double> numbers, const er::Frequencies& teacher,
         const std::vector<er::Index>& windows, double stride) {
  std::mt19937_64 random(7);
  Path path;
  for (const er::Index tokens : windows) {
    Adam adam(numbers.size(), stride * 2 / static_cast<double>(tokens));
    for (int i = 0; i < steps_per_window; ++i) {
      const er::Frequencies student = Student::frequencies(numbers);
      const Loss loss = compare(random_pair(tokens, random), student, teacher, random);
      path.loss.push_back(loss.value);
      path.rates.push_back(rates_of(student));
      adam.step(numbers, Student::gradient(numbers, loss.rates));
    }
  }
  path.numbers = numbers;
  path.rates.push_back(rates_of(Student::frequencies(numbers)));
  return path;
}

const std::vector<er::Index> growing{2, 4, 8, 16, 32, longest};
const std::vector<er::Index> long_only(growing.size(), longest);

double worst_error(const std::vector<double>& rates, const std::vector<double>& hidden) {
  double worst = 0;
  for (std::size_t k = 0; k < rates.size(); ++k)
    worst = std::max(worst, std::abs(rates[k] - hidden[k]));
  return worst;
}

/// The largest error of an angle at the longest distance, in radians.
double phase_error(const std::vector<double>& rates, const std::vector<double>& hidden) {
  return worst_error(rates, hidden) * (longest - 1);
}

void print_windows(const Path& path, const std::vector<double>& hidden) {
  for (std::size_t i = 0; i < growing.size(); ++i) {
    const std::size_t first = i * steps_per_window, last = first + steps_per_window;
    fmt::print("  windows of {:>2} tokens: worst rate off by {:.1e} -> {:.1e}\n", growing[i],
               worst_error(path.rates[first], hidden), worst_error(path.rates[last], hidden));
  }
}

/// Rates of no particular law, from a start that is wrong by up to a factor of 22. True if they
/// were found.
bool learn_rates(const std::string& script_path) {
  const std::vector<double> hidden{1.9, 1.1, 0.71, 0.3, 0.22, 0.05, 0.013, 0.002};
  const er::Frequencies teacher = er::Frequencies::explicit_rates(hidden);
  const std::vector<double> start = rates_of(er::Frequencies::powers({D, 10000.0}));
  constexpr double stride = 0.1;  // radians per token

  fmt::print("Rates, radians per token\n\n");
  const Path path = fit<LearnsRates>(start, teacher, growing, stride);
  const Path other = fit<LearnsRates>(start, teacher, long_only, stride);
  print_windows(path, hidden);
  fmt::print("\n  pair     true    start     learned    error    on long windows alone\n");
  for (std::size_t k = 0; k < hidden.size(); ++k) {
    fmt::print("  {:>4} {:>8.4f} {:>8.4f} {:>11.7f} {:>8.1e} {:>16.4f}\n", k, hidden[k], start[k],
               path.rates.back()[k], path.rates.back()[k] - hidden[k], other.rates.back()[k]);
  }
  const double worst = phase_error(path.rates.back(), hidden);
  fmt::print("\n  worst angle at distance {}: {:.1e} rad; on long windows alone {:.1e} rad\n\n",
             longest - 1, worst, phase_error(other.rates.back(), hidden));
  if (!script_path.empty()) write_script(script_path, path, hidden);
  return worst <= tolerance;
}

/// A base fifty times the one the student starts from. True if it was found.
bool learn_base() {
  constexpr double hidden = 500000.0, start = 10000.0;
  const er::Frequencies teacher = er::Frequencies::powers({D, hidden});
  constexpr double stride = 0.2;  // in ln base

  fmt::print("Base, as ln base\n\n");
  const Path path = fit<LearnsBase>({std::log(start)}, teacher, growing, stride);
  const Path other = fit<LearnsBase>({std::log(start)}, teacher, long_only, stride);
  print_windows(path, rates_of(teacher));
  const double worst = phase_error(path.rates.back(), rates_of(teacher));
  fmt::print(
      "\n  true {:.0f}, start {:.0f}, learned {:.4f}; worst angle at distance {}: {:.1e} rad; on "
      "long windows alone {:.0f}\n",
      hidden, start, std::exp(path.numbers[0]), longest - 1, worst, std::exp(other.numbers[0]));
  return worst <= tolerance;
}

}  // namespace

int main(int argc, char** argv) {
  const bool found_rates = learn_rates(argc > 1 ? argv[1] : "");
  const bool found_base = learn_base();
  fmt::print("\n{}\n", found_rates && found_base ? "both recovered" : "NOT recovered");
  return found_rates && found_base ? 0 : 1;
}
