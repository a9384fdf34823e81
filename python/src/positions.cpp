// SPDX-License-Identifier: Apache-2.0
#include <eigen_rope/choices/positions.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <eigen_rope/any/choices.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "numbers.hpp"
#include "numpy.hpp"

namespace eigen_rope_python {
namespace {

using er::Index;

er::Positions positions_of_ids(nb::handle given) {
  const Numbers numbers(given, "ids");
  er::any::PositionIds ids = numbers.ids();
  if (numbers.rank() > 2) {
    er::detail::fail("ids must have one axis [tokens], or two [batches, tokens]",
                     static_cast<std::int64_t>(numbers.rank()));
  }
  if (numbers.rank() == 2) ids.batches = er::Batches{numbers.extent(0)};
  return er::any::positions(ids);
}

er::Positions positions_on_axes(nb::handle given, const er::Sections& sections) {
  const Numbers numbers(given, "ids");
  if (numbers.rank() != 2 && numbers.rank() != 3) {
    er::detail::fail("ids must have two axes [axes, tokens], or three [axes, batches, tokens]",
                     static_cast<std::int64_t>(numbers.rank()));
  }
  if (numbers.extent(0) != sections.axes()) {
    er::detail::fail("the first axis of ids must be as long as sections has axes (" +
                         std::to_string(sections.axes()) + ")",
                     static_cast<std::int64_t>(numbers.extent(0)));
  }
  er::any::PositionIds ids = numbers.ids();
  if (numbers.rank() == 3) ids.batches = er::Batches{numbers.extent(1)};
  ids.sections = sections;
  return er::any::positions(ids);
}

er::Positions packed(nb::handle cu_seqlens, nb::handle starts) {
  const std::vector<std::int64_t> ends = Numbers(cu_seqlens, "cu_seqlens").list();
  if (starts.is_none()) return er::Positions::packed(ends);
  return er::Positions::packed(ends, Numbers(starts, "starts").list());
}

er::Sharding sharding_of(const std::string& name) {
  for (const er::Sharding one : {er::Sharding::contiguous, er::Sharding::zigzag})
    if (name == er::name_of(one)) return one;
  er::detail::fail("sharding must be contiguous or zigzag", name);
}

er::Positions shard(const er::Positions& self, Index rank, Index ranks, const std::string& sharding,
                    nb::handle cu_seqlens) {
  const er::ContextShard shard{rank, ranks, sharding_of(sharding)};
  if (cu_seqlens.is_none()) return self.shard(shard);
  return self.shard(shard, Numbers(cu_seqlens, "cu_seqlens").list());
}

er::SectionPattern pattern_of(const std::string& name) {
  std::string names;
  for (const er::SectionPattern one :
       {er::SectionPattern::contiguous, er::SectionPattern::vision,
        er::SectionPattern::interleaved_ggml, er::SectionPattern::interleaved_hf}) {
    if (name == er::name_of(one)) return one;
    names.append(names.empty() ? "" : ", ").append(er::name_of(one));
  }
  er::detail::fail("pattern must be one of " + names, name);
}

nb::object values(const er::Positions& self) {
  std::vector<double> numbers;
  for (int axis = 0; axis < self.axes(); ++axis) {
    for (Index batch = 0; batch < self.batches(); ++batch) {
      for (Index token = 0; token < self.tokens(); ++token)
        numbers.push_back(self.at(axis, batch, token).high);
    }
  }
  return numpy_array(std::move(numbers), {self.axes(), self.batches(), self.tokens()});
}

void bind_sections(nb::module_& module) {
  nb::class_<er::Sections>(module, "Sections", R"(
Which position turns each pair, for models whose tokens have several positions (mrope).

>>> sections = Sections("contiguous", [16, 24, 24])  # time, row, column of Qwen2-VL
>>> sections.axis(20)
1

Args:
    pattern: contiguous, vision, interleaved_ggml or interleaved_hf.
    lengths: how many pairs each axis has, in the order time, height, width, extra.

Raises:
    ValueError: for an unknown pattern, and for lengths that do not suit it.)")
      .def(
          "__init__",
          [](er::Sections* self, const std::string& pattern, const std::vector<Index>& lengths) {
            new (self) er::Sections(pattern_of(pattern), lengths);
          },
          nb::arg("pattern"), nb::arg("lengths"))
      .def_prop_ro(
          "pattern", [](const er::Sections& self) { return er::name_of(self.pattern()); },
          "The rule by which pairs are dealt to the axes.")
      .def_prop_ro("lengths", &er::Sections::lengths, "How many pairs each axis has.")
      .def_prop_ro("axes", &er::Sections::axes, "The number of positions a token has.")
      .def(
          "axis",
          [](const er::Sections& self, Index pair) {
            if (pair < 0)
              er::detail::fail("pair must not be negative", static_cast<std::int64_t>(pair));
            return self.axis(pair);
          },
          nb::arg("pair"), "Return the axis whose position turns a pair.")
      .def("exponents", &er::Sections::exponents, nb::arg("pairs"),
           "Return the exponents of the first pairs, in the form that Powers takes.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const er::Sections& self) { return "Sections(" + self.text() + ")"; })
      .def(
          "__getstate__",
          [](const er::Sections& self) {
            return nb::make_tuple(er::name_of(self.pattern()), self.lengths());
          },
          nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](er::Sections& self, const nb::tuple& state) {
            new (&self) er::Sections(pattern_of(nb::cast<std::string>(state[0])),
                                     nb::cast<std::vector<Index>>(state[1]));
          },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...], /) -> None"));
}

}  // namespace

