// SPDX-License-Identifier: Apache-2.0
//
// The whole result of a nested rotation in memory of the device.
//
//   DeviceMemory   the memory, for elements that are made before Eigen's loops begin
//   Teamwork       one piece of work in parts, which every thread that comes along helps to finish
//   Temporary      memory and the work that fills it, done once by whoever needs the result first
//
// An expression around the rotation may ask for its first coefficient inside a task of the device's
// own threads, where waiting for other tasks would stop them all. Whoever asks therefore does parts
// of the work as long as there are any, and waits only for parts that another thread has begun.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "eigen_rope/numbers/detail/scalars.hpp"
#include "eigen_rope/numbers/export.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

/// Asks the system to give a large piece of new memory in large pages where it can: the faults of
/// small ones, which allocators cause again for each piece of 32 MiB or more, take four times as
/// long as the rotation that writes it. Changes nothing else.
EIGEN_ROPE_API void prefer_huge_pages(void* memory, std::size_t bytes);

/// A pointer that is set once, from nullptr, while other threads read it: whoever reads nullptr
/// asks anew, whoever reads the address reads what lies behind it by way of it, which keeps their
/// order on every processor. The load is a plain one, because an atomic one keeps compilers from
/// vectorising the loop it stands in; ThreadSanitizer, which knows atomic ones only, is given such.
template <class T>
void publish(T*& pointer, T* value) {
  __atomic_store_n(&pointer, value, __ATOMIC_RELEASE);
}
template <class T>
T* published(T* const& pointer) {
#if defined(__SANITIZE_THREAD__)
  return __atomic_load_n(&pointer, __ATOMIC_ACQUIRE);
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return __atomic_load_n(&pointer, __ATOMIC_ACQUIRE);
#else
  return pointer;
#endif
#else
  return pointer;
#endif
}

/// - Threads:  any number of threads may join and wait at the same time, once begin() has returned.
class Teamwork {
 public:
  void begin(Index parts) { parts_ = parts; }

  /// Calls part(i) for every i in [0, parts) that no thread has begun yet. A thread that comes too
  /// late calls nothing.
  template <class Part>
  void join(const Part& part) {
    for (Index i = next_.fetch_add(1); i < parts_; i = next_.fetch_add(1)) {
      const Finished finished{done_};
      part(i);
    }
  }

  /// Returns when the parts that other threads have begun are done, too.
  void wait() const {
    while (done_.load(std::memory_order_acquire) < parts_) std::this_thread::yield();
  }

 private:
  /// A part that throws is over as well: nobody may wait for it for ever.
  struct Finished {
    std::atomic<Index>& done;
    ~Finished() { done.fetch_add(1, std::memory_order_release); }
  };

  Index parts_ = 0;
  std::atomic<Index> next_{0};
  std::atomic<Index> done_{0};
};

template <class EigenDevice, class = void>
inline constexpr bool has_pool = false;
template <class EigenDevice>
inline constexpr bool
    has_pool<EigenDevice, std::void_t<decltype(std::declval<const EigenDevice&>().getPool())>> =
        true;

/// Elements in memory that a device hands out. A copy owns nothing: copies of an evaluator read
/// what the first one holds. The device must outlive it. It gives the memory back at its end, where
/// an exception has passed the evaluator's cleanup().
template <class Scalar, class EigenDevice>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) noexcept {}
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  __attribute__((always_inline)) ~DeviceMemory() { release(); }

  Scalar* allocate(const EigenDevice& device, Index size) {
    const std::size_t bytes = static_cast<std::size_t>(std::max<Index>(size, 1)) * sizeof(Scalar);
    auto* memory = static_cast<Scalar*>(device.allocate_temp(bytes));
    prefer_huge_pages(memory, bytes);
    if constexpr (!is_plain<Scalar>) std::uninitialized_default_construct_n(memory, size);
    hold(device, memory, size);
    return memory;
  }

  /// Holds what another one has given, and gives back what it held.
  __attribute__((always_inline)) void hold(const EigenDevice& device, Scalar* memory, Index size) {
    release();
    device_ = &device;
    memory_ = memory;
    size_ = size;
  }
  Scalar* give() { return std::exchange(memory_, nullptr); }

  Scalar* data() const { return memory_; }

  __attribute__((always_inline)) void release() {
    if (memory_ == nullptr) return;
    if constexpr (!is_plain<Scalar>) std::destroy_n(memory_, size_);
    device_->deallocate_temp(memory_);
    memory_ = nullptr;
  }

 private:
  const EigenDevice* device_ = nullptr;
  Scalar* memory_ = nullptr;
  Index size_ = 0;
};

/// Shared by the copies of an evaluator, and by helpers that the device's threads may begin when
/// nobody needs them any more. The device must outlive the memory: its evaluator releases it, or
/// the last copy of the evaluator where an exception has passed.
template <class Scalar, class EigenDevice>
class Temporary : public std::enable_shared_from_this<Temporary<Scalar, EigenDevice>> {
 public:
  explicit Temporary(const EigenDevice& device) : device_(device) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  /// All elements, nullptr before they are made.
  const Scalar* made() const {
    if constexpr (has_pool<EigenDevice>) {
      return made_.load(std::memory_order_acquire);
    } else {
      return made_;
    }
  }

  /// Returns all `size` elements, which part(memory, i) fills for every i in [0, parts). Every call
  /// must come with equal arguments.
  template <class Part>
  const Scalar* make(Index size, Index parts, const Part& part) {
    if (const Scalar* elements = made()) return elements;
    if constexpr (has_pool<EigenDevice>) {
      const auto fill = [this, &part](Index i) { part(memory_.data(), i); };
      begin(size, parts, fill);
      work_.join(fill);
      work_.wait();
    } else {
      memory_.allocate(device_, size);
      for (Index i = 0; i < parts; ++i) part(memory_.data(), i);
    }
    made_ = memory_.data();
    return memory_.data();
  }

  /// Gives the memory back, when nobody reads or makes the elements any more.
  void release() { memory_.release(); }

 protected:
  const EigenDevice& device() const { return device_; }

 private:
  /// What the first thread does for all: memory, and helpers, which nobody waits for.
  template <class Fill>
  void begin(Index size, Index parts, const Fill& fill) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (memory_.data() != nullptr) return;
    memory_.allocate(device_, size);
    work_.begin(parts);
    const Index helpers = std::min<Index>(device_.numThreads(), parts) - 1;
    for (Index i = 0; i < helpers; ++i) {
      // One that comes too late finds no part left, and does not look at `fill`, which is gone by
      // then.
      device_.getPool()->Schedule(
          [self = this->shared_from_this(), &fill] { self->work_.join(fill); });
    }
  }

  /// Volatile, so that a loop which asks again sees what it has made meanwhile: its compiler takes
  /// the making for pure.
  using Made =
      std::conditional_t<has_pool<EigenDevice>, std::atomic<const Scalar*>, const Scalar* volatile>;

  const EigenDevice& device_;
  Made made_{nullptr};
  std::mutex mutex_;
  DeviceMemory<Scalar, EigenDevice> memory_;
  Teamwork work_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
