// SPDX-License-Identifier: Apache-2.0
//
// The rotation inside a larger expression, and what it is compared with.
//
//   nested            y = eigen_rope::rotate(x) * 2 + b
//   two_statements    y = eigen_rope::rotate(x); y = y * 2 + b
//   plain             y = x * 2 + b: what Eigen needs for the rest of it
//
// The one file of contenders that a user's compiler flags can make faster: it is also part of
// rotate_bench_native.
#include "contender.hpp"
#include "expected.hpp"

namespace bench {
namespace {

/// Whether `run` leaves first_term * 2 + b in y.
bool leaves_sum(Case<float>& c, const Action& run, std::vector<float> first_term) {
  spoil(c);
  run();
  const auto b = c.b();
  for (std::size_t i = 0; i < first_term.size(); ++i)
    first_term[i] = first_term[i] * 2 + b.data()[i];
  return agrees(c.y.data(), first_term, 4 * tolerance<float>());
}

Prepared nested(Case<float>& c) {
  const Action run = [&c, b = c.b()] {
    c.y = eigen_rope::rotate(c.x, c.cache, c.pairing) * 2.F + b;
  };
  return {run, [&c, run] { return leaves_sum(c, run, rotated(c)); }};
}

Prepared two_statements(Case<float>& c) {
  const Action run = [&c, b = c.b()] {
    c.y = eigen_rope::rotate(c.x, c.cache, c.pairing);
    c.y = c.y * 2.F + b;
  };
  return {run, [&c, run] { return leaves_sum(c, run, rotated(c)); }};
}

Prepared plain(Case<float>& c) {
  const Action run = [&c, b = c.b()] { c.y = c.x * 2.F + b; };
  return {run, [&c, run] { return leaves_sum(c, run, {c.x.data(), c.x.data() + c.shape.size()}); }};
}

}  // namespace

void add_nested(Contenders<float>& list, const CaseShape& shape) {
  if (!shape.whole_rows()) return;
  list.push_back({"nested", &nested});
  list.push_back({"two_statements", &two_statements});
  list.push_back({"plain", &plain});
}

}  // namespace bench
