// SPDX-License-Identifier: Apache-2.0
#include "c/status.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "eigen_rope/c/eigen_rope.h"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
namespace {

constexpr std::size_t most_bytes = 600;
thread_local char message[most_bytes];

/// Like the library's own messages, one line that is shorter than 600 bytes.
eigen_rope_status failed(eigen_rope_status status, std::string_view text) noexcept {
  const std::size_t size = std::min(text.size(), most_bytes - 1);
  std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), message,
                 [](char c) { return static_cast<unsigned char>(c) < 0x20U ? ' ' : c; });
  message[size] = '\0';
  return status;
}

}  // namespace

eigen_rope_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return failed(EIGEN_ROPE_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc&) {
    return failed(EIGEN_ROPE_OUT_OF_MEMORY, "[rope] memory could not be allocated");
  } catch (const std::length_error&) {
    return failed(EIGEN_ROPE_OUT_OF_MEMORY, "[rope] memory could not be allocated");
  } catch (const std::exception& error) {
    return failed(EIGEN_ROPE_INTERNAL, error.what());
  } catch (...) {
    return failed(EIGEN_ROPE_INTERNAL, "[rope] something that is no std::exception was thrown");
  }
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::c

#define EIGEN_ROPE_TEXT_OF(number) #number
#define EIGEN_ROPE_VERSION_TEXT(major, minor, patch) \
  EIGEN_ROPE_TEXT_OF(major) "." EIGEN_ROPE_TEXT_OF(minor) "." EIGEN_ROPE_TEXT_OF(patch)

uint32_t eigen_rope_abi_version(void) noexcept { return EIGEN_ROPE_ABI_VERSION; }

const char* eigen_rope_version(void) noexcept {
  return EIGEN_ROPE_VERSION_TEXT(EIGEN_ROPE_VERSION_MAJOR, EIGEN_ROPE_VERSION_MINOR,
                                 EIGEN_ROPE_VERSION_PATCH);
}

const char* eigen_rope_last_message(void) noexcept { return eigen_rope::c::message; }
