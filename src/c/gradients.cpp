// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/gradients/gradients.hpp"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "any/places.hpp"
#include "any/table_copy.hpp"
#include "c/arguments.hpp"
#include "c/status.hpp"
#include "eigen_rope/any/any.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace eigen_rope::EIGEN_ROPE_ABI::c {
namespace {

using detail::AnyTablePlaces;
using detail::Stretch;

/// The axis of a table of that rank with the entries of a row, counted from the slowest.
int table_axis_of(const Rotation& rotation, int rank) {
  return rotation.table_axis().value_or(rank - 1);
}

/// A tensor in the shape of a gradient, its features on the axis that the table's are on.
class Sums {
 public:
  Sums(const eigen_rope_tensor* given, const char* name, const Rotation& rotation) : name_(name) {
    if (given == nullptr) return;
    any::Tensor tensor;
    tell(tensor, given, name);
    if (tensor.type != ScalarType::f64)
      detail::fail(fmt::format("{} must be of float64", name), name_of(given->dtype));
    memory_ = any::TableMemory{tensor.type,    tensor.data,  tensor.data,          tensor.shape,
                               tensor.strides, tensor.order, rotation.table_axis()};
    places_ = detail::places_of(*memory_, detail::SharedElements::refused);
  }

  bool wanted() const { return memory_.has_value(); }
  const char* name() const { return name_; }

  /// Throws unless it has these extents.
  void require_shape(Index width, const Shape& outer) const {
    if (!wanted()) return;
    if (!places_.has_extents(width, outer)) {
      const auto text = [](Index entries, const Shape& extents) {
        return fmt::format("{} entries and outer extents {}", entries, extents.text());
      };
      detail::fail(fmt::format("{} must have {}", name_, text(width, outer)),
                   text(places_.width, places_.outer));
    }
    if (memory_->shape.size() != 0 && memory_->cos == nullptr)
      detail::fail(fmt::format("{} must have data, got a null pointer", name_));
  }

  Stretch stretch() const {
    if (!wanted() || memory_->shape.size() == 0) return {};
    return detail::stretch_of(*memory_, places_, memory_->cos);
  }

  /// Writes `values`, whose entries lie as a Gradients says.
  void store(const std::vector<double>& values, int feature_axis) const {
    if (!wanted() || values.empty()) return;
    detail::store_entries(places_, {places_.width, places_.outer, feature_axis}, values.data(),
                          static_cast<double*>(memory_->cos));
  }

