// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/machine/kernel_target.hpp"

#include <fmt/core.h>
#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "eigen_rope/numbers/error.hpp"
#include "machine/dispatch.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

constexpr std::array<const char*, detail::version_count> names{"AVX3", "AVX2", "SSE4", "NEON",
                                                               "SCALAR"};
constexpr const char* variable = "EIGEN_ROPE_KERNEL_TARGET";
constexpr int undecided = -1;

std::atomic<int> chosen{undecided};

bool available(std::size_t version) {
  // Highway reports SCALAR only where it was the compiler's baseline; plain C++ runs everywhere.
  const long long target = detail::version_targets[version];
  // Asked once: a virtual machine takes 25 microseconds to answer.
  static const long long supported = hwy::SupportedTargets();
  return target != 0 && (target == HWY_SCALAR || (supported & target) != 0);
}

int find(const std::string& name, const std::string& argument) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name && available(i)) return static_cast<int>(i);
  }
  detail::fail(
      fmt::format("{} must be one of {}", argument, detail::joined(kernel_targets(), ", ")), name);
}

int find_default() {
  const char* forced = std::getenv(variable);
  if (forced != nullptr && *forced != '\0') return find(forced, variable);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (available(i)) return static_cast<int>(i);
  }
  return static_cast<int>(names.size()) - 1;
}

}  // namespace

std::size_t detail::chosen_version() {
  int version = chosen.load(std::memory_order_relaxed);
  if (version == undecided) {
    version = find_default();
    chosen.store(version, std::memory_order_relaxed);
  }
  return static_cast<std::size_t>(version);
}

void detail::require_kernel_target() { chosen_version(); }

std::vector<std::string> kernel_targets() {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (available(i)) result.emplace_back(names[i]);
  }
  return result;
}

std::string kernel_target() { return names[detail::chosen_version()]; }

void set_kernel_target(const std::string& name) {
  chosen.store(name.empty() ? find_default() : find(name, "the kernel target"),
               std::memory_order_relaxed);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
