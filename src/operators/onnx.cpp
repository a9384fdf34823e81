// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/operators/onnx.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <numeric>

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/rows/detail/overlap.hpp"
#include "numbers/joined.hpp"
#include "operators/onnx_translate.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {
namespace {

using detail::fail;

/// More elements than any machine addresses; strides and byte counts below it cannot overflow.
constexpr std::int64_t max_elements = std::int64_t{1} << 56;

void check_extents(std::string_view name, const Dims& shape) {
  constexpr std::int64_t small = std::int64_t{1} << 28;  // the product of two is no more than that
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) fail(fmt::format("{} must not have negative extents", name), text(shape));
    // An empty axis does not excuse the others: strides are made of them.
    if ((extent > small || product > small) && extent > max_elements / product)
      fail(fmt::format("{} must have at most 2^56 elements", name), text(shape));
    product *= std::max<std::int64_t>(extent, 1);
  }
}

std::int64_t count_of(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void check_flag(std::string_view name, std::int64_t value) {
  if (value != 0 && value != 1) fail(fmt::format("{} must be 0 or 1", name), value);
}

template <class Node>
void check_attributes(const Node& node) {
  check_flag("interleaved", node.interleaved);
  if (node.num_heads < 0) fail("num_heads must not be negative", node.num_heads);
  if (node.rotary_embedding_dim < 0)
    fail("rotary_embedding_dim must not be negative", node.rotary_embedding_dim);
  if (node.rotary_embedding_dim % 2 != 0)
    fail("rotary_embedding_dim must be even", node.rotary_embedding_dim);
}

/// The rule of com.microsoft, for X of any rank.
template <class Node>
void check_contrib_attributes(const Node& node) {
  check_attributes(node);
  if (node.rotary_embedding_dim > 0 && node.num_heads == 0)
    fail("num_heads must be set with rotary_embedding_dim", node.num_heads);
  detail::require_finite("scale", node.scale);
}

void check_tensors(const Inputs& inputs) {
  const ConstTensor& x = inputs.X;
  if (x.shape.size() != 3 && x.shape.size() != 4) fail("X must have rank 3 or 4", text(x.shape));
  check_extents("X", x.shape);
  check_extents("cos_cache", inputs.cos_cache.shape);
  check_like("cos_cache", inputs.cos_cache, "X", x.type, inputs.cos_cache.shape);
  check_like("sin_cache", inputs.sin_cache, "X", x.type, inputs.sin_cache.shape);
}

struct Sizes {
  Index batch;
  Index heads;
  Index sequence;
  Index head_size;
};

Sizes sizes_of(const Dims& x, std::int64_t num_heads) {
  if (x.size() == 4) {
    if (num_heads != 0 && num_heads != x[1])
      fail(fmt::format("num_heads must be X's {} or not set", x[1]), num_heads);
    return {x[0], x[1], x[2], x[3]};
  }
  if (num_heads == 0) fail("num_heads must be set for X of rank 3", num_heads);
  if (x[2] % num_heads != 0)
    fail(fmt::format("num_heads must divide the last extent {} of X", x[2]), num_heads);
  return {x[0], num_heads, x[1], x[2] / num_heads};
}

/// The contrib operator without num_heads: the cache says how wide a head is.
Sizes sizes_from_cache(const Dims& x, std::int64_t cache_columns) {
  const std::int64_t head_size = 2 * cache_columns;
  if (head_size == 0) fail("cos_cache must have columns where num_heads is not set", cache_columns);
  if (x[2] % head_size != 0) {
    fail(fmt::format("X's last extent must be a multiple of {} (twice the cache's columns) where "
                     "num_heads is not set",
                     head_size),
         x[2]);
  }
  return {x[0], x[2] / head_size, x[1], head_size};
}

Index rotary_dims(Index head_size, std::int64_t rotary_embedding_dim) {
  if (head_size == 0) fail("the head size must be positive", std::int64_t{head_size});
  if (head_size % 2 != 0) fail("the head size must be even", std::int64_t{head_size});
  if (rotary_embedding_dim > head_size) {
    fail(fmt::format("rotary_embedding_dim must be at most the head size {}", head_size),
         rotary_embedding_dim);
  }
  return rotary_embedding_dim == 0 ? head_size : rotary_embedding_dim;
}

/// Both caches are [rows, columns].
void check_flat_caches(const Inputs& inputs) {
  const Dims& cos = inputs.cos_cache.shape;
  if (cos.size() != 2) fail("cos_cache must be [rows, columns] with position_ids", text(cos));
  if (inputs.sin_cache.shape != cos)
    fail("sin_cache must have cos_cache's shape " + text(cos), text(inputs.sin_cache.shape));
}

/// Both caches are [batch, sequence, columns].
void check_full_caches(const Inputs& inputs, const Sizes& sizes) {
  const Dims& cos = inputs.cos_cache.shape;
  if (cos.size() != 3 || cos[0] != sizes.batch || cos[1] != sizes.sequence) {
    fail(fmt::format("cos_cache must be [{}, {}, columns] (batch, sequence) without position_ids",
                     sizes.batch, sizes.sequence),
         text(cos));
  }
  if (inputs.sin_cache.shape != cos)
    fail("sin_cache must have cos_cache's shape " + text(cos), text(inputs.sin_cache.shape));
}

void check_columns(Index columns, Index pairs) {
  if (columns != pairs)
    fail(fmt::format("cos_cache must have {} columns (rotary dims / 2)", pairs),
         std::int64_t{columns});
}

/// A partial rotation may also come with the cache of a whole head, whose first columns count.
void check_contrib_columns(Index columns, Index pairs, Index whole_pairs) {
  if (columns == pairs || columns == whole_pairs) return;
  if (pairs == whole_pairs) check_columns(columns, pairs);
  fail(fmt::format("cos_cache must have {} columns (rotary dims / 2) or {} (head size / 2)", pairs,
                   whole_pairs),
       std::int64_t{columns});
}

const PositionIds& required_ids(const Inputs& inputs) {
  if (!inputs.position_ids) fail("position_ids is required, got none");
  return *inputs.position_ids;
}

void check_ids_shape(const PositionIds& ids, std::initializer_list<std::int64_t> expected,
                     std::string_view meaning) {
  if (!std::equal(ids.shape.begin(), ids.shape.end(), expected.begin(), expected.end()))
    fail(fmt::format("position_ids must be {} ({})", text(expected), meaning), text(ids.shape));
}

const std::int64_t* rows_of_ids(const PositionIds& ids, Index rows) {
  check_data("position_ids", ids.data, ids.shape);
  const std::int64_t count = count_of(ids.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    if (ids.data[i] < 0 || ids.data[i] >= rows) {
      fail(fmt::format("position_ids must be at least 0 and below the caches' {} rows", rows),
           fmt::format("{} at index {}", ids.data[i], i));
    }
  }
  return ids.data;
}

/// A call but for its positions, which are one list.
Call make_call(const Inputs& inputs, const Sizes& sizes, Index rotary, std::int64_t interleaved) {
  Call call;
  call.type = inputs.X.type;
  call.x_shape = &inputs.X.shape;
  call.cache_shape = &inputs.cos_cache.shape;
  const Index head = sizes.head_size;
  if (inputs.X.shape.size() == 4) {
    call.shape = {head, sizes.sequence, sizes.heads, sizes.batch};
    call.table_outer = {sizes.sequence, 1, sizes.batch};
  } else {
    call.shape = {head, sizes.heads, sizes.sequence, sizes.batch};
    call.table_outer = {1, sizes.sequence, sizes.batch};
  }
  call.pairing = (interleaved == 1 ? eigen_rope::interleaved : eigen_rope::split_half)
                     .with_rotary_dims(rotary)
                     .along(0);
  call.pairs = rotary / 2;
  call.cache_columns = call.cache_shape->back();
  call.cache_rows =
      call.cache_shape->size() == 2 ? call.cache_shape->front() : sizes.batch * sizes.sequence;
  // An empty X takes nothing from the caches, however long they are.
  call.tokens = call.shape.size() == 0 ? 0 : sizes.batch * sizes.sequence;
  return call;
}

/// One position for all batches: token s has the row offset + s.
void take_offset(Call& call, const PositionIds& ids, Index sequence) {
  check_data("position_ids", ids.data, ids.shape);
  const std::int64_t offset = *ids.data;
  if (offset < 0 || offset > call.cache_rows - sequence) {
    fail(fmt::format(
             "position_ids must leave the sequence's {} positions within the caches' {} rows",
             sequence, call.cache_rows),
         offset);
  }
  call.table_outer = {call.table_outer[0], call.table_outer[1], 1};
  call.tokens = call.shape.size() == 0 ? 0 : sequence;
  call.first_row = offset;
}

void check_sections(const MRotaryEmbedding& node) {
  const Dims& section = node.mrope_section;
  if (section.size() != 3) fail("mrope_section must have 3 lengths", text(section));
  for (const std::int64_t length : section) {
    if (length < 0) fail("mrope_section must not have negative lengths", text(section));
  }
}

void check_sum_of_sections(const MRotaryEmbedding& node, Index pairs) {
  const Dims& section = node.mrope_section;
  std::int64_t left = pairs;
  for (const std::int64_t length : section) {
    if (length > left)
      fail(fmt::format("mrope_section must add up to {} (rotary dims / 2)", pairs), text(section));
    left -= length;
  }
  if (left != 0)
    fail(fmt::format("mrope_section must add up to {} (rotary dims / 2)", pairs), text(section));
}

std::vector<ColumnRun> columns_of(const MRotaryEmbedding& node, Index pairs) {
  const SectionPattern pattern =
      node.mrope_layout == 0 ? SectionPattern::contiguous : SectionPattern::interleaved_hf;
  const Sections sections(pattern, {node.mrope_section.begin(), node.mrope_section.end()});
  std::vector<ColumnRun> runs;
  for (Index k = 0; k < pairs; ++k) {
    const Index list = sections.axis(k);
    if (!runs.empty() && runs.back().list == list) {
      ++runs.back().count;
    } else {
      runs.push_back({k, 1, list});
    }
  }
  return runs;
}

bool lies_in_cache(const Call& call) {
  const bool is_one_list =
      call.columns.empty() || (call.columns.size() == 1 && call.columns.front().list == 0);
  if (call.scale != 1.0 || !is_one_list || call.cache_columns != call.pairs) return false;
  if (call.ids == nullptr) return true;
  const auto not_next = [](std::int64_t a, std::int64_t b) { return b != a + 1; };
  const std::int64_t* const end = call.ids + call.tokens;
  return std::adjacent_find(call.ids, end, not_next) == end;
}

/// Calls copy(table entry, cache entry, count) for every stretch of the table.
template <class Copy>
void for_each_stretch(const Call& call, const Copy& copy) {
  for (Index token = 0; token < call.tokens; ++token) {
    call.for_each_run([&](const ColumnRun& run) {
      const Index row = call.cache_row(run.list, token);
      copy(token * call.pairs + run.first, row * call.cache_columns + run.first, run.count);
    });
  }
}

void gather(const Call& call, const void* cache, unsigned char* table) {
  const std::size_t size = size_of(call.type);
  const auto* source = static_cast<const unsigned char*>(cache);
  for_each_stretch(call, [&](Index to, Index from, Index count) {
    std::memcpy(&table[static_cast<std::size_t>(to) * size],
                source + static_cast<std::size_t>(from) * size,
                static_cast<std::size_t>(count) * size);
  });
}

template <class Scalar, class Entry>
void gather_scaled(const Call& call, const void* cache, unsigned char* table) {
  const auto* source = static_cast<const Scalar*>(cache);
  for_each_stretch(call, [&](Index to, Index from, Index count) {
    for (Index k = 0; k < count; ++k) {
      const auto entry = static_cast<Entry>(call.scale * static_cast<double>(source[from + k]));
      std::memcpy(&table[static_cast<std::size_t>(to + k) * sizeof(Entry)], &entry, sizeof(Entry));
    }
  });
}

void gather_scaled(const Call& call, const void* cache, unsigned char* table) {
  detail::with_scalar(call.type, [&](auto tag) {
    using Scalar = typename decltype(tag)::type;
    using Entry = std::conditional_t<sizeof(Scalar) == 2, float, Scalar>;
    gather_scaled<Scalar, Entry>(call, cache, table);
  });
}

template <class Node>
void run_node(const Node& node, const Inputs& inputs, const Tensor& Y, const Device& device) {
  const Call call = translate(node, inputs);
  check_like("Y", Y, "X", call.type, *call.x_shape);
  if (call.shape.size() == 0) return;
  check_data("X", inputs.X.data, inputs.X.shape);
  check_data("cos_cache", inputs.cos_cache.data, inputs.cos_cache.shape);
  check_data("sin_cache", inputs.sin_cache.data, inputs.sin_cache.shape);
  check_data("Y", Y.data, Y.shape);
  const NamedMemory written = memory_of("Y", Y);
  refuse_partial_overlap(written, memory_of("X", inputs.X));
  refuse_overlap(written, memory_of("cos_cache", inputs.cos_cache));
  refuse_overlap(written, memory_of("sin_cache", inputs.sin_cache));
  if (inputs.position_ids) refuse_overlap(written, memory_of(*inputs.position_ids));
  const CallTable table(call, inputs.cos_cache, inputs.sin_cache);
  any::rotate_to(call.written(Y.data), call.read(inputs.X.data), table.view(), call.pairing,
                 Direction::forward, device);
}

}  // namespace

