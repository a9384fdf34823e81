// SPDX-License-Identifier: Apache-2.0
//
// What devices refuse, from the constraint sections of the operators' pages.
#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/operators/aclnn.hpp"
#include "operators/aclnn_translate.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn {
namespace {

const char* name_of(Chip chip) {
  switch (chip) {
    case Chip::atlas_a2: return "Atlas A2";
    case Chip::atlas_a3: return "Atlas A3";
    case Chip::ascend_950: break;
  }
  return "Ascend 950";
}

/// The sentences about one call. Every rule is tried, whatever the others found.
class Findings {
 public:
  explicit Findings(Chip chip) : chip_(name_of(chip)) {}

  /// `rule` is what the device wants.
  template <class Value>
  void require(bool kept, std::string_view rule, const Value& got) {
    if (!kept) sentences_.push_back(fmt::format("{} {}, got {}", chip_, rule, got));
  }
  std::vector<std::string> sentences() && { return std::move(sentences_); }

 private:
  const char* chip_;
  std::vector<std::string> sentences_;
};

/// x's extents by their letters; TND has B = 1 and its tokens for S.
struct Extents {
  std::int64_t B = 1;
  std::int64_t N = 1;
  std::int64_t S = 1;
  std::int64_t D = 1;
  std::int64_t BN = 1;

  Extents(const Dims& shape, Layout layout) {
    const std::string_view letters = translate::name_of_layout(layout);
    for (std::size_t axis = 0; axis < letters.size(); ++axis) {
      (letters[axis] == 'B'   ? B
       : letters[axis] == 'N' ? N
       : letters[axis] == 'D' ? D
                              : S) = shape[axis];
    }
    BN = eigen_rope::detail::checked_product("B*N", B, N);
    // The rules' own multiples must fit too.
    eigen_rope::detail::checked_product("8*B*N", BN, 8);
    eigen_rope::detail::checked_product("8*S", S, 8);
  }
};

/// Whether cos has x's extent where the pattern has a letter, and 1 where it has 1.
bool matches(std::string_view pattern, const Dims& cos, const Dims& x) {
  for (std::size_t axis = 0; axis < pattern.size(); ++axis) {
    if (cos[axis] != (pattern[axis] == '1' ? 1 : x[axis])) return false;
  }
  return true;
}

struct TablePatterns {
  std::string_view shared;     ///< one table for all batches
  std::string_view per_batch;  ///< empty for TND
  std::string_view full;
};

TablePatterns patterns_of(Layout layout) {
  switch (layout) {
    case Layout::bsnd: return {"1S1D", "BS1D", "BSND"};
    case Layout::sbnd: return {"S11D", "SB1D", "SBND"};
    case Layout::bnsd: return {"11SD", "B1SD", "BNSD"};
    case Layout::tnd: break;
  }
  return {"T1D", "", "TND"};
}

void check_type(Findings& findings, ScalarType type) {
  findings.require(type != ScalarType::f64, "takes f32, f16 and bf16", eigen_rope::name_of(type));
}

void check_atlas_mode(Findings& findings, Mode mode) {
  findings.require(mode == Mode::half || mode == Mode::interleave,
                   "takes modes half and interleave", translate::name_of_mode(mode));
}

bool is_shared(const TablePatterns& patterns, const Inputs& inputs) {
  return matches(patterns.shared, inputs.cos.shape, inputs.x.shape);
}
bool is_per_batch(const TablePatterns& patterns, const Inputs& inputs) {
  return !patterns.per_batch.empty() &&
         matches(patterns.per_batch, inputs.cos.shape, inputs.x.shape);
}

void check_atlas_half_table(Findings& findings, const Inputs& inputs, Layout layout) {
  const TablePatterns patterns = patterns_of(layout);
  const bool fits = is_shared(patterns, inputs) || is_per_batch(patterns, inputs) ||
                    matches(patterns.full, inputs.cos.shape, inputs.x.shape);
  const std::string names =
      layout == Layout::tnd
          ? fmt::format("{} or {}", patterns.shared, patterns.full)
          : fmt::format("{}, {} or {}", patterns.shared, patterns.per_batch, patterns.full);
  findings.require(fits,
                   fmt::format("takes cos of shape {} in mode half for x {}", names,
                               translate::text(inputs.x.shape)),
                   translate::text(inputs.cos.shape));
}

void check_atlas_interleave_table(Findings& findings, const Inputs& inputs, Layout layout) {
  const TablePatterns patterns = patterns_of(layout);
  findings.require(is_shared(patterns, inputs),
                   fmt::format("takes cos of shape {} in mode interleave for x {}", patterns.shared,
                               translate::text(inputs.x.shape)),
                   translate::text(inputs.cos.shape));
}

/// What the operator and its gradient have in common.
void check_atlas(Findings& findings, const Inputs& inputs, Mode mode, Layout layout) {
  const Extents x(inputs.x.shape, layout);
  check_atlas_mode(findings, mode);
  findings.require(x.D < 896, "takes D below 896", x.D);
  if (mode == Mode::half) {
    findings.require(x.B < 1000, "takes B below 1000 in mode half", x.B);
    findings.require(x.N < 1000, "takes N below 1000 in mode half", x.N);
    check_atlas_half_table(findings, inputs, layout);
  }
  if (mode == Mode::interleave) {
    findings.require(x.BN < 1000, "takes B*N below 1000 in mode interleave", x.BN);
    check_atlas_interleave_table(findings, inputs, layout);
  }
}

/// The forward operator alone asks for this.
void check_atlas_bnsd(Findings& findings, const Inputs& inputs) {
  const Extents x(inputs.x.shape, Layout::bnsd);
  const auto vector = static_cast<std::int64_t>(32 / size_of(inputs.x.type));
  if (x.D / 2 % vector == 0) {
    findings.require(
        x.BN <= 8 * x.S,
        fmt::format("takes B*N of at most 8*S = {} in layout BNSD with D/2 divisible by {}",
                    8 * x.S, vector),
        x.BN);
  } else if (x.D < 80) {
    // The rule is 2 B N <= ceil(S / cores), and one core is the fewest.
    findings.require(2 * x.BN <= x.S,
                     fmt::format("takes 2*B*N of at most S = {} in layout BNSD with D below 80 and "
                                 "D/2 not divisible by {}",
                                 x.S, vector),
                     2 * x.BN);
  }
}

void check_950(Findings& findings, std::int64_t head_size) {
  findings.require(head_size <= 1024, "takes D of at most 1024", head_size);
}

}  // namespace

