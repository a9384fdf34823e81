// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <string>
#include <vector>

#include "figures.hpp"
#include "svg.hpp"

namespace figures {

namespace order {
namespace {

constexpr int tokens = 4;
constexpr double cell = 44;
constexpr double left = 16;

/// The features d of a token, or the entries k of a table's row, in the order of memory.
struct Strip {
  int features;
  const char* letter;
  const char* style;  // of a cell; the token's number follows
  const char* words;  // of the text in it
  bool features_fastest;

  int place(int feature, int token) const {
    return features_fastest ? token * features + feature : feature * tokens + token;
  }
};

void draw(Svg& svg, const Strip& strip, double top) {
  for (int token = 0; token < tokens; ++token) {
    for (int feature = 0; feature < strip.features; ++feature) {
      const double x = left + strip.place(feature, token) * cell;
      svg.box({x + 1, top}, cell - 2, 42, fmt::format("{}{}", strip.style, token), 4);
      svg.text({x + cell / 2, top + 18}, fmt::format("t{}", token), strip.words);
      svg.text({x + cell / 2, top + 35}, fmt::format("{}{}", strip.letter, feature), strip.words);
    }
  }
}

/// A line over the two members of a pair.
void join(Svg& svg, const Strip& strip, int token, double top) {
  const double a = left + (strip.place(0, token) + 0.5) * cell;
  const double b = left + (strip.place(strip.features / 2, token) + 0.5) * cell;
  svg.path({{a, top - 3}, {a, top - 13}, {b, top - 13}, {b, top - 3}}, "line");
}

/// The memory of a tensor and of its cache, with the features fastest and slowest.
std::string memory() {
  constexpr int dims = 4;
  constexpr double table_left = left + 9 * cell;
  Svg svg(2 * left + 16 * cell, 372,
          "Memory with the features on the fastest and on the slowest axis");
  double top = 24;
  for (const bool fastest : {true, false}) {
    const Strip x{dims, "d", "f", "small middle on", fastest};
    const Strip table{dims / 2, "k", "p", "small middle off", fastest};
    svg.text({left, top},
             fastest ? "x(D, tokens): the features are the fastest axis"
                     : "x(tokens, D), rotated with .along(1): the features are the slowest axis");
    draw(svg, x, top + 32);
    join(svg, x, 1, top + 32);
    draw(svg, table, top + 92);
    svg.text({table_left, top + 110}, fastest ? "its cos: Layout::sd()" : "its cos: Layout::ds()",
             "small");
    svg.text({table_left, top + 127}, "entry k of token t turns the pair (k, k + 2)",
             "quiet small");
    top += 184;
  }
  return svg.finish();
}

/// A matrix of tokens x features with two heads side by side.
std::string matrix() {
  constexpr int dims = 4, heads = 2;
  constexpr double label = 72, top = 60, high = 42;
  Svg svg(label + heads * dims * cell + 232, top + tokens * high + 16,
          "A matrix of tokens x features with two heads side by side");
  for (int head = 0; head < heads; ++head) {
    const double x = label + head * dims * cell;
    svg.text({x + dims * cell / 2, top - 28}, fmt::format("head {}", head), "small middle");
    svg.line({x + 4, top - 20}, {x + dims * cell - 4, top - 20}, "line");
    for (int d = 0; d < dims; ++d) {
      svg.text({x + (d + 0.5) * cell, top - 5}, fmt::format("d{}", d), "quiet small middle");
      for (int token = 0; token < tokens; ++token)
        svg.box({x + d * cell + 1, top + token * high + 2}, cell - 2, high - 4,
                fmt::format("{}{}", head == 0 ? "f" : "p", token), 4);
    }
  }
  for (int token = 0; token < tokens; ++token)
    svg.text({label - 10, top + token * high + 26}, fmt::format("token {}", token), "small right");
  const double words = label + heads * dims * cell + 16;
  svg.text({words, top + 20}, "MatrixXf q(4, 8)", "small");
  svg.text({words, top + 38}, "memory runs down the columns", "quiet small");
  svg.text({words, top + 80}, "tokens_in_rows(q, 2)", "small");
  svg.text({words, top + 98}, "4 tokens, 2 heads of 4 dims", "quiet small");
  svg.text({words, top + 132}, "tokens_in_rows(q.leftCols(4))", "small");
  svg.text({words, top + 150}, "4 tokens, head 0 alone", "quiet small");
  return svg.finish();
}

}  // namespace
}  // namespace order

std::vector<Figure> index_order() {
  return {{"index_order.svg", order::memory}, {"matrix_rows.svg", order::matrix}};
}

}  // namespace figures
