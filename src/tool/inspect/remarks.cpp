// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/remarks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tool/inspect/scaling_fields.hpp"

namespace eigen_rope::tool {
namespace {

/// Half a unit in the last place of bfloat16 just below 1: what rounding cos and sin to it may
/// cost.
constexpr double bfloat16_rounding = 0x1p-9;

/// Pairs of which something is true, which are neighbours in every published model.
struct Range {
  eigen_rope::Index count = 0, first = 0, last = 0;

  void add(std::size_t pair) {
    last = static_cast<eigen_rope::Index>(pair);
    if (count++ == 0) first = last;
  }
  std::string text() const {
    if (count == last - first + 1) return text_of_pairs(first, last);
    return fmt::format("{} of {}", count, text_of_pairs(first, last));
  }
};

class Remarks {
 public:
  Remarks(Inspection& inspection, const LayerInspection& layer) : all_(inspection), one_(layer) {
    if (inspection.layers.size() > 1) {
      prefix_ = layer.layer.layer_type;
      if (prefix_.empty())
        prefix_ = fmt::format("layers of kind {}", &layer - inspection.layers.data());
      prefix_ += ": ";
    }
  }

  void add() {
    unfinished_pairs();
    stopped_pairs();
    unseen_angles();
    reach();
    float_angles();
    magnitude();
    changes_with_length();
    ramp();
    if (one_.layer.softmax_multiplier != 1) {
      note("the logits are multiplied by {:.10g} besides 1 / sqrt(d); no table contains that",
           one_.layer.softmax_multiplier);
    }
    if (!one_.layer.pairing)
      note("neither the file nor this program knows how its rows pair (split_half or interleaved)");
  }

 private:
  template <class... Values>
  void warn(fmt::format_string<Values...> form, Values&&... values) {
    all_.warnings.push_back(prefix_ + fmt::format(form, std::forward<Values>(values)...));
  }
  template <class... Values>
  void note(fmt::format_string<Values...> form, Values&&... values) {
    all_.notes.push_back(prefix_ + fmt::format(form, std::forward<Values>(values)...));
  }

  /// Tokens the rates were trained with before scaling.
  eigen_rope::Index trained() const {
    const eigen_rope::Index original = original_context(one_.layer.scaling).value_or(0);
    if (original > 0) return original;
    return all_.model.context > 0 ? all_.model.context : all_.length;
  }

  void unfinished_pairs() {
    Range unfinished;
    double slowest = 0;
    for (std::size_t k = 0; k < one_.pairs.size(); ++k) {
      const PairInspection& pair = one_.pairs[k];
      const double turns = static_cast<double>(trained()) / pair.unscaled_wavelength();
      if (pair.treatment == Treatment::stopped || turns >= 1) continue;
      if (unfinished.count == 0 || turns < slowest) slowest = turns;
      unfinished.add(k);
    }
    if (unfinished.count == 0) return;
    note(
        "{} of {} pairs ({}) complete no turn within {} tokens before scaling; the slowest makes "
        "{:.3g} of one",
        unfinished.count, one_.pairs.size(), unfinished.text(), trained(), slowest);
  }

  void stopped_pairs() {
    Range stopped;
    for (std::size_t k = 0; k < one_.pairs.size(); ++k) {
      if (one_.pairs[k].treatment == Treatment::stopped) stopped.add(k);
    }
    if (stopped.count > 0)
      note("{} of {} pairs ({}) do not turn at all: they see content and no position",
           stopped.count, one_.pairs.size(), stopped.text());
  }

  /// Pairs that never came round in training and now go further than they ever did.
  void unseen_angles() {
    if (all_.model.context == 0 || all_.length <= all_.model.context) return;
    Range unseen;
    double farthest = 1;
    for (std::size_t k = 0; k < one_.pairs.size(); ++k) {
      const PairInspection& pair = one_.pairs[k];
      const double seen = static_cast<double>(trained()) / pair.unscaled_wavelength();
      const double times = std::fabs(pair.turns) / seen;
      if (seen >= 1 || times <= 1 + 1e-9) continue;
      unseen.add(k);
      farthest = std::max(farthest, times);
    }
    if (unseen.count == 0) return;
    warn("{} reach angles that no position of the first {} tokens has, up to {:.3g} times as far",
         unseen.text(), trained(), farthest);
  }

