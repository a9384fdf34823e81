// SPDX-License-Identifier: Apache-2.0
//
// aclnn's operators written out from their definition, and the recorded cases of data/golden/aclnn.
//
//   y = xhat * cos + xrot * sin, where xhat and xrot are x with its last axis permuted and, in
//       xrot, half of the signs changed
//
// The gradients are those of that sum, term by term. A missing, short or malformed file is an
// exception, never an empty list.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "eigen_rope/operators/aclnn.hpp"
#include "support/file_bytes.hpp"

namespace eigen_rope::test {

using aclnn::Dims;
using aclnn::Mode;

/// The modes, for loops.
inline constexpr Mode kModes[] = {Mode::half, Mode::interleave, Mode::quarter,
                                  Mode::interleave_half};

inline std::size_t size_of_dims(const Dims& shape) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  return size;
}

/// A dense array, slowest axis first.
struct Array {
  Dims shape{};
  std::vector<double> values{};
};

/// A sum and the sum of its terms' magnitudes.
struct Sum {
  long double value = 0;
  long double magnitude = 0;

  void add(long double term) {
    value += term;
    magnitude += std::abs(term);
  }
};

/// Where slot A of xhat and of xrot come from.
struct Sources {
  std::size_t hat;
  std::size_t rotated;
  int sign;
};

inline Sources sources_of(Mode mode, std::size_t slot, std::size_t width) {
  const std::size_t half = width / 2;
  const std::size_t quarter = width / 4;
  switch (mode) {
    case Mode::half:
      return slot < half ? Sources{slot, slot + half, -1} : Sources{slot, slot - half, 1};
    case Mode::interleave:
      return slot % 2 == 0 ? Sources{slot, slot + 1, -1} : Sources{slot, slot - 1, 1};
    case Mode::quarter:
      return slot / quarter % 2 == 0 ? Sources{slot, slot + quarter, -1}
                                     : Sources{slot, slot - quarter, 1};
    case Mode::interleave_half: break;
  }
  return slot < half ? Sources{2 * slot, 2 * slot + 1, -1}
                     : Sources{2 * (slot - half) + 1, 2 * (slot - half), 1};
}

/// The row of a table that row `row` of x meets; both count rows in memory order.
inline std::size_t table_row(std::size_t row, const Dims& x, const Dims& table) {
  std::size_t result = 0;
  std::size_t step = 1;
  for (std::size_t axis = x.size() - 1; axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(x[axis]);
    if (table[axis] != 1) result += row % extent * step;
    step *= static_cast<std::size_t>(table[axis]);
    row /= extent;
  }
  return result;
}

struct Truth {
  std::vector<Sum> y, dx, dcos, dsin;
};

/// y of x; dx, dcos and dsin of dy. The tables may be narrower than x: what lies beyond them is
/// left out of the rotation.
inline Truth truth_of(Mode mode, const Array& x, const Array& cos, const Array& sin,
                      const Array& dy) {
  const auto width = static_cast<std::size_t>(cos.shape.back());
  const auto length = static_cast<std::size_t>(x.shape.back());
  Truth truth{std::vector<Sum>(x.values.size()), std::vector<Sum>(x.values.size()),
              std::vector<Sum>(cos.values.size()), std::vector<Sum>(cos.values.size())};
  for (std::size_t row = 0; row < x.values.size() / length; ++row) {
    const std::size_t at = row * length;
    const std::size_t table = table_row(row, x.shape, cos.shape) * width;
    for (std::size_t slot = 0; slot < width; ++slot) {
      const Sources from = sources_of(mode, slot, width);
      const long double c = cos.values[table + slot];
      const long double s = from.sign * static_cast<long double>(sin.values[table + slot]);
      const long double hat = x.values[at + from.hat];
      const long double rotated = x.values[at + from.rotated];
      const long double g = dy.values[at + slot];
      truth.y[at + slot].add(hat * c);
      truth.y[at + slot].add(rotated * s);
      truth.dx[at + from.hat].add(c * g);
      truth.dx[at + from.rotated].add(s * g);
      truth.dcos[table + slot].add(g * hat);
      truth.dsin[table + slot].add(from.sign * g * rotated);
    }
    for (std::size_t slot = width; slot < length; ++slot)
      truth.y[at + slot].add(x.values[at + slot]);
  }
  return truth;
}

