// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "any/places.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"
#include "operators/aclnn_translate.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn::translate {
namespace {

using eigen_rope::detail::fail;
using eigen_rope::detail::SharedElements;

void require_data(const char* name, const ConstTensor& tensor) {
  const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  if (tensor.data == nullptr && !empty)
    fail(fmt::format("{} must have data, got a null pointer", name));
}

void require_known_type(const char* name, const ConstTensor& tensor) {
  switch (tensor.type) {
    case ScalarType::f32:
    case ScalarType::f64:
    case ScalarType::f16:
    case ScalarType::bf16: return;
  }
  fail(fmt::format("{} must be f32, f64, f16 or bf16", name),
       fmt::format("type {}", static_cast<int>(tensor.type)));
}

void require_type(const char* name, const ConstTensor& tensor, const char* other_name,
                  const ConstTensor& other) {
  if (tensor.type != other.type)
    fail(fmt::format("{} must have {}'s type {}", name, other_name, name_of(other.type)),
         name_of(tensor.type));
}

void require_shape(const char* name, const ConstTensor& tensor, const char* other_name,
                   const ConstTensor& other) {
  if (tensor.shape != other.shape)
    fail(fmt::format("{} must have {}'s shape {}", name, other_name, text(other.shape)),
         text(tensor.shape));
}

PairKind kind_of(Mode mode) {
  switch (mode) {
    case Mode::half: return PairKind::split_half;
    case Mode::interleave: return PairKind::interleaved;
    case Mode::quarter: return PairKind::quarter;
    case Mode::interleave_half: return PairKind::interleaved_to_split_half;
  }
  fail("mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half)",
       static_cast<std::int64_t>(mode));
}

void require_extents(const char* name, const ConstTensor& tensor) {
  const std::size_t rank = tensor.shape.size();
  if (rank != 3 && rank != 4)
    fail(fmt::format("{} must have 3 or 4 axes", name), static_cast<std::int64_t>(rank));
  for (const std::int64_t extent : tensor.shape) {
    if (extent < 0)
      fail(fmt::format("the extents of {} must not be negative", name), text(tensor.shape));
  }
}

/// `axis` is "the last axis of x".
void require_rotary_width(const std::string& axis, std::int64_t width, PairKind kind) {
  if (kind == PairKind::quarter && width % 4 != 0)
    fail(axis + " must be divisible by 4 in mode quarter", width);
  if (width % 2 != 0) fail(axis + " must be even", width);
}

/// cos and sin against x, but for their last axis.
void require_table(const Inputs& inputs, const char* x_name) {
  const Dims& x = inputs.x.shape;
  const Dims& table = inputs.cos.shape;
  if (table.size() != x.size())
    fail(fmt::format("cos must have {}'s {} axes", x_name, x.size()),
         static_cast<std::int64_t>(table.size()));
  for (std::size_t axis = 0; axis + 1 < x.size(); ++axis) {
    if (table[axis] == 1 || table[axis] == x[axis]) continue;
    const std::string allowed = x[axis] == 1 ? "1" : fmt::format("1 or {}", x[axis]);
    fail(fmt::format("axis {} of cos must be {} for {} {}", axis, allowed, x_name, text(x)),
         table[axis]);
  }
  require_shape("sin", inputs.sin, "cos", inputs.cos);
}

/// An error of the core with the tensor's name put in.
template <class Call>
void under_name(const char* name, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    constexpr std::string_view prefix = "[rope] ";
    const std::string_view message = error.what();
    fail(fmt::format("{}: {}", name, message.substr(prefix.size())));
  }
}

Strides outer_strides(const char* name, const Dims& strides, const Shape& shape) {
  const int outer = shape.rank() - 1;
  Strides result;
  for (int axis = 0; axis < outer; ++axis) result.push_back(0);
  if (!strides.empty()) {
    if (strides.size() != static_cast<std::size_t>(outer) + 1) {
      fail(fmt::format("{} must have one stride for each of its {} axes, or none", name, outer + 1),
           static_cast<std::int64_t>(strides.size()));
    }
    if (strides.back() != 1)
      fail(fmt::format("the last stride of {} must be 1", name), strides.back());
  }
  if (shape.size() == 0) return result;
  Index dense = shape[0];
  for (int axis = 0; axis < outer; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (shape[axis + 1] != 1)
      result[i] = strides.empty()
                      ? dense
                      : static_cast<Index>(strides[static_cast<std::size_t>(outer - 1) - i]);
    dense *= shape[axis + 1];
  }
  return result;
}

/// Its extents have been checked.
Operand operand(const char* name, const ConstTensor& tensor, SharedElements shared) {
  Operand result{name, tensor.type, tensor.data, {}, {}};
  under_name(name, [&] {
    for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent)
      result.shape.push_back(static_cast<Index>(*extent));
  });
  result.strides = outer_strides(name, tensor.strides, result.shape);
  under_name(name, [&] { eigen_rope::detail::check_alone(result.view(), shared); });
  return result;
}

