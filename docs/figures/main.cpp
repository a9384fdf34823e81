// SPDX-License-Identifier: Apache-2.0
//
// doc_figures DIR             writes the pages' figures into DIR
// doc_figures --check DIR     whether those in DIR are what would be written: exit code 1 if not
#include <fmt/core.h>

#include <fstream>
#include <sstream>
#include <string>

#include "figures.hpp"

namespace {

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    fmt::print(stderr, "usage: doc_figures [--check] DIR\n");
    return 2;
  }
  const std::string folder = argv[argc - 1];
  int stale = 0;
  for (const auto& group :
       {figures::idea(), figures::scalings(), figures::accuracy(), figures::index_order()}) {
    for (const figures::Figure& figure : group) {
      const std::string path = folder + "/" + figure.file;
      const std::string text = figure.draw();
      if (check) {
        if (content_of(path) == text) continue;
        fmt::print("{} is not what doc_figures draws: run scripts/figures.sh\n", path);
        ++stale;
      } else if (!(std::ofstream(path) << text)) {
        fmt::print(stderr, "{} cannot be written\n", path);
        return 2;
      }
    }
  }
  return stale == 0 ? 0 : 1;
}
