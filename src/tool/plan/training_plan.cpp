// SPDX-License-Identifier: Apache-2.0
#include "tool/plan/training_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "eigen_rope/numbers/error.hpp"
#include "tool/plan/causal_work.hpp"

namespace eigen_rope::tool {
namespace {

constexpr double state_bytes = 16;  // of a parameter, its gradient and two moments, each float
constexpr double table_bytes = 4;

/// The model's sizes as the formulas name them.
struct Widths {
  explicit Widths(const TrainingModel& model)
      : d(static_cast<double>(model.width)),
        f(static_cast<double>(model.mlp_width)),
        v(static_cast<double>(model.vocabulary)),
        layers(static_cast<double>(model.layer_count())),
        mlp_matrices(model.mlp == MlpKind::gated ? 3 : 2) {}

  double d, f, v, layers, mlp_matrices;
};

/// The widths of the queries and of the keys of a group's layers.
struct HeadWidths {
  HeadWidths(const TrainingModel& model, const LayerGroup& group)
      : q(static_cast<double>(model.heads * group.head_dims)),
        k(static_cast<double>(model.key_heads * group.head_dims)) {}

  double q, k;
};

/// Parameters of matrices that multiply every token.
double multiplied_parameters(const TrainingModel& model) {
  const Widths w(model);
  double count = w.v * w.d;
  for (const LayerGroup& group : model.layers) {
    const HeadWidths heads(model, group);
    count += static_cast<double>(group.count) *
             (2 * w.d * (heads.q + heads.k) + w.mlp_matrices * w.d * w.f);
  }
  return count;
}

double largest_of(const TrainingModel& model, double HeadWidths::*width) {
  double most = 0;
  for (const LayerGroup& group : model.layers)
    most = std::max(most, HeadWidths(model, group).*width);
  return most;
}

RankMemory memory_of(const TrainingModel& model, const PlanOptions& options, double places,
                     Index ranks) {
  const Widths w(model);
  const auto s = static_cast<double>(size_of(options.scalar));
  const double q = largest_of(model, &HeadWidths::q), k = largest_of(model, &HeadWidths::k);
  const double row_bytes = places * s;
  RankMemory memory;
  memory.state = state_bytes * parameters_of(model);
  for (const LayerGroup& group : model.layers) {
    const HeadWidths heads(model, group);
    const auto count = static_cast<double>(group.count);
    // Two norms of two rows each; queries, keys, values and attention's output; the MLP's rows.
    memory.layers +=
        count * row_bytes * (4 * w.d + 2 * heads.q + 2 * heads.k + w.mlp_matrices * w.f);
    memory.blocks += count * row_bytes * 2 * static_cast<double>(model.heads);
  }
  // The last norm, the residual stream, its gradient and one more; the gradients of queries, keys,
  // values and of the MLP.
  memory.between = row_bytes * (5 * w.d + q + 2 * k + (w.mlp_matrices - 1) * w.f + w.v);
  // A block is keys and values: at hand and its gradient; on a ring three more.
  memory.blocks += row_bytes * (ranks > 1 ? 10 : 4) * k;
  std::set<int> tables;
  for (const LayerGroup& group : model.layers) {
    if (group.rotary_dims > 0 && tables.insert(group.table).second)
      memory.tables += table_bytes * places * static_cast<double>(group.rotary_dims);
  }
  return memory;
}

RankTraffic traffic_of(const TrainingModel& model, const PlanOptions& options, double places,
                       Index ranks) {
  RankTraffic traffic;
  if (ranks == 1) return traffic;
  const auto r = static_cast<double>(ranks), s = static_cast<double>(size_of(options.scalar));
  for (const LayerGroup& group : model.layers) {
    // M - 1 blocks on the way forward, M - 1 on the way back, and M of gradients.
    traffic.ring += static_cast<double>(options.batch * group.count) * (3 * r - 2) * 2 *
                    HeadWidths(model, group).k * places * s;
  }
  traffic.summed = parameters_of(model) * s;
  traffic.sums = 2 * (r - 1) / r * traffic.summed;
  return traffic;
}

/// Seconds that the ring's passes add to the work of one layer on one window, both ways.
double waiting_of_layer(const CausalWork& work, double forward, double backward, double pass) {
  const std::size_t steps = work.step_pairs.size();
  if (steps == 1) return 0;
  double waiting = pass;  // the gradients that come home last
  for (std::size_t step = 0; step < steps; ++step) {
    const double keys = step + 1 < steps ? pass : 0, gradients = step > 0 ? pass : 0;
    waiting += std::max(0.0, keys - forward * work.step_pairs[step]);
    waiting += std::max(0.0, keys + gradients - backward * work.step_pairs[step]);
  }
  return waiting;
}

/// Numbers that are read and written for a token beside the products.
double elementwise_numbers(const TrainingModel& model) {
  const Widths w(model);
  const double norm = 7 * w.d;      // x, unit, output; dy, unit, dx twice
  const double residual = 6 * w.d;  // two sums forward
  const double activation = (model.mlp == MlpKind::gated ? 8 : 7) * w.f;
  const double loss = 4 * w.v, embedding = 5 * w.d;
  return w.layers * (2 * norm + residual + activation) + norm + loss + embedding;
}

StepTime time_of(const TrainingModel& model, const PlanOptions& options, Index context, Index ranks,
                 const RankTraffic& traffic) {
  const Speeds& speeds = options.speeds;
  const auto batch = static_cast<double>(options.batch), r = static_cast<double>(ranks),
             s = static_cast<double>(size_of(options.scalar));
  const double parameters = parameters_of(model);
  StepTime time;
  double places = 0;
  for (const LayerGroup& group : model.layers) {
    const HeadWidths heads(model, group);
    const auto count = batch * static_cast<double>(group.count);
    const CausalWork work = causal_work(context, ranks, options.sharding, group.window);
    places = static_cast<double>(work.places);
    // Two products of head dims forward; those of the scores again, and four of gradients.
    const double forward = 4 * heads.q / speeds.attention,
                 backward = 10 * heads.q / speeds.attention;
    double critical = 0;
    for (const double pairs : work.step_pairs) critical += pairs;
    time.attention += count * (forward + backward) * critical;
    const double pass =
        options.link.latency + 2 * heads.k * places * s / options.link.bytes_per_second;
    time.passes += count * waiting_of_layer(work, forward, backward, pass);
    // Queries and keys and the table, forward and backward.
    if (group.rotary_dims > 0)
      time.rotation +=
          count * 2 * places *
          (2 * (heads.q + heads.k) * s + table_bytes * static_cast<double>(group.rotary_dims)) /
          speeds.rotation;
  }
  // Two operations forward and four backward.
  time.products = batch * places * 6 * multiplied_parameters(model) / speeds.products;
  time.elementwise = batch * places * s * elementwise_numbers(model) / speeds.memory +
                     2 * state_bytes * parameters / speeds.memory;
  if (ranks == 1) return time;
  // The embedding's part is final last, so nothing hides its sum.
  const double sum =
      2 * (r - 1) * options.link.latency + traffic.sums / options.link.bytes_per_second;
  const double last = sum * Widths(model).v * Widths(model).d / parameters;
  const double backward = (time.products * 2 / 3 + time.attention * 5 / 7) / batch;
  time.sums = std::max(last, sum - backward);
  return time;
}

Sharding other_than(Sharding sharding) {
  return sharding == Sharding::zigzag ? Sharding::contiguous : Sharding::zigzag;
}

/// Over all layers, weighted with what a pair costs.
double balance_of(const TrainingModel& model, Index context, Index ranks, Sharding sharding) {
  double busiest = 0, mean = 0;
  for (const LayerGroup& group : model.layers) {
    const CausalWork work = causal_work(context, ranks, sharding, group.window);
    const double weight = static_cast<double>(group.count * group.head_dims);
    busiest += weight * work.busiest_pairs;
    mean += weight * work.mean_pairs;
  }
  return busiest / mean;
}

std::string gib(double bytes) {
  const double value = bytes / 0x1p30;
  return value < 9999.5 ? fmt::format("{:.4g} GiB", value) : fmt::format("{:.0f} GiB", value);
}

/// Whether the memory is enough, and for how many ranks it is.
void compare_memory(TrainingPlan& plan) {
  if (!plan.options.memory) return;
  const double there = *plan.options.memory;
  if (plan.step.memory.state > there) {
    plan.warnings.push_back(fmt::format(
        "no number of ranks makes it fit {}: parameters, gradient and moments take {} on each",
        gib(there), gib(plan.step.memory.state)));
    return;
  }
  if (plan.step.memory.total() > there)
    plan.warnings.push_back(fmt::format("a rank takes {}, which is more than {}",
                                        gib(plan.step.memory.total()), gib(there)));
  const auto fits = std::find_if(plan.by_ranks.begin(), plan.by_ranks.end(),
                                 [&](const StepPlan& one) { return one.memory.total() <= there; });
  plan.notes.push_back(
      fits == plan.by_ranks.end()
          ? fmt::format("no number of ranks up to {} makes it fit {}", plan.by_ranks.back().ranks,
                        gib(there))
          : fmt::format("{} a rank are enough from {} on", gib(there),
                        fits->ranks == 1 ? "1 rank" : fmt::format("{} ranks", fits->ranks)));
}

void compare_shards(TrainingPlan& plan) {
  const PlanOptions& options = plan.options;
  const StepPlan& step = plan.step;
  const Index of_a_rank = options.sharding == Sharding::zigzag && step.ranks > 1 ? 2 : 1;
  const Index chunk = step.places / of_a_rank;
  // Chunks are dealt in order, so the ranks without a token are the last to get their first one.
  const Index idle = step.ranks - (options.context + chunk - 1) / chunk;
  if (idle > 0) {
    plan.warnings.push_back(fmt::format("{} tokens leave {} of {} ranks with nothing but padding",
                                        options.context, idle, step.ranks));
  } else if (step.padding > 0) {
    plan.notes.push_back(fmt::format(
        "{} tokens are not a multiple of {} chunks: a window ends in padding of {}, which takes "
        "work and memory as well",
        options.context, of_a_rank * step.ranks, step.padding));
  }
  if (options.sharding == Sharding::contiguous && step.balance > 1.01)
    plan.warnings.push_back(
        fmt::format("the last rank has {:.3g} times the mean of the causal work, and the others "
                    "wait for it: --sharding zigzag shares it evenly",
                    step.balance));
}

void compare_times(TrainingPlan& plan) {
  const StepTime& time = plan.step.time;
  if (time.passes > 0.1 * time.total())
    plan.warnings.push_back(fmt::format(
        "{:.0f} % of a step are waiting for the ring: work on a block takes less time than to pass "
        "it on",
        100 * time.passes / time.total()));
  const auto fastest = std::min_element(
      plan.by_ranks.begin(), plan.by_ranks.end(),
      [](const StepPlan& a, const StepPlan& b) { return a.time.total() < b.time.total(); });
  if (fastest + 1 != plan.by_ranks.end())
    plan.notes.push_back(fmt::format("a step is shortest on {} ranks, and longer on {}",
                                     fastest->ranks, std::next(fastest)->ranks));
}

}  // namespace

double parameters_of(const TrainingModel& model) {
  const Widths w(model);
  const double embedding = model.head == HeadMatrix::own ? w.v * w.d : 0;
  return multiplied_parameters(model) + embedding + (2 * w.layers + 1) * w.d;
}

StepPlan plan_step(const TrainingModel& model, const PlanOptions& options, Index context,
                   Index ranks) {
  const CausalWork work = causal_work(context, ranks, options.sharding);
  const auto places = static_cast<double>(work.places);
  StepPlan step;
  step.ranks = ranks;
  step.places = work.places;
  step.padding = work.places * ranks - context;
  step.balance = balance_of(model, context, ranks, options.sharding);
  step.memory = memory_of(model, options, places, ranks);
  step.traffic = traffic_of(model, options, places, ranks);
  step.time = time_of(model, options, context, ranks, step.traffic);
  return step;
}

TrainingPlan make_training_plan(const TrainingModel& model, const PlanOptions& options) {
  TrainingPlan plan;
  plan.model = model;
  plan.options = options;
  if (options.context == 0) plan.options.context = model.context;
  if (plan.options.context == 0)
    eigen_rope::detail::fail("the model does not say for how many tokens it is: give --context");
  if (options.batch < 1 || options.batch > most_batch)
    eigen_rope::detail::fail(fmt::format("the batch must be from 1 to {}", most_batch),
                             options.batch);
  for (const double speed :
       {options.speeds.products, options.speeds.attention, options.speeds.rotation,
        options.speeds.memory, options.link.bytes_per_second})
    eigen_rope::detail::require_positive("a speed", speed);
  const Index context = plan.options.context;
  plan.parameters = parameters_of(model);
  plan.step = plan_step(model, options, context, options.ranks);
  plan.global_tables = plan.step.memory.tables / static_cast<double>(plan.step.places) *
                       static_cast<double>(context);
  const double other = balance_of(model, context, options.ranks, other_than(options.sharding));
  plan.contiguous = options.sharding == Sharding::contiguous ? plan.step.balance : other;
  plan.zigzag = options.sharding == Sharding::zigzag ? plan.step.balance : other;
  std::vector<Index> counts{options.ranks};
  for (Index ranks = 1; ranks <= 1024; ranks *= 2) counts.push_back(ranks);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const Index ranks : counts)
    plan.by_ranks.push_back(plan_step(model, options, context, ranks));
  plan.warnings = model.warnings;
  if (model.context > 0 && context > model.context)
    plan.notes.push_back(fmt::format(
        "the model is meant for {} tokens: eigen-rope inspect shows what {} make of its rates",
        model.context, context));
  compare_shards(plan);
  compare_memory(plan);
  compare_times(plan);
  return plan;
}

}  // namespace eigen_rope::tool
