// SPDX-License-Identifier: Apache-2.0
//
// The ranks of MPI, and the only file that calls it. Sums are MPI_Iallreduce in place, passes
// MPI_Isend and MPI_Irecv between neighbours of the ring. One thread calls MPI.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "error.hpp"
#include "rank_watch.hpp"
#include "start_ranks.hpp"

namespace train_lm {
namespace {

MPI_Datatype type_of(const float*) { return MPI_FLOAT; }
MPI_Datatype type_of(const double*) { return MPI_DOUBLE; }

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &grid_.data);
    sums_.reserve(128);  // more than a model has parts
  }

  void arrange(const RankGrid& grid, RankWatch* watch) {
    grid_ = grid;
    watch_ = watch;
    if (ring_ != MPI_COMM_WORLD) MPI_Comm_free(&ring_);
    MPI_Comm_split(MPI_COMM_WORLD, data_rank(), context_rank(), &ring_);
  }

  void start_sum(float* data, Index count) override { start_sum_of(data, count); }
  void start_sum(double* data, Index count) override { start_sum_of(data, count); }
  void finish_sums() override {
    const RankWatch::Waiting waiting(watch_, RankWatch::everybody);
    MPI_Waitall(static_cast<int>(sums_.size()), sums_.data(), MPI_STATUSES_IGNORE);
    sums_.clear();
  }

  void start_pass(Lane lane, const float* out, float* in, Index count) override {
    start_pass_of(lane, out, in, count);
  }
  void start_pass(Lane lane, const double* out, double* in, Index count) override {
    start_pass_of(lane, out, in, count);
  }
  void finish_pass(Lane lane) override {
    const RankWatch::Waiting waiting(watch_, data_rank() * grid_.context + before());
    Pass& pass = passes_[static_cast<std::size_t>(lane)];
    MPI_Waitall(static_cast<int>(pass.size()), pass.data(), MPI_STATUSES_IGNORE);
  }

  // Open MPI moves messages only while it is called, whatever for.
  void progress() override {
    if (grid_.ranks() == 1) return;
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ring_, &found, MPI_STATUS_IGNORE);
  }

  double sum(double value) override {
    const RankWatch::Waiting waiting(watch_, RankWatch::everybody);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
  }

  std::string broadcast(const std::string& bytes) override {
    std::string all = bytes;
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    all.resize(size);
    constexpr std::uint64_t at_once = std::uint64_t{1} << 30;  // MPI counts with int
    for (std::uint64_t first = 0; first < size; first += at_once) {
      MPI_Bcast(all.data() + first, static_cast<int>(std::min(at_once, size - first)), MPI_BYTE, 0,
                MPI_COMM_WORLD);
    }
    return all;
  }

  void meet() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int all_here = 0; all_here == 0;) {
      MPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
      if (all_here == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  /// Sent and received.
  using Pass = std::array<MPI_Request, 2>;

  int before() const { return (context_rank() + grid_.context - 1) % grid_.context; }
  int after() const { return (context_rank() + 1) % grid_.context; }

  // The limits of the options keep every count within int.
  template <class S>
  void start_sum_of(S* data, Index count) {
    sums_.push_back(MPI_REQUEST_NULL);
    MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), type_of(data), MPI_SUM,
                   MPI_COMM_WORLD, &sums_.back());
  }

  template <class S>
  void start_pass_of(Lane lane, const S* out, S* in, Index count) {
    const int tag = static_cast<int>(lane);
    Pass& pass = passes_[static_cast<std::size_t>(lane)];
    MPI_Irecv(in, static_cast<int>(count), type_of(in), before(), tag, ring_, &pass[0]);
    MPI_Isend(out, static_cast<int>(count), type_of(out), after(), tag, ring_, &pass[1]);
  }

  MPI_Comm ring_ = MPI_COMM_WORLD;
  RankWatch* watch_ = nullptr;
  std::vector<MPI_Request> sums_;
  std::array<Pass, 2> passes_{
      {{MPI_REQUEST_NULL, MPI_REQUEST_NULL}, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}}};
};

/// The board of this machine, in memory that its ranks share.
class SharedBoard {
 public:
  SharedBoard() {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &count_);
    MPI_Comm_rank(machine, &here_);
    const MPI_Aint bytes =
        here_ == 0
            ? static_cast<MPI_Aint>(slots_at + sizeof(RankSlot) * static_cast<std::size_t>(count_))
            : 0;
    void* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, machine, &memory, &window);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &size, &unit, &memory);
    memory_ = static_cast<char*>(memory);
    if (here_ == 0) std::fill_n(memory_, size, '\0');
    MPI_Barrier(machine);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    slots()[here_].rank = rank;
  }

  RankBoard& board() { return *reinterpret_cast<RankBoard*>(memory_); }
  RankSlot* slots() { return reinterpret_cast<RankSlot*>(memory_ + slots_at); }
  int count() const { return count_; }
  int here() const { return here_; }

 private:
  static constexpr std::size_t slots_at = 64;

  char* memory_ = nullptr;
  int count_ = 0;
  int here_ = 0;
};

class Mpi final : public StartedRanks {
 public:
  Mpi(int& argc, char**& argv) {
    int threads = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
    ranks_.emplace();
    board_.emplace();
  }

  Ranks& all() override { return *ranks_; }

  Ranks& arrange(const RankGrid& grid, double seconds) override {
    if (grid.ranks() != ranks_->count()) {
      throw Error(
          fmt::format("mpirun started {} processes, but --data-parallel {} and --context-parallel "
                      "{} make {} ranks",
                      ranks_->count(), grid.data, grid.context, grid.ranks()));
    }
    watch_.emplace(board_->board(), board_->slots(), board_->count(), board_->here(), seconds);
    ranks_->arrange(grid, &*watch_);  // waits until every rank is here, with its watch
    watch_->start();
    return *ranks_;
  }

  void fail(const std::string& sentence) override {
    RankWatch::tell(board_->board(), sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  void leave() override {
    ranks_->meet();
    if (watch_) watch_->leave();
    MPI_Finalize();
  }

 private:
  std::optional<MpiRanks> ranks_;
  std::optional<SharedBoard> board_;
  std::optional<RankWatch> watch_;
};

/// A program built with MPI that nobody started as a rank.
class NotStarted final : public OneProcess {
  [[noreturn]] void refuse(const RankGrid& grid) const override {
    throw Error(fmt::format(
        "--data-parallel {} and --context-parallel {} make {} ranks: start them with mpirun -n "
        "{} train_lm ...",
        grid.data, grid.context, grid.ranks(), grid.ranks()));
  }
};

}  // namespace

std::unique_ptr<StartedRanks> start_ranks(int& argc, char**& argv) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(variable) != nullptr) return std::make_unique<Mpi>(argc, argv);
  }
  return std::make_unique<NotStarted>();
}

}  // namespace train_lm
