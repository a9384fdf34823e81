// SPDX-License-Identifier: Apache-2.0
//
// A mutex for each process that uses it.
//
// A forked child has a copy of its parent's memory, in which a thread that the child does not have
// may hold a mutex for ever. So a child makes a mutex of its own, and leaves its parent's alone.
// What the mutex guards must be whole at any moment: it can be seen half done where a single store
// does not publish it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

inline std::int64_t this_process() {
#if __has_include(<unistd.h>)
  return static_cast<std::int64_t>(::getpid());
#else
  return 0;
#endif
}

class MutexOfProcess {
 public:
  MutexOfProcess() = default;
  ~MutexOfProcess() {
    for (const Entry* entry = newest_.load(); entry != nullptr;) {
      const Entry* older = entry->older;
      delete entry;
      entry = older;
    }
  }
  MutexOfProcess(const MutexOfProcess&) = delete;
  MutexOfProcess& operator=(const MutexOfProcess&) = delete;

  std::mutex& get() {
    const std::int64_t process = this_process();
    Entry* entry = newest_.load(std::memory_order_acquire);
    if (entry != nullptr && entry->process == process) return entry->mutex;
    auto own = std::make_unique<Entry>();
    own->process = process;
    own->older = entry;
    // Where this fails, another thread of this process has made the entry, which is then in
    // `entry`.
    if (newest_.compare_exchange_strong(entry, own.get(), std::memory_order_acq_rel))
      entry = own.release();
    return entry->mutex;
  }

 private:
  struct Entry {
    std::int64_t process = 0;
    std::mutex mutex;
    Entry* older = nullptr;
  };
  std::atomic<Entry*> newest_{nullptr};
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
