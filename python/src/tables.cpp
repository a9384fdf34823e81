// SPDX-License-Identifier: Apache-2.0
#include "tables.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <eigen_rope/any/choices.hpp>
#include <eigen_rope/numbers/error.hpp>
#include <eigen_rope/tables/cache.hpp>
#include <eigen_rope/tables/growing_cache.hpp>
#include <string>
#include <variant>

#include "bindings.hpp"
#include "words.hpp"

namespace eigen_rope_python {
namespace {

using er::Index;

struct Cache : Table {};

/// A table of these frequencies, made by make(ScalarTag<T>()), which returns what has a view().
template <class Make>
Cache cache_of(er::ScalarType type, const Make& make) {
  return er::detail::with_scalar(type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    std::shared_ptr<const er::Cache<Scalar>> owned;
    {
      nb::gil_scoped_release released;
      owned = std::make_shared<const er::Cache<Scalar>>(make(tag));
    }
    Cache cache;
    cache.view = er::any::table_of(*owned);
    cache.owner = std::move(owned);
    return cache;
  });
}

Cache make_cache(nb::handle frequencies, const er::Positions& positions, nb::handle dtype,
                 const std::string& layout) {
  const er::ScalarType type = scalar_type_of(dtype);
  const er::Layout& axes = er::any::layout_of(layout);
  if (nb::isinstance<er::Frequencies>(frequencies)) {
    const auto& shared = nb::cast<const er::Frequencies&>(frequencies);
    return cache_of(type, [&](auto tag) {
      return er::Cache<typename decltype(tag)::type>(shared, positions, axes);
    });
  }
  std::vector<er::Frequencies> sequences;
  if (!nb::try_cast(frequencies, sequences)) {
    fail_type("frequencies must be Frequencies, or a list with those of each sequence",
              class_name(frequencies));
  }
  return cache_of(type, [&](auto tag) {
    return er::Cache<typename decltype(tag)::type>(sequences, positions, axes);
  });
}

/// Cosines or sines as an array that cannot be written, and keeps the table alive.
nb::object entries(nb::handle self, const void* data) {
  const auto& table = nb::cast<const Table&>(self);
  return numpy_view(table.view.type, data, table.shape(), self, Access::read_only);
}

/// The Python class GrowingCache: one of the four.
class GrowingCache {
 public:
  GrowingCache(const er::Frequencies& frequencies, er::ScalarType type, const er::Layout& layout,
               const er::Growth& growth)
      : type_(type) {
    er::detail::with_scalar(type, [&](auto tag) {
      using Scalar = typename decltype(tag)::type;
      cache_ = std::make_shared<const er::GrowingCache<Scalar>>(frequencies, layout, growth);
    });
  }

  template <class Use>
  decltype(auto) with_cache(const Use& use) const {
    return std::visit([&](const auto& cache) -> decltype(auto) { return use(cache); }, cache_);
  }

  Table rows(std::int64_t first, Index tokens) const {
    return with_cache([&](const auto& cache) {
      const auto view = [&] {
        nb::gil_scoped_release released;
        return cache->rows(first, tokens);
      }();
      return Table{er::any::table_of(view), cache};
    });
  }

  Cache gather(const er::Positions& positions) const {
    return with_cache([&](const auto& cache) {
      return cache_of(type_, [&](auto tag) {
        using Scalar = typename decltype(tag)::type;
        using Given = std::decay_t<decltype(*cache)>;
        if constexpr (std::is_same_v<Given, er::GrowingCache<Scalar>>) {
          return cache->gather(positions);
        } else {
          // Never: type_ is that of the cache.
          return er::Cache<Scalar>::from_angles({}, Scalar(0), 1, {0});
        }
      });
    });
  }

  er::ScalarType type() const { return type_; }

 private:
  template <class Scalar>
  using Held = std::shared_ptr<const er::GrowingCache<Scalar>>;

