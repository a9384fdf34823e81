// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of a gradient check, on flat arrays (detail/gradient_problem.hpp). Slopes of f
// along directions are numeric_slope.cpp.
#include "eigen_rope/check/detail/gradient_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "check/numeric_slope.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

/// An error estimate above this part of the derivative's natural size says nothing.
constexpr double coarse = 0.05;

/// A second, finer look where the first is suspicious.
constexpr double refinement = 16;

enum class Fate { agrees, undetermined, non_finite, disagrees };  // the larger, the worse

struct Judgement {
  Fate fate = Fate::agrees;
  double numeric = 0;
  double bound = 0;
};

/// What a slope is compared with.
struct Claimed {
  double value = 0;
  /// Of the claim, and of the direction where a point had to be rounded.
  double error = 0;
  /// The derivative that would be expected if f changed by its own size where x does.
  double natural = 0;
};

class GradientCheck {
 public:
  GradientCheck(const GradientProblem& problem, const GradientCheckOptions& options,
                ProblemKind kind)
      : problem_(problem),
        options_(options),
        kind_(kind),
        slopes_(problem, options, kind),
        random_(options.seed) {
    inputs_ = static_cast<Index>(problem.x.size());
    outputs_ = problem.output.size();
  }

  GradientReport run() {
    report_.coverage = options_.coverage;
    if (report_.coverage == Coverage::automatic) {
      report_.coverage = inputs_ + outputs_ <= options_.every_entry_limit ? Coverage::every_entry
                                                                          : Coverage::projections;
    }
    report_.method = kind_ == ProblemKind::linear ? NumericMethod::linear_map : options_.method;
    if (inputs_ > 0 && outputs_ > 0) {
      choose_method();
      note_outputs_that_are_not_finite();
      if (kind_ != ProblemKind::linear) claim_noise_ = slopes_.noise_of_claim(random_);
      if (report_.coverage == Coverage::every_entry) check_entries();
      if (report_.coverage == Coverage::projections || kind_ == ProblemKind::linear)
        check_projections();
    }
    report_.evaluations = slopes_.evaluations();
    report_.gradient_evaluations = slopes_.claims();
    report_.verdict = report_.disagreeing > 0    ? Verdict::failed
                      : report_.non_finite > 0   ? Verdict::non_finite
                      : report_.undetermined > 0 ? Verdict::inconclusive
                                                 : Verdict::passed;
    return std::move(report_);
  }

 private:
  void choose_method() {
    if (kind_ == ProblemKind::linear) return;
    const bool possible = static_cast<bool>(problem_.directional);
    if (report_.method == NumericMethod::complex_step && !possible) {
      fail(
          "the complex step needs an f that takes and returns tensors of std::complex<double>, and "
          "Precision::widest");
    }
    slopes_.measure_value_noise(random_);
    if (report_.method == NumericMethod::automatic) {
      report_.method = possible ? NumericMethod::complex_step : NumericMethod::central_differences;
      if (possible && !slopes_.complex_step_agrees(random_)) {
        report_.method = NumericMethod::central_differences;
        report_.note =
            "f takes complex tensors but is not analytic there: central differences instead of the "
            "complex step";
      }
    }
    slopes_.use(report_.method, random_);
  }

  void note_outputs_that_are_not_finite() {
    finite_outputs_.assign(static_cast<std::size_t>(outputs_), 1.0);
    for (Index i = 0; i < outputs_ && kind_ != ProblemKind::linear; ++i) {
      const double value = slopes_.value_at_x()[static_cast<std::size_t>(i)];
      if (std::isfinite(value)) continue;
      finite_outputs_[static_cast<std::size_t>(i)] = 0;
      ++report_.non_finite;
      GradientEntry entry = entry_at(0, 0, 0, i, i + 1);
      entry.numeric = entry.difference = value;
      propose(std::move(entry), Fate::non_finite);
    }
  }

  // ---- every entry

