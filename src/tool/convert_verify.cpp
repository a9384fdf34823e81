// SPDX-License-Identifier: Apache-2.0
#include "convert_verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>

#include "file_error.hpp"
#include "rope/cache.hpp"
#include "rope/rotate_strided.hpp"

namespace rope::tool {
namespace {

using Numbers = std::vector<double>;
using Hashes = std::vector<std::uint64_t>;

// Where q and k stand: at the same place, near each other, far apart.
constexpr std::array<std::int64_t, 5> query_positions{0, 1, 7, 1000, 4095};
constexpr std::array<std::int64_t, 5> key_positions{0, 0, 3, 17, 2048};

double uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -52) - 1.0; }

// The same numbers whenever the same thing is asked for, in [-1, 1).
Numbers random_numbers(const std::string& what, std::size_t count) {
  std::uint64_t seed = 0xcbf29ce484222325U;
  for (const char c : what) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::mt19937_64 random(seed);
  Numbers numbers(count);
  for (double& number : numbers) number = uniform(random);
  return numbers;
}

std::uint64_t mixed(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9U;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebU;
  return h ^ (h >> 31);
}

std::uint64_t hash_of(const std::byte* bytes, std::size_t count) {
  std::uint64_t hash = count;
  for (; count >= 8; bytes += 8, count -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    hash = mixed(hash ^ word) + 0x9e3779b97f4a7c15U;
  }
  for (; count > 0; ++bytes, --count) hash = mixed(hash ^ std::to_integer<std::uint64_t>(*bytes)) + 0x9e3779b97f4a7c15U;
  return mixed(hash);
}

template <class Scalar>
double product_with(const std::byte* row, const Numbers& x) {
  const Scalar* values = reinterpret_cast<const Scalar*>(row);
  // Several sums, so that one addition need not wait for the one before.
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= x.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += static_cast<double>(values[i + j]) * x[i + j];
  }
  for (; i < x.size(); ++i) sums[0] += static_cast<double>(values[i]) * x[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// One role of one layer, from one of the two models.
struct Projection {
  Numbers values{};
  // For each tensor and head, whatever the order of the head's rows.
  Hashes rows{};
};

class Reader {
 public:
  Reader(const ConvertedLayer& layer, const AttentionShape& shape, Role role)
      : layer_(layer),
        role_(role),
        heads_(role == Role::query ? shape.heads : shape.key_heads),
        dims_(static_cast<std::size_t>(role == Role::query ? shape.query.dims : shape.key.dims)) {}

  Projection read(const std::function<const Shard&(std::size_t)>& shard) const {
    Projection result;
    result.values.assign(static_cast<std::size_t>(heads_) * dims_, 0.0);
    // In the order in which they enter q.
    for (const Part part : {Part::weight, Part::bias, Part::lora_b, Part::magnitude, Part::norm, Part::norm_bias}) {
      for (const ConvertedTensor& tensor : layer_.tensors) {
        if (tensor.part == part) add(tensor, shard(tensor.shard), result);
      }
    }
    return result;
  }

 private:
  void add(const ConvertedTensor& tensor, const Shard& shard, Projection& result) const {
    const bool matrix = tensor.part == Part::weight || tensor.part == Part::lora_b;
    const Numbers x = matrix ? random_numbers(fmt::format("{} {}", tensor.name, static_cast<int>(role_)), tensor.columns) : Numbers{1.0};
    const std::uint64_t data = shard.header.data_begin + shard.header.tensors[tensor.entry].begin;
    for (const HeadRows& head : tensor.heads) {
      if (head.role != role_) continue;
      Numbers products(dims_);
      result.rows.push_back(read_head(tensor, shard.file, data + head.first_row * tensor.row_bytes(), x, products));
      for (rope::Index other = head.head; other < (head.shared ? heads_ : head.head + 1); ++other) {
        combine(tensor.part, products, result.values.data() + static_cast<std::size_t>(other) * dims_);
      }
    }
  }

  void combine(Part part, const Numbers& products, double* values) const {
    const bool factor = part == Part::magnitude || part == Part::norm;
    for (std::size_t d = 0; d < dims_; ++d) values[d] = factor ? values[d] * products[d] : values[d] + products[d];
  }

  // The products of a head's rows with x, and the hash of its rows in any order.
  std::uint64_t read_head(const ConvertedTensor& tensor, const InputFile& file, std::uint64_t begin, const Numbers& x,
                          Numbers& products) const {
    const std::size_t row_bytes = static_cast<std::size_t>(tensor.row_bytes());
    const std::size_t at_once = std::max<std::size_t>(1, std::min(dims_, buffer_bytes / row_bytes));
    std::vector<std::byte> buffer(at_once * row_bytes);
    std::uint64_t hash = 0;
    for (std::size_t first = 0; first < dims_; first += at_once) {
      const std::size_t rows = std::min(at_once, dims_ - first);
      file.read(begin + first * row_bytes, buffer.data(), rows * row_bytes);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::byte* bytes = buffer.data() + row * row_bytes;
        hash += hash_of(bytes, row_bytes);
        products[first + row] =
            detail::with_scalar(tensor.type, [&](auto tag) { return product_with<typename decltype(tag)::type>(bytes, x); });
      }
    }
    return hash;
  }

  const ConvertedLayer& layer_;
  Role role_;
  rope::Index heads_;
  std::size_t dims_;
};

