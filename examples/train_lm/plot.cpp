// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "error.hpp"
#include "files.hpp"
#include "frequencies.hpp"
#include "tool/io/file_error.hpp"
#include "tool/io/gnuplot.hpp"

namespace train_lm {
namespace {

constexpr const char* colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"};
constexpr const char* grey = "#7f7f7f";

std::string label(const RunConfig& config) {
  return config.rope.rotates() ? "RoPE (" + config.name() + ")" : "no RoPE";
}

std::string curve_title(const PositionCurve& curve) {
  if (curve.scaling == "no RoPE") return curve.scaling;
  if (curve.scaling == "learned" || curve.scaling == "fixed")
    return "RoPE, " + curve.scaling + " rates";
  return curve.length_factor == 1 ? "RoPE" : "RoPE, scaling: " + curve.scaling;
}

/// Means over `width` values at a time, as "middle value" lines of a gnuplot data block.
std::string means(const std::vector<double>& values, std::size_t width, double first_x) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); i += width) {
    const std::size_t end = std::min(values.size(), i + width);
    double sum = 0;
    for (std::size_t j = i; j < end; ++j) sum += values[j];
    const double middle = first_x + 0.5 * static_cast<double>(i + end - 1);
    fmt::format_to(std::back_inserter(text), "{} {:.5f}\n", middle,
                   sum / static_cast<double>(end - i));
  }
  return text;
}

/// Without it, nothing is drawn; without a process to run it in, neither.
eigen_rope::tool::Ended run_gnuplot(const std::filesystem::path& folder,
                                    const std::string& script) {
  try {
    return eigen_rope::tool::run_gnuplot(folder, script, eigen_rope::tool::Prints::nowhere);
  } catch (const eigen_rope::tool::FileError&) {
    return {false, -1};
  }
}

