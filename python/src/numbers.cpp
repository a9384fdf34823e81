// SPDX-License-Identifier: Apache-2.0
#include "numbers.hpp"

#include <eigen_rope/numbers/error.hpp>
#include <string>

#include "words.hpp"

namespace eigen_rope_python {
namespace {

void require_int64(nb::handle array, const char* name) {
  const nb::object largest = array.attr("max")();
  if (nb::cast<std::uint64_t>(nb::int_(largest)) >> 63 != 0)
    er::detail::fail(std::string(name) + " must fit int64", text_of(largest));
}

}  // namespace

Numbers::Numbers(nb::handle given, const char* name) : name_(name) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(given);
  const std::string kind = text_of(nb::object(array.attr("dtype").attr("kind")));
  const std::string dtype = text_of(nb::object(array.attr("dtype")));
  const bool empty = nb::cast<er::Index>(array.attr("size")) == 0;
  integers_ = kind == "i" || kind == "u" || empty;
  if (!integers_ && kind != "f") fail_type(std::string(name) + " must be numbers", dtype);
  if (kind == "u" && !empty) require_int64(array, name);
  if (kind == "f" && nb::cast<er::Index>(array.attr("itemsize")) > 8)
    er::detail::fail(std::string(name) + " must be at most float64", dtype);
  const nb::object neighbours =
      numpy.attr("ascontiguousarray")(array, integers_ ? "int64" : "float64");
  // What has no axis has one now.
  held_ = nb::cast<nb::ndarray<nb::ro, nb::c_contig>>(neighbours);
}

er::any::PositionIds Numbers::ids() const {
  return {integers_ ? er::any::PositionType::i64 : er::any::PositionType::f64, held_.data(),
          count()};
}

er::IndexList Numbers::index_list() const {
  require_list();
  return {static_cast<const std::int64_t*>(held_.data()), count()};
}

std::vector<std::int64_t> Numbers::list() const {
  require_list();
  const auto* const first = static_cast<const std::int64_t*>(held_.data());
  return {first, first + count()};
}

void Numbers::require_list() const {
  if (!integers_) fail_type(std::string(name_) + " must be integers", "float64");
  if (rank() == 1) return;
  er::detail::fail(std::string(name_) + " must have one axis", static_cast<std::int64_t>(rank()));
}

}  // namespace eigen_rope_python
