// SPDX-License-Identifier: Apache-2.0
#include "error.hpp"
#include "start_ranks.hpp"

namespace train_lm {
namespace {

class NoMpi final : public OneProcess {
  [[noreturn]] void refuse(const RankGrid&) const override {
    throw Error(
        "several ranks need MPI, which this program was built without: install libopenmpi-dev "
        "and build it again");
  }
};

}  // namespace

std::unique_ptr<StartedRanks> start_ranks(int&, char**&) { return std::make_unique<NoMpi>(); }

}  // namespace train_lm