  void check_entries() {
    std::vector<FlatValues> rows(static_cast<std::size_t>(outputs_));
    FlatValues unit(static_cast<std::size_t>(outputs_), 0.0);
    for (Index i = 0; i < outputs_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (finite_outputs_[at] == 0) continue;
      unit[at] = 1;
      rows[at] = slopes_.claimed(unit);
      unit[at] = 0;
    }
    const FlatValues ones(static_cast<std::size_t>(outputs_), 1.0);
    Index begin = 0;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const Index end = begin + problem_.arguments[a].size();
      FlatValues largest;
      for (const FlatValues& row : rows)
        largest.push_back(row.empty() ? 0 : largest_finite(row, begin, end));
      for (Index j = begin; j < end; ++j) check_column(a, begin, j, rows, largest, ones);
      begin = end;
    }
  }

  void check_column(std::size_t a, Index begin, Index j, const std::vector<FlatValues>& rows,
                    const FlatValues& largest, const FlatValues& ones) {
    Looks looks(slopes_, InputDirection{j, j + 1, a, {1.0}}, slopes_.step() * slopes_.scale(j));
    for (Index i = 0; i < outputs_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (finite_outputs_[at] == 0) continue;
      Claimed claimed;
      claimed.value = rows[at][static_cast<std::size_t>(j)];
      claimed.error = entry_error(i, j, claimed.value, largest[at]);
      claimed.natural = slopes_.largest_value() / slopes_.scale(j);
      record(entry_at(a, begin, j, i, i + 1),
             judge(looks, ones, i, i + 1, claimed, {claimed.value}), claimed.value);
    }
  }

  double entry_error(Index i, Index j, double claimed, double largest) const {
    const double epsilon = problem_.claimed_epsilon;
    if (kind_ == ProblemKind::linear) return 8 * epsilon * largest;
    const double natural =
        std::abs(slopes_.value_at_x()[static_cast<std::size_t>(i)]) / slopes_.scale(j);
    return 8 * claim_noise_[static_cast<std::size_t>(j)] +
           4 * epsilon * (std::abs(claimed) + largest + natural);
  }

  // ---- projections

  void check_projections() {
    Index begin = 0;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const Index end = begin + problem_.arguments[a].size();
      bool searched = false;
      for (int k = 0; k < options_.projections && begin < end; ++k) {
        FlatValues w = slopes_.random_cotangent(random_);
        for (std::size_t i = 0; i < w.size(); ++i) w[i] *= finite_outputs_[i];
        InputDirection direction = slopes_.random_direction(random_, begin, end, a);
        FlatValues g = slopes_.claimed(w);
        drop_what_is_not_finite(direction, g, a, begin);
        Looks looks(slopes_, direction, slopes_.step());
        const Claimed claimed = projected(direction, g);
        const Judgement judgement = judge(looks, w, 0, outputs_, claimed, part(g, direction));
        GradientEntry entry = entry_at(a, begin, begin, 0, outputs_);
        entry.place.reset();
        entry.output_place.reset();
        record(std::move(entry), judgement, claimed.value);
        if (judgement.fate == Fate::disagrees && !searched) {
          searched = true;
          search(a, begin, direction, w, g, judgement.numeric - claimed.value);
        }
      }
      begin = end;
    }
  }

  void drop_what_is_not_finite(InputDirection& direction, FlatValues& g, std::size_t a,
                               Index begin) {
    for (Index j = direction.first; j < direction.last; ++j) {
      double& value = g[static_cast<std::size_t>(j)];
      if (std::isfinite(value)) continue;
      GradientEntry entry = entry_at(a, begin, j, 0, outputs_);
      entry.output_place.reset();
      entry.claimed = entry.difference = value;
      ++report_.non_finite;
      propose(std::move(entry), Fate::non_finite);
      value = 0;
      direction.v[static_cast<std::size_t>(j - direction.first)] = 0;
    }
  }

  static FlatValues part(const FlatValues& g, const InputDirection& direction) {
    return FlatValues(g.begin() + direction.first, g.begin() + direction.last);
  }

  /// <v, g> and what it may be off by.
  Claimed projected(const InputDirection& direction, const FlatValues& g) const {
    long double sum = 0;
    double terms = 0, noise = 0, squares = 0, scaled_squares = 0;
    for (Index j = direction.first; j < direction.last; ++j) {
      const double v = direction.v[static_cast<std::size_t>(j - direction.first)];
      sum += static_cast<long double>(v) * static_cast<long double>(g[static_cast<std::size_t>(j)]);
      terms += std::abs(v * g[static_cast<std::size_t>(j)]);
      squares += v * v;
      scaled_squares += v / slopes_.scale(j) * (v / slopes_.scale(j));
      if (!claim_noise_.empty()) noise += std::abs(v) * claim_noise_[static_cast<std::size_t>(j)];
    }
    const double epsilon = problem_.claimed_epsilon;
    Claimed claimed;
    claimed.value = static_cast<double>(sum);
    if (kind_ == ProblemKind::linear) {
      claimed.error = 8 * epsilon * std::sqrt(static_cast<double>(inputs_ + outputs_)) * terms;
    } else {
      claimed.natural = slopes_.norm_of_value() * std::sqrt(scaled_squares);
      const double largest = largest_finite(g, direction.first, direction.last);
      claimed.error =
          8 * noise + 4 * epsilon * (terms + std::sqrt(squares) * largest + claimed.natural);
    }
    return claimed;
  }

  /// Finds one entry behind a projection that disagrees: halves of the argument, then halves of the
  /// result.
  void search(std::size_t a, Index begin, InputDirection direction, const FlatValues& w,
              const FlatValues& g, double difference) {
    while (direction.last - direction.first > 1) {
      const Index middle = direction.first + (direction.last - direction.first) / 2;
      InputDirection low = direction.between(direction.first, middle);
      const double in_low =
          slopes_.estimate(slopes_.along(low, slopes_.step()), w, 0, outputs_).value -
          projected(low, g).value;
      const bool go_low = std::abs(in_low) >= std::abs(difference - in_low);
      difference = go_low ? in_low : difference - in_low;
      direction = go_low ? std::move(low) : direction.between(middle, direction.last);
    }
    const Index j = direction.first;
    const auto at = static_cast<std::size_t>(j);
    direction.v = {1.0};
    Looks looks(slopes_, direction, slopes_.step() * slopes_.scale(j));
    Index first = 0, last = outputs_;
    difference = slopes_.estimate(looks.first(), w, first, last).value - g[at];
    while (last - first > 1) {
      const Index middle = first + (last - first) / 2;
      FlatValues part_of_w(w.size(), 0.0);
      std::copy(w.begin() + first, w.begin() + middle, part_of_w.begin() + first);
      const double in_low =
          slopes_.estimate(looks.first(), w, first, middle).value - slopes_.claimed(part_of_w)[at];
      const bool go_low = std::abs(in_low) >= std::abs(difference - in_low);
      difference = go_low ? in_low : difference - in_low;
      (go_low ? last : first) = middle;
    }
    FlatValues unit(w.size(), 0.0);
    unit[static_cast<std::size_t>(first)] = 1;
    const FlatValues row = slopes_.claimed(unit);
    Claimed claimed;
    claimed.value = row[at];
    claimed.error = entry_error(first, j, claimed.value,
                                largest_finite(row, begin, begin + problem_.arguments[a].size()));
    claimed.natural = slopes_.largest_value() / slopes_.scale(j);
    const Judgement judgement = judge(looks, unit, first, last, claimed, {claimed.value});
    if (judgement.fate == Fate::disagrees)
      propose(completed(entry_at(a, begin, j, first, last), judgement, claimed.value),
              judgement.fate);
  }

  // ---- comparing

  /// A slope along one direction, and the same seen more finely, made when asked for.
  class Looks {
   public:
    Looks(Slopes& slopes, InputDirection direction, double h)
        : slopes_(slopes), direction_(std::move(direction)), h_(h) {
      coarse_ = slopes_.along(direction_, h_);
    }
    const Slope& first() const { return coarse_; }
    bool has_finer() const { return !coarse_.exact; }
    const Slope& finer() {
      if (!finer_) finer_ = slopes_.along(direction_, h_ / refinement);
      return *finer_;
    }

   private:
    Slopes& slopes_;
    InputDirection direction_;
    double h_;
    Slope coarse_;
    std::optional<Slope> finer_;
  };

  Judgement judge(Looks& looks, const FlatValues& w, Index first, Index last,
                  const Claimed& claimed, const FlatValues& g) {
    const auto look = [&](const Slope& slope) {
      Estimate estimate = slopes_.estimate(slope, w, first, last);
      for (std::size_t k = 0; k < slope.direction_error.size(); ++k)
        estimate.error += slope.direction_error[k] * std::abs(g[k]);
      estimate.finite = estimate.finite && std::isfinite(estimate.error);
      return estimate;
    };
    const auto tolerance = [&](const Estimate& estimate) {
      return options_.absolute +
             options_.relative * std::max(std::abs(estimate.value), std::abs(claimed.value));
    };
    const auto is_coarse = [&](const Estimate& estimate) {
      if (kind_ == ProblemKind::linear) return false;
      const double error = estimate.error + claimed.error;
      return error > coarse * std::max({claimed.natural, std::abs(estimate.value),
                                        std::abs(claimed.value)}) &&
             error > tolerance(estimate);
    };
    const auto disagrees = [&](const Estimate& estimate) {
      return !(std::abs(estimate.value - claimed.value) <=
               estimate.error + claimed.error + tolerance(estimate));
    };

    if (!std::isfinite(claimed.value))
      return {Fate::non_finite,
              looks.first().exact ? 0 : slopes_.estimate(looks.first(), w, first, last).value, 0};
    Estimate estimate = look(looks.first());
    bool usable = estimate.finite;
    bool converges = false;
    if (looks.has_finer() && (!estimate.finite || disagrees(estimate) || is_coarse(estimate))) {
      const Estimate finer = look(looks.finer());
      if (finer.finite && !(estimate.finite && estimate.error <= finer.error)) {
        converges = estimate.finite && finer.error < estimate.error / 4;
        usable = true;
        estimate = finer;
      } else if (finer.finite &&
                 std::abs(finer.value - estimate.value) > finer.error + estimate.error) {
        usable = false;  // no derivative: a jump
      }
    }
    Judgement judgement{Fate::agrees, estimate.value,
                        estimate.error + claimed.error + tolerance(estimate)};
    if (!usable && looks.first().exact) {
      judgement.fate = Fate::non_finite;
    } else if (!usable || (!disagrees(estimate) && is_coarse(estimate) && !converges)) {
      judgement.fate = Fate::undetermined;
    } else if (disagrees(estimate)) {
      judgement.fate = Fate::disagrees;
    }
    return judgement;
  }

  static double largest_finite(const FlatValues& values, Index first, Index last) {
    double largest = 0;
    for (Index j = first; j < last; ++j) {
      const double value = std::abs(values[static_cast<std::size_t>(j)]);
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    return largest;
  }

  // ---- reporting

  GradientEntry entry_at(std::size_t a, Index begin, Index j, Index first, Index last) const {
    GradientEntry entry;
    entry.argument = problem_.arguments[a].name;
    if (problem_.arguments[a].size() > 0) entry.place = problem_.arguments[a].place_of(j - begin);
    if (last - first == 1) entry.output_place = problem_.output.place_of(first);
    return entry;
  }

  static GradientEntry completed(GradientEntry entry, const Judgement& judgement, double claimed) {
    entry.claimed = claimed;
    entry.numeric = judgement.numeric;
    entry.difference = std::abs(claimed - judgement.numeric);
    entry.bound = judgement.bound;
    return entry;
  }

  void record(GradientEntry entry, const Judgement& judgement, double claimed) {
    ++report_.checked;
    if (judgement.fate == Fate::disagrees) ++report_.disagreeing;
    if (judgement.fate == Fate::non_finite) ++report_.non_finite;
    if (judgement.fate == Fate::undetermined) ++report_.undetermined;
    propose(completed(std::move(entry), judgement, claimed), judgement.fate);
  }

  /// Keeps the worst entry: by its fate, then what is wrong at a place before a projection, then by
  /// its share of the bound.
  void propose(GradientEntry entry, Fate fate) {
    const double ratio = entry.bound > 0        ? entry.difference / entry.bound
                         : entry.difference > 0 ? HUGE_VAL
                                                : 0;
    const Rank rank{static_cast<int>(fate), fate != Fate::agrees && entry.place.has_value(),
                    std::isnan(ratio) ? HUGE_VAL : ratio};
    if (report_.worst && !(rank > worst_rank_)) return;
    report_.worst = std::move(entry);
    worst_rank_ = rank;
  }

  using Rank = std::tuple<int, bool, double>;

  const GradientProblem& problem_;
  const GradientCheckOptions& options_;
  const ProblemKind kind_;
  Slopes slopes_;
  std::mt19937_64 random_;
  Index inputs_ = 0;
  Index outputs_ = 0;
  GradientReport report_;
  Rank worst_rank_;
  FlatValues finite_outputs_;  // 1 or 0
  FlatValues claim_noise_;
};

