// SPDX-License-Identifier: Apache-2.0
//
// A parallel_for that splits [0, count) in a way of its own, for devices made of one.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "eigen_rope/machine/device.hpp"

namespace eigen_rope::test {

/// The ways in which a parallel_for may cover [0, count) once.
enum class Split { whole, one_by_one, backwards, halves_and_empty_ranges, threads };

inline constexpr Split every_split[] = {Split::whole, Split::one_by_one, Split::backwards,
                                        Split::halves_and_empty_ranges, Split::threads};

inline std::string name_of(Split split) {
  constexpr const char* names[] = {"whole", "one by one", "backwards", "halves and empty ranges",
                                   "threads"};
  return names[static_cast<std::size_t>(split)];
}

/// Calls work(i, i + 1) on a thread of its own for each i.
template <class Work>
void on_threads(Index count, const Work& work) {
  std::vector<std::thread> threads;
  for (Index i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i, i + 1); });
  for (std::thread& thread : threads) thread.join();
}

struct ParallelFor {
  Split split = Split::whole;
  Index calls = 0;       ///< How often it was called.
  Index most_items = 0;  ///< The largest count that it was given.

  template <class Work>
  void operator()(Index count, const Work& work) {
    ++calls;
    if (count > most_items) most_items = count;
    switch (split) {
      case Split::whole: return work(0, count);
      case Split::one_by_one:
        for (Index i = 0; i < count; ++i) work(i, i + 1);
        return;
      case Split::backwards:
        for (Index i = count; i > 0; --i) work(i - 1, i);
        return;
      case Split::halves_and_empty_ranges:
        work(0, 0);
        work(count / 2, count);
        work(count / 2, count / 2);
        work(0, count / 2);
        work(count, count);
        return;
      case Split::threads: return on_threads(count, work);
    }
  }
};

}  // namespace eigen_rope::test
