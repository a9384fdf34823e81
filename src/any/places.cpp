// SPDX-License-Identifier: Apache-2.0
#include "any/places.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/detail/view_overlap.hpp"
#include "eigen_rope/rows/detail/walk.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {
namespace {

void check_type(ScalarType type) {
  const auto number = static_cast<unsigned>(type);
  if (number > static_cast<unsigned>(ScalarType::bf16))
    fail("the type must be f32, f64, f16 or bf16", static_cast<std::int64_t>(number));
}

void check_order(any::Order order) {
  if (order != any::Order::slowest_first && order != any::Order::fastest_first)
    fail("the order must be slowest_first or fastest_first", static_cast<std::int64_t>(order));
}

void check_number(const Shape& shape, const Strides& strides) {
  if (strides.size() == 0 || static_cast<int>(strides.size()) == shape.rank()) return;
  fail(fmt::format("there must be one stride for each of the {} axes, or none", shape.rank()),
       static_cast<std::int64_t>(strides.size()));
}

Shape fastest_first(const Shape& shape, any::Order order) {
  if (order == any::Order::fastest_first) return shape;
  const FastestFirst extents(shape, order);
  Shape reversed;
  for (int axis = 0; axis < shape.rank(); ++axis) reversed.push_back(extents[axis]);
  return reversed;
}

/// The strides of all axes, which lead nowhere along an axis of one element: 1 there, so that equal
/// rows have equal strides.
class AllStrides {
 public:
  AllStrides(const Shape& shape, const Strides& strides, any::Order order)
      : shape_(shape), given_(strides), extents_(shape, order) {}

  template <class Visit>
  void visit(const Visit& visit) const {
    auto dense = std::size_t{1};  // unsigned: where an extent is 0 others may be anything
    const int rank = shape_.rank();
    for (int axis = 0; axis < rank; ++axis) {
      const Index extent = shape_[axis];
      const int listed = extents_.place_of(axis);
      const Index stride =
          given_.size() == 0 ? static_cast<Index>(dense) : given_[static_cast<std::size_t>(listed)];
      visit(axis, extent == 1 ? 1 : stride);
      dense *= static_cast<std::size_t>(extent);
    }
  }

 private:
  const Shape& shape_;  // fastest first
  const Strides& given_;
  FastestFirst extents_;  // for the places of the given strides alone
};

/// The feature axis of a TableView with these entries, or -1 if there is none.
int feature_axis_of(const AnyTablePlaces& places) {
  const int axes = places.outer.rank();
  for (int feature_axis = 0; feature_axis <= axes; ++feature_axis) {
    std::array<Index, max_rank> strides{};
    const Index entry =
        table_strides(places.width, places.outer, feature_axis, axes, strides.data());
    bool same = places.width == 1 || entry == places.entry;
    for (int axis = 0; same && axis < axes; ++axis) {
      const auto i = static_cast<std::size_t>(axis);
      same = places.outer[axis] == 1 || strides[i] == places.strides[i];
    }
    if (same) return feature_axis;
  }
  return -1;
}

}  // namespace

void require_type(const char* name, ScalarType type, const char* like, ScalarType wanted) {
  if (type != wanted)
    fail(fmt::format("{} must have {}'s type {}", name, like, name_of(wanted)), name_of(type));
}

void check_alignment(ScalarType type, const void* data) {
  const std::size_t size = size_of(type);
  const std::size_t remainder = reinterpret_cast<std::uintptr_t>(data) & (size - 1);
  if (remainder != 0) {
    fail(
        fmt::format("data must be aligned to the size of its elements, {} bytes (remainder)", size),
        static_cast<std::int64_t>(remainder));
  }
}

namespace {

template <class Tensor>
void write_checked_places(const AnyPlaces& places, const Tensor& tensor) {
  check_type(tensor.type);
  check_order(tensor.order);
  check_number(tensor.shape, tensor.strides);
  if (tensor.shape.size() != 0) check_alignment(tensor.type, tensor.data);
  const int rank = tensor.shape.rank();
  const FastestFirst extents(tensor.shape, tensor.order);
  for (int axis = 0; axis < rank; ++axis) places.shape.push_back(extents[axis]);
  AllStrides(places.shape, tensor.strides, tensor.order).visit([&](int axis, Index stride) {
    if (axis == 0) {
      places.feature_stride = stride;
    } else {
      places.strides.push_back(stride);
    }
  });
}

}  // namespace

void write_places(const AnyPlaces& places, const any::ConstTensor& x) {
  write_checked_places(places, x);
}

