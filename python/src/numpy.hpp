// SPDX-License-Identifier: Apache-2.0
//
// Arrays of numpy: memory of ours as an array, without a copy, and new ones for results.
//
// numpy has no bfloat16 of its own. The package ml_dtypes gives it one, which is imported only
// where it is needed: such an array is one of uint16, seen as another type.
#pragma once

#include <nanobind/nanobind.h>

#include <eigen_rope/any/scalar_type.hpp>
#include <eigen_rope/numbers/shape.hpp>
#include <vector>

namespace eigen_rope_python {

namespace nb = nanobind;
namespace er = eigen_rope;

/// Whether it is an array of numpy.
bool is_numpy(nb::handle object);

/// The type of numpy for a scalar.
nb::object dtype_of(er::ScalarType type);
/// The scalar that a dtype of numpy, a type or a name means.
er::ScalarType scalar_type_of(nb::handle dtype);

enum class Access { read_only, writable };

/// Memory as an array of numpy, slowest axis first, which keeps `owner` alive.
nb::object numpy_view(er::ScalarType type, const void* data, const std::vector<er::Index>& shape,
                      nb::handle owner, Access access);

/// The numbers as an array of this shape, which takes their memory.
nb::object numpy_array(std::vector<double> values, const std::vector<er::Index>& shape);

/// A new array, uninitialised, row by row.
nb::object numpy_empty(er::ScalarType type, const std::vector<er::Index>& shape);
/// A new array of the shape, the type and the order in memory of an array of numpy.
nb::object numpy_empty_like(nb::handle array);

}  // namespace eigen_rope_python
