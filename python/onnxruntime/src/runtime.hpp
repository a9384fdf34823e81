// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime as the operators see it: its table of functions, which is all that they use of it.
//
//   const Runtime runtime(base);                      an er::Error where it is too old
//   check(runtime, api.CreateX(&x));                  a status as an exception
//   return guarded(runtime.api(), [&] { ... });       an exception as a status
//
// Nothing is linked: what was compiled with one version's header runs in every later version, and
// in older ones as far back as `oldest_version`.
#pragma once

#include <onnxruntime_c_api.h>

#include <cstddef>
#include <cstdint>
#include <eigen_rope/numbers/error.hpp>
#include <exception>
#include <new>
#include <string>

namespace eigen_rope_onnxruntime {

namespace er = eigen_rope;

/// The first version whose custom operators have shape inference and the session's threads, and a
/// compute function that returns a status.
inline constexpr std::uint32_t oldest_version = 17;

/// A status that a function of ONNX Runtime returned, on its way to one that returns it.
class Failure : public std::exception {
 public:
  explicit Failure(OrtStatus* status) : status_(status) {}

  const char* what() const noexcept override { return "a status of ONNX Runtime"; }
  OrtStatus* status() const { return status_; }

 private:
  OrtStatus* status_;
};

/// Throws the status if it is one of an error.
inline void check(OrtStatus* status) {
  if (status != nullptr) throw Failure(status);
}

/// Calls work() and returns what it throws as a status: no exception reaches ONNX Runtime.
template <class Work>
OrtStatus* guarded(const OrtApi& api, const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (const Failure& failure) {
    return failure.status();
  } catch (const er::Error& error) {
    return api.CreateStatus(ORT_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc&) {
    return api.CreateStatus(ORT_FAIL, "[rope] there must be memory for the call, got none");
  } catch (const std::exception& error) {
    return api.CreateStatus(ORT_FAIL, error.what());
  } catch (...) {
    return api.CreateStatus(ORT_FAIL, "[rope] the call failed for a reason unknown");
  }
}

/// One ONNX Runtime of the process, usually the only one.
class Runtime {
 public:
  /// - Errors:   eigen_rope::Error if it is older than `oldest_version`.
  explicit Runtime(const OrtApiBase& base);

  /// Returns its table of functions.
  const OrtApi& api() const { return *api_; }
  /// Returns the version of the interface that operators are written for: the newest that this
  /// library and this runtime know.
  std::uint32_t version() const { return version_; }
  /// Returns whether a node may name no tensor for an optional input of an operator that infers
  /// shapes. Older versions end the program when they load such a node.
  bool infers_without_optional_inputs() const { return known_ >= 24; }
  /// Returns the most threads that one call may be divided among.
  int threads() const { return threads_; }

  /// Returns where the extents of a tensor are and how many there are, or a null pointer and -1
  /// where this version can only copy them.
  const std::int64_t* shape_of(const OrtValue& tensor, std::ptrdiff_t& rank) const {
    rank = -1;
    if (shape_reference_ == nullptr) return nullptr;
    ONNXTensorElementDataType type{};
    const std::int64_t* extents = nullptr;
    std::size_t count = 0;
    check(shape_reference_(&tensor, &type, &extents, &count));
    rank = static_cast<std::ptrdiff_t>(count);
    return extents;
  }

 private:
  /// OrtApi::GetTensorElementTypeAndShapeDataReference, which headers have since 1.24.
  using ShapeReference = OrtStatus*(ORT_API_CALL*)(const OrtValue*, ONNXTensorElementDataType*,
                                                   const std::int64_t**, std::size_t*);

  const OrtApi* api_ = nullptr;
  std::uint32_t known_ = 0;    // the runtime's own version
  std::uint32_t version_ = 0;  // what is asked of it
  int threads_ = 1;
  ShapeReference shape_reference_ = nullptr;
};

/// Returns the first table of functions, by which a runtime that is too old is told so.
const OrtApi& first_api(const OrtApiBase& base);

}  // namespace eigen_rope_onnxruntime