 private:
  const char* name_;
  std::optional<any::TableMemory> memory_;
  AnyTablePlaces places_;
};

struct NamedStretch {
  const char* name;
  Stretch stretch;
};

void refuse_overlap(const NamedStretch& sums, const NamedStretch& other) {
  if (overlap(sums.stretch, other.stretch))
    detail::fail(fmt::format("{} must not overlap {}", sums.name, other.name));
}

/// Which extents the results have. Checks everything but what is to be written.
Gradients<double> checked_shape(const any::ConstTensor& y, const any::ConstTensor& g,
                                const any::Table& table, const Rotation& rotation,
                                GradientsFrom from) {
  return any::gradients(y, g, table, rotation.pairing(), {Wanted::nothing, from});
}

GradientsFrom from_of(std::int32_t from) {
  if (from != EIGEN_ROPE_FROM_OUTPUT && from != EIGEN_ROPE_FROM_INPUT)
    detail::fail("from must be 0 (output) or 1 (input)", std::int64_t{from});
  return from == EIGEN_ROPE_FROM_INPUT ? GradientsFrom::input : GradientsFrom::output;
}

void backward(const eigen_rope_gradients* given, const eigen_rope_tensor* y,
              const eigen_rope_tensor* g, const eigen_rope_tensor* cos,
              const eigen_rope_tensor* sin, const eigen_rope_rotation* rotation) {
  const Rotation how(rotation);
  eigen_rope_gradients room;
  const auto& results = known_members(given, "results", gradients_1, room);
  if (results.reserved != 0)
    detail::fail("the results' reserved member must be 0", std::int64_t{results.reserved});
  GradientOptions options;
  options.from = from_of(results.from);
  options.device = how.device();
  if ((results.cos == nullptr) != (results.sin == nullptr)) {
    detail::fail("gradients of cos and sin must be wanted together, got a null pointer for one");
  }
  any::ConstTensor given_y, given_g;
  any::Table table;
  tell(given_y, y, "y");
  tell(given_g, g, "g");
  tell(table, {cos, sin});
  table.feature_axis = how.table_axis();
  const Gradients<double> shape = checked_shape(given_y, given_g, table, how, options.from);

  const std::array<Sums, 4> sums{
      Sums(results.angle, "angle", how), Sums(results.log_magnitude, "log_magnitude", how),
      Sums(results.cos, "the gradient of cos", how), Sums(results.sin, "the gradient of sin", how)};
  constexpr std::array parts{Wanted::angle, Wanted::log_magnitude, Wanted::table, Wanted::table};
  options.wanted = Wanted::nothing;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].require_shape(i < 2 ? shape.pairs : shape.width, shape.outer);
    if (sums[i].wanted()) options.wanted = options.wanted | parts[i];
  }

  std::optional<any::Tensor> dx;
  if (results.dx != nullptr) {
    tell(dx.emplace(), results.dx, "dx");
    detail::require_type("dx", dx->type, "y", given_y.type);
  }
  const bool any_sums = options.wanted != Wanted::nothing;
  if (any_sums) {
    std::vector<NamedStretch> others{{"y", detail::stretch_of(given_y)},
                                     {"g", detail::stretch_of(given_g)}};
    if (shape.outer.size() != 0 && shape.width != 0) {
      const AnyTablePlaces places = detail::places_of(table, detail::SharedElements::allowed);
      others.push_back({"cos", detail::stretch_of(table, places, table.cos)});
      others.push_back({"sin", detail::stretch_of(table, places, table.sin)});
    }
    if (dx) {
      detail::check_alone(*dx, detail::SharedElements::refused);
      others.push_back({"dx", detail::stretch_of(*dx)});
    }
    for (const Sums& one : sums) {
      const NamedStretch stretch{one.name(), one.stretch()};
      for (const NamedStretch& other : others) refuse_overlap(stretch, other);
      others.push_back(stretch);
    }
  }

  const Gradients<double> d =
      dx ? any::gradients_to(*dx, given_y, given_g, table, how.pairing(), options)
         : any::gradients(given_y, given_g, table, how.pairing(), options);
  const std::array values{&d.angle, &d.log_magnitude, &d.cos, &d.sin};
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].store(*values[i], d.feature_axis);
}

void write_gradient_shape(std::int32_t of, const eigen_rope_tensor* y, const eigen_rope_tensor* cos,
                          const eigen_rope_rotation* rotation, std::int64_t* shape,
                          std::int32_t* ndim) {
  if (of != EIGEN_ROPE_OF_ANGLES && of != EIGEN_ROPE_OF_TABLE)
    detail::fail("a gradient must be 1 (of angles) or 2 (of the table)", std::int64_t{of});
  const Rotation how(rotation);
  any::ConstTensor u;
  any::Table table;
  tell(u, y, "y");
  tell(table, {cos, cos});
  table.feature_axis = how.table_axis();
  const Gradients<double> d = checked_shape(u, u, table, how, GradientsFrom::input);
  const int rank = table.shape.rank();
  const int entries = table_axis_of(how, rank);
  int axis = rank - 1;
  for (int i = 0; i < rank; ++i) {
    shape[i] = i != entries ? d.outer[--axis] : of == EIGEN_ROPE_OF_ANGLES ? d.pairs : d.width;
  }
  *ndim = rank;
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::c

namespace c = eigen_rope::c;

eigen_rope_status eigen_rope_gradient_shape(std::int32_t of, const eigen_rope_tensor* y,
                                            const eigen_rope_tensor* cos,
                                            const eigen_rope_rotation* rotation,
                                            std::int64_t* shape, std::int32_t* ndim) noexcept {
  return c::status_of([&] {
    c::require_given(shape, "shape");
    c::require_given(ndim, "ndim");
    c::write_gradient_shape(of, y, cos, rotation, shape, ndim);
  });
}

eigen_rope_status eigen_rope_backward(const eigen_rope_gradients* results,
                                      const eigen_rope_tensor* y, const eigen_rope_tensor* g,
                                      const eigen_rope_tensor* cos, const eigen_rope_tensor* sin,
                                      const eigen_rope_rotation* rotation) noexcept {
  return c::status_of([&] { c::backward(results, y, g, cos, sin, rotation); });
}
