// SPDX-License-Identifier: Apache-2.0
#include "tool/io/panels.hpp"

#include <fmt/format.h>

#include "tool/io/file_error.hpp"
#include "tool/io/gnuplot.hpp"

namespace eigen_rope::tool {

PanelRow::PanelRow(std::size_t number, std::size_t count)
    : bottom_(1 - static_cast<double>(number + 1) / static_cast<double>(count)),
      top_(1 - static_cast<double>(number) / static_cast<double>(count)) {}

std::string PanelRow::title(const std::string& text) const {
  return fmt::format("set label 1 {} at screen 0.5, screen {:.4f} center noenhanced font ',14'\n",
                     quoted(text), top_ - 0.045 * (top_ - bottom_));
}

std::string PanelRow::panel(double left, double right, const std::string& title) const {
  const double height = top_ - bottom_;
  return fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {:.4f}\nset "
      "tmargin at screen {:.4f}\n"
      "set title {} noenhanced offset 0,-0.4\n",
      left, right, bottom_ + 0.16 * height, top_ - 0.17 * height, quoted(title));
}

void draw_panels(const std::filesystem::path& path, std::size_t rows, const std::string& data,
                 const std::function<std::string(std::size_t number, const PanelRow&)>& row) {
  if (rows == 0) refuse(path.string(), "there is nothing to draw: no layer rotates");
  constexpr int width = 1200, row_height = 430;
  std::string script = "set encoding utf8\nset tics nomirror out scale 0.6\nset border 3\n" + data +
                       "set multiplot\n";
  for (std::size_t number = 0; number < rows; ++number)
    script += row(number, PanelRow(number, rows));
  draw_picture(path, {width, row_height * static_cast<int>(rows)}, script + "unset multiplot\n");
}

}  // namespace eigen_rope::tool
