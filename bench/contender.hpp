// SPDX-License-Identifier: Apache-2.0
//
// A contender: a name, what is timed, and whether it is right.
//
// `prepare` is called once with the Case and returns the action to time, so that a contender may
// own further arrays; `correct` runs that action and compares what it left with
// eigen_rope::reference. Each add_* function lives in the file of its kind, contenders_<kind>.cpp;
// which contenders exist for a shape is decided there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "case.hpp"

namespace bench {

using Action = std::function<void()>;

/// `some` is for groups of many contenders, `few` for what takes a hundred times as long as memcpy.
enum class Repetitions { many, some, few };

struct Prepared {
  Action run;
  std::function<bool()> correct;
};

template <class T>
struct Contender {
  std::string implementation;
  std::function<Prepared(Case<T>&)> prepare;
  int threads = 1;
  Repetitions repetitions = Repetitions::many;
};

template <class T>
using Contenders = std::vector<Contender<T>>;

/// memcpy with one and two threads.
template <class T>
void add_copies(Contenders<T>& list, const CaseShape& shape);
/// expr with one and two threads.
template <class T>
void add_expressions(Contenders<T>& list, const CaseShape& shape);
/// inplace, view_inplace, any, plain_c, backward, inverse, full_width, and expr in other layouts
/// and places.
template <class T>
void add_rotations(Contenders<T>& list, const CaseShape& shape);
/// paged, scattered, each hand_; whole rows, from 16 tokens on.
template <class T>
void add_tokens(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing);
/// dx_dangle, dx_dangle_inplace, dx_everything, dx_dtable.
template <class T>
void add_gradients(Contenders<T>& list, const CaseShape& shape);
/// table_gradient, rate_gradients, jvp, memcpy_of_three; float, whole rows, from 512 tokens on.
void add_learning(Contenders<float>& list, const CaseShape& shape);
/// dns, dnsb2, dnsb8, middle, each _inplace and hand_; dns_usual.
template <class T>
void add_axes(Contenders<T>& list, const CaseShape& shape);
/// to_dns, from_dns, each hand_; whole rows, from 16 tokens on.
template <class T>
void add_crossings(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing);
/// hand, hand_inplace, hand_bnsd, hand_bnsd_inplace, hand_to_bnsd, hand_offset,
/// hand_dx_dangle.
template <class T>
void add_hand(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing);
/// reference, loop_o2, loop_native, composed, complex.
template <class T>
void add_stock(Contenders<T>& list, const CaseShape& shape, eigen_rope::Pairing pairing);
/// nested, two_statements, plain; float.
void add_nested(Contenders<float>& list, const CaseShape& shape);
/// qkv_strided, qkv_slice, hand_qkv, shuffle_expr; float.
void add_views(Contenders<float>& list, const CaseShape& shape, eigen_rope::Pairing pairing);

/// The threads of every contender that has two.
Eigen::ThreadPoolDevice& two_threads();

}  // namespace bench