Operand read(const char* name, const ConstTensor& tensor) {
  return operand(name, tensor, SharedElements::allowed);
}
Target written(const char* name, const Tensor& tensor) {
  return {operand(name, tensor, SharedElements::refused), tensor.data};
}

eigen_rope::detail::Span span_of(const Operand& operand) {
  return eigen_rope::detail::span_of(operand.shape, operand.strides);
}

/// Bytes from a's data to b's.
std::int64_t distance(const Operand& a, const Operand& b) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b.data) -
                                   reinterpret_cast<std::uintptr_t>(a.data));
}

/// Whether the stretches of memory meet in which the two lie.
bool spans_meet(const Operand& a, const Operand& b) {
  if (a.shape.size() == 0 || b.shape.size() == 0) return false;
  const eigen_rope::detail::Span a_span = span_of(a);
  const eigen_rope::detail::Span b_span = span_of(b);
  const auto a_size = static_cast<Index>(size_of(a.type));
  const auto b_size = static_cast<Index>(size_of(b.type));
  const Index b_at = distance(a, b);
  return a_span.first * a_size < b_at + (b_span.last + 1) * b_size &&
         b_at + b_span.first * b_size < (a_span.last + 1) * a_size;
}

/// Whether sum n_i stride_i = rest has a solution with each n_i in its range: the question whether
/// two grids share an element.
class CommonElement {
 public:
  CommonElement(const Operand& a, const Operand& b) {
    add(1, a.shape[0], b.shape[0]);
    for (int axis = 1; axis < a.shape.rank(); ++axis)
      add(a.strides[static_cast<std::size_t>(axis - 1)], a.shape[axis], 1);
    for (int axis = 1; axis < b.shape.rank(); ++axis)
      add(b.strides[static_cast<std::size_t>(axis - 1)], 1, b.shape[axis]);
    std::sort(terms_.begin(), terms_.end(),
              [](const Term& s, const Term& t) { return s.stride < t.stride; });
  }

  /// Yes as well where the search would take too long.
  bool exists(Index rest) { return search(terms_.size(), rest); }

 private:
  struct Term {
    Index stride, first, last;
  };

  // a's index counts up, b's down.
  void add(Index stride, Index a_extent, Index b_extent) {
    if (a_extent == 1 && b_extent == 1) return;
    Term term{stride, 1 - b_extent, a_extent - 1};
    if (stride < 0) term = {-stride, 1 - a_extent, b_extent - 1};
    const auto same = std::find_if(terms_.begin(), terms_.end(),
                                   [&](const Term& t) { return t.stride == term.stride; });
    if (same == terms_.end()) {
      terms_.push_back(term);
    } else {
      same->first += term.first;
      same->last += term.last;
    }
  }

  bool search(std::size_t terms, Index rest) {
    if (terms == 0) return rest == 0;
    Index least = 0;
    Index most = 0;
    for (std::size_t i = 0; i + 1 < terms; ++i) {
      least += terms_[i].first * terms_[i].stride;
      most += terms_[i].last * terms_[i].stride;
    }
    const Term& term = terms_[terms - 1];
    const Index first = std::max(term.first, -floor_divide(most - rest, term.stride));
    const Index last = std::min(term.last, floor_divide(rest - least, term.stride));
    for (Index n = first; n <= last; ++n) {
      if (--steps_ < 0 || search(terms - 1, rest - n * term.stride)) return true;
    }
    return false;
  }

