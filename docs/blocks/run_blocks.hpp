// SPDX-License-Identifier: Apache-2.0
//
// Runs the blocks of a page in order and says which failed. Blocks check what they show with
// check(condition).
#pragma once

#include <exception>
#include <initializer_list>
#include <iostream>
#include <stdexcept>

struct PageBlock {
  int line;
  void (*run)();
};

/// Fails the block unless it holds.
inline void check(bool holds) {
  if (!holds) throw std::runtime_error("what the block shows does not hold");
}

inline int run_blocks(const char* page, std::initializer_list<PageBlock> blocks) {
  int failed = 0;
  for (const PageBlock& block : blocks) {
    try {
      block.run();
    } catch (const std::exception& error) {
      std::cerr << page << ':' << block.line << ": " << error.what() << '\n';
      ++failed;
    }
  }
  std::cout << page << ": " << blocks.size() - static_cast<std::size_t>(failed) << " blocks hold, "
            << failed << " do not\n";
  return failed == 0 ? 0 : 1;
}