std::vector<std::string> device_check(const Inputs& inputs, Mode mode, Layout layout, Chip chip) {
  translate::check_shapes("x", inputs, mode, layout);
  Findings findings(chip);
  check_type(findings, inputs.x.type);
  if (chip == Chip::ascend_950) {
    check_950(findings, inputs.x.shape.back());
  } else {
    check_atlas(findings, inputs, mode, layout);
    if (mode == Mode::half && layout == Layout::bnsd) check_atlas_bnsd(findings, inputs);
  }
  return std::move(findings).sentences();
}

std::vector<std::string> device_check(const GradInputs& inputs, Mode mode, Layout layout,
                                      Chip chip) {
  translate::check_shapes(inputs, mode, layout);
  const Inputs rotated{inputs.dy, inputs.cos, inputs.sin};
  Findings findings(chip);
  check_type(findings, inputs.dy.type);
  if (chip == Chip::ascend_950) {
    check_950(findings, inputs.dy.shape.back());
    return std::move(findings).sentences();
  }
  check_atlas(findings, rotated, mode, layout);
  if (mode == Mode::half) {
    const Extents dy(inputs.dy.shape, layout);
    if (inputs.x)
      findings.require(dy.BN <= 1024, "takes B*N of at most 1024 for dcos and dsin", dy.BN);
    const TablePatterns patterns = patterns_of(layout);
    if (layout != Layout::sbnd && is_per_batch(patterns, rotated) &&
        !is_shared(patterns, rotated)) {
      findings.require(
          dy.B < dy.S,
          fmt::format("takes B below S = {} for cos of shape {}", dy.S, patterns.per_batch), dy.B);
    }
  }
  return std::move(findings).sentences();
}

std::vector<std::string> device_check(const ApplyInputs& inputs, Mode mode, Layout layout,
                                      Chip chip) {
  translate::check_shapes(inputs, mode, layout);
  const std::int64_t head_size = inputs.query.shape.back();
  Findings findings(chip);
  check_type(findings, inputs.query.type);
  if (chip == Chip::ascend_950) {
    check_950(findings, head_size);
  } else {
    findings.require(mode == Mode::half, "takes mode half", translate::name_of_mode(mode));
    findings.require(head_size == 64 || head_size == 128, "takes D of 64 or 128", head_size);
    findings.require(inputs.cos.shape.back() == head_size,
                     fmt::format("takes cos as wide as D = {}", head_size),
                     inputs.cos.shape.back());
  }
  return std::move(findings).sentences();
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn
