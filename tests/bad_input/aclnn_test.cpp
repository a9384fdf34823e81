// SPDX-License-Identifier: Apache-2.0
//
// Bad input: aclnn's operators. Whether heads side by side share an element is
// operators/aclnn_overlap_test.cpp; the calls by pointers are operators/aclnn_calls_test.cpp.
#include "eigen_rope/operators/aclnn.hpp"
#include "bad_input/bad_input.hpp"

namespace eigen_rope::test::aclnn_tests {
namespace {

using aclnn::Dims;
using aclnn::Mode;
using aclnn::tensor;

/// Valid calls, x [2, 3, 4, 8] and tables [1, 1, 4, 8], to be spoilt. Every array has room for
/// more.
struct Call : Memory {
  float* memory = array<float>(4096);
  float* place(std::size_t number) const { return memory + 512 * number; }

  Dims shape{2, 3, 4, 8};
  Dims table{1, 1, 4, 8};
  aclnn::Inputs inputs{tensor(place(0), shape), tensor(place(1), table), tensor(place(2), table)};
  aclnn::Tensor out = tensor(place(3), shape);
  aclnn::GradInputs grad_inputs{tensor(place(0), shape), tensor(place(1), table),
                                tensor(place(2), table), tensor(place(4), shape)};
  aclnn::GradOutputs grad{tensor(place(3), shape), tensor(place(5), table),
                          tensor(place(6), table)};
  aclnn::ApplyInputs apply{tensor(place(0), shape), tensor(place(3), {2, 1, 4, 8}),
                           tensor(place(1), table), tensor(place(2), table)};

  void rotate(Mode mode = Mode::half) const { aclnn::rotary_position_embedding(out, inputs, mode); }
  void rotate_grad(Mode mode = Mode::half) const {
    aclnn::rotary_position_embedding_grad(grad, grad_inputs, mode);
  }
  void rotate_both(aclnn::Layout layout = aclnn::Layout::bnsd, Mode mode = Mode::half) const {
    aclnn::apply_rotary_pos_emb(apply, layout, mode);
  }
  void of_tables(const Dims& dims) {
    inputs.cos.shape = inputs.sin.shape = dims;
    rotate();
  }
  void of_width(std::int64_t width, Mode mode = Mode::half) {
    apply.cos.shape = apply.sin.shape = {1, 1, 4, width};
    rotate_both(aclnn::Layout::bnsd, mode);
  }
  void device(const Dims& dims, const Dims& of_table) {
    inputs.x = {ScalarType::f32, nullptr, dims, {}};
    inputs.cos = inputs.sin = {ScalarType::f32, nullptr, of_table, {}};
    (void)aclnn::device_check(inputs, Mode::interleave, aclnn::Layout::bsnd, aclnn::Chip::atlas_a2);
  }
};

constexpr const char* no_mode =
    "mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half), got 4";

const Cell<Call> calls[] = {
    {"mode", Fault::negative, [](Call& c) { c.rotate(static_cast<Mode>(-1)); },
     "mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half), got -1"},
    {"mode", Fault::unknown, [](Call& c) { c.rotate(static_cast<Mode>(4)); }, no_mode},
    {"mode", Fault::huge, [](Call& c) { c.rotate(static_cast<Mode>(two_to_62)); },
     "mode must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half), got "
     "4611686018427387904"},
    {"x", Fault::null,
     [](Call& c) {
       c.inputs.x.data = nullptr;
       c.rotate();
     },
     "x must have data, got a null pointer"},
    {"cos", Fault::null,
     [](Call& c) {
       c.inputs.cos.data = nullptr;
       c.rotate();
     },
     "cos must have data, got a null pointer"},
    {"sin", Fault::null,
     [](Call& c) {
       c.inputs.sin.data = nullptr;
       c.rotate();
     },
     "sin must have data, got a null pointer"},
    {"out", Fault::null,
     [](Call& c) {
       c.out.data = nullptr;
       c.rotate();
     },
     "out must have data, got a null pointer"},
    {"x", Fault::wrong_rank,
     [](Call& c) {
       c.inputs.x.shape = {4, 8};
       c.rotate();
     },
     "x must have 3 or 4 axes, got 2"},
    {"x", Fault::wrong_rank,
     [](Call& c) {
       c.inputs.x.shape = {1, 2, 3, 4, 8};
       c.rotate();
     },
     "x must have 3 or 4 axes, got 5"},
    {"x", Fault::wrong_rank,
     [](Call& c) {
       c.inputs.x.shape = {};
       c.rotate();
     },
     "x must have 3 or 4 axes, got 0"},
    {"cos", Fault::wrong_rank,
     [](Call& c) {
       c.inputs.x.shape = {3, 4, 8};
       c.rotate();
     },
     "cos must have x's 3 axes, got 4"},
    {"x, extents", Fault::negative,
     [](Call& c) {
       c.inputs.x.shape = {2, -3, 4, 8};
       c.rotate();
     },
     "the extents of x must not be negative, got [2, -3, 4, 8]"},
    {"x, last axis", Fault::odd,
     [](Call& c) {
       c.inputs.x.shape = {2, 3, 4, 7};
       c.rotate();
     },
     "the last axis of x must be even, got 7"},
    {"x, last axis in mode quarter", Fault::odd,
     [](Call& c) {
       c.inputs.x.shape = {2, 3, 4, 6};
       c.rotate(Mode::quarter);
     },
     "the last axis of x must be divisible by 4 in mode quarter, got 6"},
    {"x, extents", Fault::huge,
     [](Call& c) {
       c.inputs.x.shape = c.out.shape = {two_to_40, two_to_40, 4, 8};
       c.rotate();
     },
     "out: the number of elements must fit a 64-bit count, got 35184372088832 x 1099511627776"},
    {"x, elements that wrap to 0", Fault::huge,
     [](Call& c) {
       c.inputs.x.shape = c.out.shape = {two_to_62, 1, 4, 8};
       c.rotate();
     },
     "out: the number of elements must fit a 64-bit count, got 32 x 4611686018427387904"},
    {"tables, axes", Fault::wrong_shape,
     [](Call& c) {
       c.of_tables({1, 2, 4, 8});
     },
     "axis 1 of cos must be 1 or 3 for x [2, 3, 4, 8], got 2"},
    {"tables, axes", Fault::zero,
     [](Call& c) {
       c.of_tables({1, 1, 0, 8});
     },
     "axis 2 of cos must be 1 or 4 for x [2, 3, 4, 8], got 0"},
    {"tables, axes", Fault::negative,
     [](Call& c) {
       c.of_tables({1, 1, -1, 8});
     },
     "axis 2 of cos must be 1 or 4 for x [2, 3, 4, 8], got -1"},
    {"tables, axes", Fault::huge,
     [](Call& c) {
       c.of_tables({two_to_62, 1, 4, 8});
     },
     "axis 0 of cos must be 1 or 2 for x [2, 3, 4, 8], got 4611686018427387904"},
    {"tables, axes", Fault::wrong_shape,
     [](Call& c) {
       c.inputs.x.shape = {1, 3, 4, 8};
       c.of_tables({2, 1, 4, 8});
     },
     "axis 0 of cos must be 1 for x [1, 3, 4, 8], got 2"},
    {"sin", Fault::wrong_shape,
     [](Call& c) {
       c.inputs.cos.shape = {2, 1, 4, 8};
       c.rotate();
     },
     "sin must have cos's shape [2, 1, 4, 8], got [1, 1, 4, 8]"},
    {"tables, last axis", Fault::too_small,
     [](Call& c) {
       c.of_tables({1, 1, 4, 4});
     },
     "the last axis of cos must be x's 8, got 4"},
    {"tables, last axis", Fault::too_large,
     [](Call& c) {
       c.of_tables({1, 1, 4, 16});
     },
     "the last axis of cos must be x's 8, got 16"},
    {"x, type", Fault::unknown,
     [](Call& c) {
       c.inputs.x.type = static_cast<ScalarType>(9);
       c.rotate();
     },
     "x must be f32, f64, f16 or bf16, got type 9"},
    {"cos, type", Fault::unknown,
     [](Call& c) {
       c.inputs.cos.type = ScalarType::f16;
       c.rotate();
     },
     "cos must have x's type f32, got f16"},
    {"sin, type", Fault::unknown,
     [](Call& c) {
       c.inputs.sin.type = ScalarType::f16;
       c.rotate();
     },
     "sin must have x's type f32, got f16"},
    {"out, type", Fault::unknown,
     [](Call& c) {
       c.out.type = ScalarType::f16;
       c.rotate();
     },
     "out must have x's type f32, got f16"},
    {"out", Fault::wrong_shape,
     [](Call& c) {
       c.out.shape = {2, 3, 8, 4};
       c.rotate();
     },
     "out must have x's shape [2, 3, 4, 8], got [2, 3, 8, 4]"},
    {"x, strides", Fault::wrong_length,
     [](Call& c) {
       c.inputs.x.strides = {96, 32, 1};
       c.rotate();
     },
     "x must have one stride for each of its 4 axes, or none, got 3"},
    {"x, last stride", Fault::too_large,
     [](Call& c) {
       c.inputs.x.strides = {96, 32, 8, 2};
       c.rotate();
     },
     "the last stride of x must be 1, got 2"},
    {"sin, last stride", Fault::zero,
     [](Call& c) {
       c.inputs.sin.strides = {0, 0, 8, 0};
       c.rotate();
     },
     "the last stride of sin must be 1, got 0"},
    {"out, strides", Fault::overlapping,
     [](Call& c) {
       c.out.strides = {96, 32, 4, 1};
       c.rotate();
     },
     "out: strides must step over the 8 elements inside them, or rows share elements, got 4"},
    {"out, strides", Fault::zero,
     [](Call& c) {
       c.out.strides = {0, 32, 8, 1};
       c.rotate();
     },
     "out: strides must step over the 8 elements inside them, or rows share elements, got 0"},
    {"x, strides", Fault::zero,
     [](Call& c) {
       c.inputs.x.strides = {0, 32, 8, 1};
       c.inputs.cos.strides = {0, 0, 0, 1};
       c.rotate();
     },
     nullptr, "rows that are read may share elements"},
    {"x, strides", Fault::huge,
     [](Call& c) {
       c.inputs.x.strides = {two_to_62, 32, 8, 1};
       c.rotate();
     },
     "x: the span of a strided view must fit 60 bits, got stride 4611686018427387904 over 2 rows"},
    {"cos, strides", Fault::huge,
     [](Call& c) {
       c.inputs.cos.strides = {32, 32, two_to_62, 1};
       c.rotate();
     },
     "cos: the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 3"},
    {"out, strides", Fault::huge,
     [](Call& c) {
       c.out.strides = {int64_min, 32, 8, 1};
       c.rotate();
     },
     "out: strides must fit 63 bits, got -9223372036854775808"},
    {"x, strides out of the address space", Fault::huge,
     [](Call& c) {
       c.inputs.x.strides = {-(Index{1} << 58), 32, 8, 1};
       c.rotate();
     },
     "x: a strided view must lie within the address space (first and last element from its data), "
     "got -288230376151711744 and 95"},
    {"out, strides out of the address space", Fault::negative,
     [](Call& c) {
       c.out.strides = {-(Index{1} << 50), 32, 8, 1};
       c.rotate();
     },
     "out: a strided view must lie within the address space (first and last element from its "
     "data), got -1125899906842624 and 95"},
    {"stride of an axis of one", Fault::huge,
     [](Call& c) {
       c.inputs.cos.strides = {int64_max, int64_min, 8, 1};
       c.rotate();
     },
     nullptr, "it leads nowhere"},
    {"out and x", Fault::overlapping,
     [](Call& c) {
       c.out.data = c.place(0) + 8;
       c.rotate();
     },
     "out must be x's own rows or not overlap x (distance in bytes), got 32"},
    {"out and x of other strides", Fault::aliasing,
     [](Call& c) {
       c.out = tensor(c.place(0), c.shape, {192, 64, 16, 1});
       c.rotate();
     },
     "out must be x's own rows or not overlap x (distance in bytes), got 0"},
    {"out and x", Fault::aliasing,
     [](Call& c) {
       c.out.data = c.place(0);
       c.rotate();
     },
     nullptr, "the same rows: in place"},
    {"out and cos", Fault::overlapping,
     [](Call& c) {
       c.out.data = c.place(1) + 31;
       c.rotate();
     },
     "out must not overlap cos (distance in bytes), got 124"},
    {"out and sin", Fault::overlapping,
     [](Call& c) {
       c.out.data = c.place(2) - 191;
       c.rotate();
     },
     "out must not overlap sin (distance in bytes), got -764"},
    {"out and sin", Fault::overlapping,
     [](Call& c) {
       c.out.data = c.place(2) - 192;
       c.rotate();
     },
     nullptr, "side by side they share nothing"},
    {"out and x of one batch, stride of an axis of one", Fault::aliasing,
     [](Call& c) {
       c.inputs.x.shape = c.out.shape = {1, 3, 4, 8};
       c.inputs.x.strides = {5, 32, 8, 1};
       c.out.data = c.place(0);
       c.rotate();
     },
     nullptr, "strides of axes of one element mean nothing"},
    {"x without elements, checked for a device", Fault::huge,
     [](Call& c) {
       c.device({two_to_40, 0, two_to_40, 8}, {1, 0, 1, 8});
     },
     "B*N must fit a 64-bit count, got 1099511627776 x 1099511627776"},
};

const Cell<Call> gradients[] = {
    {"mode", Fault::unknown, [](Call& c) { c.rotate_grad(static_cast<Mode>(4)); }, no_mode},
    {"dsin", Fault::missing,
     [](Call& c) {
       c.grad.dsin.reset();
       c.rotate_grad();
     },
     "dcos and dsin must both be given, or neither, got dcos alone"},
    {"dcos", Fault::missing,
     [](Call& c) {
       c.grad.dcos.reset();
       c.rotate_grad();
     },
     "dcos and dsin must both be given, or neither, got dsin alone"},
    {"x", Fault::missing,
     [](Call& c) {
       c.grad_inputs.x.reset();
       c.rotate_grad();
     },
     "dcos and dsin need x, got none"},
    {"x, dcos and dsin", Fault::missing,
     [](Call& c) {
       c.grad_inputs.x.reset();
       c.grad.dcos.reset();
       c.grad.dsin.reset();
       c.rotate_grad();
     },
     nullptr, "dx alone is wanted"},
    {"x", Fault::null,
     [](Call& c) {
       c.grad_inputs.x->data = nullptr;
       c.rotate_grad();
     },
     "x must have data, got a null pointer"},
    {"dy", Fault::null,
     [](Call& c) {
       c.grad_inputs.dy.data = nullptr;
       c.rotate_grad();
     },
     "dy must have data, got a null pointer"},
    {"dx", Fault::null,
     [](Call& c) {
       c.grad.dx.data = nullptr;
       c.rotate_grad();
     },
     "dx must have data, got a null pointer"},
    {"dcos", Fault::null,
     [](Call& c) {
       c.grad.dcos->data = nullptr;
       c.rotate_grad();
     },
     "dcos must have data, got a null pointer"},
    {"dsin", Fault::null,
     [](Call& c) {
       c.grad.dsin->data = nullptr;
       c.rotate_grad();
     },
     "dsin must have data, got a null pointer"},
    {"x, type", Fault::unknown,
     [](Call& c) {
       c.grad_inputs.x->type = ScalarType::bf16;
       c.rotate_grad();
     },
     "x must have dy's type f32, got bf16"},
    {"dx, type", Fault::unknown,
     [](Call& c) {
       c.grad.dx.type = ScalarType::f16;
       c.rotate_grad();
     },
     "dx must have dy's type f32, got f16"},
    {"dcos, type", Fault::unknown,
     [](Call& c) {
       c.grad.dcos->type = ScalarType::f64;
       c.rotate_grad();
     },
     "dcos must have dy's type f32, got f64"},
    {"dsin, type", Fault::unknown,
     [](Call& c) {
       c.grad.dsin->type = ScalarType::f64;
       c.rotate_grad();
     },
     "dsin must have dy's type f32, got f64"},
    {"cos, type", Fault::unknown,
     [](Call& c) {
       c.grad_inputs.cos.type = ScalarType::f16;
       c.rotate_grad();
     },
     "cos must have dy's type f32, got f16"},
    {"x", Fault::wrong_shape,
     [](Call& c) {
       c.grad_inputs.x->shape = {2, 3, 4, 4};
       c.rotate_grad();
     },
     "x must have dy's shape [2, 3, 4, 8], got [2, 3, 4, 4]"},
    {"dx", Fault::wrong_rank,
     [](Call& c) {
       c.grad.dx.shape = {2, 3, 4};
       c.rotate_grad();
     },
     "dx must have dy's shape [2, 3, 4, 8], got [2, 3, 4]"},
    {"dcos", Fault::wrong_shape,
     [](Call& c) {
       c.grad.dcos->shape = c.shape;
       c.rotate_grad();
     },
     "dcos must have cos's shape [1, 1, 4, 8], got [2, 3, 4, 8]"},
    {"dsin", Fault::wrong_shape,
     [](Call& c) {
       c.grad.dsin->shape = c.shape;
       c.rotate_grad();
     },
     "dsin must have cos's shape [1, 1, 4, 8], got [2, 3, 4, 8]"},
    {"dy, last axis", Fault::odd,
     [](Call& c) {
       c.grad_inputs.dy.shape = {2, 3, 4, 9};
       c.rotate_grad();
     },
     "the last axis of dy must be even, got 9"},
    {"dcos, strides", Fault::huge,
     [](Call& c) {
       c.grad.dcos->strides = {1, 1, two_to_62, 1};
       c.rotate_grad();
     },
     "dcos: the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 3"},
    {"dx, strides out of the address space", Fault::negative,
     [](Call& c) {
       c.grad.dx.strides = {-(Index{1} << 50), 32, 8, 1};
       c.rotate_grad();
     },
     "dx: a strided view must lie within the address space (first and last element from its data), "
     "got -1125899906842624 and 95"},
    {"dcos and dy", Fault::overlapping,
     [](Call& c) {
       c.grad.dcos->data = c.place(0) + 1;
       c.rotate_grad();
     },
     "dcos must not overlap dy (distance in bytes), got 4"},
    {"dcos and cos", Fault::overlapping,
     [](Call& c) {
       c.grad.dcos->data = c.place(1) + 1;
       c.rotate_grad();
     },
     "dcos must not overlap cos (distance in bytes), got 4"},
    {"dcos and x", Fault::overlapping,
     [](Call& c) {
       c.grad.dcos->data = c.place(4) + 1;
       c.rotate_grad();
     },
     "dcos must not overlap x (distance in bytes), got 4"},
    {"dcos and dx", Fault::overlapping,
     [](Call& c) {
       c.grad.dcos->data = c.place(3) + 1;
       c.rotate_grad();
     },
     "dcos must not overlap dx (distance in bytes), got 4"},
    {"dsin and sin", Fault::overlapping,
     [](Call& c) {
       c.grad.dsin->data = c.place(2) + 1;
       c.rotate_grad();
     },
     "dsin must not overlap sin (distance in bytes), got 4"},
    {"dsin and dcos", Fault::aliasing,
     [](Call& c) {
       c.grad.dsin->data = c.place(5);
       c.rotate_grad();
     },
     "dsin must not overlap dcos (distance in bytes), got 0"},
    {"dx and x", Fault::aliasing,
     [](Call& c) {
       c.grad.dx.data = c.place(4);
       c.rotate_grad();
     },
     "dx must not overlap x (distance in bytes), got 0"},
    {"dx and dy", Fault::overlapping,
     [](Call& c) {
       c.grad.dx.data = c.place(0) + 4;
       c.rotate_grad();
     },
     "dx must be dy's own rows or not overlap dy (distance in bytes), got 16"},
    {"dx and dy", Fault::aliasing,
     [](Call& c) {
       c.grad.dx.data = c.place(0);
       c.rotate_grad();
     },
     nullptr, "the same rows: in place"},
};

const Cell<Call> applications[] = {
    {"layout", Fault::zero, [](Call& c) { c.rotate_both(static_cast<aclnn::Layout>(0)); },
     "layout must be 1 (BSND), 2 (SBND), 3 (BNSD) or 4 (TND), got 0"},
    {"layout", Fault::unknown, [](Call& c) { c.rotate_both(static_cast<aclnn::Layout>(5)); },
     "layout must be 1 (BSND), 2 (SBND), 3 (BNSD) or 4 (TND), got 5"},
    {"mode", Fault::unknown,
     [](Call& c) { c.rotate_both(aclnn::Layout::bnsd, static_cast<Mode>(4)); }, no_mode},
    {"query", Fault::wrong_rank, [](Call& c) { c.rotate_both(aclnn::Layout::tnd); },
     "query must have 3 axes in layout TND, got 4"},
    {"key", Fault::wrong_rank,
     [](Call& c) {
       c.apply.key.shape = {1, 4, 8};
       c.rotate_both();
     },
     "key must have 4 axes in layout BNSD, got 3"},
    {"query", Fault::null,
     [](Call& c) {
       c.apply.query.data = nullptr;
       c.rotate_both();
     },
     "query must have data, got a null pointer"},
    {"key", Fault::null,
     [](Call& c) {
       c.apply.key.data = nullptr;
       c.rotate_both();
     },
     "key must have data, got a null pointer"},
    {"key, type", Fault::unknown,
     [](Call& c) {
       c.apply.key.type = ScalarType::f16;
       c.rotate_both();
     },
     "key must have query's type f32, got f16"},
    {"sin, type", Fault::unknown,
     [](Call& c) {
       c.apply.sin.type = ScalarType::f16;
       c.rotate_both();
     },
     "sin must have query's type f32, got f16"},
    {"key, tokens", Fault::wrong_shape,
     [](Call& c) {
       c.apply.key.shape = {2, 1, 5, 8};
       c.rotate_both();
     },
     "axis 2 of key must be query's 4, got 5"},
    {"key, batches", Fault::wrong_shape,
     [](Call& c) {
       c.apply.key.shape = {1, 1, 4, 8};
       c.rotate_both();
     },
     "axis 0 of key must be query's 2, got 1"},
    {"key, head size", Fault::wrong_shape,
     [](Call& c) {
       c.apply.key.shape = {2, 1, 4, 4};
       c.rotate_both();
     },
     "axis 3 of key must be query's 8, got 4"},
    {"key, extents", Fault::negative,
     [](Call& c) {
       c.apply.key.shape = {2, -1, 4, 8};
       c.rotate_both();
     },
     "the extents of key must not be negative, got [2, -1, 4, 8]"},
    {"key, heads", Fault::huge,
     [](Call& c) {
       c.apply.key.shape = {2, two_to_62, 4, 8};
       c.rotate_both();
     },
     "key: the number of elements must fit a 64-bit count, got 32 x 4611686018427387904"},
    {"tables, heads", Fault::wrong_shape,
     [](Call& c) {
       c.apply.cos.shape = c.apply.sin.shape = {1, 3, 4, 8};
       c.rotate_both();
     },
     "axis 1 of cos, the head axis, must be 1, got 3"},
    {"tables, tokens", Fault::wrong_shape,
     [](Call& c) {
       c.apply.cos.shape = c.apply.sin.shape = {1, 1, 3, 8};
       c.rotate_both();
     },
     "axis 2 of cos must be 1 or 4 for query [2, 3, 4, 8], got 3"},
    {"tables, width", Fault::too_large, [](Call& c) { c.of_width(10); },
     "the last axis of cos must be at most query's 8, got 10"},
    {"tables, width", Fault::huge, [](Call& c) { c.of_width(two_to_62); },
     "the last axis of cos must be at most query's 8, got 4611686018427387904"},
    {"tables, width", Fault::negative, [](Call& c) { c.of_width(-2); },
     "the last axis of cos must be at most query's 8, got -2"},
    {"tables, width", Fault::odd, [](Call& c) { c.of_width(5); },
     "the last axis of cos must be even, got 5"},
    {"tables, width in mode quarter", Fault::odd, [](Call& c) { c.of_width(6, Mode::quarter); },
     "the last axis of cos must be divisible by 4 in mode quarter, got 6"},
    {"tables, width", Fault::too_small, [](Call& c) { c.of_width(6); }, nullptr,
     "a part of each head turns"},
    {"key and query", Fault::overlapping,
     [](Call& c) {
       c.apply.key.data = c.place(0) + 191;
       c.rotate_both();
     },
     "key must not overlap query (distance in bytes), got 764"},
    {"key and query", Fault::aliasing,
     [](Call& c) {
       c.apply.key.data = c.place(0);
       c.rotate_both();
     },
     "key must not overlap query (distance in bytes), got 0"},
    {"key and cos", Fault::aliasing,
     [](Call& c) {
       c.apply.key.data = c.place(1);
       c.rotate_both();
     },
     "key must not overlap cos (distance in bytes), got 0"},
    {"query and sin", Fault::overlapping,
     [](Call& c) {
       c.apply.query.data = c.place(2) + 1;
       c.rotate_both();
     },
     "query must not overlap sin (distance in bytes), got 4"},
    {"key, strides, before the query is rotated", Fault::overlapping,
     [](Call& c) {
       c.apply.key.strides = {32, 8, 4, 1};
       c.rotate_both();
     },
     "key: strides must step over the 8 elements inside them, or rows share elements, got 4"},
    {"key, strides out of the address space, before the query is rotated", Fault::huge,
     [](Call& c) {
       c.apply.key.strides = {-(Index{1} << 58), 32, 8, 1};
       c.rotate_both();
     },
     "key: a strided view must lie within the address space (first and last element from its "
     "data), got -288230376151711744 and 31"},
};

const Area calls_area("aclnn's operators", calls);
const Area gradients_area("gradients of aclnn's operators", gradients);
const Area applications_area("aclnn's query and key", applications);
TEST(BadInput, Aclnn) { expect_refusals(calls); }
TEST(BadInput, AclnnGradients) { expect_refusals(gradients); }
TEST(BadInput, AclnnQueryAndKey) { expect_refusals(applications); }

}  // namespace
}  // namespace eigen_rope::test::aclnn_tests