std::string text(const Dims& shape) { return fmt::format("[{}]", detail::joined(shape, ", ")); }

void check_like(std::string_view name, ScalarType type, const Dims& shape, const Required& wanted) {
  if (type != wanted.type) {
    fail(fmt::format("{} must have {}'s type {}", name, wanted.like, name_of(wanted.type)),
         name_of(type));
  }
  if (shape != wanted.shape) {
    fail(fmt::format("{} must have {}'s shape {}", name, wanted.like, text(wanted.shape)),
         text(shape));
  }
}

void check_data(std::string_view name, const void* data, const Dims& shape) {
  if (data == nullptr && count_of(shape) != 0)
    fail(fmt::format("{} must have data, got a null pointer", name));
}

std::size_t bytes_of(ScalarType type, const Dims& shape) {
  return static_cast<std::size_t>(count_of(shape)) * size_of(type);
}

NamedMemory memory_of(const PositionIds& ids) {
  return {"position_ids", ids.data,
          static_cast<std::size_t>(count_of(ids.shape)) * sizeof(std::int64_t)};
}

void refuse_overlap(const NamedMemory& written, const NamedMemory& other) {
  if (!detail::overlap(written.data, written.bytes, other.data, other.bytes)) return;
  fail(fmt::format("{} must not overlap {} (distance in bytes)", written.name, other.name),
       static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(written.data) -
                                 reinterpret_cast<std::uintptr_t>(other.data)));
}

