// SPDX-License-Identifier: Apache-2.0
//
// The benchmark, compiled at -O2 without -march: what a user gets who sets nothing. See case.hpp
// for the arrays, contenders_*.cpp for what is measured, session.hpp for how, and scripts/bench.sh,
// which runs it.
#include "session.hpp"
#include "table_build.hpp"

namespace {

template <class T>
void run_scalar(bench::Session& session, eigen_rope::Pairing pairing) {
  for (const bench::CaseShape& shape : bench::shapes) {
    if (session.pace() == bench::Pace::quick && shape.tokens > 512) continue;
    bench::Contenders<T> contenders;
    bench::add_copies(contenders, shape);
    bench::add_expressions(contenders, shape);
    bench::add_rotations(contenders, shape);
    bench::add_tokens(contenders, shape, pairing);
    bench::add_axes(contenders, shape);
    bench::add_crossings(contenders, shape, pairing);
    bench::add_gradients(contenders, shape);
    bench::add_hand(contenders, shape, pairing);
    bench::add_stock(contenders, shape, pairing);
    if constexpr (std::is_same_v<T, float>) {
      bench::add_learning(contenders, shape);
      bench::add_nested(contenders, shape);
      bench::add_views(contenders, shape, pairing);
    }
    session.run_group(shape, pairing, contenders);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::session_main(argc, argv, "", [](bench::Session& session) {
    for (const eigen_rope::Pairing pairing : {eigen_rope::split_half, eigen_rope::interleaved}) {
      run_scalar<float>(session, pairing);
      run_scalar<Eigen::half>(session, pairing);
      run_scalar<Eigen::bfloat16>(session, pairing);
      run_scalar<double>(session, pairing);
    }
    bench::run_table_build(session);
  });
}