  static Index floor_divide(Index a, Index b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

  std::vector<Term> terms_;
  int steps_ = 10000;
};

/// Whether two tensors share a byte; heads of q and k side by side in one buffer do not.
bool elements_meet(const Operand& a, const Operand& b) {
  if (!spans_meet(a, b)) return false;
  const auto element = static_cast<Index>(size_of(a.type));
  if (distance(a, b) % element != 0) return true;
  return CommonElement(a, b).exists(distance(a, b) / element);
}

void refuse_overlap(const Target& target, const Operand& other) {
  if (!spans_meet(target.operand, other)) return;
  fail(fmt::format("{} must not overlap {} (distance in bytes)", target.operand.name, other.name),
       distance(other, target.operand));
}

void refuse_overlap(const Target& target, const Target& other) {
  if (!elements_meet(target.operand, other.operand)) return;
  fail(fmt::format("{} must not overlap {} (distance in bytes)", target.operand.name,
                   other.operand.name),
       distance(other.operand, target.operand));
}

void refuse_partial_overlap(const Target& target, const Operand& x) {
  const bool same_rows = target.data == x.data && target.operand.strides == x.strides;
  if (same_rows || !spans_meet(target.operand, x)) return;
  fail(fmt::format("{} must be {}'s own rows or not overlap {} (distance in bytes)",
                   target.operand.name, x.name, x.name),
       distance(x, target.operand));
}

void require_table_data(const ConstTensor& cos, const ConstTensor& sin) {
  require_data("cos", cos);
  require_data("sin", sin);
}

void require_types(const char* name, const Inputs& inputs) {
  require_known_type(name, inputs.x);
  require_type("cos", inputs.cos, name, inputs.x);
  require_type("sin", inputs.sin, name, inputs.x);
}

PairKind require_shapes(const char* name, const Inputs& inputs, Mode mode) {
  const PairKind kind = kind_of(mode);
  require_extents(name, inputs.x);
  require_rotary_width(fmt::format("the last axis of {}", name), inputs.x.shape.back(), kind);
  require_table(inputs, name);
  if (inputs.cos.shape.back() != inputs.x.shape.back()) {
    fail(fmt::format("the last axis of cos must be {}'s {}", name, inputs.x.shape.back()),
         inputs.cos.shape.back());
  }
  return kind;
}

/// Strides and overlaps: what is left when pointers, types and shapes are right.
Rotation rotation(const Tensor& out, const char* out_name, const Inputs& inputs, const char* name,
                  Pairing pairing) {
  Rotation result{written(out_name, out), read(name, inputs.x), read("cos", inputs.cos),
                  read("sin", inputs.sin), pairing};
  refuse_partial_overlap(result.out, result.x);
  refuse_overlap(result.out, result.cos);
  refuse_overlap(result.out, result.sin);
  return result;
}

void require_both_table_gradients(const GradOutputs& outputs, const GradInputs& inputs) {
  if (outputs.dcos.has_value() != outputs.dsin.has_value()) {
    fail("dcos and dsin must both be given, or neither",
         outputs.dcos ? "dcos alone" : "dsin alone");
  }
  if (outputs.dcos && !inputs.x) fail("dcos and dsin need x, got none");
}

std::size_t head_axis(Layout layout) {
  return layout == Layout::bnsd || layout == Layout::tnd ? 1 : 2;
}

void require_layout(const char* name, const ConstTensor& tensor, Layout layout) {
  const std::string_view letters = name_of_layout(layout);
  if (tensor.shape.size() == letters.size()) return;
  fail(fmt::format("{} must have {} axes in layout {}", name, letters.size(), letters),
       static_cast<std::int64_t>(tensor.shape.size()));
}

void require_apply_shapes(const ApplyInputs& inputs, Layout layout, PairKind kind) {
  require_layout("query", inputs.query, layout);
  require_layout("key", inputs.key, layout);
  require_extents("query", inputs.query);
  require_extents("key", inputs.key);
  const std::size_t heads = head_axis(layout);
  for (std::size_t axis = 0; axis < inputs.query.shape.size(); ++axis) {
    if (axis == heads || inputs.key.shape[axis] == inputs.query.shape[axis]) continue;
    fail(fmt::format("axis {} of key must be query's {}", axis, inputs.query.shape[axis]),
         inputs.key.shape[axis]);
  }
  require_table({inputs.query, inputs.cos, inputs.sin}, "query");
  if (inputs.cos.shape[heads] != 1)
    fail(fmt::format("axis {} of cos, the head axis, must be 1", heads), inputs.cos.shape[heads]);
  const std::int64_t width = inputs.cos.shape.back();
  const std::int64_t head_size = inputs.query.shape.back();
  if (width < 0 || width > head_size)
    fail(fmt::format("the last axis of cos must be at most query's {}", head_size), width);
  require_rotary_width("the last axis of cos", width, kind);
}

}  // namespace

std::string text(const Dims& dims) { return fmt::format("[{}]", detail::joined(dims, ", ")); }

const char* name_of_mode(Mode mode) {
  switch (kind_of(mode)) {
    case PairKind::split_half: return "half";
    case PairKind::interleaved: return "interleave";
    case PairKind::quarter: return "quarter";
    case PairKind::interleaved_to_split_half: break;
  }
  return "interleave-half";
}

const char* name_of_layout(Layout layout) {
  switch (layout) {
    case Layout::bsnd: return "BSND";
    case Layout::sbnd: return "SBND";
    case Layout::bnsd: return "BNSD";
    case Layout::tnd: return "TND";
  }
  fail("layout must be 1 (BSND), 2 (SBND), 3 (BNSD) or 4 (TND)", static_cast<std::int64_t>(layout));
}

void check_shapes(const char* name, const Inputs& inputs, Mode mode, Layout layout) {
  require_types(name, inputs);
  require_layout(name, inputs.x, layout);
  require_shapes(name, inputs, mode);
  read(name, inputs.x);
  read("cos", inputs.cos);
  read("sin", inputs.sin);
}

void check_shapes(const GradInputs& inputs, Mode mode, Layout layout) {
  check_shapes("dy", {inputs.dy, inputs.cos, inputs.sin}, mode, layout);
  if (!inputs.x) return;
  require_type("x", *inputs.x, "dy", inputs.dy);
  require_shape("x", *inputs.x, "dy", inputs.dy);
  read("x", *inputs.x);
}

void check_shapes(const ApplyInputs& inputs, Mode mode, Layout layout) {
  require_types("query", {inputs.query, inputs.cos, inputs.sin});
  require_type("key", inputs.key, "query", inputs.query);
  require_apply_shapes(inputs, layout, kind_of(mode));
  written("query", inputs.query);
  written("key", inputs.key);
  read("cos", inputs.cos);
  read("sin", inputs.sin);
}

Rotation check(const Tensor& out, const Inputs& inputs, Mode mode, Stage& stage) {
  stage = Stage::pointers;
  require_data("x", inputs.x);
  require_table_data(inputs.cos, inputs.sin);
  require_data("out", out);
  stage = Stage::parameters;
  require_types("x", inputs);
  require_type("out", out, "x", inputs.x);
  stage = Stage::shapes;
  const PairKind kind = require_shapes("x", inputs, mode);
  require_shape("out", out, "x", inputs.x);
  stage = Stage::parameters;
  return rotation(out, "out", inputs, "x", Pairing(kind));
}

Gradient check(const GradOutputs& outputs, const GradInputs& inputs, Mode mode, Stage& stage) {
  const Inputs rotated{inputs.dy, inputs.cos, inputs.sin};
  stage = Stage::pointers;
  require_both_table_gradients(outputs, inputs);
  require_data("dy", inputs.dy);
  require_table_data(inputs.cos, inputs.sin);
  if (inputs.x) require_data("x", *inputs.x);
  require_data("dx", outputs.dx);
  if (outputs.dcos) require_data("dcos", *outputs.dcos);
  if (outputs.dsin) require_data("dsin", *outputs.dsin);
  stage = Stage::parameters;
  require_types("dy", rotated);
  if (inputs.x) require_type("x", *inputs.x, "dy", inputs.dy);
  require_type("dx", outputs.dx, "dy", inputs.dy);
  if (outputs.dcos) require_type("dcos", *outputs.dcos, "dy", inputs.dy);
  if (outputs.dsin) require_type("dsin", *outputs.dsin, "dy", inputs.dy);
  stage = Stage::shapes;
  const PairKind kind = require_shapes("dy", rotated, mode);
  if (inputs.x) require_shape("x", *inputs.x, "dy", inputs.dy);
  require_shape("dx", outputs.dx, "dy", inputs.dy);
  if (outputs.dcos) require_shape("dcos", *outputs.dcos, "cos", inputs.cos);
  if (outputs.dsin) require_shape("dsin", *outputs.dsin, "cos", inputs.cos);
  stage = Stage::parameters;
  Gradient result{rotation(outputs.dx, "dx", rotated, "dy", Pairing(kind)), {}, {}, {}};
  if (inputs.x) {
    result.x = read("x", *inputs.x);
    refuse_overlap(result.rotation.out, *result.x);
  }
  if (!outputs.dcos) return result;
  result.dcos = written("dcos", *outputs.dcos);
  result.dsin = written("dsin", *outputs.dsin);
  for (const Target& target : {*result.dcos, *result.dsin}) {
    for (const Operand& other :
         {result.rotation.x, result.rotation.cos, result.rotation.sin, *result.x})
      refuse_overlap(target, other);
    refuse_overlap(target, result.rotation.out);
  }
  refuse_overlap(*result.dsin, *result.dcos);
  return result;
}

Application check(const ApplyInputs& inputs, Layout layout, Mode mode, Stage& stage) {
  stage = Stage::pointers;
  require_data("query", inputs.query);
  require_data("key", inputs.key);
  require_table_data(inputs.cos, inputs.sin);
  const Inputs query{inputs.query, inputs.cos, inputs.sin};
  const Inputs key{inputs.key, inputs.cos, inputs.sin};
  stage = Stage::parameters;
  require_types("query", query);
  require_type("key", inputs.key, "query", inputs.query);
  stage = Stage::shapes;
  const PairKind kind = kind_of(mode);
  require_apply_shapes(inputs, layout, kind);
  stage = Stage::parameters;
  const Pairing window =
      Pairing(kind).with_rotary_dims(static_cast<Index>(inputs.cos.shape.back()));
  Application result{rotation(inputs.query, "query", query, "query", window),
                     rotation(inputs.key, "key", key, "key", window)};
  refuse_overlap(result.key.out, result.query.out);
  return result;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn::translate
