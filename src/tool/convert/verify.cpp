// SPDX-License-Identifier: Apache-2.0
#include "tool/convert/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "eigen_rope/numbers/error.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool {
namespace {

using Numbers = std::vector<double>;

// Where q and k stand: at the same place, near each other, far apart.
constexpr std::array<std::int64_t, 5> query_positions{0, 1, 7, 1000, 4095};
constexpr std::array<std::int64_t, 5> key_positions{0, 0, 3, 17, 2048};

// Read at once from each of the two models.
constexpr std::size_t chunk_bytes = buffer_bytes / 2;

double uniform(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(random() >> 11), -52) - 1.0;
}

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
  for (; count > 0; ++bytes, --count)
    hash = mixed(hash ^ std::to_integer<std::uint64_t>(*bytes)) + 0x9e3779b97f4a7c15U;
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

// The elements of a pair in the window, read (a, b) and written (A, B): the definitions, and not
// those by which rows are moved.
struct PairElements {
  std::size_t a, b, A, B;
};

PairElements defined_pair(PairKind kind, std::size_t k, std::size_t pairs) {
  const std::size_t half = pairs / 2;
  switch (kind) {
    case PairKind::split_half: return {k, pairs + k, k, pairs + k};
    case PairKind::interleaved: return {k + k, k + k + 1, k + k, k + k + 1};
    case PairKind::interleaved_to_split_half: return {k + k, k + k + 1, k, pairs + k};
    case PairKind::quarter: break;
  }
  const std::size_t first = k < half ? k : k + half;
  return {first, first + half, first, first + half};
}

// What a row is of; a norm's row may be of all heads.
struct RowUse {
  enum class Of { query, key, other } of = Of::other;
  std::size_t head = 0, element = 0;
  bool all_heads = false;
};

class RowRule {
 public:
  RowRule(const AttentionShape& shape, std::optional<QkvOrder> order)
      : heads_(static_cast<std::size_t>(shape.heads)),
        keys_(static_cast<std::size_t>(shape.key_heads)),
        query_dims_(static_cast<std::size_t>(shape.query.dims)),
        key_dims_(static_cast<std::size_t>(shape.key.dims)),
        order_(order) {}

  RowUse use_of(const ConvertedTensor& tensor, std::size_t row, std::size_t rows) const {
    switch (tensor.projection) {
      case Projection::query: return of_one(RowUse::Of::query, row, rows, query_dims_, heads_);
      case Projection::key: return of_one(RowUse::Of::key, row, rows, key_dims_, keys_);
      case Projection::fused: break;
    }
    const std::size_t block = row / query_dims_, element = row % query_dims_;
    if (order_ == QkvOrder::concatenated) {
      if (block < heads_) return {RowUse::Of::query, block, element, false};
      return {block < heads_ + keys_ ? RowUse::Of::key : RowUse::Of::other, block - heads_, element,
              false};
    }
    const std::size_t group = heads_ / keys_, key = block / (group + 2),
                      within = block % (group + 2);
    if (within < group) return {RowUse::Of::query, key * group + within, element, false};
    return {within == group ? RowUse::Of::key : RowUse::Of::other, key, element, false};
  }

 private:
  static RowUse of_one(RowUse::Of of, std::size_t row, std::size_t rows, std::size_t dims,
                       std::size_t heads) {
    return {of, row / dims, row % dims, rows == dims && heads > 1};
  }

  std::size_t heads_, keys_, query_dims_, key_dims_;
  std::optional<QkvOrder> order_;
};

// q and k of one layer, of one of the two models: [head][element].
struct Heads {
  Numbers query{}, key{};

  Numbers& of(RowUse::Of role) { return role == RowUse::Of::query ? query : key; }
};

// For every head of a tensor, the rows it has, whatever their order.
struct RowHashes {
  std::vector<std::uint64_t> query{}, key{};

  void add(const RowUse& use, std::uint64_t hash) {
    (use.of == RowUse::Of::query ? query : key)[use.head] += hash;
  }
};

