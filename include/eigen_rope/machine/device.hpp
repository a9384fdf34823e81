// SPDX-License-Identifier: Apache-2.0
//
// Where work runs: on the calling thread, on the threads of an Eigen device, or on those of any
// parallel_for that a program has.
//
//   Device device(pool);             an Eigen::DefaultDevice or Eigen::ThreadPoolDevice
//   Device device(parallel_for, 8);  anything that is called as parallel_for(count, work)
//
// A Device refers to what it is made of and hides its type, so that functions that are compiled
// once, and headers that do not need Eigen's Tensor module, can take either. It owns no threads and
// only splits ranges. Results never depend on how a range was split.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/function_ref.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace Eigen {
struct DefaultDevice;
}

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace detail {

template <class D, class = void>
inline constexpr bool has_parallel_for = false;

// Braces make Eigen's cost of an item (bytes read, bytes written, cycles) without naming its type.
template <class D>
inline constexpr bool
    has_parallel_for<D, std::void_t<decltype(std::declval<const D&>().parallelFor(
                            Index{1}, {1.0, 1.0, 1.0}, std::function<void(Index, Index)>()))>> =
        true;

}  // namespace detail

/// A reference to what runs work on several threads: an Eigen device, or a program's parallel_for.
///
/// It is made implicitly where an Eigen device is passed, can be copied, and must not outlive what
/// it refers to.
///
/// \code{.cpp}
/// er::Device device(pool);  // or er::Device(), the calling thread
/// er::rotate_inplace(er::strided_view(q), cache, er::split_half, er::Direction::forward, device);
/// \endcode
///
/// - Threads:  safe to use from several threads if the Eigen device, or the parallel_for, is.
class Device {
 public:
  /// A reference to work that can be done in parts: what a parallel_for is given.
  ///
  /// It is two pointers, can be copied, and is valid until parallel_for returns. It fits a
  /// `std::function<void(Index, Index)>` that allocates nothing.
  ///
  /// \code{.cpp}
  /// const auto serial = [](er::Index count, er::Device::Work work) { work(0, count); };
  /// er::rotate_inplace(er::strided_view(q), cache, er::split_half, er::Direction::forward,
  ///                    er::Device(serial, 1));
  /// \endcode
  class Work {
   public:
    /// Makes a reference to a function of first and last, which must outlive it.
    template <class Function>
    explicit Work(const Function& function) : function_(function) {}

    /// Does the items first, ..., last - 1.
    ///
    /// It may be called from any thread, and from several at the same time for different items. In
    /// a parallel_for it throws nothing: what goes wrong is thrown on the calling thread when
    /// parallel_for has returned.
    void operator()(Index first, Index last) const { function_(first, last); }

   private:
    detail::FunctionRef<void(Index, Index)> function_;
  };

  /// Makes a device that runs everything on the calling thread.
  Device() = default;

  /// Makes a device that runs work on the threads of an Eigen device.
  ///
  /// \param device  an Eigen::DefaultDevice or Eigen::ThreadPoolDevice; must outlive this object
  template <class EigenDevice, class = std::enable_if_t<!std::is_same_v<EigenDevice, Device>>>
  // NOLINTNEXTLINE(google-explicit-constructor): Eigen's devices are passed as they are
  Device(const EigenDevice& device) {
    if constexpr (detail::has_parallel_for<EigenDevice>) {
      runner_ = &device;
      run_ = [](const Device& self, Index count, double bytes, Work work) {
        // One range for each thread, the calling one included: rows are all alike, and with more
        // ranges than threads Eigen leaves the caller idle and wakes all others.
        const auto& pool = *static_cast<const EigenDevice*>(self.runner_);
        const Index share = (count + pool.numThreads() - 1) / pool.numThreads();
        pool.parallelFor(
            count, {bytes / 2, bytes / 2, bytes / 16},
            [share](Index size) { return (std::max)(size, share); }, work);
      };
    } else {
      static_assert(std::is_same_v<EigenDevice, Eigen::DefaultDevice>,
                    "[rope] the device must be DefaultDevice or ThreadPoolDevice, or a "
                    "parallel_for with its number of threads");
    }
  }

