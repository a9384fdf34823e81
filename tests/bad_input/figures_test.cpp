// SPDX-License-Identifier: Apache-2.0
//
// How many cells the bad input matrix has: the figures of docs/reliability.md.
#include <cstdio>
#include <numeric>

#include "bad_input/bad_input.hpp"

namespace eigen_rope::test::figures_tests {
namespace {

TEST(BadInput, Figures) {
  AreaCount all{"together"};
  for (const AreaCount& area : area_counts()) {
    all.refused += area.refused;
    all.accepted += area.accepted;
    all.peers += area.peers;
  }
  std::printf(
      "| area | refused | accepted by design | of both, where a peer breaks |\n| --- | --- | --- | "
      "--- |\n");
  const auto print = [](const AreaCount& area) {
    std::printf("| %s | %d | %d | %d |\n", area.name.c_str(), area.refused, area.accepted,
                area.peers);
  };
  for (const AreaCount& area : area_counts()) print(area);
  print(all);
  EXPECT_GE(area_counts().size(), 12U) << "a file of the matrix is not linked";
  EXPECT_GE(all.refused, 500);
}

Cell<Memory> cell(void (*call)(Memory&), const char* message) {
  return {"itself", Fault::unknown, call, message};
}

/// A message that differs, an exception of another type and an element that was written must each
/// be seen.
TEST(BadInput, SeesWhatIsWrong) {
  Memory memory;
  unsigned char* const block = memory.array<unsigned char>(3);
  EXPECT_EQ(std::vector<unsigned char>(block, block + 3), (std::vector<unsigned char>{1, 2, 3}));
  memory.remember();
  EXPECT_TRUE(memory.untouched());
  block[1] = 0;
  EXPECT_FALSE(memory.untouched());
  EXPECT_EQ(refusal_of([] { detail::fail("a rule", 0.5); }), "[rope] a rule, got 0.5");
  EXPECT_EQ(refusal_of([] {}), "");
  const Cell<Memory> accepted = cell([](Memory&) {}, nullptr);
  const Cell<Memory> peer{"x", Fault::odd, [](Memory&) {}, "a rule", "peer: someone"};
  const std::size_t areas = area_counts().size();
  const Cell<Memory> cells[] = {accepted, peer};
  const Area area("two", cells);
  ASSERT_EQ(area_counts().size(), areas + 1);
  EXPECT_EQ(area_counts().back().refused, 1);
  EXPECT_EQ(area_counts().back().accepted, 1);
  EXPECT_EQ(area_counts().back().peers, 1);
  area_counts().pop_back();
}

}  // namespace
}  // namespace eigen_rope::test::figures_tests
