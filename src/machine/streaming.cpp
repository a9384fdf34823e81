// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/machine/streaming.hpp"

#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>

#include "eigen_rope/numbers/error.hpp"
#include "machine/stream_threshold.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {
namespace {

constexpr const char* variable = "EIGEN_ROPE_STREAM_BYTES";

enum class State { unread, unmeasured, known };

std::mutex changing;
std::atomic<State> state{State::unread};
std::atomic<std::size_t> threshold{0};  // valid where state is known

void know(std::size_t bytes) {
  threshold.store(bytes, std::memory_order_relaxed);
  state.store(State::known, std::memory_order_release);
}

std::optional<std::size_t> given_by_environment() {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::size_t bytes = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, bytes);
  if (error != std::errc() || rest != end)
    detail::fail(fmt::format("{} must be a whole number of bytes", variable),
                 std::string_view(text));
  return bytes;
}

/// Leaves state unread if it throws. With `changing` held.
void read_environment() {
  const std::optional<std::size_t> given = given_by_environment();
  if (given) {
    know(*given);
  } else {
    state.store(State::unmeasured, std::memory_order_release);
  }
}

/// With `changing` held, so that others wait for the one measurement.
void measure() { know(detail::measured_streaming_threshold()); }

}  // namespace

void detail::require_streaming_threshold() {
  if (state.load(std::memory_order_acquire) != State::unread) return;
  const std::lock_guard<std::mutex> lock(changing);
  if (state.load(std::memory_order_relaxed) == State::unread) read_environment();
}

std::size_t streaming_threshold() {
  if (state.load(std::memory_order_acquire) != State::known) {
    const std::lock_guard<std::mutex> lock(changing);
    if (state.load(std::memory_order_relaxed) == State::unread) read_environment();
    if (state.load(std::memory_order_relaxed) == State::unmeasured) measure();
  }
  return threshold.load(std::memory_order_relaxed);
}

void set_streaming_threshold(std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(changing);
  know(bytes);
}

void reset_streaming_threshold() {
  const std::lock_guard<std::mutex> lock(changing);
  state.store(State::unread, std::memory_order_release);
}

bool detail::streams(std::size_t bytes) noexcept {
  try {
    require_streaming_threshold();
    if (bytes <= always_cached && state.load(std::memory_order_acquire) == State::unmeasured)
      return false;
    return bytes >= streaming_threshold();
  } catch (const Error&) {
    return false;  // a wrong environment, and nobody asked require_streaming_threshold() first
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
