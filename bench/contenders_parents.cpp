// SPDX-License-Identifier: Apache-2.0
//
// The rotation inside each of Eigen's operations f, and what it is compared with.
//
//   <f>_nested   y = f(eigen_rope::rotate(x))
//   <f>_two      t = eigen_rope::rotate(x); y = f(t)
//   <f>_eval     y = f(eigen_rope::rotate(x).eval()): Eigen's own temporary
//
// x is [128, H, S]. Every f is evaluated on the calling thread and on two threads, and its result
// compared with that of <f>_two. Compiled with the flags of three programs: packets of 16, 32 and
// 64 bytes.
#include "contenders_parents.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "case.hpp"
#include "contender.hpp"
#include "session.hpp"

namespace bench {
namespace {

struct ParentShape {
  const char* name;
  Index heads;
  Index tokens;
};

constexpr ParentShape parent_shapes[] = {{"decode", 32, 1},
                                         {"tok16", 32, 16},
                                         {"one_head", 1, 128},
                                         {"prefill512", 32, 512},
                                         {"prefill4096", 32, 4096}};

using Tensor = Eigen::Tensor<float, 3>;
using Array3 = Eigen::array<Eigen::Index, 3>;
using Axis = Eigen::array<int, 1>;

/// What the operations of one shape share.
struct Parents {
  Parents(Index heads, Index tokens)
      : x(128, heads, tokens),
        t(128, heads, tokens),
        b(128, heads, tokens),
        w(128, 16),
        kernel(3),
        cache(eigen_rope::Frequencies::powers({128}), eigen_rope::Positions::range(0, tokens),
              eigen_rope::Layout::tnd()) {
    fill(x.data(), x.size(), 1);
    fill(b.data(), b.size(), 2);
    fill(w.data(), w.size(), 3);
    fill(kernel.data(), kernel.size(), 4);
    t.setZero();
  }
  Index H() const { return x.dimension(1); }
  Index S() const { return x.dimension(2); }
  auto rotated() const { return eigen_rope::rotate(x, cache, eigen_rope::split_half); }

  Tensor x, t, b;
  Eigen::Tensor<float, 2> w;
  Eigen::Tensor<float, 1> kernel;
  eigen_rope::Cache<float> cache;
};

/// Sums of up to 2^24 numbers below 2, in another order.
template <class Scalar>
bool near(const Scalar* actual, const Scalar* expected, Index size) {
  for (Index i = 0; i < size; ++i) {
    const auto a = static_cast<double>(actual[i]);
    const auto e = static_cast<double>(expected[i]);
    if (!(std::abs(a - e) <= 1e-3 * std::max(1.0, std::abs(e)))) return false;
  }
  return true;
}

template <class Scalar, int rank, class Function>
class Parent {
 public:
  Parent(std::string name, Parents& p, Function f)
      : name_(std::move(name)), p_(p), f_(std::move(f)) {
    const auto expression = f_(p.t);
    const Eigen::TensorEvaluator<const std::decay_t<decltype(expression)>, Eigen::DefaultDevice>
        evaluator(expression, Eigen::DefaultDevice());
    Eigen::DSizes<Eigen::Index, rank> sizes;
    for (eigen_rope::detail::AxisNumber axis{0}; axis.value < rank; ++axis.value)
      sizes[axis] = evaluator.dimensions()[axis];
    y_ = std::make_shared<Result>(sizes);
  }

  template <class Device>
  void add(std::vector<Entry>& entries, const Session& session, const char* shape, int threads,
           const Device& device) const {
    Parents* const p = &p_;
    const auto y = y_;
    const auto f = f_;
    const Action two = [p, y, f, &device] {
      p->t.device(device) = p->rotated();
      y->device(device) = f(p->t);
    };
    const Action nested = [p, y, f, &device] { y->device(device) = f(p->rotated()); };
    const Action eval = [p, y, f, &device] { y->device(device) = f(p->rotated().eval()); };
    const auto correct = [y, two](const Action& run) {
      return [y, two, run] {
        two();
        const std::vector<Scalar> expected(y->data(), y->data() + y->size());
        std::memset(static_cast<void*>(y->data()), 0xff,
                    static_cast<std::size_t>(y->size()) * sizeof(Scalar));
        run();
        return near(y->data(), expected.data(), y->size());
      };
    };
    const std::size_t bytes = 2 * static_cast<std::size_t>(p->x.size()) * sizeof(float);
    const Action copy = [p] {
      std::memcpy(static_cast<void*>(p->t.data()), p->x.data(),
                  static_cast<std::size_t>(p->x.size()) * sizeof(float));
    };
    for (const auto& [way, run] :
         {std::pair<const char*, Action>{"_nested", nested}, {"_two", two}, {"_eval", eval}}) {
      const std::string full = session.name(name_ + way, "f32", "split_half", shape, threads);
      if (session.wants(full))
        entries.push_back({full, {run, correct(run)}, Repetitions::some, bytes, copy});
    }
  }