bool is_factor(Part part) { return part == Part::magnitude || part == Part::norm; }

class Verifier {
 public:
  Verifier(const ConvertOptions& options, const Description& description, const Model& before,
           const Model& after, std::string name, Progress& progress)
      : options_(options),
        shape_(description.shape),
        base_(description.base),
        rule_(description.shape, description.order),
        before_(before),
        after_(after),
        name_(std::move(name)),
        progress_(progress) {}

  LayerCheck check(const ConvertedLayer& layer) {
    Heads before = empty_heads(), after = empty_heads();
    for (const Part part :
         {Part::weight, Part::bias, Part::lora_b, Part::magnitude, Part::norm, Part::norm_bias}) {
      for (const ConvertedTensor& tensor : layer.tensors) {
        if (tensor.part == part) read(layer, tensor, before, after);
      }
    }
    for (const auto& [role, of] :
         {std::pair(Role::query, RowUse::Of::query), std::pair(Role::key, RowUse::Of::key)}) {
      if (!layer.has(role)) stand_in(role, before.of(of), after.of(of));
    }
    return compare(layer, before, after);
  }

  // What is neither q nor k must be what it was.
  void check_rest(std::size_t shard, const std::set<std::string>& checked) {
    const Shard &old_shard = before_.shards[shard], &new_shard = after_.shards[shard];
    for (std::size_t i = 0; i < new_shard.header.tensors.size(); ++i) {
      const SafetensorsEntry &was = old_shard.header.tensors[i], &is = new_shard.header.tensors[i];
      if (checked.count(is.name) != 0) continue;
      const std::uint64_t old_begin = old_shard.header.data_begin + was.begin,
                          new_begin = new_shard.header.data_begin + is.begin;
      for (std::uint64_t at = 0; at < is.bytes(); at += chunk_bytes) {
        const std::size_t count =
            static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, is.bytes() - at));
        read_both(old_shard, old_begin + at, new_shard, new_begin + at, count);
        if (std::memcmp(old_.data(), new_.data(), count) != 0) refuse_changed(is.name);
        progress_.advance(count);
      }
    }
  }

 private:
  Heads empty_heads() const {
    return {Numbers(static_cast<std::size_t>(shape_.heads * shape_.query.dims), 0.0),
            Numbers(static_cast<std::size_t>(shape_.key_heads * shape_.key.dims), 0.0)};
  }

  [[noreturn]] void refuse_changed(const std::string& tensor) const {
    refuse(name_,
           fmt::format(
               "tensor \"{}\" must be what it was where it holds neither q nor k, got other bytes",
               tensor));
  }

  void read_both(const Shard& old_shard, std::uint64_t old_at, const Shard& new_shard,
                 std::uint64_t new_at, std::size_t count) {
    old_.resize(std::max(old_.size(), count));
    new_.resize(std::max(new_.size(), count));
    old_shard.file.read(old_at, old_.data(), count);
    new_shard.file.read(new_at, new_.data(), count);
  }

  // A tensor's part of q and k. `tensor` is of the new model; the old one has the same names at the
  // same places.
  void read(const ConvertedLayer& layer, const ConvertedTensor& tensor, Heads& before,
            Heads& after) {
    const Shard &old_shard = before_.shards[tensor.shard], &new_shard = after_.shards[tensor.shard];
    const SafetensorsEntry &was = old_shard.header.tensors[tensor.entry],
                           &is = new_shard.header.tensors[tensor.entry];
    const std::size_t row_bytes = static_cast<std::size_t>(tensor.row_bytes());
    const std::size_t rows = static_cast<std::size_t>(is.bytes()) / row_bytes,
                      at_once = std::max<std::size_t>(1, chunk_bytes / row_bytes);
    const bool matrix = tensor.part == Part::weight || tensor.part == Part::lora_b;
    const auto vector_for = [&](const char* role) {
      return matrix ? random_numbers(fmt::format("{} {}", tensor.name, role),
                                     static_cast<std::size_t>(tensor.columns))
                    : Numbers{1.0};
    };
    const Numbers query_x = tensor.projection == Projection::key ? Numbers{} : vector_for("query");
    const Numbers key_x = tensor.projection == Projection::query ? Numbers{} : vector_for("key");
    RowHashes old_hashes = empty_hashes(), new_hashes = empty_hashes();
    for (std::size_t first = 0; first < rows; first += at_once) {
      const std::size_t count = std::min(at_once, rows - first);
      const std::uint64_t offset = static_cast<std::uint64_t>(first) * row_bytes;
      read_both(old_shard, old_shard.header.data_begin + was.begin + offset, new_shard,
                new_shard.header.data_begin + is.begin + offset, count * row_bytes);
      for (std::size_t i = 0; i < count; ++i) {
        const std::byte *old_row = old_.data() + i * row_bytes,
                        *new_row = new_.data() + i * row_bytes;
        const RowUse use = rule_.use_of(tensor, first + i, rows);
        if (use.of == RowUse::Of::other) {
          if (std::memcmp(old_row, new_row, row_bytes) != 0) refuse_changed(tensor.name);
          continue;
        }
        const Numbers& x = use.of == RowUse::Of::query ? query_x : key_x;
        old_hashes.add(use, hash_of(old_row, row_bytes));
        new_hashes.add(use, hash_of(new_row, row_bytes));
        combine(tensor, use, product(tensor, old_row, x, first + i), before.of(use.of));
        combine(tensor, use, product(tensor, new_row, x, first + i), after.of(use.of));
      }
      progress_.advance(count * row_bytes);
    }
    if (old_hashes.query != new_hashes.query || old_hashes.key != new_hashes.key) {
      refuse(
          name_,
          fmt::format("\"{}\" must have the rows of every head it had, got others in tensor \"{}\"",
                      layer.name, tensor.name));
    }
  }

  RowHashes empty_hashes() const {
    return {std::vector<std::uint64_t>(static_cast<std::size_t>(shape_.heads)),
            std::vector<std::uint64_t>(static_cast<std::size_t>(shape_.key_heads))};
  }

  double product(const ConvertedTensor& tensor, const std::byte* row, const Numbers& x,
                 std::size_t number) const {
    const double found = detail::with_scalar(
        tensor.type, [&](auto tag) { return product_with<typename decltype(tag)::type>(row, x); });
    if (std::isfinite(found)) return found;
    refuse(name_,
           fmt::format("tensor \"{}\" must have finite products to be verified, got {} in row {}",
                       tensor.name, found, number));
  }

  void combine(const ConvertedTensor& tensor, const RowUse& use, double value,
               Numbers& heads) const {
    const auto dims =
        static_cast<std::size_t>(use.of == RowUse::Of::query ? shape_.query.dims : shape_.key.dims);
    const std::size_t end = use.all_heads ? heads.size() : (use.head + 1) * dims;
    for (std::size_t at = use.head * dims + use.element; at < end; at += dims) {
      heads[at] = is_factor(tensor.part) ? heads[at] * value : heads[at] + value;
    }
  }

  // What stands in for the projection a file does not have: the same pairs on both sides, each
  // where its pairing wants them.
  void stand_in(Role role, Numbers& before, Numbers& after) const {
    const HeadWindow window = role == Role::query ? shape_.query : shape_.key;
    const auto dims = static_cast<std::size_t>(window.dims),
               begin = static_cast<std::size_t>(window.offset);
    const std::size_t pairs = static_cast<std::size_t>(shape_.rotary_dims) / 2;
    before = random_numbers("stand-in", before.size());
    after = before;
    const Numbers numbers = random_numbers("stand-in pairs", before.size());
    for (std::size_t head = 0; head < before.size(); head += dims) {
      for (std::size_t k = 0; k < pairs; ++k) {
        const PairElements old_pair = defined_pair(options_.from, k, pairs),
                           new_pair = defined_pair(options_.to, k, pairs);
        const double first = numbers[head + 2 * k], second = numbers[head + 2 * k + 1];
        before[head + begin + old_pair.a] = after[head + begin + new_pair.a] = first;
        before[head + begin + old_pair.b] = after[head + begin + new_pair.b] = second;
      }
    }
  }

  // By the definition: pair k turns by position * base^(-2k / r).
  Numbers rotated(const Numbers& heads, const HeadWindow& window, PairKind kind,
                  std::int64_t position, double base) const {
    Numbers result = heads;
    const auto dims = static_cast<std::size_t>(window.dims);
    const std::size_t pairs = static_cast<std::size_t>(shape_.rotary_dims) / 2;
    for (std::size_t k = 0; k < pairs; ++k) {
      const PairElements pair = defined_pair(kind, k, pairs);
      const double angle = static_cast<double>(position) *
                           std::pow(base, -static_cast<double>(k) / static_cast<double>(pairs));
      const double c = std::cos(angle), s = std::sin(angle);
      for (std::size_t head = static_cast<std::size_t>(window.offset); head < heads.size();
           head += dims) {
        const double a = heads[head + pair.a], b = heads[head + pair.b];
        result[head + pair.A] = a * c - b * s;
        result[head + pair.B] = a * s + b * c;
      }
    }
    return result;
  }

  struct Dot {
    double sum = 0, size = 0;
  };

  static Dot dot(const double* q, const double* k, std::size_t count) {
    Dot result;
    for (std::size_t i = 0; i < count; ++i) {
      result.sum += q[i] * k[i];
      result.size += std::abs(q[i] * k[i]);
    }
    return result;
  }

  LayerCheck compare(const ConvertedLayer& layer, const Heads& before, const Heads& after) const {
    // Rates that are not all different would not tell pairs apart.
    constexpr double usual_base = 10000, least_base = 100;
    LayerCheck worst{layer.name, 0, 0};
    double worst_ratio = -1;
    std::vector<double> bases{usual_base};
    if (base_ >= least_base && base_ != usual_base) bases.push_back(base_);
    for (const double base : bases) {
      for (std::size_t p = 0; p < query_positions.size(); ++p) {
        const Heads was{
            rotated(before.query, shape_.query, options_.from, query_positions[p], base),
            rotated(before.key, shape_.key, options_.from, key_positions[p], base)};
        const Heads is{rotated(after.query, shape_.query, options_.to, query_positions[p], base),
                       rotated(after.key, shape_.key, options_.to, key_positions[p], base)};
        for (eigen_rope::Index head = 0; head < shape_.heads; ++head) {
          const LayerCheck found = compare_head(layer, was, is, static_cast<std::size_t>(head), p);
          const double ratio = found.bound > 0 ? found.difference / found.bound : 0;
          if (ratio > worst_ratio) worst = found;
          worst_ratio = std::max(ratio, worst_ratio);
        }
      }
    }
    return worst;
  }

  LayerCheck compare_head(const ConvertedLayer& layer, const Heads& was, const Heads& is,
                          std::size_t head, std::size_t p) const {
    // Heads that differ outside the window (latent attention) meet in it alone.
    const bool alike =
        shape_.query.dims == shape_.key.dims && shape_.query.offset == shape_.key.offset;
    const auto count = static_cast<std::size_t>(alike ? shape_.query.dims : shape_.rotary_dims);
    const std::size_t group = static_cast<std::size_t>(shape_.heads / shape_.key_heads);
    const std::size_t q_at = head * static_cast<std::size_t>(shape_.query.dims) +
                             (alike ? 0 : static_cast<std::size_t>(shape_.query.offset));
    const std::size_t k_at = head / group * static_cast<std::size_t>(shape_.key.dims) +
                             (alike ? 0 : static_cast<std::size_t>(shape_.key.offset));
    const Dot before = dot(&was.query[q_at], &was.key[k_at], count),
              after = dot(&is.query[q_at], &is.key[k_at], count);
    const double unit = std::numeric_limits<double>::epsilon() / 2;
    const LayerCheck found{
        layer.name, std::abs(after.sum - before.sum),
        2.0 * static_cast<double>(count + 1) * unit * std::max(before.size, after.size)};
    if (!std::isfinite(found.bound))
      refuse(name_, fmt::format("\"{}\" must have finite products to be verified", layer.name));
    if (!(found.difference <= found.bound)) {
      refuse(name_, fmt::format("\"{}\" must keep q.k within {:.3g}, got a difference of {:.3g} in "
                                "head {} at positions {} and {}",
                                layer.name, found.bound, found.difference, head, query_positions[p],
                                key_positions[p]));
    }
    return found;
  }

  const ConvertOptions& options_;
  AttentionShape shape_;
  double base_;
  RowRule rule_;
  const Model &before_, &after_;
  std::string name_;
  Progress& progress_;
  std::vector<std::byte> old_{}, new_{};
};

