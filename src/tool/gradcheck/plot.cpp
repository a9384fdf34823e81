// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tool/gradcheck/report.hpp"
#include "tool/gradcheck/summary.hpp"
#include "tool/io/gnuplot.hpp"

namespace eigen_rope::tool {
namespace {

constexpr double most_decades =
    4;  // powers of ten either side of the bound that have colours of their own

/// A row of the picture: all scalars of a pairing and scaling.
std::vector<SummaryRow> picture_rows(const GradcheckReport& report) {
  std::vector<SummaryRow> rows;
  for (const SummaryRow& row : summary_of(report)) {
    if (rows.empty() || rows.back().pairing != row.pairing || rows.back().scaling != row.scaling) {
      rows.push_back(row);
      continue;
    }
    for (const auto& [quantity, ratio] : row.worst) {
      double& worst = rows.back().worst[quantity];
      worst = std::max(worst, ratio);
    }
  }
  return rows;
}

struct Picture {
  PictureSize size{};
  std::string script{};
};

Picture picture_of(const GradcheckReport& report) {
  const std::vector<SummaryRow> rows = picture_rows(report);
  const auto count = static_cast<double>(rows.size());
  std::string data, marks, ytics, groups;
  std::size_t group_begin = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    int column = 0;
    for (const Quantity quantity : all_quantities) {
      const auto found = rows[r].worst.find(quantity);
      ++column;
      if (found == rows[r].worst.end()) continue;
      const double ratio = found->second;
      const double level = ratio == 0 ? -most_decades
                           : std::isfinite(ratio)
                               ? std::clamp(std::log10(ratio), -most_decades, most_decades)
                               : most_decades;
      data += fmt::format("{} {} {:.4f}\n", column, r + 1, level);
      if (!(ratio <= 1)) marks += fmt::format("{} {}\n", column, r + 1);
    }
    ytics += fmt::format("{}{} {}", r == 0 ? "" : ", ", quoted(rows[r].scaling), r + 1);
    const bool last = r + 1 == rows.size() || rows[r + 1].pairing != rows[r].pairing;
    if (!last) continue;
    groups += fmt::format("set label {} at screen 0.02, first {} rotate by 90 center noenhanced\n",
                          quoted(name_of(rows[r].pairing)),
                          0.5 * static_cast<double>(group_begin + r) + 1);
    if (r + 1 < rows.size())
      groups += fmt::format(
          "set arrow from graph 0, first {} to graph 1, first {} nohead lw 2 lc rgb 'black' "
          "front\n",
          static_cast<double>(r) + 1.5, static_cast<double>(r) + 1.5);
    group_begin = r + 1;
  }
  std::string xtics;
  for (const Quantity quantity : all_quantities) {
    xtics += fmt::format("{}{} {}", xtics.empty() ? "" : ", ", quoted(heading_of(quantity)),
                         static_cast<int>(quantity) + 1);
  }
  const int height = 190 + std::max(160, 18 * static_cast<int>(rows.size()));
  std::string script = fmt::format(
      "set title \"eigen-rope gradcheck: {} passed, {} failed\\n"
      "worst log10(error / bound) over scalars and layouts; above 0 failed, -4 is less too, grey "
      "does not apply\" noenhanced\n",
      report.passed(), report.failed());
  script += fmt::format(
      "set xrange [0.5:{}.5]\nset yrange [{}:0.5]\nset lmargin at screen 0.16\nset bmargin at "
      "screen {:.4f}\n"
      "set xtics ({}) rotate by 45 right nomirror scale 0 noenhanced\nset ytics ({}) nomirror "
      "scale 0 noenhanced\n",
      std::size(all_quantities), count + 0.5, 70.0 / height, xtics, ytics);
  script += fmt::format(
      "set cbrange [{0}:{1}]\nset cblabel 'log_1_0(error / bound)' offset 1.5,0\n"
      "set palette defined ({0} '#08519c', -1 '#6baed6', 0 '#deebf7', 0 '#fcae91', {1} '#a50f15')\n"
      "set style fill solid 1 noborder\nset object 1 rect from graph 0,0 to graph 1,1 fc rgb "
      "'#d9d9d9' behind\n{2}unset key\n",
      -most_decades, most_decades, groups);
  script += "$cells << EOD\n" + data + "EOD\n";
  std::string plot =
      "plot $cells using 1:2:($1-0.46):($1+0.46):($2-0.46):($2+0.46):3 with boxxyerror lc palette";
  if (!marks.empty()) {
    script += "$marks << EOD\n" + marks + "EOD\n";
    plot += ", $marks using 1:2:('!') with labels tc rgb 'white'";
  }
  return {{940, height}, script + plot + "\n"};
}

}  // namespace

void draw(const GradcheckReport& report, const std::filesystem::path& path) {
  const Picture picture = picture_of(report);
  draw_picture(path, picture.size, picture.script);
}

}  // namespace eigen_rope::tool
