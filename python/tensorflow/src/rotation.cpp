// SPDX-License-Identifier: Apache-2.0
#include "rotation.hpp"

#include <eigen_rope/any/choices.hpp>

#include <algorithm>
#include <cstddef>

#include "outside.hpp"

namespace eigen_rope_tensorflow {
namespace {

[[noreturn]] void refuse(const std::string& rule, const std::string& value) {
  throw er::Error("[rope] " + rule + ", got " + value);
}

std::string text(std::int64_t number) { return std::to_string(number); }

std::string text(const Extents& extents) {
  std::string listed = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (i > 0) listed += ", ";
    listed += extents[i] == unknown ? "?" : text(extents[i]);
  }
  return listed + "]";
}

/// The name that Python has for a type.
std::string text(tf::DataType type) {
  switch (type) {
    case tf::DT_HALF: return "float16";
    case tf::DT_FLOAT: return "float32";
    case tf::DT_DOUBLE: return "float64";
    default: return tf::DataTypeString(type);
  }
}

std::int64_t rank_of(const Argument& argument) {
  return static_cast<std::int64_t>(argument.extents.size());
}

bool may_be(std::int64_t extent, std::int64_t wanted) {
  return extent == wanted || extent == unknown || wanted == unknown;
}

void check_types(const Argument& x, const Argument& cos) {
  const er::ScalarType of_x = scalar_type(x.type, x.name);
  const er::ScalarType entry = scalar_type(cos.type, cos.name);
  if (entry == of_x || (er::size_of(of_x) == 2 && entry == er::ScalarType::f32)) return;
  refuse(std::string(cos.name) + " must have the type of " + x.name + ", " + text(x.type) +
             (er::size_of(of_x) == 2 ? ", or be of float32" : ""),
         text(cos.type));
}

/// Where the rows of x lie and how wide they are, as far as that is known.
struct Rows {
  std::int64_t from_last;  // of the axis; -1 is the last
  std::int64_t width = unknown;
};

Rows check_rows(const Argument& x, const er::Pairing& pairing, const Choices& choices) {
  const std::int64_t rank = rank_of(x);
  if (rank == 0) refuse(std::string(x.name) + " must have at least 1 axis", "a scalar");
  if (choices.axis < -rank || choices.axis >= rank) {
    refuse("axis must be in [" + text(-rank) + ", " + text(rank - 1) + "]", text(choices.axis));
  }
  Rows rows{choices.axis < 0 ? choices.axis : choices.axis - rank};
  const std::int64_t row = x.extents[static_cast<std::size_t>(rank + rows.from_last)];
  const bool whole = choices.rotary_dims < 0;
  if (whole && row == unknown) return rows;
  rows.width = whole ? row - choices.offset : choices.rotary_dims;
  const std::int64_t step = pairing.kind() == er::PairKind::quarter ? 4 : 2;
  if (rows.width <= 0 || rows.width % step != 0) {
    refuse("rotary_dims must be positive and divisible by " + text(step), text(rows.width));
  }
  if (row != unknown && rows.width > row - choices.offset) {
    refuse("the window must lie in rows of " + text(row) + " elements",
           text(rows.width) + " elements from " + text(choices.offset) + " on");
  }
  return rows;
}

void check_entries(const Argument& table, const Argument& x, const Rows& rows) {
  const std::int64_t rank = rank_of(table);
  if (x.ranked && rank > rank_of(x)) {
    refuse(std::string(table.name) + " must have at most the " + text(rank_of(x)) + " axes of " +
               x.name,
           "shape " + text(table.extents));
  }
  if (rank < -rows.from_last) {
    refuse(
        std::string(table.name) + " must have the entries of a row on axis " + text(rows.from_last),
        "shape " + text(table.extents));
  }
  for (std::int64_t axis = -rank; axis < 0; ++axis) {
    const std::int64_t entries = table.extents[static_cast<std::size_t>(rank + axis)];
    const bool of_rows = axis == rows.from_last;
    const std::int64_t first = of_rows && rows.width != unknown ? rows.width / 2
                               : of_rows                        ? unknown
                                                                : 1;
    const std::int64_t second =
        of_rows ? rows.width : x.extents[static_cast<std::size_t>(rank_of(x) + axis)];
    if (may_be(entries, first) || may_be(entries, second)) continue;
    refuse(std::string(table.name) + " must have " + text(first) +
               (first == second ? "" : " or " + text(second)) + " on axis " + text(axis),
           "shape " + text(table.extents));
  }
}

}  // namespace