void require_same_tensors(const Model& before, const Model& after, const std::string& name) {
  if (before.shards.size() != after.shards.size()) {
    refuse(name, fmt::format("must have {} files with tensors, got {}", before.shards.size(),
                             after.shards.size()));
  }
  for (std::size_t shard = 0; shard < before.shards.size(); ++shard) {
    const auto &old_tensors = before.shards[shard].header.tensors,
               &new_tensors = after.shards[shard].header.tensors;
    bool same = old_tensors.size() == new_tensors.size();
    for (std::size_t i = 0; same && i < old_tensors.size(); ++i) {
      same = old_tensors[i].name == new_tensors[i].name &&
             old_tensors[i].dtype == new_tensors[i].dtype &&
             old_tensors[i].shape == new_tensors[i].shape;
    }
    if (!same)
      refuse(name, fmt::format("must have the tensors of {}, got others",
                               before.shards[shard].file.path().filename().string()));
  }
}

bool same_shape(const AttentionShape& a, const AttentionShape& b) {
  const auto same = [](const HeadWindow& x, const HeadWindow& y) {
    return x.dims == y.dims && x.offset == y.offset;
  };
  return a.heads == b.heads && a.key_heads == b.key_heads && a.rotary_dims == b.rotary_dims &&
         same(a.query, b.query) && same(a.key, b.key);
}

}  // namespace

