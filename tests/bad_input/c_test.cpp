// SPDX-License-Identifier: Apache-2.0
//
// Bad input: calls of the C interface. A status other than EIGEN_ROPE_INVALID_ARGUMENT fails.
#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/c/eigen_rope.h"

namespace eigen_rope::test::c_tests {
namespace {

/// Throws what a call has said.
void ask(eigen_rope_status status) {
  if (status == EIGEN_ROPE_OK) return;
  if (status != EIGEN_ROPE_INVALID_ARGUMENT) throw std::runtime_error("another status");
  throw Error(eigen_rope_last_message());
}

/// Tensors of three rows of eight, a table of one row of four pairs, and one of three rows.
struct Calls : Memory {
  float* x_data = array<float>(256) + 64;
  float* y_data = array<float>(256) + 64;
  float* g_data = array<float>(256) + 64;
  float* cos_data = array<float>(64);
  float* sin_data = array<float>(64);
  double* angle_data = array<double>(64);
  double* log_data = array<double>(64);
  double* dcos_data = array<double>(64);
  double* dsin_data = array<double>(64);
  std::int64_t* rows = array<std::int64_t>(2);
  std::int64_t* odd_rows = array<std::int64_t>(2);
  std::int64_t* strides = array<std::int64_t>(2);
  std::int64_t* pairs = array<std::int64_t>(1);
  std::int64_t* three_pairs = array<std::int64_t>(2);
  std::int64_t* lengths = array<std::int64_t>(8);
  double* rates = array<double>(4);
  std::int64_t* shape = array<std::int64_t>(8);
  std::int32_t* ndim = array<std::int32_t>(1);
  std::int32_t* number = array<std::int32_t>(1);
  eigen_rope_tensor x = float32(x_data, 2, rows), y = float32(y_data, 2, rows),
                    g = float32(g_data, 2, rows);
  eigen_rope_tensor cos = float32(cos_data, 1, pairs), sin = float32(sin_data, 1, pairs);
  eigen_rope_tensor angle = float64(angle_data), log_magnitude = float64(log_data),
                    dcos = float64(dcos_data), dsin = float64(dsin_data);
  eigen_rope_rotation how{};
  eigen_rope_device device{};
  eigen_rope_gradients results{};
  eigen_rope_position_list list{};
  eigen_rope_parameter parameters[3]{};
  eigen_rope_frequencies* frequencies = nullptr;
  eigen_rope_positions* positions = nullptr;
  eigen_rope_frequencies* made_frequencies = nullptr;
  eigen_rope_positions* made_positions = nullptr;

  Calls() {
    rows[0] = odd_rows[0] = three_pairs[0] = 3;
    rows[1] = 8;
    odd_rows[1] = 7;
    strides[0] = 8;
    strides[1] = 1;
    pairs[0] = three_pairs[1] = 4;
    std::fill(lengths, lengths + 8, 1);
    std::fill(cos_data, cos_data + 64, 0.75F);
    std::fill(sin_data, sin_data + 64, 0.5F);
    how.struct_size = sizeof how;
    how.pairing = EIGEN_ROPE_SPLIT_HALF;
    device.struct_size = sizeof device;
    device.parallel_for = [](void*, std::int64_t count, eigen_rope_work run, void* work) {
      run(work, 0, count);
    };
    device.threads = 2;
    results.struct_size = sizeof results;
    results.from = EIGEN_ROPE_FROM_INPUT;
    results.dx = &y;
    results.angle = &angle;
    results.log_magnitude = &log_magnitude;
    results.cos = &dcos;
    results.sin = &dsin;
    list.struct_size = sizeof list;
    list.data = lengths;
    list.count = 8;
    list.dtype = {EIGEN_ROPE_INT, 64, 1};
    parameters[0].name = "rotary_dims";
    parameters[0].number = 8;
    parameters[1].name = "factor";
    parameters[1].number = 4;
    parameters[2].name = "original_context";
    parameters[2].number = 64;
    ask(eigen_rope_frequencies_create("default", parameters, 1, 0, &frequencies));
    ask(eigen_rope_positions_range(0, 3, &positions));
  }
  ~Calls() override {
    eigen_rope_frequencies_destroy(frequencies);
    eigen_rope_positions_destroy(positions);
    eigen_rope_frequencies_destroy(made_frequencies);
    eigen_rope_positions_destroy(made_positions);
  }

  static eigen_rope_tensor float32(void* data, std::int32_t axes, const std::int64_t* extents) {
    return eigen_rope_cpu_tensor(data, EIGEN_ROPE_FLOAT, 32, axes, extents);
  }
  eigen_rope_tensor float64(void* data) const {
    return eigen_rope_cpu_tensor(data, EIGEN_ROPE_FLOAT, 64, 1, pairs);
  }