  er::ScalarType type_;
  std::variant<Held<float>, Held<double>, Held<Eigen::half>, Held<Eigen::bfloat16>> cache_;
};

std::string table_text(const char* name, const Table& table) {
  std::string text = std::string(name) + "(shape=(";
  const std::vector<Index> shape = table.shape();
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  const char* dtype = table.view.type == er::ScalarType::f32   ? "float32"
                      : table.view.type == er::ScalarType::f64 ? "float64"
                      : table.view.type == er::ScalarType::f16 ? "float16"
                                                               : "bfloat16";
  return text + (shape.size() == 1 ? ",)" : ")") + ", dtype=" + dtype + ")";
}

void bind_growing_cache(nb::module_& module) {
  nb::class_<GrowingCache>(module, "GrowingCache", R"(
A table of the positions 0, 1, 2, ... that forms its rows when they are first asked for.

One cache serves all layers, queries and keys, and all threads of a decoder. Its entries have the
bits of Cache.

>>> table = GrowingCache(Frequencies(Powers(128)))
>>> table.rows(28, 1)
Table(shape=(1, 1, 1, 64), dtype=float32)

Args:
    frequencies: the rate of each pair, and m.
    dtype: float16, bfloat16, float32 or float64.
    layout: what the axes of x count, as for Cache.
    first_tokens: how many rows are formed at the first use.
    max_tokens: the largest number of rows; a wrong position then raises instead of taking all
        memory.

Raises:
    ValueError: for an unknown dtype or layout, or for limits that do not fit together.)")
      .def(
          "__init__",
          [](GrowingCache* self, const er::Frequencies& frequencies, nb::handle dtype,
             const std::string& layout, Index first_tokens, Index max_tokens) {
            new (self) GrowingCache(frequencies, scalar_type_of(dtype), er::any::layout_of(layout),
                                    {first_tokens, max_tokens});
          },
          nb::arg("frequencies"), nb::kw_only(), nb::arg("dtype") = "float32",
          nb::arg("layout") = "bsnd", nb::arg("first_tokens") = er::Growth().first_tokens,
          nb::arg("max_tokens") = er::Growth().max_tokens,
          nb::sig("def __init__(self, frequencies: Frequencies, *, "
                  "dtype: numpy.typing.DTypeLike = 'float32', layout: str = 'bsnd', "
                  "first_tokens: int = 256, max_tokens: int = 16777216) -> None"))
      .def("rows", &GrowingCache::rows, nb::arg("first"), nb::arg("tokens"), R"(
Return the rows of the positions first, ..., first + tokens - 1 as a table, without a copy.

The table stays valid whatever grows meanwhile.

Raises:
    ValueError: for negative numbers, and past max_tokens.)")
      .def("gather", &GrowingCache::gather, nb::arg("positions"), R"(
Copy the rows of any positions that are whole numbers from 0 on into a table of their own.

Raises:
    ValueError: for a position that is no such number, and past max_tokens.)")
      .def(
          "reserve",
          [](const GrowingCache& self, Index tokens) {
            self.with_cache([&](const auto& cache) {
              nb::gil_scoped_release released;
              cache->reserve(tokens);
            });
          },
          nb::arg("tokens"), R"(
Form the rows of the positions below `tokens` now, and no others.

Raises:
    ValueError: if tokens is negative or more than max_tokens.)")
      .def_prop_ro(
          "tokens",
          [](const GrowingCache& self) {
            return self.with_cache([](const auto& cache) { return cache->tokens(); });
          },
          "The number of rows formed so far.")
      .def_prop_ro(
          "nbytes",
          [](const GrowingCache& self) {
            return self.with_cache([](const auto& cache) { return cache->bytes(); });
          },
          "The number of bytes of all rows held.")
      .def_prop_ro(
          "pairs",
          [](const GrowingCache& self) {
            return self.with_cache([](const auto& cache) { return cache->pairs(); });
          },
          "The number of pairs.")
      .def_prop_ro(
          "dtype", [](const GrowingCache& self) { return dtype_of(self.type()); },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"), "The type of the entries.");
}

}  // namespace

std::vector<Index> Table::shape() const {
  std::vector<Index> extents;
  for (int axis = view.shape.rank() - 1; axis >= 0; --axis) extents.push_back(view.shape[axis]);
  return extents;
}

TableArgument::TableArgument(nb::handle object) {
  if (nb::isinstance<Table>(object)) {
    view_ = nb::cast<const Table&>(object).view;
    return;
  }
  const bool sequence = nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object);
  if (!sequence || nb::len(object) != 2) {
    fail_type("table must be a Cache, a Table or a pair (cos, sin)", class_name(object));
  }
  arrays_.push_back(read_array(object[0], "cos"));
  arrays_.push_back(read_array(object[1], "sin"));
  view_ = er::any::table_of(arrays_[0].tensor(), arrays_[1].tensor());
}

