// SPDX-License-Identifier: Apache-2.0
#include "tool/plan/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tool/io/panels.hpp"
#include "tool/plan/causal_work.hpp"

namespace eigen_rope::tool {
namespace {

constexpr eigen_rope::Index ranks_of_picture = 1024;

/// Okabe and Ito's colours, one for each context.
constexpr const char* context_colours[] = {panel_blue, panel_orange, "#009E73", "#CC79A7",
                                           panel_grey};

struct PanelPlace {
  double left, right;
};
constexpr PanelPlace panel_places[] = {{0.075, 0.325}, {0.405, 0.655}, {0.735, 0.985}};

/// The plans of one context, on 1, 2, 4, ... ranks.
struct ContextCurve {
  eigen_rope::Index context = 0;
  std::vector<StepPlan> steps{};
};

std::string name_of_context(eigen_rope::Index context) {
  const double power = std::log10(static_cast<double>(context));
  return power == std::floor(power) ? fmt::format("10^{{{:.0f}}} tokens", power)
                                    : fmt::format("{} tokens", context);
}

class PlanPicture {
 public:
  explicit PlanPicture(const TrainingPlan& plan) : plan_(plan) {
    std::vector<eigen_rope::Index> contexts{10'000, 100'000, 1'000'000, 10'000'000};
    if (std::find(contexts.begin(), contexts.end(), plan.options.context) == contexts.end())
      contexts.push_back(plan.options.context);
    for (const eigen_rope::Index context : contexts) {
      ContextCurve& curve = curves_.emplace_back();
      curve.context = context;
      for (eigen_rope::Index ranks = 1; ranks <= ranks_of_picture; ranks *= 2)
        curve.steps.push_back(plan_step(plan.model, plan.options, context, ranks));
    }
  }

  std::string data() const {
    std::string text;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      text += fmt::format("$context{} << EOD\n", i);
      for (const StepPlan& step : curves_[i].steps) {
        text += fmt::format("{} {:.6g} {} {:.6g} {:.6g} {:.6g}\n", step.ranks,
                            step.memory.total() / 0x1p30, gap_at_zero(step.traffic.total()),
                            step.time.total(), step.memory.tables / 0x1p20, share_of_rope(step));
      }
      text += "EOD\n";
    }
    text += "$balance << EOD\n";
    for (eigen_rope::Index ranks = 1; ranks <= ranks_of_picture; ranks *= 2) {
      const auto balance = [&](Sharding sharding) {
        return causal_work(10'000'000, ranks, sharding).balance();
      };
      text += fmt::format("{} {:.6g} {:.6g}\n", ranks, balance(Sharding::contiguous),
                          balance(Sharding::zigzag));
    }
    return text + "EOD\n";
  }

  std::string costs(const PanelRow& row) const {
    return row.title(title()) +
           panel(row, 0, "memory of a rank, GiB", 2,
                 [](const StepPlan& step) { return step.memory.total() / 0x1p30; }) +
           "unset label\n" +
           panel(row, 1, "sent by a rank in a step, GiB", 3,
                 [](const StepPlan& step) { return step.traffic.total() / 0x1p30; }) +
           panel(row, 2, "time of a step, s", 4,
                 [](const StepPlan& step) { return step.time.total(); });
  }

  std::string rope(const PanelRow& row) const {
    return row.title("RoPE, and how causal work is shared") +
           panel(row, 0, "tables of a rank, MiB (dashed: of the whole context)", 5,
                 [](const StepPlan& step) { return step.memory.tables / 0x1p20; }) +
           "unset label\n" + panel(row, 1, "rotation's share of the time, %", 6, share_of_rope) +
           balance_panel(row);
  }

 private:
  static std::string gap_at_zero(double bytes) {
    return bytes > 0 ? fmt::format("{:.6g}", bytes / 0x1p30) : "NaN";
  }

  static double share_of_rope(const StepPlan& step) {
    return 100 * step.time.rotation / step.time.total();
  }

  std::string title() const {
    const std::string rest =
        fmt::format(": one rank and step, {}, {}", name_of(plan_.options.sharding),
                    name_of(plan_.options.scalar));
    return short_name(plan_.model.architecture, title_length - rest.size()) + rest;
  }

  static std::string ranks_axis() {
    return fmt::format(
        "set xlabel 'ranks'\nset logscale x 2\nset xrange [1:{}]\nset xtics 4\nset format x "
        "'%.0f'\n",
        ranks_of_picture);
  }

  /// Curves of all contexts: `value` is what column `column` of the data holds.
  std::string panel(const PanelRow& row, std::size_t place, const std::string& name, int column,
                    const std::function<double(const StepPlan&)>& value) const {
    double least = INFINITY, most = 0;
    for (const ContextCurve& curve : curves_) {
      for (const StepPlan& step : curve.steps) {
        if (value(step) <= 0) continue;
        least = std::min(least, value(step));
        most = std::max(most, value(step));
      }
    }
    const AxisRange range = AxisRange::logarithmic(
        std::min(least, most > 0 ? most : 1.0), most > 0 ? most : 1.0, key_height(curves_.size()));
    std::string text = row.panel(panel_places[place].left, panel_places[place].right, name) +
                       ranks_axis() +
                       fmt::format(
                           "unset ylabel\nset logscale y\nset format y '10^{{%T}}'\nset yrange "
                           "[{:.6g}:{:.6g}]\nset ytics auto\nset key top right samplen 1.5 spacing "
                           "1.1\nplot ",
                           range.first, range.last);
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      text += fmt::format(
          "{}$context{} using 1:{} with linespoints pt 7 ps 0.4 lw 2 lc rgb '{}' "
          "title '{}'",
          i == 0 ? "" : ", ", i, column, context_colours[i], name_of_context(curves_[i].context));
      const double global = curves_[i].steps.front().memory.tables / 0x1p20;
      constexpr int tables_column = 5;
      if (column == tables_column)
        text += fmt::format(", {:.9g} with lines lc rgb '{}' dt '-' lw 1.2 notitle", global,
                            context_colours[i]);
    }
    return text + "\nunset logscale y\nset format y '%g'\n";
  }

  std::string balance_panel(const PanelRow& row) const {
    return row.panel(panel_places[2].left, panel_places[2].right,
                     "causal work of the busiest rank over the mean") +
           ranks_axis() +
           fmt::format(
               "set yrange [0.9:2.6]\nset ytics 0.5\nset key top right samplen 1.5 spacing 1.1\n"
               "plot $balance using 1:2 with linespoints pt 7 ps 0.4 lw 2 lc rgb '{}' title "
               "'contiguous', $balance using 1:3 with linespoints pt 7 ps 0.4 lw 2 lc rgb '{}' "
               "title 'zigzag'\nunset logscale x\nset format x '%g'\n",
               panel_orange, panel_blue);
  }

  const TrainingPlan& plan_;
  std::vector<ContextCurve> curves_{};
};

}  // namespace

void draw(const TrainingPlan& plan, const std::filesystem::path& path) {
  const PlanPicture picture(plan);
  draw_panels(path, 2, picture.data(), [&](std::size_t number, const PanelRow& row) {
    return number == 0 ? picture.costs(row) : picture.rope(row);
  });
}

}  // namespace eigen_rope::tool