void refuse_partial_overlap(const NamedMemory& written, const NamedMemory& other) {
  if (written.data == other.data ||
      !detail::overlap(written.data, written.bytes, other.data, other.bytes))
    return;
  fail(fmt::format("{} must be {}'s own data or not overlap it (distance in bytes)", written.name,
                   other.name),
       static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(written.data) -
                                 reinterpret_cast<std::uintptr_t>(other.data)));
}

unsigned char* CallTable::memory_for(std::size_t bytes) {
  if (bytes <= small_bytes) return reinterpret_cast<unsigned char*>(&small_);
  large_.resize(bytes);
  return large_.data();
}

CallTable::CallTable(const Call& call, const ConstTensor& cos_cache, const ConstTensor& sin_cache) {
  view_.type = call.type;
  view_.shape = call.table_shape();
  view_.order = any::Order::fastest_first;
  if (call.tokens == 0) return;
  if (lies_in_cache(call)) {
    const std::size_t begin =
        static_cast<std::size_t>(call.cache_row(0, 0) * call.cache_columns) * size_of(call.type);
    view_.cos = static_cast<const unsigned char*>(cos_cache.data) + begin;
    view_.sin = static_cast<const unsigned char*>(sin_cache.data) + begin;
    return;
  }
  const bool scaled = call.scale != 1.0;
  if (scaled && call.type != ScalarType::f64) view_.type = ScalarType::f32;
  const std::size_t half = static_cast<std::size_t>(call.tokens * call.pairs) * size_of(view_.type);
  unsigned char* const cos = memory_for(2 * half);
  unsigned char* const sin = cos + half;
  const auto fill =
      scaled ? static_cast<void (*)(const Call&, const void*, unsigned char*)>(gather_scaled)
             : gather;
  fill(call, cos_cache.data, cos);
  fill(call, sin_cache.data, sin);
  view_.cos = cos;
  view_.sin = sin;
}