er::ScalarType scalar_type(tf::DataType type, const char* name) {
  switch (type) {
    case tf::DT_HALF: return er::ScalarType::f16;
    case tf::DT_BFLOAT16: return er::ScalarType::bf16;
    case tf::DT_FLOAT: return er::ScalarType::f32;
    case tf::DT_DOUBLE: return er::ScalarType::f64;
    default:
      refuse(std::string(name) + " must be of float16, bfloat16, float32 or float64", text(type));
  }
}

void check_alike(const Argument& a, const Argument& b) {
  if (a.type != b.type) {
    refuse(std::string(b.name) + " must have the type of " + a.name + ", " + text(a.type),
           text(b.type));
  }
  if (!a.ranked || !b.ranked) return;
  if (a.extents.size() == b.extents.size() &&
      std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), may_be)) {
    return;
  }
  refuse(std::string(b.name) + " must have the shape of " + a.name + ", " + text(a.extents),
         text(b.extents));
}

void check(const Argument& x, const Argument& cos, const Argument& sin, const Choices& choices) {
  const er::Pairing pairing = er::any::pairing_of(choices.pairing);
  er::any::direction_of(choices.direction);
  static_cast<void>(eigen_rope_packages::outside_of(choices.outside));
  if (choices.offset < 0) refuse("offset must be at least 0", text(choices.offset));
  if (choices.rotary_dims < -1) {
    refuse("rotary_dims must be positive, or -1 for whole rows", text(choices.rotary_dims));
  }
  check_types(x, cos);
  check_alike(cos, sin);
  if (!x.ranked) return;
  const Rows rows = check_rows(x, pairing, choices);
  for (const Argument* table : {&cos, &sin}) {
    if (table->ranked) check_entries(*table, x, rows);
  }
}

Merged merged(const Extents& x, const Extents& cos, const Choices& choices) {
  enum class Role { features, varies, repeats };
  const std::size_t rank = x.size();
  const std::size_t missing = rank - cos.size();
  const std::size_t features = choices.axis < 0 ? rank - static_cast<std::size_t>(-choices.axis)
                                                : static_cast<std::size_t>(choices.axis);
  Merged result;
  Role last = Role::features;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t entries = axis < missing ? 1 : cos[axis - missing];
    if (axis != features && x[axis] == 1) continue;
    const Role role = axis == features ? Role::features
                      : entries == 1   ? Role::repeats
                                       : Role::varies;
    if (role == Role::features) result.feature = static_cast<int>(result.x.size());
    if (role == last && role != Role::features && !result.x.empty()) {
      result.x.back() *= x[axis];
      result.table.back() *= entries;
    } else {
      result.x.push_back(x[axis]);
      result.table.push_back(entries);
    }
    last = role;
  }
  if (result.x.size() > static_cast<std::size_t>(er::max_rank)) {
    refuse("x must have at most " + text(er::max_rank) +
               " axes where neighbours that the table treats alike count once",
           text(static_cast<std::int64_t>(result.x.size())));
  }
  er::Pairing pairing = er::any::pairing_of(choices.pairing).with_offset(choices.offset);
  if (choices.rotary_dims >= 0) pairing = pairing.with_rotary_dims(choices.rotary_dims);
  result.pairing = pairing.along(result.feature);
  return result;
}

}  // namespace eigen_rope_tensorflow
