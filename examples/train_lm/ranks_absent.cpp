// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "error.hpp"
#include "start_ranks.hpp"

namespace train_lm {
namespace {

class NoMpi final : public StartedRanks {
 public:
  Ranks& all() override { return alone_; }

  Ranks& arrange(const RankGrid& grid, double) override {
    if (grid.ranks() > 1)
      throw Error(
          "several ranks need MPI, which this program was built without: install libopenmpi-dev "
          "and build it again");
    return alone_;
  }

  void fail(const std::string& sentence) override {
    fmt::print(stderr, "train_lm: {}\n", sentence);
  }

  void leave() override {}

 private:
  Ranks alone_;
};

}  // namespace

std::unique_ptr<StartedRanks> start_ranks(int&, char**&) { return std::make_unique<NoMpi>(); }

}  // namespace train_lm