void bind_tables(nb::module_& module) {
  nb::class_<Table>(module, "Table", R"(
The cosines and sines that a rotation reads.

GrowingCache.rows() returns it, and a Cache is one. Both arrays have the axes of x, with x's extent
on the axes that carry positions, 1 on the others, and one entry for each pair in place of the
features.)")
      .def_prop_ro(
          "cos",
          [](nb::handle self) { return entries(self, nb::cast<const Table&>(self).view.cos); },
          nb::sig("def cos(self) -> numpy.typing.NDArray[typing.Any]"),
          "The cosines times m, as a read-only array of the table's own memory.")
      .def_prop_ro(
          "sin",
          [](nb::handle self) { return entries(self, nb::cast<const Table&>(self).view.sin); },
          nb::sig("def sin(self) -> numpy.typing.NDArray[typing.Any]"),
          "The sines times m, as a read-only array of the table's own memory.")
      .def_prop_ro(
          "shape", [](const Table& self) { return nb::tuple(nb::cast(self.shape())); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The shape of both arrays.")
      .def_prop_ro(
          "dtype", [](const Table& self) { return dtype_of(self.view.type); },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"), "The type of the entries.")
      .def("__repr__", [](nb::handle self) {
        const auto name = nb::cast<std::string>(self.type().attr("__name__"));
        return table_text(name.c_str(), nb::cast<const Table&>(self));
      });
  nb::class_<Cache, Table>(module, "Cache", R"(
A table of these frequencies at these positions, which owns its memory.

A program makes it once, and rotates the queries and keys of all layers with it. Each entry is
within half an ulp + abs(position) 2^-63 of the real numbers' m cos(position rate) and
m sin(position rate), at any position, also in float32.

>>> cache = Cache(Frequencies(Powers(128)), Positions.range(0, 512))
>>> cache.cos.shape  # x is [batch, tokens, heads, 128]
(1, 512, 1, 64)

Args:
    frequencies: the rate of each pair, and m; or a list of those of each sequence.
    positions: where each token stands.
    dtype: that of x, or float32 for an x of 16 bits: float16, bfloat16, float32 or float64.
    layout: what the axes of x count, slowest first, s tokens, b sequences, n heads, d features:
        bsnd, bnsd, sbnd, tnd, bsd, sd, or with features in front dnsb, dsnb, dns, dsb, ds. The
        default serves x without the axis b, too.

Raises:
    ValueError: for an unknown dtype or layout, for a layout without the axis that positions need,
        and for rates or positions beyond 2^40 and 2^63.)")
      .def(
          "__init__",
          [](Cache* self, nb::handle frequencies, const er::Positions& positions, nb::handle dtype,
             const std::string& layout) {
            new (self) Cache(make_cache(frequencies, positions, dtype, layout));
          },
          nb::arg("frequencies"), nb::arg("positions"), nb::kw_only(), nb::arg("dtype") = "float32",
          nb::arg("layout") = "bsnd",
          nb::sig("def __init__(self, frequencies: Frequencies | collections.abc.Sequence"
                  "[Frequencies], positions: Positions, *, "
                  "dtype: numpy.typing.DTypeLike = 'float32', layout: str = 'bsnd') -> None"));
  bind_growing_cache(module);
}

}  // namespace eigen_rope_python