// All heads at all positions: [position][head][element].
Numbers rotated(const Numbers& heads, const HeadWindow& window, rope::Index rotary_dims, PairKind kind,
                const std::vector<std::int64_t>& positions) {
  const rope::Index count = static_cast<rope::Index>(heads.size()) / window.dims, size = static_cast<rope::Index>(heads.size());
  const CosSinCache<double> cache(Frequencies::powers({rotary_dims}), Positions::ids(positions));
  Numbers result(heads.size() * positions.size());
  const Shape shape{window.dims, count, static_cast<rope::Index>(positions.size())};
  const StridedView<const double> x{heads.data(), shape, {window.dims, 0}};
  const StridedView<double> y{result.data(), shape, {window.dims, size}};
  rotate_to(y, x, cache, Pairing(kind).with_offset(window.offset).with_rotary_dims(rotary_dims));
  return result;
}

struct Dot {
  double sum = 0;
  double size = 0;
};

Dot dot(const double* q, const double* k, rope::Index count) {
  Dot result;
  for (rope::Index i = 0; i < count; ++i) {
    result.sum += q[i] * k[i];
    result.size += std::abs(q[i] * k[i]);
  }
  return result;
}

// A stand-in for the projection that a file does not have, its elements where `kind` wants them.
Numbers stand_in(const std::vector<rope::Index>& source, rope::Index heads) {
  const Numbers old = random_numbers("stand-in", source.size());
  Numbers result;
  for (rope::Index head = 0; head < heads; ++head) {
    for (const rope::Index element : source) result.push_back(old[static_cast<std::size_t>(element)]);
  }
  return result;
}

struct Sides {
  Numbers before{}, after{};
};

class LayerVerifier {
 public:
  LayerVerifier(const ConvertPlan& plan, const ConvertedLayer& layer, std::string name)
      : plan_(plan), shape_(plan.shape), layer_(layer), name_(std::move(name)) {}