  void reach() {
    const double effective = effective_context(one_.layer.powers, one_.layer.scaling);
    if (effective == 0 || all_.length == all_.model.context ||
        static_cast<double>(all_.length) <= effective * (1 + 1e-9))
      return;
    if (depends_on_length(one_.layer.scaling)) return;
    warn(
        "{} tokens are more than the scaling stretches to: factor times original context is "
        "{:.10g}",
        all_.length, effective);
  }

  void float_angles() {
    const AngleError& error = one_.float_error;
    const bool matters = error.radians > bfloat16_rounding;
    const std::string sentence = fmt::format(
        "angles computed in float are wrong by up to {:.2g} rad (pair {} at position {}){}; this "
        "library's by at most {:.2g}",
        error.radians, error.pair, error.position,
        matters ? ", more than rounding cos and sin to bfloat16" : "", one_.own_error);
    if (error.radians == 0) return;
    matters ? warn("{}", sentence) : note("{}", sentence);
  }

  void magnitude() {
    const auto m = static_cast<double>(one_.attention_factor);
    if (m == 1) return;
    if (m == 0) return warn("m is 0: everything rotated becomes 0, and there is no inverse");
    warn(
        "m = {:.10g} is not 1: the backward rotation, which gradients need, is m^2 = {:.10g} times "
        "the inverse, and q.k grows by m^2",
        m, m * m);
  }

  void changes_with_length() {
    if (!depends_on_length(one_.layer.scaling)) return;
    const eigen_rope::Index original = trained();
    const bool dynamic = std::holds_alternative<DynamicNtkScaling<>>(one_.layer.scaling);
    if (all_.length <= original)
      return note("the rates change when a sequence passes {} tokens", original);
    if (dynamic) {
      warn(
          "the base grows with every token past {}: cached keys must be rerotated each time it is "
          "updated",
          original);
    } else {
      warn(
          "the long list replaces the short one past {} tokens: keys cached before that must be "
          "rerotated",
          original);
    }
  }

  void ramp() {
    const bool hugging_face = std::holds_alternative<Yarn<>>(one_.layer.scaling);
    if (!hugging_face && !std::holds_alternative<GgmlYarn<>>(one_.layer.scaling)) return;
    const auto fact = [&](const char* name) {
      const auto found = std::find_if(one_.derived.begin(), one_.derived.end(),
                                      [&](const Derived& one) { return one.name == name; });
      return std::get<double>(found->value);
    };
    const double low = fact("ramp_low"), high = fact("ramp_high");
    const auto last = static_cast<double>(one_.pairs.size() - 1);
    if (low > high) {
      if (hugging_face)
        warn("the ramp is turned round: it begins at pair {:.6g} and ends at {:.6g}", low, high);
    } else if (high > last) {
      note("no pair is interpolated fully: the ramp ends at {:.6g}, behind the last pair {}", high,
           one_.pairs.size() - 1);
    }
  }

  Inspection& all_;
  const LayerInspection& one_;
  std::string prefix_{};
};

}  // namespace

void add_remarks(Inspection& inspection) {
  // A configuration of YaRN may say the context before scaling: Qwen2.5's recipe does.
  auto meant = static_cast<double>(inspection.model.context);
  for (const LayerInspection& layer : inspection.layers)
    meant = std::max(meant, effective_context(layer.layer.powers, layer.layer.scaling));
  if (inspection.model.context > 0 && static_cast<double>(inspection.length) > meant) {
    inspection.warnings.push_back(fmt::format(
        "{} tokens are asked for, the model is meant for {:.10g}", inspection.length, meant));
  }
  for (const LayerInspection& layer : inspection.layers) Remarks(inspection, layer).add();
  if (inspection.length > 257) {
    inspection.notes.push_back(
        fmt::format("positions must not be held in 16 bits: bfloat16 has every integer up to 256{}",
                    inspection.length > 2049 ? ", half up to 2048" : ""));
  }
}

std::string text_of_pairs(eigen_rope::Index first, eigen_rope::Index last) {
  return first == last ? fmt::format("pair {}", first) : fmt::format("pairs {} to {}", first, last);
}

}  // namespace eigen_rope::tool