/// Significant digits and the exponent of the smallest normal number.
template <class Scalar>
struct Format;
template <>
struct Format<Eigen::half> {
  static constexpr int digits = 11;
  static constexpr int least_exponent = -14;
};
template <>
struct Format<Eigen::bfloat16> {
  static constexpr int digits = 8;
  static constexpr int least_exponent = -126;
};

/// The distance of neighbouring numbers of a 16-bit format at `value`.
template <class Scalar>
double unit_at(double value) {
  const int exponent = value == 0 ? Format<Scalar>::least_exponent
                                  : std::max(std::ilogb(value), Format<Scalar>::least_exponent);
  return std::ldexp(1.0, exponent - Format<Scalar>::digits + 1);
}

/// `value` rounded once, ties to even. (Eigen's conversion from double rounds twice.)
template <class Scalar>
double rounded_once(double value) {
  const double unit = unit_at<Scalar>(value);
  return std::nearbyint(value / unit) * unit;
}

template <class Scalar>
std::vector<Scalar> converted(const std::vector<double>& values) {
  std::vector<Scalar> result;
  for (const double value : values) result.push_back(static_cast<Scalar>(value));
  return result;
}

template <class Scalar>
Array array_of(const std::vector<Scalar>& values, Dims shape) {
  Array result{std::move(shape), {}};
  for (const Scalar value : values) result.values.push_back(static_cast<double>(value));
  return result;
}

/// Numbers in [-4, 4), the same for the same seed, exact in every format.
inline Array random_array(const Dims& shape, std::uint64_t seed) {
  Array result{shape, std::vector<double>(size_of_dims(shape))};
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (double& value : result.values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(static_cast<int>(state >> 57) - 64) / 16;
  }
  return result;
}

struct AclnnCase {
  std::string name;
  Mode mode;
  bool is_half;
  Array x, cos, sin, dy;
  Array y, dx, dcos, dsin;
};

/// All cases of the folder.
inline std::vector<AclnnCase> read_aclnn_cases(const std::string& folder) {
  const std::string data = file_bytes(folder + "/data.bin");
  const auto read_as = [&](auto scalar, const nlohmann::json& place) {
    using Scalar = decltype(scalar);
    Array array{place.at("shape").get<Dims>(), {}};
    const auto offset = place.at("offset").get<std::size_t>();
    const std::size_t size = size_of_dims(array.shape);
    if (size == 0 || place.at("bytes").get<std::size_t>() != size * sizeof(Scalar))
      throw std::runtime_error("an array does not fit its shape");
    if (offset > data.size() || size > (data.size() - offset) / sizeof(Scalar))
      throw std::runtime_error("an array ends early");
    std::vector<Scalar> values(size);
    std::memcpy(static_cast<void*>(values.data()), data.data() + offset, size * sizeof(Scalar));
    for (const Scalar value : values) array.values.push_back(static_cast<double>(value));
    return array;
  };
  const auto tensor = [&](const nlohmann::json& entry, const std::string& name,
                          const std::string& dtype) {
    for (const nlohmann::json& place : entry.at("tensors")) {
      if (place.at("name") != name) continue;
      if (place.at("dtype") != dtype) throw std::runtime_error(name + " should be " + dtype);
      if (dtype == "float64") return read_as(double(), place);
      if (dtype == "float32") return read_as(float(), place);
      if (dtype == "float16") return read_as(Eigen::half(), place);
    }
    throw std::runtime_error("no array " + name + " of " + dtype);
  };
  std::vector<AclnnCase> cases;
  for (const nlohmann::json& entry : nlohmann::json::parse(file_bytes(folder + "/cases.json"))) {
    const std::string dtype = entry.at("tensors").at(0).at("dtype");
    AclnnCase c{entry.at("name"),
                static_cast<Mode>(entry.at("mode").get<std::int64_t>()),
                dtype == "float16",
                {},
                {},
                {},
                {},
                {},
                {},
                {},
                {}};
    for (const auto& [name, array] :
         {std::pair{"x", &c.x}, {"cos", &c.cos}, {"sin", &c.sin}, {"dy", &c.dy}}) {
      *array = tensor(entry, name, dtype);
    }
    for (const auto& [name, array] :
         {std::pair{"y", &c.y}, {"dx", &c.dx}, {"dcos", &c.dcos}, {"dsin", &c.dsin}}) {
      *array = tensor(entry, name, "float64");
    }
    cases.push_back(std::move(c));
  }
  if (cases.empty()) throw std::runtime_error("no cases");
  return cases;
}

}  // namespace eigen_rope::test
