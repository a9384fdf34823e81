// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/scaling_choice.hpp"

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

const char* scaling_name(const Scaling& scaling) {
  return std::visit(
      Overloaded{[](const Unscaled&) { return "default"; }, [](const Linear&) { return "linear"; },
                 [](const Proportional&) { return "proportional"; }, [](const DynamicNtkScaling&) { return "dynamic"; },
                 [](const NtkScaling&) { return "ntk"; }, [](const Yarn&) { return "yarn"; }, [](const GgmlYarn&) { return "yarn"; },
                 [](const Llama3&) { return "llama3"; }, [](const LongRope&) { return "longrope"; }},
      scaling);
}

std::optional<Index> original_context(const Scaling& scaling) {
  using Context = std::optional<Index>;
  return std::visit(Overloaded{[](const Unscaled&) -> Context { return {}; }, [](const Linear&) -> Context { return {}; },
                               [](const Proportional&) -> Context { return {}; }, [](const NtkScaling&) -> Context { return {}; },
                               [](const auto& with_context) -> Context { return with_context.original_context; }},
                    scaling);
}

bool depends_on_length(const Scaling& scaling) {
  return std::holds_alternative<DynamicNtkScaling>(scaling) || std::holds_alternative<LongRope>(scaling);
}

Frequencies frequencies(const Powers& powers, const Scaling& scaling, Index length) {
  if (length < 0) detail::fail("the length of a sequence must be at least 0", length);
  return std::visit(Overloaded{[&](const Unscaled&) { return Frequencies::powers(powers); },
                               [&](const Linear& linear) { return Frequencies::linear(powers, linear.factor); },
                               [&](const Proportional& proportional) { return Frequencies::proportional(powers, proportional); },
                               [&](const DynamicNtkScaling& ntk) { return Frequencies::dynamic_ntk(powers, ntk, length); },
                               [&](const NtkScaling& ntk) { return Frequencies::ntk(powers, ntk); },
                               [&](const Yarn& yarn) { return Frequencies::yarn(powers, yarn); },
                               [&](const GgmlYarn& yarn) { return Frequencies::ggml_yarn(powers, yarn); },
                               [&](const Llama3& llama3) { return Frequencies::llama3(powers, llama3); },
                               [&](const LongRope& longrope) { return Frequencies::longrope(powers, longrope, length); }},
                    scaling);
}

}  // namespace eigen_rope
