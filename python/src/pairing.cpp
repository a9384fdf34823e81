// SPDX-License-Identifier: Apache-2.0
#include "pairing.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <eigen_rope/any/choices.hpp>
#include <eigen_rope/numbers/error.hpp>

#include "bindings.hpp"
#include "words.hpp"

namespace eigen_rope_python {

er::Pairing Pairing::for_rank(int rank) const {
  er::Pairing pairing(kind);
  pairing = pairing.with_offset(offset);
  if (rotary_dims) pairing = pairing.with_rotary_dims(*rotary_dims);
  if (axis == -1) return pairing;
  if (axis < -rank || axis >= rank) {
    er::detail::fail("axis must be from " + std::to_string(-rank) + " to " +
                         std::to_string(rank - 1) + " for an array of " + std::to_string(rank) +
                         " axes",
                     static_cast<std::int64_t>(axis));
  }
  return pairing.along(axis < 0 ? axis + rank : axis);
}

std::string Pairing::text() const {
  std::string text = std::string("Pairing('") + er::name_of(kind) + "'";
  if (rotary_dims) text += ", rotary_dims=" + std::to_string(*rotary_dims);
  if (offset != 0) text += ", offset=" + std::to_string(offset);
  if (axis != -1) text += ", axis=" + std::to_string(axis);
  return text + ")";
}

Pairing pairing_of_model(const er::Pairing& pairing, er::Index head_dims) {
  Pairing result{pairing.kind(), std::nullopt, pairing.offset()};
  const er::Index dims = pairing.rotary_dims(head_dims);
  if (dims + pairing.offset() != head_dims) result.rotary_dims = dims;
  return result;
}

Pairing read_pairing(nb::handle object) {
  if (nb::isinstance<nb::str>(object))
    return {er::any::pairing_of(nb::cast<std::string>(object)).kind()};
  if (nb::isinstance<Pairing>(object)) return nb::cast<Pairing>(object);
  fail_type("pairing must be a Pairing or a name", class_name(object));
}

void bind_pairing(nb::module_& module) {
  nb::class_<Pairing>(module, "Pairing", R"(
Which elements of a row form a pair, and which part of the row is rotated.

A row lies along `axis` of an array. Its window of R rotary dims begins at `offset` and holds
R / 2 pairs. Everything outside the window is copied.

kind         pair k of a window with P pairs
split_half   (k, k + P), as Hugging Face's Llama and GPT-NeoX have it
interleaved  (2k, 2k + 1), as GPT-J and Llama's own files have it
quarter      split halves inside each half of the window
interleaved_to_split_half
             reads (2k, 2k + 1) and writes (k, k + P), as DeepSeek's latent attention does

Nothing in an array shows the pairing that its model was trained for. Functions that take a pairing
also take the name of a kind, which stands for whole rows along the last axis.

>>> Pairing("interleaved", rotary_dims=32)
Pairing('interleaved', rotary_dims=32)

Args:
    kind: one of the names above.
    rotary_dims: the width of the window, even; without it the window ends with the row.
    offset: the first element of the window.
    axis: the axis of x that rows lie along, counted as numpy counts axes.

Raises:
    ValueError: for an unknown kind. A window or an axis that does not fit is refused by the
        function that gets an array.)")
      .def(
          "__init__",
          [](Pairing* self, const std::string& kind, std::optional<er::Index> rotary_dims,
             er::Index offset, int axis) {
            new (self) Pairing{er::any::pairing_of(kind).kind(), rotary_dims, offset, axis};
          },
          nb::arg("kind"), nb::kw_only(), nb::arg("rotary_dims") = nb::none(),
          nb::arg("offset") = 0, nb::arg("axis") = -1)
      .def_prop_ro(
          "kind", [](const Pairing& self) { return er::name_of(self.kind); },
          "The name of the kind.")
      .def_ro("rotary_dims", &Pairing::rotary_dims,
              "The width of the window, or None where it ends with the row.")
      .def_ro("offset", &Pairing::offset, "The first element of the window.")
      .def_ro("axis", &Pairing::axis, "The axis that rows lie along.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const Pairing& self) {
             return nb::hash(
                 nb::make_tuple(er::name_of(self.kind), self.rotary_dims, self.offset, self.axis));
           })
      .def("__repr__", &Pairing::text)
      .def(
          "__reduce__",
          [](nb::handle self) {
            const auto& value = nb::cast<const Pairing&>(self);
            nb::dict state;
            state["rotary_dims"] = value.rotary_dims;
            state["offset"] = value.offset;
            state["axis"] = value.axis;
            return nb::make_tuple(
                nb::module_::import_("functools").attr("partial")(self.type(), **state),
                nb::make_tuple(er::name_of(value.kind)));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}

}  // namespace eigen_rope_python