  /// Makes a device that runs work by a program's own `parallel_for(count, work)`.
  ///
  /// A call of parallel_for must call work(first, last) for ranges that together make up [0, count)
  /// once, in any order and from any threads, and return when all of them are done. There are at
  /// most `threads` items, each of which is worth a task of its own, so `work(i, i + 1)` for each i
  /// is as good as any other split. Where there is too little to do for two items (each has at
  /// least 256 KiB), parallel_for is not called, and the work is done on the calling thread.
  ///
  /// \code{.cpp}
  /// const auto parallel_for = [](er::Index count, er::Device::Work work) {
  ///   std::vector<std::thread> threads;
  ///   for (er::Index i = 1; i < count; ++i) threads.emplace_back(work, i, i + 1);
  ///   work(0, 1);
  ///   for (std::thread& thread : threads) thread.join();
  /// };
  /// const er::Device device(parallel_for, 4);
  /// const auto rows = er::strided_view(q);
  /// er::rotate_inplace(rows, cache, er::split_half, er::Direction::forward, device);
  /// \endcode
  ///
  /// \param parallel_for  a function, a lambda with a name, or any other object that can be called;
  ///                      must outlive this object
  /// \param threads       the number of threads that it uses, the calling one included
  ///
  /// - Errors:   eigen_rope::Error if `threads` is less than 1. A call on the device throws it
  ///             if parallel_for passes work a range outside [0, count) or returns before work was
  ///             called for `count` items; then results may be partly written. An exception of
  ///             parallel_for reaches the caller of the library.
  /// - Cost:     two words and a pointer; a call allocates nothing.
  ///
  /// \see \ref cookbook "Cookbook"
  template <class ParallelFor>
  Device(ParallelFor& parallel_for, int threads) : threads_(threads) {
    static_assert(std::is_invocable_v<ParallelFor&, Index, const Work&>,
                  "[rope] parallel_for must be callable with a count and a Device::Work");
    if (threads < 1) {
      detail::fail("the number of threads of a device must be at least 1",
                   static_cast<std::int64_t>(threads));
    }
    // POSIX lets the address of a function be that of an object.
    runner_ = reinterpret_cast<const void*>(std::addressof(parallel_for));
    run_ = [](const Device& self, Index count, double bytes, Work work) {
      self.run_ranges(count, bytes, work, [](const void* runner, Index ranges, Work part) {
        // The object is the one the constructor was given, const only if that one is.
        auto* const callable = reinterpret_cast<ParallelFor*>(const_cast<void*>(runner));
        (*callable)(ranges, part);
      });
    };
  }

  /// Calls work(first, last) for ranges that together make up [0, count), and returns when all
  /// calls are done.
  ///
  /// \code{.cpp}
  /// std::vector<double> squares(1000);
  /// er::Device(pool).for_range(1000, sizeof(double), [&](er::Index first, er::Index last) {
  ///   for (er::Index i = first; i < last; ++i) squares[i] = static_cast<double>(i * i);
  /// });
  /// \endcode
  ///
  /// \param count  the number of items; nothing is called for 0 or less
  /// \param bytes  what one item reads and writes together, by which the cost is judged
  /// \param work   called with first < last, from several threads at the same time on a pool
  template <class Function>
  void for_range(Index count, double bytes, const Function& work) const {
    if (count <= 0) return;
    if (run_ == nullptr) {
      work(Index{0}, count);
    } else {
      run_(*this, count, bytes, Work(work));
    }
  }

 private:
  using CallParallelFor = void (*)(const void* runner, Index ranges, Work work);

  /// Splits [0, count) into ranges and has them run by the runner, or runs a single one itself.
  EIGEN_ROPE_API void run_ranges(Index count, double bytes, Work work, CallParallelFor call) const;

  const void* runner_ = nullptr;
  void (*run_)(const Device& self, Index count, double bytes, Work work) = nullptr;
  int threads_ = 1;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI
