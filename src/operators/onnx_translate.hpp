// SPDX-License-Identifier: Apache-2.0
//
// One call of an ONNX operator in the core's terms: X's rows, the pairs, and the cache row every
// table entry comes from.
//
//   X [batch, heads, sequence, head]    core [head, sequence, heads, batch]
//                       table outer [sequence, 1, batch]
//   X [batch, sequence, heads * head]   core [head, heads, sequence, batch]
//                       table outer [1, sequence, batch]
//
// Everything about attributes, shapes, types and position ids is checked when a Call is made; data
// and aliasing are checked by those who read and write. Knows nothing of gradients or results.
// Private to onnx*.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "eigen_rope/any/tensor.hpp"
#include "eigen_rope/numbers/detail/uninitialised.hpp"
#include "eigen_rope/operators/onnx.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::onnx {

/// Neighbouring columns of the table that take their position from the same list of ids.
struct ColumnRun {
  Index first;
  Index count;
  Index list;
};

/// It refers to the shapes and the position ids of the inputs, which must outlive it.
struct Call {
  ScalarType type = ScalarType::f32;
  const Dims* x_shape = nullptr;
  const Dims* cache_shape = nullptr;
  /// X as the core sees it; it is dense.
  Shape shape{};
  Pairing pairing = split_half;
  /// The table: `pairs` columns, one row per token, where tokens are those of one batch if all
  /// batches share their positions.
  Index pairs = 0;
  Shape table_outer{};
  Index tokens = 0;
  Index cache_rows = 0;
  Index cache_columns = 0;
  /// The cache row of each token, one list behind the other. Without lists, token t has row
  /// first_row + t.
  const std::int64_t* ids = nullptr;
  Index first_row = 0;
  /// The columns of each list; none where there is one list, of all columns.
  std::vector<ColumnRun> columns{};
  double scale = 1.0;

  Index cache_row(Index list, Index token) const {
    return ids == nullptr ? first_row + token : ids[list * tokens + token];
  }

  /// Calls use(run) for the columns of each list.
  template <class Use>
  void for_each_run(const Use& use) const {
    if (columns.empty()) return use(ColumnRun{0, pairs, 0});
    for (const ColumnRun& run : columns) use(run);
  }

  any::ConstTensor read(const void* data) const {
    return {type, data, shape, {}, any::Order::fastest_first};
  }
  any::Tensor written(void* data) const {
    return {type, data, shape, {}, any::Order::fastest_first};
  }
  /// The extents of the table, entries of a row first.
  Shape table_shape() const {
    Shape all{pairs};
    for (int axis = 0; axis < table_outer.rank(); ++axis) all.push_back(table_outer[axis]);
    return all;
  }
};

Call translate(const RotaryEmbedding& node, const Inputs& inputs);
Call translate(const ContribRotaryEmbedding& node, const Inputs& inputs);
Call translate(const MRotaryEmbedding& node, const Inputs& inputs);

/// The table of a call: cache rows in place where they lie one after the other, gathered and scaled
/// elsewhere. A small copy lies in the object itself.
class CallTable {
 public:
  CallTable(const Call& call, const ConstTensor& cos_cache, const ConstTensor& sin_cache);
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;

  const any::Table& view() const { return view_; }

 private:
  static constexpr std::size_t small_bytes = 8192;

  /// Uninitialised memory for both halves.
  unsigned char* memory_for(std::size_t bytes);

  any::Table view_{};
  detail::UninitialisedVector<unsigned char> large_;
  std::aligned_storage_t<small_bytes, 64> small_;  // filled where it is used
};

/// `[2, 3, 8]`
std::string text(const Dims& shape);

/// What is asked of a tensor: the type and the shape of the tensor called `like`.
struct Required {
  std::string_view like;
  ScalarType type;
  const Dims& shape;
};

void check_like(std::string_view name, ScalarType type, const Dims& shape, const Required& wanted);

/// Throws unless the tensor has this type and shape (those of the tensor called `like`). A Tensor
/// is no ConstTensor here, which would copy its shape.
template <class View>
void check_like(std::string_view name, const View& tensor, std::string_view like, ScalarType type,
                const Dims& shape) {
  check_like(name, tensor.type, tensor.shape, {like, type, shape});
}

/// Throws for a tensor with elements but no data.
void check_data(std::string_view name, const void* data, const Dims& shape);

/// Memory with the name of the argument it belongs to.
struct NamedMemory {
  std::string_view name;
  const void* data;
  std::size_t bytes;
};
std::size_t bytes_of(ScalarType type, const Dims& shape);
template <class View>
NamedMemory memory_of(std::string_view name, const View& tensor) {
  return {name, tensor.data, bytes_of(tensor.type, tensor.shape)};
}
NamedMemory memory_of(const PositionIds& ids);

void refuse_overlap(const NamedMemory& written, const NamedMemory& other);
/// The same data is allowed.
void refuse_partial_overlap(const NamedMemory& written, const NamedMemory& other);

}  // namespace eigen_rope::EIGEN_ROPE_ABI::onnx