void write_places(const AnyPlaces& places, const any::Tensor& y) {
  write_checked_places(places, y);
}

bool same_places(const Shape& shape, const Strides& a, const Strides& b, any::Order order) {
  if (a == b) return true;
  const Shape extents = fastest_first(shape, order);
  std::array<Index, max_rank> of_a{};
  bool same = true;
  AllStrides(extents, a, order).visit([&](int axis, Index stride) {
    of_a[static_cast<std::size_t>(axis)] = stride;
  });
  AllStrides(extents, b, order).visit([&](int axis, Index stride) {
    same = same && of_a[static_cast<std::size_t>(axis)] == stride;
  });
  return same;
}

Stretch stretch_of(const any::ConstTensor& tensor) {
  const auto view = read_view<std::byte>(tensor);
  if (view.shape.size() == 0) return {};
  return stretch_of(tensor.data, size_of(tensor.type),
                    span_of(view.shape, view.strides, view.feature_stride));
}

void check_alone(const any::ConstTensor& tensor, SharedElements shared) {
  const auto view = read_view<std::byte>(tensor);
  (void)view.shape.outer();
  check_strides(view, shared);
  if (tensor.data != nullptr) (void)stretch_of(tensor);
}

bool AnyTablePlaces::has_extents(Index wanted_width, const Shape& wanted_outer) const {
  bool same = width == wanted_width;
  for (int axis = 0; axis < max_rank; ++axis) same = same && outer[axis] == wanted_outer[axis];
  return same;
}

AnyTablePlaces places_of(const any::Table& table, SharedElements shared) {
  check_type(table.type);
  check_order(table.order);
  check_number(table.shape, table.strides);
  const int rank = table.shape.rank();
  if (rank == 0) fail("a table must have at least the axis of its entries, got rank 0");
  if (table.feature_axis && (*table.feature_axis < 0 || *table.feature_axis >= rank)) {
    fail(fmt::format("the table's feature axis must be one of its {} axes, counted from 0", rank),
         static_cast<std::int64_t>(*table.feature_axis));
  }
  const Shape shape = fastest_first(table.shape, table.order);
  AnyTablePlaces places;
  places.feature_axis = table.feature_axis ? checked_feature_place(*table.feature_axis, rank,
                                                                   index_order(table.order))
                                           : 0;
  AllStrides(shape, table.strides, table.order).visit([&](int axis, Index stride) {
    if (axis == places.feature_axis) {
      places.width = shape[axis];
      places.entry = stride;
      return;
    }
    places.given.push_back(shape[axis]);
    places.outer.push_back(stride == 0 ? 1 : shape[axis]);
    places.strides.push_back(stride);
  });
  if (shape.size() == 0) {
    places.outer = places.given;
    return places;
  }
  check_alignment(table.type, table.cos);
  check_alignment(table.type, table.sin);
  if (table.strides.size() == 0) return places;
  const Shape rows = features_first(shape, places.feature_axis);
  check_strides(rows, places.strides, shared, places.entry);
  for (const void* part : {table.cos, table.sin}) {
    if (part != nullptr)
      (void)stretch_of(part, size_of(table.type), span_of(rows, places.strides, places.entry));
  }
  const int feature_axis = feature_axis_of(places);
  places.dense = feature_axis >= 0;
  places.feature_axis = std::max(feature_axis, 0);
  return places;
}

void require_extents(int rank, const void* extents) {
  if (rank < 0) fail("rank must not be negative", static_cast<std::int64_t>(rank));
  if (rank > max_rank)
    fail(fmt::format("rank must be at most {}", max_rank), static_cast<std::int64_t>(rank));
  if (rank > 0 && extents == nullptr) fail("extents must have data, got a null pointer");
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail

namespace eigen_rope::EIGEN_ROPE_ABI {

any::Table any::table_of(const ConstTensor& cos, const ConstTensor& sin) {
  using detail::fail;
  detail::require_type("sin", sin.type, "cos", cos.type);
  if (sin.shape != cos.shape)
    fail("sin must have cos's shape " + cos.shape.text(), sin.shape.text());
  if (sin.order != cos.order) fail("sin must have cos's order, got the other one");
  if (sin.strides != cos.strides) {
    const auto text = [](const Strides& strides) {
      return fmt::format("[{}]", detail::joined(strides, ", "));
    };
    fail("sin must have cos's strides " + text(cos.strides), text(sin.strides));
  }
  return {cos.type, cos.data, sin.data, cos.shape, cos.strides, cos.order};
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
