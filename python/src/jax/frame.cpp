// SPDX-License-Identifier: Apache-2.0
#include "frame.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

namespace eigen_rope_jax {
namespace {

[[noreturn]] void differs(const char* name) {
  // _primitives.py and this file are of one package, unless somebody calls the handlers otherwise.
  throw er::Error(std::string("[rope] a call of the handler must have the attribute ") + name +
                  " in its place, as those of eigen_rope.jax have");
}

const XLA_FFI_Scalar& scalar(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name,
                             XLA_FFI_AttrType type) {
  const XLA_FFI_Attrs& attributes = frame.attrs;
  if (place >= attributes.size || attributes.types[place] != type) differs(name);
  const XLA_FFI_ByteSpan& found = *attributes.names[place];
  if (std::string_view(found.ptr, found.len) != name) differs(name);
  return *static_cast<const XLA_FFI_Scalar*>(attributes.attrs[place]);
}

void require(bool there, const char* what) {
  if (!there) throw er::Error(std::string("[rope] a call of the handler must have ") + what);
}

std::atomic<int> minor{XLA_FFI_API_MINOR};

}  // namespace

bool agree(int xla_major, int xla_minor) {
  if (xla_major != XLA_FFI_API_MAJOR) return false;
  minor = (std::min)(xla_minor, XLA_FFI_API_MINOR);
  return true;
}

const XLA_FFI_Buffer& argument(const XLA_FFI_CallFrame& frame, std::int64_t index) {
  require(index < frame.args.size, "all its arguments");
  return *static_cast<const XLA_FFI_Buffer*>(frame.args.args[index]);
}

const XLA_FFI_Buffer& result(const XLA_FFI_CallFrame& frame, std::int64_t index) {
  require(index < frame.rets.size, "all its results");
  return *static_cast<const XLA_FFI_Buffer*>(frame.rets.rets[index]);
}

er::ScalarType scalar_type(const XLA_FFI_Buffer& buffer) {
  switch (buffer.dtype) {
    case XLA_FFI_DataType_F16: return er::ScalarType::f16;
    case XLA_FFI_DataType_BF16: return er::ScalarType::bf16;
    case XLA_FFI_DataType_F32: return er::ScalarType::f32;
    case XLA_FFI_DataType_F64: return er::ScalarType::f64;
    default:
      throw er::Error(
          "[rope] arrays must be of float16, bfloat16, float32 or float64, got XLA's type " +
          std::to_string(static_cast<int>(buffer.dtype)));
  }
}

er::Shape shape_of(const XLA_FFI_Buffer& buffer) { return read(buffer).shape; }

er::Shape together(const er::Shape& a, const er::Shape& b) {
  require(a.rank() == b.rank(), "arrays with the same number of axes");
  er::Shape both;
  for (int axis = 0; axis < a.rank(); ++axis) both.push_back(a[axis] == 1 ? b[axis] : a[axis]);
  return both;
}

er::any::ConstTensor read(const XLA_FFI_Buffer& buffer) {
  const void* const data = buffer.data;
  return er::any::tensor(scalar_type(buffer), data, static_cast<int>(buffer.rank), buffer.dims);
}

er::any::ConstTensor read(const XLA_FFI_Buffer& buffer, const er::Shape& full) {
  er::any::ConstTensor view = read(buffer);
  const er::Shape own = view.shape;
  if (own == full || own.rank() != full.rank()) return view;
  er::Index strides[er::max_rank];
  er::Index stride = 1;
  for (int axis = own.rank() - 1; axis >= 0; --axis) {
    strides[axis] = own[axis] == 1 ? 0 : stride;
    stride *= own[axis];
  }
  view.shape = er::Shape{};
  for (int axis = 0; axis < own.rank(); ++axis) {
    view.shape.push_back(own[axis] == 1 ? full[axis] : own[axis]);
    view.strides.push_back(strides[axis]);
  }
  return view;
}

er::any::Tensor write(const XLA_FFI_Buffer& buffer) {
  return er::any::tensor(scalar_type(buffer), buffer.data, static_cast<int>(buffer.rank),
                         buffer.dims);
}

std::string_view string(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name) {
  // Strings are byte spans and nothing else; scalar() has looked at the type.
  const void* const found = &scalar(frame, place, name, XLA_FFI_AttrType_STRING);
  const auto* const span = static_cast<const XLA_FFI_ByteSpan*>(found);
  return {span->ptr, span->len};
}

std::int64_t integer(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name) {
  const XLA_FFI_Scalar& found = scalar(frame, place, name, XLA_FFI_AttrType_SCALAR);
  if (found.dtype != XLA_FFI_DataType_S64) differs(name);
  return *static_cast<const std::int64_t*>(found.value);
}

double number(const XLA_FFI_CallFrame& frame, std::int64_t place, const char* name) {
  const XLA_FFI_Scalar& found = scalar(frame, place, name, XLA_FFI_AttrType_SCALAR);
  if (found.dtype != XLA_FFI_DataType_F64) differs(name);
  return *static_cast<const double*>(found.value);
}

XLA_FFI_Error* refuse(const XLA_FFI_CallFrame& frame, XLA_FFI_Error_Code code,
                      const char* message) {
  XLA_FFI_Error_Create_Args arguments{};
  arguments.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  arguments.message = message;
  arguments.errc = code;
  return frame.api->XLA_FFI_Error_Create(&arguments);
}

bool asks_for_version(const XLA_FFI_CallFrame& frame) {
  // Versions of the header differ in the name of the type.
  for (auto* extension = frame.extension_start; extension != nullptr; extension = extension->next) {
    if (extension->type != XLA_FFI_Extension_Metadata) continue;
    void* const whole = extension;
    XLA_FFI_Metadata& metadata = *static_cast<XLA_FFI_Metadata_Extension*>(whole)->metadata;
    metadata.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, minor};
    metadata.traits = 0;
    return true;
  }
  return false;
}

}  // namespace eigen_rope_jax
