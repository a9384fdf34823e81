// SPDX-License-Identifier: Apache-2.0
//
// What rotating costs, every implementation against memcpy of the same bytes: [128, 32, S] float, one table row per token.
//
//   memcpy          copies x to y
//   reference       rope::reference, the definition, at -O2
//   loop_o2         the loop one would write, at -O2
//   loop_o3_native  the same at -O3 -march=native
//   composed        stock Eigen: slices, broadcasts, concatenation
//   complex         stock Eigen: product of complex numbers (interleaved only)
//   expr            y = rope::rotate(x)
//   inplace         x = rope::rotate(x)
//   nested          y = rope::rotate(x) * 2 + b          plain      y = x * 2 + b          two_steps  y = rope::rotate(x); y = y * 2 + b
//
// This file is compiled at -O2 without -march: what a user gets who sets nothing. Every contender's result is compared with the
// reference before anything is timed. All tensors begin on a cache line, a quarter of a page apart: where they happen to lie otherwise
// decides more than who writes them.
#define EIGEN_USE_THREADS
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loops.hpp"
#include "ratios.hpp"
#include "rope/rope.hpp"

namespace {

using Tensor = Eigen::Tensor<float, 3>;
using Map = Eigen::TensorMap<Tensor>;

constexpr rope::Index head_size = 128;
constexpr rope::Index heads = 32;

/// Everything the contenders of one shape and pairing share.
struct Case {
  Case(rope::Index tokens, rope::Pairing p)
      : pairing(p),
        size(head_size * heads * tokens),
        memory(static_cast<std::size_t>(4 * padded())),
        x(at(0), head_size, heads, tokens),
        y(at(1), head_size, heads, tokens),
        b(at(2), head_size, heads, tokens),
        z(at(3), head_size, heads, tokens),
        cache(rope::Frequencies::powers({head_size}), rope::Positions::range(0, tokens), rope::Layout::tnd()),
        complex_table(rope::composed::complex_table<3, Eigen::ColMajor>(cache.view())) {
    x.setRandom();
    b.setRandom();
    y.setZero();
    z = x;
  }

  /// Whole pages and a quarter.
  rope::Index padded() const { return (size + 1023) / 1024 * 1024 + 256; }
  float* at(rope::Index tensor) { return memory.data() + tensor * padded(); }

  bool half() const { return pairing.kind() == rope::PairKind::half; }
  LoopShape loop_shape() const { return {head_size, heads, x.dimension(2)}; }
  std::size_t bytes() const { return static_cast<std::size_t>(size) * sizeof(float); }

  rope::Pairing pairing;
  rope::Index size;
  rope::detail::AlignedVector<float> memory;
  Map x, y, b, z;
  rope::CosSinCache<float> cache;
  Eigen::Tensor<std::complex<float>, 3> complex_table;
};

Eigen::ThreadPoolDevice& two_threads() {
  static Eigen::ThreadPool pool(2);
  static Eigen::ThreadPoolDevice device(&pool, 2);
  return device;
}

using Action = std::function<void(Case&)>;

/// Whether y is what the reference gives, to a few ulp: -march=native contracts products and sums.
bool agrees(Case& c, const Action& action) {
  Tensor expected(c.x.dimensions());
  rope::reference::rotate(c.x.data(), expected.data(), rope::Shape{head_size, heads, c.x.dimension(2)}, c.cache.view(), c.pairing);
  c.y.setZero();
  action(c);
  const Eigen::Tensor<float, 0> error = (c.y - expected).abs().maximum();
  return error() <= 4 * Eigen::NumTraits<float>::epsilon();
}

enum class Check { rotation, none };

void add(const std::shared_ptr<Case>& c, const std::string& implementation, const std::string& shape, Action action,
         Check check = Check::rotation, int threads = 1, int repetitions = 0) {
  const std::string name =
      "rotate/" + implementation + "/f32/" + (c->half() ? "half" : "interleaved") + "/" + shape + "/threads:" + std::to_string(threads);
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), [c, action = std::move(action), check](benchmark::State& state) {
    if (check == Check::rotation && !agrees(*c, action)) return state.SkipWithError("differs from the reference");
    for (auto _ : state) {
      action(*c);
      benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 2 * static_cast<std::int64_t>(c->bytes()));
  });
  registered->UseRealTime()->Unit(benchmark::kMicrosecond);
  if (repetitions > 0) registered->Repetitions(repetitions);
}

