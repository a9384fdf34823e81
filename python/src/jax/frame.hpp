// SPDX-License-Identifier: Apache-2.0
//
// What XLA hands to a handler of its foreign function interface (FFI), as the library takes it.
//
//   read(buffer)                       any::ConstTensor of a dense array
//   read(buffer, full)                 likewise, with a stride of 0 where it has 1 and `full` more
//   string(frame, 4, "pairing")        an attribute, by its place and its name
//   Pool pool(frame); pool.device()    XLA's own threads as a Device
//   answer(frame, function)            runs it, and makes an error of what it throws
//
// Only the interface's header in C is used, and no function is called that version 0.0 of it lacks,
// so that one compiled file serves every jaxlib that can call version 0.
#pragma once

#include <xla/ffi/api/c_api.h>
#include <eigen_rope/any/any.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>

namespace eigen_rope_jax {

namespace er = eigen_rope;

/// Returns argument or result number `index`; _primitives.py says how many there are.
const XLA_FFI_Buffer& argument(const XLA_FFI_CallFrame& frame, std::int64_t index);
const XLA_FFI_Buffer& result(const XLA_FFI_CallFrame& frame, std::int64_t index);

/// Returns the extents of a buffer.
er::Shape shape_of(const XLA_FFI_Buffer& buffer);

/// Returns the extents that two arrays have together, where an extent of 1 is repeated.
er::Shape together(const er::Shape& a, const er::Shape& b);

er::ScalarType scalar_type(const XLA_FFI_Buffer& buffer);
er::any::ConstTensor read(const XLA_FFI_Buffer& buffer);
er::any::ConstTensor read(const XLA_FFI_Buffer& buffer, const er::Shape& full);
er::any::Tensor write(const XLA_FFI_Buffer& buffer);

/// Returns an attribute. XLA sorts them by name, so that the place of each is known.
std::string_view string(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name);
std::int64_t integer(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name);
double number(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name);

/// XLA's own threads.
class Pool {
 public:
  explicit Pool(const XLA_FFI_CallFrame& frame) : frame_(&frame) {}

  /// Returns a device that splits work among them.
  er::Device device() const;

  /// Does the items 0, ..., count - 1.
  ///
  /// A handler runs on one of these threads itself, and all others may be waiting in handlers, too.
  /// So nobody waits for a task to begin: the calling thread does every item that none has taken,
  /// and then waits for items that others are doing. A task that begins later finds none.
  void operator()(er::Index count, const er::Device::Work& work) const;

 private:
  const XLA_FFI_CallFrame* frame_;
};

/// Returns an error of XLA.
XLA_FFI_Error* refuse(const XLA_FFI_CallFrame& frame, XLA_FFI_Error_Code code, const char* message);

/// Returns whether the handlers can serve this version of the interface, and answers XLA's question
/// accordingly from then on.
///
/// Some versions of XLA load handlers of their own minor version only. What is used here has been
/// the same in all of them, so the handlers are of XLA's version where theirs is newer.
bool agree(int xla_major, int xla_minor);

/// Tells XLA for which version of the interface the handler was made, if this is its question.
bool asks_for_version(const XLA_FFI_CallFrame& frame);

/// Runs a handler. No exception leaves it.
template <class Function>
XLA_FFI_Error* answer(const XLA_FFI_CallFrame* frame, const Function& function) {
  if (asks_for_version(*frame)) return nullptr;
  try {
    function(*frame);
    return nullptr;
  } catch (const er::Error& error) {
    return refuse(*frame, XLA_FFI_Error_Code_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc&) {
    return refuse(*frame, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "[rope] memory has run out");
  } catch (const std::exception& error) {
    return refuse(*frame, XLA_FFI_Error_Code_INTERNAL, error.what());
  }
}

}  // namespace eigen_rope_jax
