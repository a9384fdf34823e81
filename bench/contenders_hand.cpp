// SPDX-License-Identifier: Apache-2.0
//
// The loops written by hand (hand/hand.hpp): what the library's times are compared with.
//
//   hand            x [D, H, S] -> y; with two threads, each rotates half of the tokens
//   hand_inplace    y -> y
//   hand_bnsd       the same bytes seen as [D, S, H], a table row for each token
//   hand_bnsd_inplace
//   hand_to_bnsd    x [D, H, S] -> y [D, S, H]
//   hand_dx_dangle  dx and d angle of float, as dx_dangle
//   hand_offset     as hand, x and y 3 and 1 elements behind a page
//
// Each is the fastest of the loops that the processor can run there, as a short measurement finds
// before the contenders take their turns. A processor that can run none has no such contender.
#include <algorithm>
#include <limits>

#include "contender.hpp"
#include "expected.hpp"
#include "fastest_loop.hpp"
#include "shifted.hpp"
#include "timing.hpp"

namespace bench {
namespace {

/// Tokens outside heads and heads outside tokens, in elements.
struct Steps {
  Index head, token;
};
template <class T>
Steps tokens_outside(const Case<T>& c) {
  return {c.D(), c.D() * heads};
}
template <class T>
Steps heads_outside(const Case<T>& c) {
  return {c.D() * c.S(), c.D()};
}

template <class T>
HandCall call_of(const Case<T>& c, const T* x, Steps x_steps, T* y, Steps y_steps) {
  return {x,
          y,
          c.cache.cos(),
          c.cache.sin(),
          heads,
          c.S(),
          x_steps.head,
          x_steps.token,
          y_steps.head,
          y_steps.token};
}

template <class T>
Action half_each(const HandLoop& loop, const HandCall& call, std::ptrdiff_t pairs) {
  return [loop, call, pairs] {
    HandCall first = call;
    HandCall second = call;
    first.tokens = call.tokens / 2;
    second.tokens = call.tokens - first.tokens;
    second.x = static_cast<const T*>(call.x) + first.tokens * call.x_token;
    second.y = static_cast<T*>(call.y) + first.tokens * call.y_token;
    using Entry = typename Case<T>::TableScalar;
    const std::ptrdiff_t entries = first.tokens * pairs;
    second.cos = static_cast<const Entry*>(call.cos) + entries;
    second.sin = static_cast<const Entry*>(call.sin) + entries;
    Eigen::Barrier done(1);
    two_threads().enqueueNoNotification([&] {
      loop.run(second);
      done.Notify();
    });
    loop.run(first);
    done.Wait();
  };
}

template <class T>
Prepared hand_out_of_place(Case<T>& c, const HandLoops& loops) {
  const HandCall call = call_of<T>(c, c.x.data(), tokens_outside(c), c.y.data(), tokens_outside(c));
  const HandLoop loop = fastest_loop<T>(loops, call, 2 * c.bytes());
  return rotates_into_y(c, [loop, call] { loop.run(call); });
}

/// The copy of x, and y, which begin so many elements behind a page.
template <class T>
Prepared hand_displaced(Case<T>& c, const HandLoops& loops) {
  const auto shifted = std::make_shared<Shifted<T>>(c, 3, 1);
  const HandCall call =
      call_of<T>(c, shifted->x.data(), tokens_outside(c), shifted->y.data(), tokens_outside(c));
  const HandLoop loop = fastest_loop<T>(loops, call, 2 * c.bytes());
  return into(c, shifted, [loop, call] { loop.run(call); });
}

template <class T>
Prepared on_two_threads(Case<T>& c, const HandLoops& loops) {
  const HandCall call = call_of<T>(c, c.x.data(), tokens_outside(c), c.y.data(), tokens_outside(c));
  return rotates_into_y(
      c, half_each<T>(fastest_loop<T>(loops, call, 2 * c.bytes()), call, c.shape.rotary_dims / 2));
}

/// Of y, which begins as x.
template <class T>
Prepared hand_in_place(Case<T>& c, const HandLoops& loops, Steps steps,
                       const std::function<std::vector<T>()>& expected) {
  const HandCall call = call_of<T>(c, c.y.data(), steps, c.y.data(), steps);
  const HandLoop loop = fastest_loop<T>(loops, call, 2 * c.bytes());
  const Action run = [loop, call] { loop.run(call); };
  return {run, [&c, run, expected] {
            std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes());
            run();
            return agrees(c.y.data(), expected());
          }};
}

template <class T>
Prepared hand_heads_outermost(Case<T>& c, const HandLoops& loops) {
  const HandCall call = call_of<T>(c, c.x.data(), heads_outside(c), c.y.data(), heads_outside(c));
  const HandLoop loop = fastest_loop<T>(loops, call, 2 * c.bytes());
  return into_y(
      c, [loop, call] { loop.run(call); }, [&c] { return rotated_heads_outside(c); });
}

template <class T>
Prepared hand_to_heads_outermost(Case<T>& c, const HandLoops& loops) {
  const HandCall call = call_of<T>(c, c.x.data(), tokens_outside(c), c.y.data(), heads_outside(c));
  const HandLoop loop = fastest_loop<T>(loops, call, 2 * c.bytes());
  return into_y(
      c, [loop, call] { loop.run(call); }, [&c] { return with_heads_outside(c, rotated(c)); });
}

Prepared hand_backward_pass(Case<float>& c, const HandGradients& loops) {
  const auto angle =
      std::make_shared<std::vector<double>>(static_cast<std::size_t>(c.S() * c.D() / 2));
  const HandGradientCall call{c.b().data(),  c.x.data(),    c.y.data(), c.cache.cos(),
                              c.cache.sin(), angle->data(), heads,      c.S()};
  double cached = std::numeric_limits<double>::infinity();
  double streaming = cached;
  for (int round = 0; round < 9; ++round) {
    cached = std::min(cached, seconds_of_call(2 * c.bytes(), [&] { loops.cached(call); }));
    streaming = std::min(streaming, seconds_of_call(2 * c.bytes(), [&] { loops.streaming(call); }));
  }
  const auto loop = cached <= streaming ? loops.cached : loops.streaming;
  const Action run = [loop, call, angle] { loop(call); };
  return {run, [&c, run, angle] {
            spoil(c);
            run();
            return agrees(c.y.data(), rotated(c, eigen_rope::Direction::backward)) &&
                   agrees_with_angles(*angle, angles(c, c.b().data(), c.x.data()));
          }};
}

}  // namespace