void check(const RotaryEmbedding& node) { check_attributes(node); }

void check(const ContribRotaryEmbedding& node) {
  check_contrib_attributes(node);
  check_flag("is_packed_batching", node.is_packed_batching);
}

void check(const MRotaryEmbedding& node) {
  check_contrib_attributes(node);
  check_flag("mrope_layout", node.mrope_layout);
  check_sections(node);
}

Call translate(const RotaryEmbedding& node, const Inputs& inputs) {
  check(node);
  check_tensors(inputs);
  const Sizes sizes = sizes_of(inputs.X.shape, node.num_heads);
  const Index rotary = rotary_dims(sizes.head_size, node.rotary_embedding_dim);
  inputs.position_ids ? check_flat_caches(inputs) : check_full_caches(inputs, sizes);
  Call call = make_call(inputs, sizes, rotary, node.interleaved);
  if (node.wide_cache == WideCache::refuse) check_columns(call.cache_columns, call.pairs);
  if (call.cache_columns < call.pairs) {
    fail(fmt::format("cos_cache must have at least {} columns (rotary dims / 2)", call.pairs),
         std::int64_t{call.cache_columns});
  }
  if (inputs.position_ids) {
    check_ids_shape(*inputs.position_ids, {sizes.batch, sizes.sequence}, "batch, sequence");
    call.ids = rows_of_ids(*inputs.position_ids, call.cache_rows);
  }
  return call;
}