void bind_positions(nb::module_& module) {
  bind_sections(module);
  nb::class_<er::Positions>(module, "Positions", R"(
Where each token stands in its sequence.

Positions are integers, of which every int64 is kept exactly, or floats. They may be negative. The
functions below make them.

>>> Positions.range(0, 512)
Positions(512 tokens))")
      .def_static("range", &er::Positions::range, nb::arg("start"), nb::arg("tokens"), R"(
The positions start, start + 1, ..., which all sequences share.

Args:
    start: the position of the first token.
    tokens: the number of positions.

Raises:
    ValueError: if tokens is negative or the last position would pass int64.)")
      .def_static("ids", &positions_of_ids, nb::arg("ids"),
                  nb::sig("def ids(ids: numpy.typing.ArrayLike) -> Positions"), R"(
Positions from a list: one for each token, which all sequences share, or one row for each sequence.

Args:
    ids: numbers of shape [tokens] or [batches, tokens], which are copied.

Raises:
    ValueError: for a number that is not finite or does not fit int64, and for another shape.
    TypeError: for what are no numbers.)")
      .def_static("packed", &packed, nb::arg("cu_seqlens"), nb::arg("starts") = nb::none(),
                  nb::sig("def packed(cu_seqlens: numpy.typing.ArrayLike, "
                          "starts: numpy.typing.ArrayLike | None = None) -> Positions"),
                  R"(
The positions of sequences that stand side by side, each of which counts on its own.

Args:
    cu_seqlens: where each sequence begins, and behind them where the last one ends: 0, n_1, ...
    starts: the position of each sequence's first token; 0 without it.

Raises:
    ValueError: if cu_seqlens does not begin with 0 or decreases, or if there is not one start for
        each sequence.)")
      .def_static("multi_axis", &positions_on_axes, nb::arg("ids"), nb::arg("sections"),
                  nb::sig("def multi_axis(ids: numpy.typing.ArrayLike, sections: Sections) "
                          "-> Positions"),
                  R"(
Positions on several axes, such as the time, the row and the column of an image's patch.

Args:
    ids: numbers of shape [axes, tokens] or [axes, batches, tokens], which are copied.
    sections: which axis turns each pair.

Raises:
    ValueError: in the cases of ids(), and if sections has another number of axes.)")
      .def("shard", &shard, nb::arg("rank"), nb::arg("ranks"), nb::kw_only(),
           nb::arg("sharding") = "zigzag", nb::arg("cu_seqlens") = nb::none(),
           nb::sig("def shard(self, rank: int, ranks: int, *, sharding: str = 'zigzag', "
                   "cu_seqlens: numpy.typing.ArrayLike | None = None) -> Positions"),
           R"(
Return the positions of the tokens that one rank of context parallelism holds.

Padding stands at position 0.

Args:
    rank: the rank, from 0.
    ranks: the number of ranks.
    sharding: zigzag (rank r has chunks r and 2R - 1 - r) or contiguous (rank r has chunk r).
    cu_seqlens: where packed sequences begin, each of which is then cut on its own.

Raises:
    ValueError: for a rank that is none of the ranks, another word, or sequences that do not end
        with these tokens.)")
      .def_prop_ro("tokens", &er::Positions::tokens, "The number of tokens in each sequence.")
      .def_prop_ro(
          "batches", &er::Positions::batches,
          "The number of sequences with positions of their own, or 1 where all share them.")
      .def_prop_ro("axes", &er::Positions::axes, "The number of positions that a token has.")
      .def_prop_ro("values", &values,
                   nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float64]"),
                   "All positions, of shape [axes, batches, tokens], rounded to float64.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__repr__", [](const er::Positions& self) { return "Positions(" + self.text() + ")"; });
}

}  // namespace eigen_rope_python