  void rotate() const { ask(eigen_rope_rotate(&y, &x, &cos, &sin, &how)); }
  void backward() const { ask(eigen_rope_backward(&results, &x, &g, &cos, &sin, &how)); }
  void table_gradient() const { ask(eigen_rope_table_gradient(&dcos, &dsin, &x, &g, &how)); }
  void gradient_shape() const {
    ask(eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, &x, &cos, &how, shape, ndim));
  }
  void fill(const char* layout = "sd") const {
    eigen_rope_tensor c = cos, s = sin;
    c.ndim = s.ndim = 2;
    c.shape = s.shape = three_pairs;
    ask(eigen_rope_fill_table(&c, &s, frequencies, positions, layout));
  }
  void frequencies_of(const char* scaling, std::int64_t count) {
    ask(eigen_rope_frequencies_create(scaling, parameters, count, 0, &made_frequencies));
  }
  void positions_of() { ask(eigen_rope_positions_of(&list, &made_positions)); }
};

void* half_way(void* data) { return static_cast<std::byte*>(data) + 2; }

constexpr const char* no_rank = "a strided view must have at least the feature axis, got rank 0";
constexpr const char* no_data = "a strided view must have data, got a null pointer";
constexpr const char* no_table = "the table must have cos and sin, got a null pointer";
constexpr const char* on_table = "the destination must not overlap the table";
constexpr const char* not_aligned =
    "data must be aligned to the size of its elements, 4 bytes (remainder), got 2";
constexpr const char* no_size =
    "the struct_size of rotation must be that of a struct of at least 56 bytes whose members this "
    "version of the library knows, or that are 0, got 0";

using F = Fault;

const Cell<Calls> cells[] = {
    // Null pointers, each by its name.
    {"y", F::null, [](Calls& t) { ask(eigen_rope_rotate(nullptr, &t.x, &t.cos, &t.sin, &t.how)); },
     "y must be given, got a null pointer"},
    {"x", F::null, [](Calls& t) { ask(eigen_rope_rotate(&t.y, nullptr, &t.cos, &t.sin, &t.how)); },
     "x must be given, got a null pointer"},
    {"cos", F::null, [](Calls& t) { ask(eigen_rope_rotate(&t.y, &t.x, nullptr, &t.sin, &t.how)); },
     "cos must be given, got a null pointer"},
    {"sin", F::null, [](Calls& t) { ask(eigen_rope_rotate(&t.y, &t.x, &t.cos, nullptr, &t.how)); },
     "sin must be given, got a null pointer"},
    {"rotation", F::null,
     [](Calls& t) { ask(eigen_rope_rotate(&t.y, &t.x, &t.cos, &t.sin, nullptr)); },
     "rotation must be given, got a null pointer"},
    {"results", F::null,
     [](Calls& t) { ask(eigen_rope_backward(nullptr, &t.x, &t.g, &t.cos, &t.sin, &t.how)); },
     "results must be given, got a null pointer"},
    {"backward, y", F::null,
     [](Calls& t) { ask(eigen_rope_backward(&t.results, nullptr, &t.g, &t.cos, &t.sin, &t.how)); },
     "y must be given, got a null pointer"},
    {"backward, g", F::null,
     [](Calls& t) { ask(eigen_rope_backward(&t.results, &t.x, nullptr, &t.cos, &t.sin, &t.how)); },
     "g must be given, got a null pointer"},
    {"backward, cos", F::null,
     [](Calls& t) { ask(eigen_rope_backward(&t.results, &t.x, &t.g, nullptr, &t.sin, &t.how)); },
     "cos must be given, got a null pointer"},
    {"backward, sin", F::null,
     [](Calls& t) { ask(eigen_rope_backward(&t.results, &t.x, &t.g, &t.cos, nullptr, &t.how)); },
     "sin must be given, got a null pointer"},
    {"backward, rotation", F::null,
     [](Calls& t) { ask(eigen_rope_backward(&t.results, &t.x, &t.g, &t.cos, &t.sin, nullptr)); },
     "rotation must be given, got a null pointer"},
    {"dcos", F::null,
     [](Calls& t) { ask(eigen_rope_table_gradient(nullptr, &t.dsin, &t.x, &t.g, &t.how)); },
     "dcos must be given, got a null pointer"},
    {"dsin", F::null,
     [](Calls& t) { ask(eigen_rope_table_gradient(&t.dcos, nullptr, &t.x, &t.g, &t.how)); },
     "dsin must be given, got a null pointer"},
    {"table gradient, x", F::null,
     [](Calls& t) { ask(eigen_rope_table_gradient(&t.dcos, &t.dsin, nullptr, &t.g, &t.how)); },
     "x must be given, got a null pointer"},
    {"table gradient, g", F::null,
     [](Calls& t) { ask(eigen_rope_table_gradient(&t.dcos, &t.dsin, &t.x, nullptr, &t.how)); },
     "g must be given, got a null pointer"},
    {"table gradient, rotation", F::null,
     [](Calls& t) { ask(eigen_rope_table_gradient(&t.dcos, &t.dsin, &t.x, &t.g, nullptr)); },
     "rotation must be given, got a null pointer"},
    {"gradient shape, y", F::null,
     [](Calls& t) {
       ask(eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, nullptr, &t.cos, &t.how, t.shape, t.ndim));
     },
     "y must be given, got a null pointer"},
    {"gradient shape, cos", F::null,
     [](Calls& t) {
       ask(eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, &t.x, nullptr, &t.how, t.shape, t.ndim));
     },
     "cos must be given, got a null pointer"},
    {"gradient shape, rotation", F::null,
     [](Calls& t) {
       ask(eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, &t.x, &t.cos, nullptr, t.shape, t.ndim));
     },
     "rotation must be given, got a null pointer"},
    {"gradient shape, shape", F::null,
     [](Calls& t) {
       ask(eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, &t.x, &t.cos, &t.how, nullptr, t.ndim));
     },
     "shape must be given, got a null pointer"},
    {"gradient shape, ndim", F::null,
     [](Calls& t) {
       ask(eigen_rope_gradient_shape(EIGEN_ROPE_OF_ANGLES, &t.x, &t.cos, &t.how, t.shape, nullptr));
     },
     "ndim must be given, got a null pointer"},
    {"fill table, cos", F::null,
     [](Calls& t) { ask(eigen_rope_fill_table(nullptr, &t.sin, t.frequencies, t.positions, "sd")); },
     "cos must be given, got a null pointer"},
    {"fill table, sin", F::null,
     [](Calls& t) { ask(eigen_rope_fill_table(&t.cos, nullptr, t.frequencies, t.positions, "sd")); },
     "sin must be given, got a null pointer"},
    {"fill table, frequencies", F::null,
     [](Calls& t) { ask(eigen_rope_fill_table(&t.cos, &t.sin, nullptr, t.positions, "sd")); },
     "frequencies must be given, got a null pointer"},
    {"fill table, positions", F::null,
     [](Calls& t) { ask(eigen_rope_fill_table(&t.cos, &t.sin, t.frequencies, nullptr, "sd")); },
     "positions must be given, got a null pointer"},
    {"fill table, layout", F::null, [](Calls& t) { t.fill(nullptr); },
     "layout must be given, got a null pointer"},
    {"table shape, frequencies", F::null,
     [](Calls& t) { ask(eigen_rope_table_shape(nullptr, t.positions, "sd", t.shape, t.ndim)); },
     "frequencies must be given, got a null pointer"},
    {"table shape, positions", F::null,
     [](Calls& t) { ask(eigen_rope_table_shape(t.frequencies, nullptr, "sd", t.shape, t.ndim)); },
     "positions must be given, got a null pointer"},
    {"table shape, layout", F::null,
     [](Calls& t) {
       ask(eigen_rope_table_shape(t.frequencies, t.positions, nullptr, t.shape, t.ndim));
     },
     "layout must be given, got a null pointer"},
    {"table shape, shape", F::null,
     [](Calls& t) { ask(eigen_rope_table_shape(t.frequencies, t.positions, "sd", nullptr, t.ndim)); },
     "shape must be given, got a null pointer"},
    {"table shape, ndim", F::null,
     [](Calls& t) { ask(eigen_rope_table_shape(t.frequencies, t.positions, "sd", t.shape, nullptr)); },
     "ndim must be given, got a null pointer"},
    {"pairing, name", F::null, [](Calls& t) { ask(eigen_rope_pairing_of(nullptr, t.number)); },
     "name must be given, got a null pointer"},
    {"pairing", F::null, [](Calls&) { ask(eigen_rope_pairing_of("quarter", nullptr)); },
     "pairing must be given, got a null pointer"},
    {"direction, name", F::null, [](Calls& t) { ask(eigen_rope_direction_of(nullptr, t.number)); },
     "name must be given, got a null pointer"},
    {"direction", F::null, [](Calls&) { ask(eigen_rope_direction_of("inverse", nullptr)); },
     "direction must be given, got a null pointer"},
    {"scaling", F::null, [](Calls& t) { t.frequencies_of(nullptr, 1); },
     "scaling must be given, got a null pointer"},
    {"parameters", F::null,
     [](Calls& t) {
       ask(eigen_rope_frequencies_create("default", nullptr, 1, 0, &t.made_frequencies));
     },
     "parameters must be given, got a null pointer"},
    {"a parameter's name", F::null,
     [](Calls& t) {
       t.parameters[0].name = nullptr;
       t.frequencies_of("default", 1);
     },
     "a parameter's name must be given, got a null pointer"},
    {"frequencies", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_create("default", t.parameters, 1, 0, nullptr)); },
     "frequencies must be given, got a null pointer"},
    {"rates", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_from_rates(nullptr, 4, 1, &t.made_frequencies)); },
     "rates must be given, got a null pointer"},
    {"frequencies of rates", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_from_rates(t.rates, 4, 1, nullptr)); },
     "frequencies must be given, got a null pointer"},
    {"frequencies, of their pairs", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_pairs(nullptr, t.lengths)); },
     "frequencies must be given, got a null pointer"},
    {"pairs", F::null, [](Calls& t) { ask(eigen_rope_frequencies_pairs(t.frequencies, nullptr)); },
     "pairs must be given, got a null pointer"},
    {"frequencies, of their rates", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_rates(nullptr, t.rates, 4, t.angle_data)); },
     "frequencies must be given, got a null pointer"},
    {"rates, written", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_rates(t.frequencies, nullptr, 4, t.angle_data)); },
     "rates must be given, got a null pointer"},
    {"attention factor", F::null,
     [](Calls& t) { ask(eigen_rope_frequencies_rates(t.frequencies, t.rates, 4, nullptr)); },
     "attention_factor must be given, got a null pointer"},
    {"positions of a range", F::null, [](Calls&) { ask(eigen_rope_positions_range(0, 3, nullptr)); },
     "positions must be given, got a null pointer"},
    {"positions of a list", F::null,
     [](Calls& t) { ask(eigen_rope_positions_of(&t.list, nullptr)); },
     "positions must be given, got a null pointer"},
    {"list", F::null, [](Calls& t) { ask(eigen_rope_positions_of(nullptr, &t.made_positions)); },
     "list must be given, got a null pointer"},
    {"positions of packed sequences", F::null,
     [](Calls& t) { ask(eigen_rope_positions_packed(t.lengths, 1, nullptr, nullptr)); },
     "positions must be given, got a null pointer"},
    // Tensors.
    {"x, type", F::unknown,
     [](Calls& t) {
       t.x.dtype = {EIGEN_ROPE_INT, 64, 1};
       t.rotate();
     },
     "x must be of float32, float64, float16 or bfloat16, got int64"},
    {"x, type", F::unknown,
     [](Calls& t) {
       t.x.dtype = {EIGEN_ROPE_FLOAT, 32, 4};
       t.rotate();
     },
     "x must be of float32, float64, float16 or bfloat16, got float32x4"},
    {"x, type", F::unknown,
     [](Calls& t) {
       t.x.dtype = {17, 4, 1};
       t.rotate();
     },
     "x must be of float32, float64, float16 or bfloat16, got code 17 of 4 bits"},
    {"y, type", F::unknown,
     [](Calls& t) {
       t.y.dtype = {EIGEN_ROPE_BFLOAT, 32, 1};
       t.rotate();
     },
     "y must be of float32, float64, float16 or bfloat16, got bfloat32"},
    {"y, type", F::unknown,
     [](Calls& t) {
       t.y.dtype.bits = 64;
       t.rotate();
     },
     "the destination must have x's type f32, got f64"},
    {"table, type", F::unknown,
     [](Calls& t) {
       t.cos.dtype.bits = t.sin.dtype.bits = 64;
       t.rotate();
     },
     "the table must have x's type f32, got f64"},
    {"sin, type", F::unknown,
     [](Calls& t) {
       t.sin.dtype.bits = 64;
       t.rotate();
     },
     "sin must have cos's type f32, got f64"},
    {"x, memory", F::unknown,
     [](Calls& t) {
       t.x.device.device_type = 2;
       t.rotate();
     },
     "x must be in the memory of the CPU (device_type 1), got 2"},
    {"sin, memory", F::missing,
     [](Calls& t) {
       t.sin.device.device_type = 0;
       t.rotate();
     },
     "sin must be in the memory of the CPU (device_type 1), got 0"},
    {"x, ndim", F::negative,
     [](Calls& t) {
       t.x.ndim = -1;
       t.rotate();
     },
     "x must have 1 to 8 axes, got -1"},
    {"x, ndim", F::too_large,
     [](Calls& t) {
       t.x.ndim = 9;
       t.rotate();
     },
     "x must have 1 to 8 axes, got 9"},
    {"x, ndim", F::zero,
     [](Calls& t) {
       t.x.ndim = t.y.ndim = 0;
       t.rotate();
     },
     no_rank},
    {"x, shape", F::null,
     [](Calls& t) {
       t.x.shape = nullptr;
       t.rotate();
     },
     "x's shape must be given, got a null pointer"},
    {"x, shape", F::negative,
     [](Calls& t) {
       t.rows[1] = -8;
       t.remember();
       t.rotate();
     },
     "extents must not be negative, got -8"},
    {"x, shape", F::huge,
     [](Calls& t) {
       t.rows[0] = t.rows[1] = two_to_62;
       t.remember();
       t.rotate();
     },
     "the number of elements must fit a 64-bit count, got 4611686018427387904 x "
     "4611686018427387904"},
    {"x, shape", F::odd,
     [](Calls& t) {
       t.x.shape = t.y.shape = t.odd_rows;
       t.rotate();
     },
     "rotary dims must be even, got 7"},
    {"y, shape", F::wrong_shape,
     [](Calls& t) {
       t.y.shape = t.odd_rows;
       t.rotate();
     },
     "the destination must have x's shape [8, 3], got [7, 3]"},
    {"sin, shape", F::wrong_shape,
     [](Calls& t) {
       t.sin.ndim = 2;
       t.sin.shape = t.three_pairs;
       t.rotate();
     },
     "sin must have cos's shape [4], got [3, 4]"},
    {"table, shape", F::wrong_shape,
     [](Calls& t) {
       t.pairs[0] = 3;
       t.remember();
       t.rotate();
     },
     "table width must be 4 (one entry per pair) or 8 (one per rotated element), got 3"},
    {"table, ndim", F::zero,
     [](Calls& t) {
       t.cos.ndim = t.sin.ndim = 0;
       t.rotate();
     },
     "a table must have at least the axis of its entries, got rank 0"},
    {"sin, strides", F::wrong_shape,
     [](Calls& t) {
       t.sin.strides = t.strides;
       t.rotate();
     },
     "sin must have cos's strides"},
    {"x, strides", F::zero,
     [](Calls& t) {
       t.strides[1] = 0;
       t.remember();
       t.x.strides = t.strides;
       t.rotate();
     },
     "the feature stride of a strided view must not be 0"},
    {"x, strides", F::zero,
     [](Calls& t) {
       t.strides[0] = 0;
       t.remember();
       t.x.strides = t.strides;
       t.rotate();
     },
     nullptr, "rows that are read may be repeated"},
    {"y, strides", F::overlapping,
     [](Calls& t) {
       t.strides[0] = 7;
       t.remember();
       t.y.strides = t.strides;
       t.rotate();
     },
     "strides must step over the 8 elements inside them, or rows share elements, got 7"},
    {"x, strides", F::huge,
     [](Calls& t) {
       t.strides[0] = two_to_62;
       t.remember();
       t.x.strides = t.y.strides = t.strides;
       t.rotate();
     },
     "the span of a strided view must fit a 64-bit count, got 4611686018427387904 x 2"},
    {"x, byte_offset", F::huge,
     [](Calls& t) {
       t.x.byte_offset = ~std::uint64_t{0};
       t.rotate();
     },
     "x's byte_offset must lead to memory, got 18446744073709551615"},
    {"x, byte_offset", F::odd,
     [](Calls& t) {
       t.x.byte_offset = 2;
       t.rotate();
     },
     not_aligned},
    {"x, data", F::null,
     [](Calls& t) {
       t.x.data = nullptr;
       t.x.byte_offset = 64;
       t.rotate();
     },
     no_data},
    {"y, data", F::null,
     [](Calls& t) {
       t.y.data = nullptr;
       t.rotate();
     },
     no_data},
    {"cos, data", F::null,
     [](Calls& t) {
       t.cos.data = nullptr;
       t.rotate();
     },
     no_table},
    {"sin, data", F::null,
     [](Calls& t) {
       t.sin.data = nullptr;
       t.rotate();
     },
     no_table},
    {"sin, data", F::odd,
     [](Calls& t) {
       t.sin.data = half_way(t.sin_data);
       t.rotate();
     },
     not_aligned},
    {"y and x", F::overlapping,
     [](Calls& t) {
       t.y.data = t.x_data + 4;
       t.rotate();
     },
     "x and the destination must be the same rows or not overlap at all (distance in bytes), got 16"},
    {"y and the table", F::overlapping,
     [](Calls& t) {
       t.y.data = t.cos_data;
       t.rotate();
     },
     on_table},
    // The rotation and its threads.
    {"rotation, struct_size", F::missing,
     [](Calls& t) {
       t.how.struct_size = 0;
       t.rotate();
     },
     no_size},
    {"pairing", F::missing,
     [](Calls& t) {
       t.how.pairing = 0;
       t.rotate();
     },
     "pairing must be 1 (split_half), 2 (interleaved), 3 (quarter) or 4 "
     "(interleaved_to_split_half), got 0"},
    {"direction", F::unknown,
     [](Calls& t) {
       t.how.direction = 3;
       t.rotate();
     },
     "direction must be 0 (forward), 1 (backward) or 2 (inverse), got 3"},
    {"rotary dims", F::odd,
     [](Calls& t) {
       t.how.rotary_dims = 7;
       t.rotate();
     },
     "rotary dims must be even, got 7"},
    {"flags", F::unknown,
     [](Calls& t) {
       t.how.flags = 4;
       t.rotate();
     },
     "the rotation's flags must be 0, 1 (axis), 2 (table_axis) or 3, got 4"},
    {"rotation, reserved", F::unknown,
     [](Calls& t) {
       t.how.reserved = 1;
       t.rotate();
     },
     "the rotation's reserved member must be 0, got 1"},
    {"axis", F::too_large,
     [](Calls& t) {
       t.how.flags = EIGEN_ROPE_NAMED_AXIS;
       t.how.axis = 2;
       t.rotate();
     },
     "the axis that a pairing goes along must be one of the 2 axes of x, counted from 0, got 2"},
    {"table axis", F::negative,
     [](Calls& t) {
       t.how.flags = EIGEN_ROPE_NAMED_TABLE_AXIS;
       t.how.table_axis = -1;
       t.rotate();
     },
     "the table's feature axis must be one of its 1 axes, counted from 0, got -1"},
    {"device, struct_size", F::huge,
     [](Calls& t) {
       t.device.struct_size = 4096;
       t.how.device = &t.device;
       t.rotate();
     },
     "the struct_size of device must be that of a struct of at least 32 bytes whose members this "
     "version of the library knows, or that are 0, got 4096"},
    {"device, parallel_for", F::null,
     [](Calls& t) {
       t.device.parallel_for = nullptr;
       t.how.device = &t.device;
       t.rotate();
     },
     "the device's parallel_for must be given, got a null pointer"},
    {"device, threads", F::zero,
     [](Calls& t) {
       t.device.threads = 0;
       t.how.device = &t.device;
       t.rotate();
     },
     "the number of threads of a device must be at least 1, got 0"},
    {"device, reserved", F::unknown,
     [](Calls& t) {
       t.device.reserved = -1;
       t.how.device = &t.device;
       t.rotate();
     },
     "the device's reserved member must be 0, got -1"},
    // Gradients.
    {"results, struct_size", F::too_small,
     [](Calls& t) {
       t.results.struct_size = 48;
       t.backward();
     },
     "the struct_size of results must be that of a struct of at least 56 bytes whose members this "
     "version of the library knows, or that are 0, got 48"},
    {"results, from", F::unknown,
     [](Calls& t) {
       t.results.from = 2;
       t.backward();
     },
     "from must be 0 (output) or 1 (input), got 2"},
    {"results, reserved", F::unknown,
     [](Calls& t) {
       t.results.reserved = 1;
       t.backward();
     },
     "the results' reserved member must be 0, got 1"},
    {"results, sin", F::missing,
     [](Calls& t) {
       t.results.sin = nullptr;
       t.backward();
     },
     "gradients of cos and sin must be wanted together, got a null pointer for one"},
    {"dx, type", F::unknown,
     [](Calls& t) {
       t.y.dtype.bits = 64;
       t.backward();
     },
     "dx must have y's type f32, got f64"},
    {"dx, shape", F::wrong_shape,
     [](Calls& t) {
       t.y.shape = t.odd_rows;
       t.backward();
     },
     "dx must have x's shape [8, 3], got [7, 3]"},
    {"g, shape", F::wrong_shape,
     [](Calls& t) {
       t.g.shape = t.odd_rows;
       t.backward();
     },
     "g must have x's shape [8, 3], got [7, 3]"},
    {"angle, type", F::unknown,
     [](Calls& t) {
       t.angle.dtype.bits = 32;
       t.backward();
     },
     "angle must be of float64, got float32"},
    {"angle, shape", F::wrong_shape,
     [](Calls& t) {
       t.angle.ndim = 2;
       t.angle.shape = t.three_pairs;
       t.backward();
     },
     "angle must have 4 entries and outer extents [], got 4 entries and outer extents [3]"},
    {"log_magnitude, data", F::null,
     [](Calls& t) {
       t.log_magnitude.data = nullptr;
       t.backward();
     },
     "log_magnitude must have data, got a null pointer"},
    {"angle and log_magnitude", F::overlapping,
     [](Calls& t) {
       t.log_magnitude.data = t.angle_data + 2;
       t.backward();
     },
     "log_magnitude must not overlap angle"},
    {"dcos and dx", F::overlapping,
     [](Calls& t) {
       t.dcos.data = t.y_data + 8;
       t.backward();
     },
     "the gradient of cos must not overlap dx"},
    {"dsin and y", F::overlapping,
     [](Calls& t) {
       t.dsin.data = t.x_data;
       t.backward();
     },
     "the gradient of sin must not overlap y"},
    {"angle and g", F::overlapping,
     [](Calls& t) {
       t.angle.data = t.g_data;
       t.backward();
     },
     "angle must not overlap g"},
    {"angle and cos", F::overlapping,
     [](Calls& t) {
       t.angle.data = t.cos_data;
       t.backward();
     },
     "angle must not overlap cos"},
    {"gradient shape, of", F::unknown,
     [](Calls& t) { ask(eigen_rope_gradient_shape(0, &t.x, &t.cos, &t.how, t.shape, t.ndim)); },
     "a gradient must be 1 (of angles) or 2 (of the table), got 0"},
    {"gradient shape, y", F::odd,
     [](Calls& t) {
       t.x.shape = t.odd_rows;
       t.gradient_shape();
     },
     "rotary dims must be even, got 7"},
    {"table gradient, type", F::unknown,
     [](Calls& t) {
       t.dcos.dtype.bits = t.dsin.dtype.bits = 16;
       t.table_gradient();
     },
     "the table's gradient must have x's type f32 or f64, got f16"},
    {"table gradient", F::overlapping,
     [](Calls& t) {
       t.dsin.data = t.dcos_data + 1;
       t.table_gradient();
     },
     "the gradients of cos and sin must not overlap"},
    // Tables.
    {"fill table, layout", F::unknown, [](Calls& t) { t.fill("bshd"); },
     "layout must be one of bsnd, bnsd, sbnd, tnd, bsd, sd, dnsb, dsnb, dns, dsb and ds, got bshd"},
    {"fill table, shape", F::wrong_shape,
     [](Calls& t) {
       t.three_pairs[0] = 2;
       t.remember();
       t.fill();
     },
     "the memory must have the table's width 4 and outer extents [3], got width 4 and outer "
     "extents [2]"},
    {"fill table, cos and sin", F::overlapping,
     [](Calls& t) {
       t.sin.data = t.cos_data + 11;
       t.fill();
     },
     "cos and sin must not overlap"},
    // Frequencies.
    {"scaling", F::unknown, [](Calls& t) { t.frequencies_of("yarm", 1); },
     "a scaling must be one of default, linear, proportional, dynamic, ntk, yarn, ggml_yarn, "
     "llama3, longrope, got yarm"},
    {"parameters, count", F::negative, [](Calls& t) { t.frequencies_of("default", -1); },
     "the number of parameters must not be negative, got -1"},
    {"rotary dims", F::missing, [](Calls& t) { t.frequencies_of("default", 0); },
     "default: rotary_dims must be given"},
    {"original context", F::missing, [](Calls& t) { t.frequencies_of("yarn", 2); },
     "yarn: original_context must be given"},
    {"a parameter", F::unknown, [](Calls& t) { t.frequencies_of("linear", 3); },
     "linear: a parameter must be one of rotary_dims, base, linear_scale, attention_factor, "
     "factors, exponents, exponent_dims, factor, got original_context"},
    {"a parameter, twice", F::too_large,
     [](Calls& t) {
       t.parameters[1].name = "rotary_dims";
       t.frequencies_of("default", 2);
     },
     "default: rotary_dims must be given once"},
    {"rotary dims", F::odd,
     [](Calls& t) {
       t.parameters[0].number = 7.5;
       t.frequencies_of("default", 1);
     },
     "default: rotary_dims must be a whole number, got 7.5"},
    {"rotary dims", F::nan,
     [](Calls& t) {
       t.parameters[0].number = nan;
       t.frequencies_of("default", 1);
     },
     "default: rotary_dims must be a whole number, got nan"},
    {"rotary dims, a word", F::unknown,
     [](Calls& t) {
       t.parameters[0].word = "many";
       t.frequencies_of("default", 1);
     },
     "default: rotary_dims must be a whole number, got many"},
    {"factor, a list", F::unknown,
     [](Calls& t) {
       t.parameters[1].list = t.rates;
       t.parameters[1].list_count = 4;
       t.frequencies_of("linear", 2);
     },
     "linear: factor must be a number, got a list of 4 numbers"},
    {"factor", F::negative,
     [](Calls& t) {
       t.parameters[1].number = -4;
       t.frequencies_of("linear", 2);
     },
     "factor must be finite and greater than 0, got -4"},
    {"factors, no list", F::unknown,
     [](Calls& t) {
       t.parameters[1].name = "factors";
       t.frequencies_of("default", 2);
     },
     "default: factors must be a list, got 4"},
    {"factors, count", F::negative,
     [](Calls& t) {
       t.parameters[1].name = "factors";
       t.parameters[1].list = t.rates;
       t.parameters[1].list_count = -1;
       t.frequencies_of("default", 2);
     },
     "default: the number of factors must not be negative, got -1"},
    {"factors, count", F::huge,
     [](Calls& t) {
       t.parameters[1].name = "factors";
       t.parameters[1].list = t.rates;
       t.parameters[1].list_count = two_to_62;
       t.frequencies_of("default", 2);
     },
     "the number of bytes of a list must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"ends", F::unknown,
     [](Calls& t) {
       t.parameters[1].name = "ends";
       t.parameters[1].word = "round";
       t.frequencies_of("yarn", 2);
     },
     "yarn: ends must be rounded or exact, got round"},
    {"rates, count", F::zero,
     [](Calls& t) { ask(eigen_rope_frequencies_from_rates(t.rates, 0, 1, &t.made_frequencies)); },
     "the number of rates must be positive, got 0"},
    {"rates, count", F::negative,
     [](Calls& t) { ask(eigen_rope_frequencies_from_rates(t.rates, -1, 1, &t.made_frequencies)); },
     "the number of rates must not be negative, got -1"},
    {"rates, count", F::huge,
     [](Calls& t) {
       ask(eigen_rope_frequencies_from_rates(t.rates, two_to_62, 1, &t.made_frequencies));
     },
     "the number of bytes of all rates must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"rates, their number", F::wrong_length,
     [](Calls& t) { ask(eigen_rope_frequencies_rates(t.frequencies, t.rates, 3, t.angle_data)); },
     "the number of rates must be that of the pairs, 4, got 3"},
    // Positions.
    {"tokens", F::negative,
     [](Calls& t) { ask(eigen_rope_positions_range(0, -1, &t.made_positions)); },
     "tokens must not be negative, got -1"},
    {"positions, type", F::unknown,
     [](Calls& t) {
       t.list.dtype = {1, 64, 1};
       t.positions_of();
     },
     "positions must be of int32, int64, float32 or float64, got uint64"},
    {"positions, struct_size", F::missing,
     [](Calls& t) {
       t.list.struct_size = 0;
       t.positions_of();
     },
     "the struct_size of list must be that of a struct of at least 56 bytes whose members this "
     "version of the library knows, or that are 0, got 0"},
    {"positions, count", F::negative,
     [](Calls& t) {
       t.list.count = -1;
       t.positions_of();
     },
     "the number of positions must not be negative, got -1"},
    {"positions, count", F::huge,
     [](Calls& t) {
       t.list.count = two_to_62;
       t.positions_of();
     },
     "the number of bytes of all positions must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"positions, data", F::null,
     [](Calls& t) {
       t.list.data = nullptr;
       t.positions_of();
     },
     "positions must have data, got a null pointer"},
    {"positions, data", F::odd,
     [](Calls& t) {
       t.list.data = half_way(t.lengths);
       t.list.count = 1;
       t.positions_of();
     },
     "positions must be aligned to their size, 8 bytes (remainder), got 2"},
    {"batches", F::wrong_length,
     [](Calls& t) {
       t.list.batches = 3;
       t.positions_of();
     },
     "the number of positions must be a multiple of axes x batches (1 x 3), got 8"},
    {"section pattern", F::unknown,
     [](Calls& t) {
       t.list.section_pattern = 5;
       t.positions_of();
     },
     "the section pattern must be 0 (none), 1 (contiguous), 2 (vision), 3 (interleaved_ggml) or 4 "
     "(interleaved_hf), got 5"},
    {"sections", F::null,
     [](Calls& t) {
       t.list.section_pattern = EIGEN_ROPE_CONTIGUOUS;
       t.list.section_count = 2;
       t.positions_of();
     },
     "sections must be given, got a null pointer"},
    {"sections without a pattern", F::unknown,
     [](Calls& t) {
       t.list.section_count = 2;
       t.positions_of();
     },
     "there must be no sections without a pattern, got 2"},
    {"sections, count", F::negative,
     [](Calls& t) {
       t.list.section_pattern = EIGEN_ROPE_CONTIGUOUS;
       t.list.section_count = -2;
       t.positions_of();
     },
     "the number of sections must not be negative, got -2"},
    {"sections, count", F::huge,
     [](Calls& t) {
       t.list.section_pattern = EIGEN_ROPE_CONTIGUOUS;
       t.list.sections = t.lengths;
       t.list.section_count = two_to_62;
       t.positions_of();
     },
     "sections must be 1 to 4, got 5"},
    {"cu_seqlens, data", F::null,
     [](Calls& t) { ask(eigen_rope_positions_packed(nullptr, 2, nullptr, &t.made_positions)); },
     "a list of numbers must have data, got a null pointer and count 2"},
    {"cu_seqlens, count", F::zero,
     [](Calls& t) { ask(eigen_rope_positions_packed(t.lengths, 0, t.lengths, &t.made_positions)); },
     "cu_seqlens must begin with 0, got an empty list"},
    {"cu_seqlens, count", F::negative,
     [](Calls& t) { ask(eigen_rope_positions_packed(t.lengths, -1, nullptr, &t.made_positions)); },
     "the length of a list of numbers must not be negative, got -1"},
    {"pairing, name", F::unknown,
     [](Calls& t) { ask(eigen_rope_pairing_of("half", t.number)); },
     "pairing must be split_half, interleaved, quarter or interleaved_to_split_half, got half"},
    {"direction, name", F::unknown, [](Calls& t) { ask(eigen_rope_direction_of("", t.number)); },
     "direction must be forward, backward or inverse, got "},
};
const Area area("calls of the C interface", cells);

TEST(BadInput, CCalls) { expect_refusals(cells); }

}  // namespace
}  // namespace eigen_rope::test::c_tests