bool is_whole_png(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  constexpr std::string_view end{"IEND\xae\x42\x60\x82", 8};
  return bytes.size() > end.size() &&
         bytes.compare(bytes.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::string losses_script(const std::vector<SessionRun>& runs, double unigram, double bigram) {
  std::string data;
  std::string plots;
  const auto out = std::back_inserter(data);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunState& state = runs[i].state;
    const std::size_t width = std::max<std::size_t>(1, state.train_bits.size() / 100);
    fmt::format_to(out, "$train{} << EOD\n{}EOD\n$validation{} << EOD\n", i,
                   means(state.train_bits, width, 1), i);
    for (const ValidationPoint& point : state.validation)
      fmt::format_to(out, "{} {:.5f}\n", point.step, point.bits);
    fmt::format_to(out, "EOD\n");
    const char* colour = colours[i % std::size(colours)];
    fmt::format_to(std::back_inserter(plots),
                   ", \\\n  $train{} with lines lw 1 dt 3 lc rgb '{}' title '{}, training'"
                   ", \\\n  $validation{} with linespoints lw 2 pt 7 ps 0.6 lc rgb '{}' title '{}, "
                   "validation'",
                   i, colour, label(runs[i].config), i, colour, label(runs[i].config));
  }
  return fmt::format(
      "set terminal pngcairo size 900,560 font 'sans,11'\nset output 'losses.png.tmp'\n"
      "set title 'Character model with and without RoPE'\nset xlabel 'step'\nset ylabel 'bits per "
      "character'\nset grid\n"
      "set key top right\n{}plot {:.5f} with lines lw 1 dt 2 lc rgb '#999999' title 'unigram, "
      "validation', \\\n"
      "  {:.5f} with lines lw 1 dt 4 lc rgb '#444444' title 'bigram, validation'{}\n",
      data, unigram, bigram, plots);
}

std::string positions_script(const std::vector<PositionCurve>& curves, Index context) {
  std::string data;
  std::vector<int> factors;
  const std::size_t width = std::max<std::size_t>(1, static_cast<std::size_t>(context) / 8);
  double lowest = 1e9;
  double highest = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (factors.empty() || factors.back() != curves[i].length_factor)
      factors.push_back(curves[i].length_factor);
    fmt::format_to(std::back_inserter(data), "$curve{} << EOD\n{}EOD\n", i,
                   means(curves[i].bits, width, 0));
    for (Index p = 0; p + static_cast<Index>(width) <= static_cast<Index>(curves[i].bits.size());
         p += static_cast<Index>(width)) {
      const double value = curves[i].mean(p, p + static_cast<Index>(width));
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
  std::string script = fmt::format(
      "set terminal pngcairo size {},480 font 'sans,11'\nset output 'positions.png.tmp'\n{}"
      "set multiplot layout 1,{} title 'Loss by position, training context {}, no fine-tuning "
      "(means of {} positions)'\n"
      "set xlabel 'position'\nset ylabel 'bits per character'\nset grid\nset key top right\nset "
      "yrange [{:.2f}:{:.2f}]\n",
      450 * std::max<std::size_t>(1, factors.size()), data, factors.size(), context, width,
      lowest - 0.1, highest + 0.45 * (highest - lowest));
  for (const int factor : factors) {
    std::string plots;
    int colour = 0;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      if (curves[i].length_factor != factor) continue;
      const bool rope = curves[i].scaling != "no RoPE";
      const std::string title = curve_title(curves[i]);
      fmt::format_to(std::back_inserter(plots), "{}$curve{} with lines lw 2 lc rgb '{}' title '{}'",
                     plots.empty() ? "" : ", \\\n  ", i,
                     rope ? colours[colour++ % static_cast<int>(std::size(colours))] : grey, title);
    }
    fmt::format_to(
        std::back_inserter(script),
        "set title '{}x: windows of {}'\nset xrange [0:{}]\nunset arrow\n"
        "set arrow from {},graph 0 to {},graph 1 nohead dt 2 lc rgb '#999999'\nplot {}\n",
        factor, factor * context, factor * context, context, context, plots);
  }
  return script + "unset multiplot\n";
}

std::string rates_script(const SessionRun& run) {
  constexpr double two_pi = 6.283185307179586;
  std::string data = "$first << EOD\n";
  std::string plots = "$first with linespoints lw 2 pt 6 lc rgb '#444444' title 'before training'";
  const std::vector<double> first = first_rates(run.config);
  for (std::size_t k = 0; k < first.size(); ++k)
    fmt::format_to(std::back_inserter(data), "{} {:.6g}\n", k, two_pi / first[k]);
  data += "EOD\n";
  for (std::size_t layer = 0; layer < run.state.weights.layout().layers.size(); ++layer) {
    fmt::format_to(std::back_inserter(data), "$layer{} << EOD\n", layer);
    const std::vector<double> rates = run.state.weights.rates(layer);
    for (std::size_t k = 0; k < rates.size(); ++k)
      fmt::format_to(std::back_inserter(data), "{} {:.6g}\n", k, two_pi / rates[k]);
    data += "EOD\n";
    fmt::format_to(
        std::back_inserter(plots),
        ", \\\n  $layer{} with linespoints lw 2 pt 7 ps 0.7 lc rgb '{}' title 'layer {}'", layer,
        colours[layer % std::size(colours)], layer);
  }
  return fmt::format(
      "set terminal pngcairo size 900,560 font 'sans,11'\nset output 'rates.png.tmp'\n"
      "set title 'Learned rates'\nset xlabel 'pair'\nset ylabel 'wavelength, tokens'\nset logscale "
      "y\nset grid\nset key top left\n{}"
      "plot {}, \\\n  {} with lines dt 2 lc rgb '#999999' title 'training context'\n",
      data, plots, run.config.context);
}

Drawn draw(const std::filesystem::path& folder, const std::string& name,
           const std::string& script) {
  write_atomically(folder / (name + ".gp"), script);
  const std::filesystem::path temporary = folder / (name + ".png.tmp");
  const eigen_rope::tool::Ended ended = run_gnuplot(folder, name + ".gp");
  std::error_code error;
  if (ended.exit_code == 0 && is_whole_png(temporary)) {
    publish(temporary, folder / (name + ".png"));
    return Drawn::yes;
  }
  std::filesystem::remove(temporary, error);
  return ended.missing ? Drawn::no_gnuplot : Drawn::failed;
}

}  // namespace train_lm
