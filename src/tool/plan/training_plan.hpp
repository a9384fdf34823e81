// SPDX-License-Identifier: Apache-2.0
//
// What a step of training costs each rank of a ring that shares the tokens of every window.
//
//   t = places of a rank, s = bytes of a scalar, P = parameters, R = ranks, k = width of the keys
//   memory     16 P  +  activations t s (...)  +  10 k t s on a ring  +  tables rotary dims * t * 4
//   traffic    (3 R - 2) 2 k t s for each layer and window, and 2 (R - 1) / R P s for the gradient
//   time       work / speed; passes and sums count where the work does not hide them
//
// docs/scaling.md derives each term and compares them with runs of examples/train_lm, whose scheme
// this is: parameters, gradient and moments on every rank, ring attention by blocks, the window's
// tokens cut contiguous or zigzag. Values only: report.hpp prints, plot.hpp draws.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/choices/context_shard.hpp"
#include "tool/plan/speeds.hpp"
#include "tool/plan/training_model.hpp"

namespace eigen_rope::tool {

inline constexpr eigen_rope::Index most_batch = 1 << 20;

struct PlanOptions {
  eigen_rope::Index context = 0;  ///< 0: the model's.
  eigen_rope::Index ranks = 1;
  eigen_rope::Index batch = 1;  ///< Windows in a step, one after the other.
  Sharding sharding = Sharding::zigzag;
  /// Of activations, keys, values, and of the gradient that travels. Tables are float.
  ScalarType scalar = ScalarType::f32;
  Speeds speeds{};
  Link link{};
  std::optional<double> memory{};  ///< Bytes that a rank has.
};

/// Bytes of a rank, all of which it holds at once. The program itself comes on top.
struct RankMemory {
  double state = 0;    ///< Parameters, gradient and both moments.
  double layers = 0;   ///< Activations that each layer keeps for the way back.
  double between = 0;  ///< Activations and gradients that the layers share, and the logits.
  double blocks = 0;   ///< Keys and values on the ring, their gradients, the softmax's rows.
  double tables = 0;   ///< cos and sin at the positions of the rank's tokens.

  double total() const { return state + layers + between + blocks + tables; }
};

/// Bytes that a rank sends in a step. The rotation sends nothing: keys travel rotated.
struct RankTraffic {
  double ring = 0;
  double summed = 0;  ///< The gradient, as handed to the sum over the ranks.
  double sums = 0;    ///< What a ring sends of it, 2 (R - 1) / R times as much.

  double total() const { return ring + sums; }
};

/// Seconds of a step.
struct StepTime {
  double products = 0;
  double attention = 0;
  double rotation = 0;
  double elementwise = 0;  ///< Norms, activations, the loss and the step of AdamW.
  double passes = 0;       ///< Waiting for blocks of the ring.
  double sums = 0;         ///< Waiting for the sum of the gradient.

  double total() const { return products + attention + rotation + elementwise + passes + sums; }
};

struct StepPlan {
  eigen_rope::Index ranks = 1;
  eigen_rope::Index places = 0;   ///< Tokens of a rank, padding included.
  eigen_rope::Index padding = 0;  ///< On all ranks together.
  double balance = 1;             ///< Causal work of the busiest rank over the mean.
  RankMemory memory{};
  RankTraffic traffic{};
  StepTime time{};
};

struct TrainingPlan {
  TrainingModel model{};
  PlanOptions options{};  ///< With the context that was planned for.
  double parameters = 0;
  StepPlan step{};
  double global_tables = 0;           ///< Bytes of tables for the whole context.
  double contiguous = 1, zigzag = 1;  ///< The balance of either sharding.
  std::vector<StepPlan> by_ranks{};   ///< 1, 2, 4, ... 1024 ranks, and those asked for.
  std::vector<std::string> notes{}, warnings{};
};

/// Parameters of the matrices and gains.
double parameters_of(const TrainingModel& model);

/// The costs on `ranks` ranks, for `context` tokens.
StepPlan plan_step(const TrainingModel& model, const PlanOptions& options,
                   eigen_rope::Index context, eigen_rope::Index ranks);

/// - Errors:   eigen_rope::Error for a context or number of ranks outside causal_work()'s ranges, a
///             batch that is not from 1, a speed that is not positive, and a model that does not
///             say its context where none is given.
TrainingPlan make_training_plan(const TrainingModel& model, const PlanOptions& options);

}  // namespace eigen_rope::tool
