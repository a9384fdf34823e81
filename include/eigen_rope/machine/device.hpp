// SPDX-License-Identifier: Apache-2.0
//
// Where work runs: on the calling thread, or on the threads of an Eigen device.
//
// A Device refers to an Eigen::DefaultDevice or Eigen::ThreadPoolDevice and hides its type, so that
// functions that are compiled once, and headers that do not need Eigen's Tensor module, can take
// either. It owns no threads and only splits ranges. Results never depend on how a range was split.
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/shape.hpp"

namespace Eigen {
struct DefaultDevice;
}

namespace eigen_rope {
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

/// A reference to the Eigen device that work runs on, whatever its type.
///
/// It is made implicitly where an Eigen device is passed, can be copied, and must not outlive the
/// Eigen device.
///
/// \code{.cpp}
/// er::Device device(pool);  // or er::Device(), the calling thread
/// er::rotate_inplace(er::strided_view(q), cache, er::split_half, er::Direction::forward, device);
/// \endcode
///
/// - Threads:  safe to use from several threads if the Eigen device is.
class Device {
 public:
  /// Makes a device that runs everything on the calling thread.
  Device() = default;

  /// Makes a device that runs work on the threads of an Eigen device.
  ///
  /// \param device  an Eigen::DefaultDevice or Eigen::ThreadPoolDevice; must outlive this object
  template <class EigenDevice, class = std::enable_if_t<!std::is_same_v<EigenDevice, Device>>>
  // NOLINTNEXTLINE(google-explicit-constructor): Eigen's devices are passed as they are
  Device(const EigenDevice& device) {
    if constexpr (detail::has_parallel_for<EigenDevice>) {
      device_ = &device;
      split_ = [](const void* threads, Index count, double bytes, const Work& work) {
        // One range for each thread, the calling one included: rows are all alike, and with more
        // ranges than threads Eigen leaves the caller idle and wakes all others.
        const auto& pool = *static_cast<const EigenDevice*>(threads);
        const Index share = (count + pool.numThreads() - 1) / pool.numThreads();
        pool.parallelFor(
            count, {bytes / 2, bytes / 2, bytes / 16},
            [share](Index size) { return std::max(size, share); }, work);
      };
    } else {
      static_assert(std::is_same_v<EigenDevice, Eigen::DefaultDevice>,
                    "[rope] the device must be DefaultDevice or ThreadPoolDevice");
    }
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
  /// \param bytes  what one item reads and writes together, by which Eigen judges the cost
  /// \param work   called with first < last, from several threads at the same time on a pool
  template <class Function>
  void for_range(Index count, double bytes, const Function& work) const {
    if (count <= 0) return;
    if (split_ == nullptr) {
      work(Index{0}, count);
    } else {
      split_(device_, count, bytes, [&work](Index first, Index last) { work(first, last); });
    }
  }

 private:
  using Work = std::function<void(Index, Index)>;

  const void* device_ = nullptr;
  void (*split_)(const void* device, Index count, double bytes, const Work& work) = nullptr;
};

}  // namespace eigen_rope
