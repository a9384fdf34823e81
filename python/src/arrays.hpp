// SPDX-License-Identifier: Apache-2.0
//
// Arrays that a caller gives: of numpy, or of anything with __dlpack__ or a buffer, on the CPU.
//
//   const Array x = read_array(object, "x");
//   er::any::rotate_to(to.tensor(), x.tensor(), ...)
//
// They are read where they lie, with the strides that they have. An array that cannot be read so is
// refused with a sentence: a ValueError, or a TypeError if it is no array at all.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <eigen_rope/any/tensor.hpp>
#include <vector>

#include "numpy.hpp"

namespace eigen_rope_python {

/// Where the elements of an array lie; keeps them alive.
class Array {
 public:
  const er::any::Tensor& tensor() const { return tensor_; }
  er::ScalarType type() const { return tensor_.type; }
  int rank() const { return tensor_.shape.rank(); }
  /// The extents, slowest axis first.
  std::vector<er::Index> shape() const;

 private:
  friend Array read_array(nb::handle object, const char* name);
  friend Array read_writable_array(nb::handle object, const char* name);
  Array(nb::handle object, const char* name, Access access);

  // Of the two, the one that the access asks for.
  nb::ndarray<nb::ro> read_;
  nb::ndarray<> written_;
  er::any::Tensor tensor_;
};

/// The array that is given as the argument `name`, to be read.
Array read_array(nb::handle object, const char* name);
/// Likewise, to be written; throws for arrays that are read-only.
Array read_writable_array(nb::handle object, const char* name);

/// A new array of numpy of the shape and the type of x, and of its order in memory if x is numpy's.
nb::object empty_like(nb::handle object, const Array& x);

}  // namespace eigen_rope_python
