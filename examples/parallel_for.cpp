// SPDX-License-Identifier: Apache-2.0
//
// Rotations on the threads that a program already has. A Device is made of any function that runs
// work(first, last) for parts of [0, count): here of std::thread, OpenMP, oneTBB, and a pool whose
// tasks have a number only, as ONNX Runtime's TrySimpleParallelFor has them. Every one gives the
// bits of the calling thread.
//
// CMake defines WITH_OPENMP and WITH_TBB where it finds them.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <eigen_rope/eigen_rope.hpp>
#include <thread>
#include <vector>
#ifdef WITH_OPENMP
#include <omp.h>
#endif
#ifdef WITH_TBB
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace er = eigen_rope;

namespace {

using Rows = std::vector<float>;  // [tokens][heads][D]
constexpr er::Index D = 128, heads = 32, tokens = 512;

/// The calling thread has a part, too. A program would keep its threads.
void on_std_threads(er::Index count, er::Device::Work work) {
  std::vector<std::thread> others;
  for (er::Index i = 1; i < count; ++i) others.emplace_back(work, i, i + 1);
  work(0, 1);
  for (std::thread& thread : others) thread.join();
}

#ifdef WITH_OPENMP
void on_openmp(er::Index count, er::Device::Work work) {
#pragma omp parallel for schedule(static)
  for (er::Index i = 0; i < count; ++i) work(i, i + 1);
}
#endif

#ifdef WITH_TBB
void on_tbb(er::Index count, er::Device::Work work) {
  tbb::parallel_for(
      tbb::blocked_range<er::Index>(0, count),
      [&](const tbb::blocked_range<er::Index>& range) { work(range.begin(), range.end()); });
}
#endif

/// Stands for a framework's pool, of which a program has an object and not a function.
struct Pool {
  template <class Task>
  void run_each(int number_of_tasks, const Task& task) {
    for (int i = number_of_tasks - 1; i >= 0; --i) task(i);
  }
};

/// The rotation of x on the device.
Rows rotated(Rows x, const er::Cache<float>& cache, const er::Device& device) {
  const er::StridedView<float> rows{x.data(), {D, heads, tokens}, {D, D * heads}};
  er::rotate_inplace(rows, cache, er::split_half, er::Direction::forward, device);
  return x;
}

int failures = 0;

void compare(const char* name, const Rows& actual, const Rows& expected) {
  const bool same =
      std::memcmp(actual.data(), expected.data(), sizeof(float) * expected.size()) == 0;
  fmt::print("{:<34} {}\n", name, same ? "the same bits" : "OTHER BITS");
  if (!same) ++failures;
}

}  // namespace

int main() {
  Rows x(D * heads * tokens);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1009) / 1009.0F - 0.5F;
  const er::Cache<float> cache(er::Frequencies::powers({D}), er::Positions::range(0, tokens));
  const Rows expected = rotated(x, cache, er::Device());

  const int threads = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  compare("std::thread", rotated(x, cache, er::Device(on_std_threads, threads)), expected);
#ifdef WITH_OPENMP
  compare("OpenMP", rotated(x, cache, er::Device(on_openmp, std::max(2, omp_get_max_threads()))),
          expected);
#else
  fmt::print("{:<34} left out: CMake has not found it\n", "OpenMP");
#endif
#ifdef WITH_TBB
  const int concurrency = std::max(2, tbb::this_task_arena::max_concurrency());
  compare("oneTBB", rotated(x, cache, er::Device(on_tbb, concurrency)), expected);
#else
  fmt::print("{:<34} left out: CMake has not found it\n", "oneTBB");
#endif

  // A lambda that refers to an object. The device refers to the lambda, so the lambda has a name.
  Pool pool;
  const auto on_pool = [&pool](er::Index count, er::Device::Work work) {
    pool.run_each(static_cast<int>(count), [&](int i) { work(i, i + 1); });
  };
  compare("a pool's object", rotated(x, cache, er::Device(on_pool, 5)), expected);
  return failures == 0 ? 0 : 1;
}
