// SPDX-License-Identifier: Apache-2.0
//
// What a user gets who compiles at -O3 -march=native: the contenders whose speed is the user's
// compiler's business, under names that end in _native. A program of its own, all of it compiled
// with these flags: Eigen's inline functions must not be mixed within one program.
#include "session.hpp"

int main(int argc, char** argv) {
  return bench::session_main(argc, argv, "_native", [](bench::Session& session) {
    for (const eigen_rope::Pairing pairing : {eigen_rope::split_half, eigen_rope::interleaved}) {
      for (const bench::CaseShape& shape : bench::shapes) {
        if (!shape.whole_rows() || (session.pace() == bench::Pace::quick && shape.tokens > 512))
          continue;
        bench::Contenders<float> contenders;
        bench::add_copies(contenders, shape);
        bench::add_expressions(contenders, shape);
        bench::add_nested(contenders, shape);
        session.run_group(shape, pairing, contenders);
      }
    }
  });
}
