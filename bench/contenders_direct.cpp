// SPDX-License-Identifier: Apache-2.0
//
// What everything else is compared with, in both programs.
//
//   memcpy       y = x, bytes; with two threads each copies one half
//   expr         y = eigen_rope::rotate(x); with two threads y.device(pool) = eigen_rope::rotate(x)
#include <cstring>

#include "contender.hpp"
#include "expected.hpp"

namespace bench {

Eigen::ThreadPoolDevice& two_threads() {
  static Eigen::ThreadPool pool(2);
  static Eigen::ThreadPoolDevice device(&pool, 2);
  return device;
}

namespace {

void copy_with_two_threads(void* to, const void* from, std::size_t bytes) {
  const std::size_t middle = bytes / 2;
  Eigen::Barrier done(1);
  two_threads().enqueueNoNotification([=, &done] {
    std::memcpy(static_cast<char*>(to) + middle, static_cast<const char*>(from) + middle,
                bytes - middle);
    done.Notify();
  });
  std::memcpy(to, from, middle);
  done.Wait();
}

}  // namespace

template <class T>
void add_copies(Contenders<T>& list, const CaseShape& shape) {
  list.push_back(
      {"memcpy", [](Case<T>& c) {
         return into_y(
             c, [&c] { std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes()); },
             [&c] { return std::vector<T>(c.x.data(), c.x.data() + c.shape.size()); });
       }});
  if (shape.tokens < 512) return;
  list.push_back({"memcpy",
                  [](Case<T>& c) {
                    return into_y(
                        c, [&c] { copy_with_two_threads(c.y.data(), c.x.data(), c.bytes()); },
                        [&c] { return std::vector<T>(c.x.data(), c.x.data() + c.shape.size()); });
                  },
                  2});
}

template <class T>
void add_expressions(Contenders<T>& list, const CaseShape&) {
  list.push_back({"expr", [](Case<T>& c) {
                    return rotates_into_y(
                        c, [&c] { c.y = eigen_rope::rotate(c.x, c.cache, c.pairing); });
                  }});
  list.push_back({"expr",
                  [](Case<T>& c) {
                    return rotates_into_y(c, [&c] {
                      c.y.device(two_threads()) = eigen_rope::rotate(c.x, c.cache, c.pairing);
                    });
                  },
                  2});
}

#define EIGEN_ROPE_BENCH_INSTANTIATE(T)                       \
  template void add_copies(Contenders<T>&, const CaseShape&); \
  template void add_expressions(Contenders<T>&, const CaseShape&);
EIGEN_ROPE_BENCH_INSTANTIATE(float)
EIGEN_ROPE_BENCH_INSTANTIATE(double)
EIGEN_ROPE_BENCH_INSTANTIATE(Eigen::half)
EIGEN_ROPE_BENCH_INSTANTIATE(Eigen::bfloat16)
#undef EIGEN_ROPE_BENCH_INSTANTIATE

}  // namespace bench