std::string extents_text(const std::vector<Index>& extents) {
  return fmt::format("[{}]", detail::joined(extents, ", "));
}

void require_tolerance(std::string_view name, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    fail(fmt::format("{} must be finite and not negative", name), value);
}

}  // namespace

Index FlatArray::size() const {
  Index size = 1;
  for (const Index extent : extents) size *= extent;
  return size;
}

std::vector<Index> FlatArray::place_of(Index element) const {
  std::vector<Index> place(extents.size());
  for (std::size_t k = 0; k < extents.size(); ++k) {
    const std::size_t axis = order == MemoryOrder::first_index_fastest ? k : extents.size() - 1 - k;
    place[axis] = element % extents[axis];
    element /= extents[axis];
  }
  return place;
}

void require_extents(std::string_view what, const std::vector<Index>& expected,
                     const std::vector<Index>& got) {
  if (expected != got)
    fail(fmt::format("{} must have shape {}", what, extents_text(expected)), extents_text(got));
}

std::vector<std::string> argument_names(const std::vector<std::string>& given, std::size_t count) {
  if (given.empty() && count == 1) return {"x"};
  std::vector<std::string> names = given;
  if (given.empty()) {
    for (std::size_t k = 0; k < count; ++k) names.push_back(fmt::format("x{}", k));
  }
  if (names.size() != count) {
    fail(fmt::format("there must be one name for each of the {} arguments", count),
         static_cast<std::int64_t>(names.size()));
  }
  return names;
}

GradientReport run_gradient_check(const GradientProblem& problem,
                                  const GradientCheckOptions& options, ProblemKind kind) {
  require_tolerance("the absolute tolerance", options.absolute);
  require_tolerance("the relative tolerance", options.relative);
  if (options.step != 0) require_positive("the step of central differences", options.step);
  require_positive("typical_x", options.typical_x);
  if (options.projections < 1)
    fail("the number of projections must be at least 1",
         static_cast<std::int64_t>(options.projections));
  if (kind == ProblemKind::differentiable && options.method == NumericMethod::linear_map)
    fail("a linear map is checked by check_adjoint()");
  return GradientCheck(problem, options, kind).run();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