template <class T>
void add_hand(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing) {
  const HandLoops loops = loops_for<T>(shape, pairing);
  if (loops.count == 0) return;
  list.push_back({"hand", [loops](Case<T>& c) { return hand_out_of_place(c, loops); }});
  list.push_back({"hand_inplace", [loops](Case<T>& c) {
                    return hand_in_place<T>(c, loops, tokens_outside(c),
                                            [&c] { return rotated(c); });
                  }});
  list.push_back({"hand_offset", [loops](Case<T>& c) { return hand_displaced(c, loops); }});
  if (shape.tokens >= 512)
    list.push_back({"hand", [loops](Case<T>& c) { return on_two_threads(c, loops); }, 2});
  if (!shape.whole_rows() || shape.tokens == 1) return;
  list.push_back({"hand_bnsd", [loops](Case<T>& c) { return hand_heads_outermost(c, loops); }});
  list.push_back({"hand_bnsd_inplace", [loops](Case<T>& c) {
                    return hand_in_place<T>(c, loops, heads_outside(c),
                                            [&c] { return rotated_heads_outside(c); });
                  }});
  list.push_back(
      {"hand_to_bnsd", [loops](Case<T>& c) { return hand_to_heads_outermost(c, loops); }});
  if constexpr (std::is_same_v<T, float>) {
    const HandGradients gradient_loops =
        hand_gradients(eigen_rope::kernel_target().c_str(), hand_pairs(pairing));
    if (gradient_loops.cached != nullptr)
      list.push_back({"hand_dx_dangle", [gradient_loops](Case<float>& c) {
                        return hand_backward_pass(c, gradient_loops);
                      }});
  }
}

template void add_hand(Contenders<float>&, const CaseShape&, eigen_rope::Pairing);
template void add_hand(Contenders<double>&, const CaseShape&, eigen_rope::Pairing);
template void add_hand(Contenders<Eigen::half>&, const CaseShape&, eigen_rope::Pairing);
template void add_hand(Contenders<Eigen::bfloat16>&, const CaseShape&, eigen_rope::Pairing);

}  // namespace bench