Call translate(const ContribRotaryEmbedding& node, const Inputs& inputs) {
  check(node);
  check_tensors(inputs);
  const PositionIds& ids = required_ids(inputs);
  check_flat_caches(inputs);
  const bool heads_from_cache = inputs.X.shape.size() == 3 && node.num_heads == 0;
  const Sizes sizes = heads_from_cache ? sizes_from_cache(inputs.X.shape, inputs.cos_cache.shape[1])
                                       : sizes_of(inputs.X.shape, node.num_heads);
  const Index rotary = rotary_dims(sizes.head_size, node.rotary_embedding_dim);
  Call call = make_call(inputs, sizes, rotary, node.interleaved);
  call.scale = node.scale;
  check_contrib_columns(call.cache_columns, call.pairs, sizes.head_size / 2);
  if (node.is_packed_batching == 0 && sizes.sequence > call.cache_rows) {
    fail(fmt::format(
             "cos_cache must have at least {} rows (the sequence) unless is_packed_batching is 1",
             sizes.sequence),
         std::int64_t{call.cache_rows});
  }
  const bool is_offset = ids.shape.empty() || (ids.shape.size() == 1 && ids.shape[0] == 1);
  if (is_offset) {
    take_offset(call, ids, sizes.sequence);
  } else {
    check_ids_shape(ids, {sizes.batch, sizes.sequence}, "batch, sequence, or one element");
    call.ids = rows_of_ids(ids, call.cache_rows);
  }
  return call;
}

Call translate(const MRotaryEmbedding& node, const Inputs& inputs) {
  check(node);
  check_tensors(inputs);
  const PositionIds& ids = required_ids(inputs);
  check_flat_caches(inputs);
  const Sizes sizes = sizes_of(inputs.X.shape, node.num_heads);
  const Index rotary = rotary_dims(sizes.head_size, node.rotary_embedding_dim);
  Call call = make_call(inputs, sizes, rotary, node.interleaved);
  call.scale = node.scale;
  check_columns(call.cache_columns, call.pairs);
  check_sum_of_sections(node, call.pairs);
  check_ids_shape(ids, {3, sizes.batch, sizes.sequence}, "time height width, batch, sequence");
  // An empty X may claim any width: its columns are not gone through.
  if (call.tokens > 0) call.columns = columns_of(node, call.pairs);
  call.ids = rows_of_ids(ids, call.cache_rows);
  return call;
}

void run(const RotaryEmbedding& node, const Inputs& inputs, const Tensor& Y, const Device& device) {
  run_node(node, inputs, Y, device);
}

void run(const ContribRotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
         const Device& device) {
  run_node(node, inputs, Y, device);
}

void run(const MRotaryEmbedding& node, const Inputs& inputs, const Tensor& Y,
         const Device& device) {
  run_node(node, inputs, Y, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
