// SPDX-License-Identifier: Apache-2.0
//
// The processes that share a training, and what they say to each other.
//
//   N data-parallel x M context-parallel ranks, rank = data * M + context
//   data      has its share of the windows of a batch
//   context   has its shard of the tokens of each of them (context_ring.hpp)
//
// Gradients and losses are summed over all ranks; blocks of keys and values go round the ring of
// the M ranks that share windows. Sums and passes are started, and finished later, so that the rank
// computes meanwhile. This class is the interface and a process on its own, for which all of it is
// nothing to do; the one of MPI is in ranks_mpi.cpp. One thread of a rank calls it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "eigen_rope/choices/context_shard.hpp"
#include "tensor.hpp"

namespace train_lm {

/// How the ranks are arranged.
struct RankGrid {
  int data = 1;
  int context = 1;
  eigen_rope::Sharding sharding = eigen_rope::Sharding::zigzag;

  int ranks() const { return data * context; }
};

/// What goes round the ring. A lane holds one pass at a time, and different lanes do not wait for
/// each other.
enum class Lane { keys_values, gradients };

class Ranks {
 public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int count() const { return grid_.ranks(); }
  bool first() const { return rank_ == 0; }
  const RankGrid& grid() const { return grid_; }
  int data_rank() const { return rank_ / grid_.context; }
  int context_rank() const { return rank_ % grid_.context; }

  /// Starts the sum over all ranks of `count` numbers, in place. All ranks start the same sums in
  /// the same order, and leave the numbers alone until finish_sums(), after which they are equal on
  /// all ranks, bit for bit.
  virtual void start_sum(float*, Index) {}
  virtual void start_sum(double*, Index) {}
  virtual void finish_sums() {}

  /// Starts to send `count` numbers to the next rank of the ring and to receive as many from the
  /// one before. Both are left alone until finish_pass().
  virtual void start_pass(Lane, const float*, float*, Index) { refuse_to_pass(); }
  virtual void start_pass(Lane, const double*, double*, Index) { refuse_to_pass(); }
  virtual void finish_pass(Lane) {}

  /// Lets what was started go on. A rank that computes for long calls it now and then.
  virtual void progress() {}

  /// The sum over all ranks.
  virtual double sum(double value) { return value; }
  /// Whether it is true on a rank.
  bool any(bool value) { return sum(value ? 1.0 : 0.0) > 0; }
  /// The first rank's bytes, on all ranks.
  virtual std::string broadcast(const std::string& bytes) { return bytes; }
  /// Returns when all ranks are here, however long that takes, without keeping a processor busy.
  virtual void meet() {}

 protected:
  int rank_ = 0;
  RankGrid grid_;

 private:
  [[noreturn]] static void refuse_to_pass() {
    throw std::logic_error("a rank on its own has no neighbour to pass anything to");
  }
};

}  // namespace train_lm