  LayerCheck check(const Model& model, const std::vector<Shard>& converted) const {
    const Sides q = sides(Role::query, model, converted), k = sides(Role::key, model, converted);
    // Heads that differ outside the window (latent attention) meet in it alone.
    const bool alike = shape_.query.dims == shape_.key.dims && shape_.query.offset == shape_.key.offset;
    const rope::Index count = alike ? shape_.query.dims : shape_.rotary_dims;
    const rope::Index q_begin = alike ? 0 : shape_.query.offset, k_begin = alike ? 0 : shape_.key.offset;
    const rope::Index group = shape_.heads / shape_.key_heads;
    const double per_size = 2.0 * static_cast<double>(count + 1) * (std::numeric_limits<double>::epsilon() / 2);
    LayerCheck worst;
    double worst_ratio = -1;
    for (std::size_t p = 0; p < query_positions.size(); ++p) {
      for (rope::Index head = 0; head < shape_.heads; ++head) {
        const std::size_t q_at = place(p, head, shape_.heads, shape_.query.dims, q_begin);
        const std::size_t k_at = place(p, head / group, shape_.key_heads, shape_.key.dims, k_begin);
        const Dot before = dot(&q.before[q_at], &k.before[k_at], count);
        const Dot after = dot(&q.after[q_at], &k.after[k_at], count);
        const LayerCheck found{std::abs(after.sum - before.sum), per_size * std::max(before.size, after.size)};
        if (!std::isfinite(found.bound)) refuse(name_, fmt::format("\"{}\" must have finite weights to be verified", layer_.name));
        if (!(found.difference <= found.bound)) {
          refuse(name_, fmt::format("\"{}\" must keep q.k within {:.3g}, got a difference of {:.3g} in head {} at positions {} and {}",
                                    layer_.name, found.bound, found.difference, head, query_positions[p], key_positions[p]));
        }
        const double ratio = found.bound > 0 ? found.difference / found.bound : 0;
        if (ratio > worst_ratio) worst = found;
        worst_ratio = std::max(ratio, worst_ratio);
      }
    }
    return worst;
  }

 private:
  static std::size_t place(std::size_t position, rope::Index head, rope::Index heads, rope::Index dims, rope::Index begin) {
    return (position * static_cast<std::size_t>(heads) + static_cast<std::size_t>(head)) * static_cast<std::size_t>(dims) +
           static_cast<std::size_t>(begin);
  }

  Sides sides(Role role, const Model& model, const std::vector<Shard>& converted) const {
    const bool query = role == Role::query;
    const HeadWindow window = query ? shape_.query : shape_.key;
    const auto& places = query ? query_positions : key_positions;
    const std::vector<std::int64_t> positions(places.begin(), places.end());
    Sides values = layer_.has(role) ? read(role, model, converted) : stand_ins(role);
    values.before = rotated(values.before, window, shape_.rotary_dims, plan_.from, positions);
    values.after = rotated(values.after, window, shape_.rotary_dims, plan_.to, positions);
    return values;
  }

  Sides read(Role role, const Model& model, const std::vector<Shard>& converted) const {
    const Reader reader(layer_, shape_, role);
    Projection before = reader.read([&](std::size_t shard) -> const Shard& { return model.shards[shard]; });
    Projection after = reader.read([&](std::size_t shard) -> const Shard& { return converted[shard]; });
    if (before.rows != after.rows) refuse(name_, fmt::format("\"{}\" must have the rows of every head it had, got others", layer_.name));
    return {std::move(before.values), std::move(after.values)};
  }

  Sides stand_ins(Role role) const {
    const HeadWindow window = role == Role::query ? shape_.query : shape_.key;
    const rope::Index heads = role == Role::query ? shape_.heads : shape_.key_heads;
    return {stand_in(source_elements(plan_.from, plan_.from, window, shape_.rotary_dims), heads),
            stand_in(source_elements(plan_.from, plan_.to, window, shape_.rotary_dims), heads)};
  }

  const ConvertPlan& plan_;
  const AttentionShape& shape_;
  const ConvertedLayer& layer_;
  std::string name_;
};

}  // namespace

std::vector<LayerCheck> verify_converted(const ConvertPlan& plan, const Model& model, const std::vector<Shard>& converted,
                                         const std::string& name) {
  std::vector<LayerCheck> checks;
  checks.reserve(plan.layers.size());
  for (const ConvertedLayer& layer : plan.layers) checks.push_back(LayerVerifier(plan, layer, name).check(model, converted));
  return checks;
}

}  // namespace rope::tool
