// SPDX-License-Identifier: Apache-2.0
//
// A step of the training allocates no memory after the first, on any of its threads. Every
// allocation of the program is counted: malloc and its relatives are those below, which Eigen's
// aligned memory and operator new both end in. Under a sanitizer, which has its own, its hook
// counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <string>

#include "profile.hpp"
#include "trainer.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAIN_LM_SANITIZED
#endif
#endif

namespace {

std::atomic<int> allocations{0};

}  // namespace

#ifdef TRAIN_LM_SANITIZED

// As in sanitizer/allocator_interface.h, which not every Clang brings along.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));

namespace {

void count_allocation(const volatile void*, std::size_t) { ++allocations; }
void ignore_release(const volatile void*) {}
const int hooks = __sanitizer_install_malloc_and_free_hooks(count_allocation, ignore_release);

}  // namespace

#else

// NOLINTBEGIN: names of the C library
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
// NOLINTEND

#endif

namespace train_lm {
namespace {

struct Case {
  std::string name;
  std::string rope;
  int threads;
  Profiling profiling;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class AllocationTest : public testing::TestWithParam<Case> {};

/// Of the demo's sizes, at which the blocks that a product copies are largest, but with few windows
/// and characters.
RunConfig demo_config(const std::string& rope, const Corpus& corpus) {
  RunConfig config;
  config.rope.kind = rope;
  config.model.vocabulary = corpus.vocabulary.size();
  config.model.layers = 2;
  config.batch = 3;
  config.steps = 4;
  return config;
}

TEST_P(AllocationTest, NoStepAfterTheFirstAllocates) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "no memory is taken in a step, and none is given back. ";
  const Corpus corpus(text);
  const RunConfig config = demo_config(GetParam().rope, corpus);
  Eigen::ThreadPool pool(GetParam().threads);
  const Device device(&pool, GetParam().threads);
  RunState state(config);
  Trainer trainer(config, corpus, device, GetParam().profiling);
  const auto allocations_of_step = [&] {
    const int before = allocations;
    trainer.step(state);
    return allocations - before;
  };
  EXPECT_GT(allocations_of_step(), 0) << "nothing counts allocations";
  for (int step = 2; step <= config.steps; ++step)
    EXPECT_EQ(allocations_of_step(), 0) << "step " << step;
}

INSTANTIATE_TEST_SUITE_P(Trainers, AllocationTest,
                         testing::Values(Case{"one_thread", "default", 1, Profiling::off},
                                         Case{"two_threads", "default", 2, Profiling::off},
                                         Case{"more_threads_than_windows", "yarn", 5,
                                              Profiling::off},
                                         Case{"without_rotation", "none", 2, Profiling::off},
                                         Case{"profiled", "default", 2, Profiling::on}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace train_lm
