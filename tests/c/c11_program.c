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
        for (int k = 0; k < pairs; ++k) {
          const double angle = part == 1 ? (5 + token) * pow(10000.0, -2.0 * k / D) : 0;
          const double a = row + k, b = row + k + pairs;
          const double error_a = fabs(buffer[row + k] - (cos(angle) * a - sin(angle) * b));
          const double error_b = fabs(buffer[row + k + pairs] - (cos(angle) * b + sin(angle) * a));
          if (!(error_a <= 1e-4) || !(error_b <= 1e-4)) return "the rotation is another one";
        }
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
  return "";
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
