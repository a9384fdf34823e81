// SPDX-License-Identifier: Apache-2.0
//
// The rotations, as eigen_rope/_rotation.py calls them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <eigen_rope/any/any.hpp>
#include <eigen_rope/machine/kernel_target.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "numbers.hpp"
#include "pairing.hpp"
#include "tables.hpp"
#include "threads.hpp"

namespace eigen_rope_python {
namespace {

nb::object rotate(nb::handle x, nb::handle table, nb::handle pairing, nb::handle out,
                  const std::string& direction, int threads) {
  const Array from = read_array(x, "x");
  const TableArgument entries(table);
  const er::Pairing pairs = read_pairing(pairing).for_rank(from.rank());
  const er::Direction way = er::any::direction_of(direction);
  nb::object result = out.is_none() ? empty_like(x, from) : nb::borrow(out);
  const Array to = read_writable_array(result, "out");
  CallThreads runner;
  const er::Device device(runner, threads);
  nb::gil_scoped_release released;
  er::any::rotate_to(to.tensor(), from.tensor(), entries.view(), pairs, way, device);
  return result;
}

/// A list with one whole number for each token of x, or None. The library takes an empty list for
/// none, which it is only where there are no tokens.
class TokenList {
 public:
  TokenList(nb::handle given, const char* name, const Array& x) {
    if (given.is_none()) return;
    numbers_.emplace(given, name);
    if (numbers_->count() == 0 && x.tensor().shape.size() != 0)
      er::detail::fail(std::string(name) + " must be one for each token", std::int64_t{0});
  }
  er::IndexList list() const { return numbers_ ? numbers_->index_list() : er::IndexList(); }

 private:
  std::optional<Numbers> numbers_;
};

nb::object rotate_tokens(nb::handle x, nb::handle table, nb::handle ids, nb::handle pairing,
                         nb::handle out, nb::handle slots, const std::string& direction,
                         int threads) {
  const Array from = read_array(x, "x");
  const TableArgument entries(table);
  const er::Pairing pairs = read_pairing(pairing).for_rank(from.rank());
  const er::Direction way = er::any::direction_of(direction);
  nb::object result = out.is_none() ? empty_like(x, from) : nb::borrow(out);
  const Array to = read_writable_array(result, "out");
  const TokenList rows(ids, "ids", from);
  const TokenList places(slots, "slots", from);
  CallThreads runner;
  const er::Device device(runner, threads);
  nb::gil_scoped_release released;
  er::any::rotate_tokens({{to.tensor(), from.tensor(), places.list()}}, entries.view(), rows.list(),
                         pairs, way, device);
  return result;
}

std::vector<std::string> kernel_targets() { return er::kernel_targets(); }

}  // namespace

void bind_rotation(nb::module_& module) {
  module.def("rotate", &rotate, nb::arg("x"), nb::arg("table"), nb::arg("pairing"),
             nb::arg("out").none(), nb::arg("direction"), nb::arg("threads"),
             nb::sig("def rotate(x: object, table: object, pairing: object, out: object | None, "
                     "direction: str, threads: int) -> typing.Any"));
  module.def("rotate_tokens", &rotate_tokens, nb::arg("x"), nb::arg("table"), nb::arg("ids").none(),
             nb::arg("pairing"), nb::arg("out").none(), nb::arg("slots").none(),
             nb::arg("direction"), nb::arg("threads"),
             nb::sig("def rotate_tokens(x: object, table: object, ids: object | None, "
                     "pairing: object, out: object | None, slots: object | None, direction: str, "
                     "threads: int) -> typing.Any"));
  module.def("kernel_target", &er::kernel_target, R"(
Return the name of the instruction set that the kernels run with.

All of them give the same bits. The environment variable EIGEN_ROPE_KERNEL_TARGET forces one.

Raises:
    ValueError: if that variable names none of kernel_targets().)");
  module.def("kernel_targets", &kernel_targets,
             "Return the names of the instruction sets that the processor has, best first.");
}

}  // namespace eigen_rope_python
