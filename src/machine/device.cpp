// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/machine/device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

/// Bytes that are read and written. A rotation takes some 3 microseconds for them in the
/// second-level cache, where a parallel loop of OpenMP takes 1 to begin and end, and a std::thread
/// 10.
constexpr double bytes_worth_a_range = 262144;

Index number_of_ranges(Index count, double bytes, int threads) {
  const double worth = static_cast<double>(count) * bytes / bytes_worth_a_range;
  const Index ranges = worth < threads ? static_cast<Index>(worth) : threads;
  return std::clamp(ranges, Index{1}, count);
}

/// [0, count) in ranges whose lengths differ by at most one, done by whichever threads call it, and
/// what became of them.
class Ranges {
 public:
  Ranges(Index count, Index ranges, Device::Work work)
      : length_(count / ranges), longer_(count % ranges), ranges_(ranges), work_(work) {}

  /// Never throws: a thread of the program's own would end the program.
  void run(Index first, Index last) const noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      if (first < 0 || first > last || last > ranges_) {
        detail::fail(fmt::format("parallel_for must call work for ranges inside [0, {})", ranges_),
                     fmt::format("[{}, {})", first, last));
      }
      if (first == last) return;
      work_(begin(first), begin(last));
      done_.fetch_add(last - first, std::memory_order_relaxed);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  /// Throws the first exception there was, or an Error if something was left out.
  void check() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
    const Index done = done_.load(std::memory_order_relaxed);
    if (done != ranges_) {
      detail::fail(fmt::format("parallel_for must call work once for each of {} items", ranges_),
                   done);
    }
  }

 private:
  Index begin(Index range) const { return range * length_ + std::min(range, longer_); }

  Index length_;
  Index longer_;  // how many of the first ranges have one more
  Index ranges_;
  Device::Work work_;
  mutable std::atomic<bool> failed_ = false;
  mutable std::atomic<Index> done_ = 0;
  mutable std::exception_ptr error_;
};

}  // namespace

void Device::run_ranges(Index count, double bytes, Work work, CallParallelFor call) const {
  const Index ranges = number_of_ranges(count, bytes, threads_);
  if (ranges == 1) return work(0, count);
  const Ranges all(count, ranges, work);
  const auto run = [&all](Index first, Index last) { all.run(first, last); };
  call(runner_, ranges, Work(run));
  all.check();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
