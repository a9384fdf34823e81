// SPDX-License-Identifier: Apache-2.0
#include "numpy.hpp"

#include <nanobind/ndarray.h>

#include <eigen_rope/numbers/error.hpp>
#include <memory>
#include <string>
#include <utility>

#include "words.hpp"

namespace eigen_rope_python {
namespace {

nb::module_ numpy() { return nb::module_::import_("numpy"); }

nb::dlpack::dtype dlpack_type(er::ScalarType type) {
  using Code = nb::dlpack::dtype_code;
  const auto code = type == er::ScalarType::bf16 ? Code::UInt : Code::Float;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * er::size_of(type)), 1};
}

nb::object bfloat16() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
  }
  throw er::Error(
      "[rope] arrays of bfloat16 must have a type in numpy, which the package ml_dtypes gives: "
      "pip install ml_dtypes");
}

nb::tuple tuple_of(const std::vector<er::Index>& shape) {
  nb::list extents;
  for (const er::Index extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

template <class... Config, class Pointer>
nb::object view_as(er::ScalarType type, Pointer data, const std::vector<er::Index>& shape,
                   nb::handle owner) {
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  const nb::ndarray<nb::numpy, Config...> array(data, extents.size(), extents.data(), owner,
                                                nullptr, dlpack_type(type));
  nb::object result = nb::cast(array, nb::rv_policy::reference);
  return type == er::ScalarType::bf16 ? result.attr("view")(bfloat16()) : result;
}

}  // namespace

bool is_numpy(nb::handle object) {
  // Kept for as long as the process: a module of numpy's is never unloaded.
  static PyObject* const type = nb::object(numpy().attr("ndarray")).release().ptr();
  return PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(type)) != 0;
}

nb::object dtype_of(er::ScalarType type) {
  switch (type) {
    case er::ScalarType::f32: return numpy().attr("dtype")("float32");
    case er::ScalarType::f64: return numpy().attr("dtype")("float64");
    case er::ScalarType::f16: return numpy().attr("dtype")("float16");
    case er::ScalarType::bf16: break;
  }
  return numpy().attr("dtype")(bfloat16());
}

er::ScalarType scalar_type_of(nb::handle dtype) {
  std::string name;
  try {
    name = text_of(numpy().attr("dtype")(dtype).attr("name"));
  } catch (const nb::python_error&) {
    // bfloat16, and dtypes of other frameworks, whose names end in the scalar's.
    name = text_of(dtype);
    name = name.substr(name.rfind('.') + 1);
  }
  if (name == "float32") return er::ScalarType::f32;
  if (name == "float64") return er::ScalarType::f64;
  if (name == "float16") return er::ScalarType::f16;
  if (name == "bfloat16") return er::ScalarType::bf16;
  er::detail::fail("dtype must be float16, bfloat16, float32 or float64", name);
}

nb::object numpy_view(er::ScalarType type, const void* data, const std::vector<er::Index>& shape,
                      nb::handle owner, Access access) {
  if (access == Access::read_only) return view_as<nb::ro>(type, data, shape, owner);
  return view_as<>(type, const_cast<void*>(data), shape, owner);
}

nb::object numpy_array(std::vector<double> values, const std::vector<er::Index>& shape) {
  auto owned = std::make_unique<std::vector<double>>(std::move(values));
  const double* const data = owned->data();
  const nb::capsule owner(
      owned.get(), [](void* vector) noexcept { delete static_cast<std::vector<double>*>(vector); });
  owned.release();
  return numpy_view(er::ScalarType::f64, data, shape, owner, Access::writable);
}

nb::object numpy_empty(er::ScalarType type, const std::vector<er::Index>& shape) {
  return numpy().attr("empty")(tuple_of(shape), dtype_of(type));
}

nb::object numpy_empty_like(nb::handle array) {
  return numpy().attr("empty_like")(array, nb::arg("subok") = false);
}

}  // namespace eigen_rope_python
