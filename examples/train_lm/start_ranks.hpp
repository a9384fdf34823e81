// SPDX-License-Identifier: Apache-2.0
//
// The ranks of this process: of MPI, if the program was built with it and mpirun started it.
//
//   mpirun -n 4 train_lm --context-parallel 4
//
// ranks_mpi.cpp has it, and ranks_absent.cpp where there is no MPI. A process that nobody started
// as a rank never touches MPI.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "ranks.hpp"

namespace train_lm {

/// The processes that were started together, until they are arranged.
class StartedRanks {
 public:
  virtual ~StartedRanks() = default;

  /// Of all processes, before they are arranged: rank 0 is the first.
  virtual Ranks& all() = 0;

  /// The ranks of the training, which wait at most `seconds` for one another in a step. Throws
  /// train_lm::Error unless as many were started as the grid has.
  virtual Ranks& arrange(const RankGrid& grid, double seconds) = 0;

  /// Prints the sentence that ends the run, unless another rank has printed its own, and ends all
  /// ranks. Returns only where there are no others.
  virtual void fail(const std::string& sentence) = 0;

  /// The run ends as it should: waits until all ranks are here.
  virtual void leave() = 0;
};

/// A process that was started without others.
class OneProcess : public StartedRanks {
 public:
  Ranks& all() override { return alone_; }

  Ranks& arrange(const RankGrid& grid, double) override {
    if (grid.ranks() > 1) refuse(grid);
    return alone_;
  }

  void fail(const std::string& sentence) override {
    fmt::print(stderr, "train_lm: {}\n", sentence);
  }

  void leave() override {}

 private:
  /// Throws train_lm::Error that says how to have several ranks.
  [[noreturn]] virtual void refuse(const RankGrid& grid) const = 0;

  Ranks alone_;
};

std::unique_ptr<StartedRanks> start_ranks(int& argc, char**& argv);

}  // namespace train_lm