std::vector<LayerCheck> verify_converted(const ConvertOptions& options, const Model& before,
                                         const Model& after, const std::string& name,
                                         Progress& progress) {
  require_same_tensors(before, after, name);
  for (const Shard& shard : after.shards) {
    const std::string record = recorded_pairing(shard.header).value_or("nothing");
    if (record == name_of(options.to)) continue;
    refuse(name, fmt::format("{} must be {} in the metadata of {}, got {}", pairing_record,
                             name_of(options.to), shard.file.path().filename().string(), record));
  }
  // What the output says of itself: the plan of the way back finds the tensors that hold q and k.
  ConvertOptions back = options;
  std::swap(back.from, back.to);
  const Description description = describe(back, after);
  if (after.folder && description.pairing_in_config &&
      !same_pairs(*description.family_pairing, options.to)) {
    refuse(name, fmt::format("config.json must record the pairing {}, got {}", name_of(options.to),
                             name_of(*description.family_pairing)));
  }
  if (!same_shape(description.shape, describe(options, before).shape))
    refuse(name, "must describe the heads as its source does, got others");
  const std::vector<ConvertedLayer> layers = make_plan(back, description, after).layers;
  std::uint64_t bytes = 0;
  for (const Shard& shard : after.shards) bytes += shard.file.size();
  progress.begin("verifying", bytes);
  Verifier verifier(options, description, before, after, name, progress);
  std::vector<LayerCheck> checks;
  checks.reserve(layers.size());
  std::set<std::string> checked;
  for (const ConvertedLayer& layer : layers) {
    checks.push_back(verifier.check(layer));
    for (const ConvertedTensor& tensor : layer.tensors) checked.insert(tensor.name);
  }
  for (std::size_t shard = 0; shard < after.shards.size(); ++shard)
    verifier.check_rest(shard, checked);
  return checks;
}

}  // namespace eigen_rope::tool
