// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/operators/aclnn.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "eigen_rope/any/any.hpp"
#include "operators/aclnn_translate.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn {
namespace {

using translate::Operand;
using translate::Rotation;
using translate::Stage;
using translate::Target;

std::size_t bytes_of(const Operand& operand) {
  return static_cast<std::size_t>(operand.shape.size()) * size_of(operand.type);
}

bool is_dense(const Operand& operand) {
  Index step = operand.shape[0];
  for (int axis = 1; axis < operand.shape.rank(); ++axis) {
    if (operand.shape[axis] != 1 && operand.strides[static_cast<std::size_t>(axis - 1)] != step)
      return false;
    step *= operand.shape[axis];
  }
  return true;
}

/// Calls visit(row, place) for each row: its number, and where it lies, in elements.
template <class Visit>
void for_each_row(const Operand& operand, const Visit& visit) {
  if (operand.shape.size() == 0) return;
  const Index rows = operand.shape.size() / operand.shape[0];
  for (Index row = 0; row < rows; ++row) {
    Index rest = row;
    Index place = 0;
    for (int axis = 1; axis < operand.shape.rank(); ++axis) {
      place += rest % operand.shape[axis] * operand.strides[static_cast<std::size_t>(axis - 1)];
      rest /= operand.shape[axis];
    }
    visit(row, place);
  }
}

/// A tensor's elements one after another: the tensor itself if it is dense, and a copy otherwise.
class DenseCopy {
 public:
  explicit DenseCopy(const Operand& operand) : data_(operand.data) {
    if (is_dense(operand)) return;
    copy_.resize(bytes_of(operand));
    const std::size_t element = size_of(operand.type);
    const std::size_t row_bytes = static_cast<std::size_t>(operand.shape[0]) * element;
    for_each_row(operand, [&](Index row, Index place) {
      const auto* from =
          static_cast<const std::byte*>(operand.data) + place * static_cast<Index>(element);
      std::memcpy(copy_.data() + static_cast<std::size_t>(row) * row_bytes, from, row_bytes);
    });
    data_ = copy_.data();
  }
  DenseCopy(const DenseCopy&) = delete;
  DenseCopy& operator=(const DenseCopy&) = delete;

  const void* data() const { return data_; }

 private:
  std::vector<std::byte> copy_;
  const void* data_;
};

/// Memory for a tensor's elements one after another: the tensor's own if it is dense, and otherwise
/// a buffer that store() copies to it.
class DenseTarget {
 public:
  explicit DenseTarget(const Target& target) : target_(target), dense_(is_dense(target.operand)) {
    if (!dense_) buffer_.resize(bytes_of(target.operand));
  }

  void* data() { return dense_ ? target_.data : buffer_.data(); }

  void store() const {
    if (dense_) return;
    const std::size_t element = size_of(target_.operand.type);
    const std::size_t row_bytes = static_cast<std::size_t>(target_.operand.shape[0]) * element;
    for_each_row(target_.operand, [&](Index row, Index place) {
      auto* to = static_cast<std::byte*>(target_.data) + place * static_cast<Index>(element);
      std::memcpy(to, buffer_.data() + static_cast<std::size_t>(row) * row_bytes, row_bytes);
    });
  }

 private:
  const Target& target_;
  bool dense_;
  std::vector<std::byte> buffer_;
};

struct DenseTable {
  DenseCopy cos;
  DenseCopy sin;
};

DenseTable dense_table(const Rotation& rotation) {
  return {DenseCopy(rotation.cos), DenseCopy(rotation.sin)};
}

void rotate(const Rotation& rotation, const DenseTable& table, Direction direction,
            const Device& device) {
  const Operand& cos = rotation.cos;
  const any::Table entries{cos.type, table.cos.data(),         table.sin.data(), cos.shape,
                           {},       any::Order::fastest_first};
  any::rotate_to(rotation.out.view(), rotation.x.view(), entries, rotation.pairing.along(0),
                 direction, device);
}

}  // namespace

void rotary_position_embedding(const Tensor& out, const Inputs& inputs, Mode mode,
                               const Device& device) {
  Stage stage{};
  const Rotation rotation = translate::check(out, inputs, mode, stage);
  rotate(rotation, dense_table(rotation), Direction::forward, device);
}

void rotary_position_embedding_grad(const GradOutputs& outputs, const GradInputs& inputs, Mode mode,
                                    const Device& device) {
  Stage stage{};
  const translate::Gradient gradient = translate::check(outputs, inputs, mode, stage);
  const Rotation& rotation = gradient.rotation;
  const DenseTable table = dense_table(rotation);
  // Before dx, which may take dy's place.
  if (gradient.dcos) {
    DenseTarget dcos(*gradient.dcos);
    DenseTarget dsin(*gradient.dsin);
    const any::TableMemory sums{rotation.cos.type,  dcos.data(), dsin.data(),
                                rotation.cos.shape, {},          any::Order::fastest_first};
    any::table_gradient(sums, gradient.x->view(), rotation.x.view(), rotation.pairing.along(0),
                        device);
    dcos.store();
    dsin.store();
  }
  rotate(rotation, table, Direction::backward, device);
}

void apply_rotary_pos_emb(const ApplyInputs& inputs, Layout layout, Mode mode,
                          const Device& device) {
  Stage stage{};
  const translate::Application application = translate::check(inputs, layout, mode, stage);
  const DenseTable table = dense_table(application.query);
  rotate(application.query, table, Direction::forward, device);
  rotate(application.key, table, Direction::forward, device);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn
