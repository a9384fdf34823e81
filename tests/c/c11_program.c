/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface as a C11 compiler sees it: what is read as zero, layouts, and calls. The last is
 * also the program that scripts/check_packages.sh compiles against an installed library.
 *
 * DLTensor stands in for DLPack's, whose header (dlpack.h, version 1) publishes this layout.
 */
#include <eigen_rope/c/eigen_rope.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;

#define SAME_PLACE(member)                                                                      \
  _Static_assert(offsetof(eigen_rope_tensor, member) == offsetof(DLTensor, member) &&           \
                     sizeof(((eigen_rope_tensor*)0)->member) == sizeof(((DLTensor*)0)->member), \
                 "eigen_rope_tensor has DLTensor's " #member)
SAME_PLACE(data);
SAME_PLACE(device);
SAME_PLACE(ndim);
SAME_PLACE(dtype);
SAME_PLACE(shape);
SAME_PLACE(strides);
SAME_PLACE(byte_offset);
_Static_assert(sizeof(eigen_rope_tensor) == sizeof(DLTensor), "and nothing else");
_Static_assert(offsetof(eigen_rope_tensor_type, lanes) == offsetof(DLDataType, lanes),
               "its type's members, too");

#if UINTPTR_MAX == UINT64_MAX
/* The first version of each struct. A member may be added at the end, and none may move. */
_Static_assert(sizeof(eigen_rope_rotation) == 56, "the size of a rotation");
_Static_assert(offsetof(eigen_rope_rotation, device) == 48, "the last member of a rotation");
_Static_assert(sizeof(eigen_rope_device) == 32, "the size of a device");
_Static_assert(sizeof(eigen_rope_position_list) == 56, "the size of a list of positions");
_Static_assert(sizeof(eigen_rope_index_list) == 32, "the size of a list of rows or slots");
_Static_assert(offsetof(eigen_rope_index_list, reserved) == 28, "its last member");
_Static_assert(sizeof(eigen_rope_token_rows) == 32, "the size of the rows of a tensor");
_Static_assert(sizeof(eigen_rope_gradients) == 56, "the size of gradients");
_Static_assert(sizeof(eigen_rope_parameter) == 40, "the size of a parameter");
#endif

static eigen_rope_tensor of_dlpack(const DLTensor* from) {
  eigen_rope_tensor tensor;
  tensor.data = from->data;
  tensor.device.device_type = from->device.device_type;
  tensor.device.device_id = from->device.device_id;
  tensor.ndim = from->ndim;
  tensor.dtype.code = from->dtype.code;
  tensor.dtype.bits = from->dtype.bits;
  tensor.dtype.lanes = from->dtype.lanes;
  tensor.shape = from->shape;
  tensor.strides = from->strides;
  tensor.byte_offset = from->byte_offset;
  return tensor;
}

/* Whether a row of 8 elements is the one from `first` on, rotated to this position. */
static int is_rotated(const float* row, double first, double position) {
  for (int k = 0; k < 4; ++k) {
    const double angle = position * pow(10000.0, -2.0 * k / 8);
    const double a = first + k, b = first + k + 4;
    if (!(fabs(row[k] - (cos(angle) * a - sin(angle) * b)) <= 1e-4)) return 0;
    if (!(fabs(row[k + 4] - (cos(angle) * b + sin(angle) * a)) <= 1e-4)) return 0;
  }
  return 1;
}

/* Queries of two heads in place, and keys of one head into slots, by rows of a table of positions 5
 * to 7. Returns what is wrong, or nothing. */
static const char* rotate_tokens(const eigen_rope_tensor* c, const eigen_rope_tensor* s) {
  enum { tokens = 3, D = 8, slots_there = 5 };
  float q[tokens * 2 * D], k[tokens * D], pages[slots_there * D];
  for (int i = 0; i < tokens * 2 * D; ++i) q[i] = (float)i;
  for (int i = 0; i < tokens * D; ++i) k[i] = (float)-i;
  for (int i = 0; i < slots_there * D; ++i) pages[i] = 99;
  const int32_t rows[] = {2, 0, 1};
  const int64_t places[] = {4, -1, 1};
  const int64_t of_q[] = {tokens, 2, D}, of_k[] = {tokens, 1, D}, of_pages[] = {slots_there, 1, D};
  const eigen_rope_tensor queries = eigen_rope_cpu_tensor(q, EIGEN_ROPE_FLOAT, 32, 3, of_q);
  const eigen_rope_tensor keys = eigen_rope_cpu_tensor(k, EIGEN_ROPE_FLOAT, 32, 3, of_k);
  const eigen_rope_tensor cache = eigen_rope_cpu_tensor(pages, EIGEN_ROPE_FLOAT, 32, 3, of_pages);
  const eigen_rope_index_list ids = {
      .struct_size = sizeof ids, .data = rows, .count = 3, .dtype = {EIGEN_ROPE_INT, 32, 1}};
  eigen_rope_index_list slots = {
      .struct_size = sizeof slots, .data = places, .count = 3, .dtype = {EIGEN_ROPE_INT, 64, 1}};
  const eigen_rope_token_rows both[] = {
      {.struct_size = sizeof both[0], .to = &queries},
      {.struct_size = sizeof both[1], .to = &cache, .from = &keys, .slots = &slots}};
  const eigen_rope_rotation how = {.struct_size = sizeof how, .pairing = EIGEN_ROPE_SPLIT_HALF};
  if (eigen_rope_rotate_tokens(both, 2, c, s, &ids, &how) != EIGEN_ROPE_OK)
    return eigen_rope_last_message();

  for (int row = 0; row < tokens * 2; ++row) {
    if (!is_rotated(q + row * D, row * D, 5 + rows[row / 2])) return "a query is another one";
  }
  for (int slot = 0; slot < slots_there; ++slot) {
    const float* const key = pages + slot * D;
    if (slot != 1 && slot != 4) {
      for (int i = 0; i < D; ++i) {
        if (key[i] != 99) return "a slot that no token has was written";
      }
    }
  }
  /* The rows of k are -0, -1, ...: those of -x are the negatives of the rows of x. */
  for (int i = 0; i < slots_there * D; ++i) pages[i] = -pages[i];
  if (!is_rotated(pages + 4 * D, 0, 7) || !is_rotated(pages + D, 2 * D, 6))
    return "a key is another one";

  slots.count = 2;
  if (eigen_rope_rotate_tokens(both, 2, c, s, &ids, &how) != EIGEN_ROPE_INVALID_ARGUMENT)
    return "two slots have been taken for three tokens";
  if (strcmp(eigen_rope_last_message(),
             "[rope] there must be one slot for each of the 3 tokens, or none, got 2") != 0)
    return "the message about slots is another one";
  return "";
}

/* Returns what is wrong, or nothing. */
const char* c11_program(void);
const char* c11_program(void) {
  enum { tokens = 3, heads = 2, D = 8, pairs = D / 2 };
  if (eigen_rope_abi_version() != EIGEN_ROPE_ABI_VERSION) return "the version";

  const eigen_rope_parameter dims = {.name = "rotary_dims", .number = D};
  eigen_rope_frequencies* frequencies = NULL;
  eigen_rope_positions* positions = NULL;
  if (eigen_rope_frequencies_create("default", &dims, 1, 0, &frequencies) != EIGEN_ROPE_OK)
    return eigen_rope_last_message();
  if (eigen_rope_positions_range(5, tokens, &positions) != EIGEN_ROPE_OK)
    return eigen_rope_last_message();

  float cosines[tokens * pairs], sines[tokens * pairs];
  const int64_t of_table[] = {tokens, 1, pairs};
  const eigen_rope_tensor c = eigen_rope_cpu_tensor(cosines, EIGEN_ROPE_FLOAT, 32, 3, of_table);
  const eigen_rope_tensor s = eigen_rope_cpu_tensor(sines, EIGEN_ROPE_FLOAT, 32, 3, of_table);
  if (eigen_rope_fill_table(&c, &s, frequencies, positions, "tnd") != EIGEN_ROPE_OK)
    return eigen_rope_last_message();
  eigen_rope_frequencies_destroy(frequencies);
  eigen_rope_positions_destroy(positions);

  /* The queries of a buffer [tokens, q and k and v, heads, D], as a framework hands them over. */
  float buffer[tokens * 3 * heads * D];
  for (int i = 0; i < tokens * 3 * heads * D; ++i) buffer[i] = (float)i;
  int64_t shape[] = {tokens, heads, D}, strides[] = {3 * heads * D, D, 1};
  const DLTensor keys = {.data = buffer,
                         .device = {1, 0},
                         .ndim = 3,
                         .dtype = {2, 32, 1},
                         .shape = shape,
                         .strides = strides,
                         .byte_offset = heads * D * sizeof(float)};
  const eigen_rope_tensor x = of_dlpack(&keys);
  const eigen_rope_rotation how = {.struct_size = sizeof how, .pairing = EIGEN_ROPE_SPLIT_HALF};
  if (eigen_rope_rotate(&x, &x, &c, &s, &how) != EIGEN_ROPE_OK) return eigen_rope_last_message();

  for (int token = 0; token < tokens; ++token) {
    for (int part = 0; part < 3; ++part) {
      for (int head = 0; head < heads; ++head) {
        const int row = ((token * 3 + part) * heads + head) * D;
        if (!is_rotated(buffer + row, row, part == 1 ? 5 + token : 0))
          return "the rotation is another one";
      }
    }
  }

  eigen_rope_tensor odd = x;
  const int64_t odd_shape[] = {tokens, heads, D - 1};
  odd.shape = odd_shape;
  if (eigen_rope_rotate(&odd, &odd, &c, &s, &how) != EIGEN_ROPE_INVALID_ARGUMENT)
    return "rows of 7 elements have been rotated";
  if (strcmp(eigen_rope_last_message(), "[rope] rotary dims must be even, got 7") != 0)
    return "the message is another one";
  return rotate_tokens(&c, &s);
}

#ifdef EIGEN_ROPE_C11_MAIN
int main(void) {
  const char* const wrong = c11_program();
  if (wrong[0] != '\0') {
    fprintf(stderr, "%s\n", wrong);
    return 1;
  }
  printf("eigen-rope %s in C, version %u of its interface\n", eigen_rope_version(),
         (unsigned)eigen_rope_abi_version());
  return 0;
}
#endif
