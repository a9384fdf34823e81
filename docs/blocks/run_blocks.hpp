// SPDX-License-Identifier: Apache-2.0
//
// Runs the blocks of a page, in order, and says which failed. Blocks check what they show with
// check(condition).
#pragma once

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

struct PageBlock {
  int line;
  void (*run)();
};

struct PageOfBlocks {
  const char* name;
  std::vector<PageBlock> blocks;
};

/// Fails the block unless it holds.
inline void check(bool holds) {
  if (!holds) throw std::runtime_error("what the block shows does not hold");
}

inline int run_blocks(const PageOfBlocks& page) {
  int failed = 0;
  for (const PageBlock& block : page.blocks) {
    try {
      block.run();
    } catch (const std::exception& error) {
      std::cerr << page.name << ':' << block.line << ": " << error.what() << '\n';
      ++failed;
    }
  }
  std::cout << page.name << ": " << page.blocks.size() - static_cast<std::size_t>(failed)
            << " blocks hold, " << failed << " do not\n";
  return failed == 0 ? 0 : 1;
}

/// The page that the only argument names.
inline int run_page(const std::vector<PageOfBlocks>& pages, int argc, char** argv) {
  for (const PageOfBlocks& page : pages) {
    if (argc == 2 && page.name == std::string(argv[1])) return run_blocks(page);
  }
  std::cerr << "usage: docs_pages PAGE, which is one of";
  for (const PageOfBlocks& page : pages) std::cerr << ' ' << page.name;
  std::cerr << '\n';
  return 2;
}