 private:
  using Result = Eigen::Tensor<Scalar, rank>;

  std::string name_;
  Parents& p_;
  Function f_;
  std::shared_ptr<Result> y_;
};

/// One group for each operation: its contenders take turns.
void run_parents_of(Session& session, const ParentShape& shape) {
  std::unique_ptr<Parents> p;
  const auto run = [&](const char* name, const auto& like, auto make) {
    using Result = std::decay_t<decltype(like)>;
    constexpr int rank = Result::NumDimensions;
    bool wanted = false;
    for (const char* way : {"_nested", "_two", "_eval"}) {
      for (const int threads : {1, 2}) {
        wanted = wanted || session.wants(session.name(std::string(name) + way, "f32", "split_half",
                                                      shape.name, threads));
      }
    }
    if (!wanted) return;
    if (!p) p = std::make_unique<Parents>(shape.heads, shape.tokens);
    const auto f = make(*p);
    const Parent<typename Result::Scalar, rank, std::decay_t<decltype(f)>> parent(name, *p, f);
    static const Eigen::DefaultDevice one_thread;
    std::vector<Entry> entries;
    parent.add(entries, session, shape.name, 1, one_thread);
    parent.add(entries, session, shape.name, 2, two_threads());
    session.run(std::string(shape.name) + ' ' + name, entries);
  };
  const Index H = shape.heads;
  const Index S = shape.tokens;
  run("chain", Tensor(), [](Parents& a) { return [&a](const auto& r) { return r * 2.F + a.b; }; });
  run("chain_exp", Tensor(),
      [](Parents& a) { return [&a](const auto& r) { return (r * 0.5F).exp() + a.b; }; });
  run("constant", Tensor(),
      [](Parents& a) { return [&a](const auto& r) { return r + a.b.constant(2.F); }; });
  run("cast", Eigen::Tensor<Eigen::half, 3>(),
      [](Parents&) { return [](const auto& r) { return r.template cast<Eigen::half>(); }; });
  run("select", Tensor(), [](Parents& a) {
    return [&a](const auto& r) { return (a.b > a.b.constant(0.F)).select(r, a.b); };
  });
  run("broadcast", Tensor(), [](Parents&) {
    return [](const auto& r) { return r.broadcast(Array3{1, 2, 1}); };
  });
  run("sum_inner", Eigen::Tensor<float, 2>(),
      [](Parents& a) { return [&a](const auto& r) { return (r * a.b).sum(Axis{0}); }; });
  run("sum_outer", Eigen::Tensor<float, 2>(),
      [](Parents& a) { return [&a](const auto& r) { return (r * a.b).sum(Axis{2}); }; });
  run("sum_full", Eigen::Tensor<float, 0>(),
      [](Parents& a) { return [&a](const auto& r) { return (r * a.b).sum(); }; });
  run("contract_left", Tensor(), [](Parents& a) {
    return [&a](const auto& r) {
      return r.contract(a.w, Eigen::array<Eigen::IndexPair<int>, 1>{Eigen::IndexPair<int>(0, 0)});
    };
  });
  run("contract_right", Tensor(), [](Parents& a) {
    return [&a](const auto& r) {
      return a.w.contract(r, Eigen::array<Eigen::IndexPair<int>, 1>{Eigen::IndexPair<int>(0, 0)});
    };
  });
  run("shuffle", Tensor(), [](Parents&) {
    return [](const auto& r) { return r.shuffle(Array3{2, 1, 0}); };
  });
  run("slice", Tensor(), [=](Parents&) {
    return [=](const auto& r) { return r.slice(Array3{0, H / 2, 0}, Array3{128, H - H / 2, S}); };
  });
  run("stride", Tensor(), [](Parents&) {
    return [](const auto& r) { return r.stride(Array3{1, 2, 1}); };
  });
  run("chip", Eigen::Tensor<float, 2>(),
      [=](Parents&) { return [=](const auto& r) { return r.template chip<1>(H / 2); }; });
  run("reverse", Tensor(), [](Parents&) {
    return [](const auto& r) { return r.reverse(Eigen::array<bool, 3>{false, true, false}); };
  });
  run("pad", Tensor(), [](Parents&) {
    return [](const auto& r) {
      return r.pad(Eigen::array<std::pair<Index, Index>, 3>{
          std::make_pair(0, 0), std::make_pair(1, 1), std::make_pair(0, 0)});
    };
  });
  run("concatenation", Tensor(),
      [](Parents& a) { return [&a](const auto& r) { return r.concatenate(a.b, 1); }; });
  run("convolution", Tensor(), [](Parents& a) {
    return [&a](const auto& r) { return r.convolve(a.kernel, Eigen::array<Eigen::Index, 1>{0}); };
  });
}

}  // namespace

void run_parents(Session& session) {
  for (const ParentShape& shape : parent_shapes) {
    if (session.pace() == Pace::quick && shape.tokens > 512) continue;
    run_parents_of(session, shape);
  }
}

}  // namespace bench