void add_all(const std::string& shape, rope::Index tokens, rope::Pairing pairing) {
  const auto c = std::make_shared<Case>(tokens, pairing);
  add(
      c, "memcpy", shape, [](Case& k) { std::memcpy(k.y.data(), k.x.data(), k.bytes()); }, Check::none);
  add(c, "reference_o2", shape, [](Case& k) {
    rope::reference::rotate(k.x.data(), k.y.data(), rope::Shape{head_size, heads, k.x.dimension(2)}, k.cache.view(), k.pairing);
  });
  const auto loops = [&](const char* name, auto half, auto interleaved) {
    add(c, name, shape, [half, interleaved](Case& k) {
      (k.half() ? half : interleaved)(k.x.data(), k.y.data(), k.cache.cos(), k.cache.sin(), k.loop_shape());
    });
  };
  loops("loop_o2", &loop_o2::half, &loop_o2::interleaved);
  loops("loop_o3_native", &loop_o3_native::half, &loop_o3_native::interleaved);
  add(
      c, "composed", shape, [](Case& k) { k.y = rope::composed::rotate(k.x, k.cache, k.pairing); }, Check::rotation, 1,
      tokens > 512 ? 3 : 5);
  if (!c->half()) {
    add(c, "complex", shape, [](Case& k) { rope::composed::rotate_complex(k.y, k.x, k.complex_table); });
  }
  add(c, "expr", shape, [](Case& k) { k.y = rope::rotate(k.x, k.cache, k.pairing); });
  add(
      c, "expr", shape, [](Case& k) { k.y.device(two_threads()) = rope::rotate(k.x, k.cache, k.pairing); }, Check::rotation, 2);
  add(
      c, "inplace", shape, [](Case& k) { k.z = rope::rotate(k.z, k.cache, k.pairing); }, Check::none);
  add(
      c, "nested", shape, [](Case& k) { k.y = rope::rotate(k.x, k.cache, k.pairing) * 2.f + k.b; }, Check::none);
  add(
      c, "plain", shape, [](Case& k) { k.y = k.x * 2.f + k.b; }, Check::none);
  add(
      c, "two_steps", shape,
      [](Case& k) {
        k.y = rope::rotate(k.x, k.cache, k.pairing);
        k.y = k.y * 2.f + k.b;
      },
      Check::none);
}

}  // namespace

int main(int argc, char** argv) {
  for (const rope::Pairing pairing : {rope::half, rope::interleaved}) {
    add_all("decode", 1, pairing);
    add_all("prefill512", 512, pairing);
    add_all("prefill4096", 4096, pairing);
  }
  const int result = bench::run(argc, argv);
  fmt::print(
      "\nStock operations and temporary bytes for S tokens ({0} pairs):\n"
      "  composed, half         2 slices, 3 casts, 4 broadcasts, 4 products, 2 sums, 1 concatenation; {1} S bytes\n"
      "  composed, interleaved  2 strided slices, 3 casts, 4 broadcasts, 4 products, 2 sums, 1 concatenation, 3 reshapes; {1} S bytes\n"
      "  complex                1 broadcast, 1 product; {2} S bytes\n"
      "  expr, inplace          one node; none          nested  one block of cache size\n",
      head_size / 2, 4 * head_size / 2 * sizeof(float), 2 * head_size / 2 * sizeof(float));
  return result;
}
