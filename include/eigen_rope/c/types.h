/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of the C interface: status, tensor, threads, and what a rotation is.
 *
 * They hold no C++ type, no bool, and no enum whose size a compiler chooses. eigen_rope_tensor and
 * eigen_rope_parameter never change. Every other struct begins with struct_size, which the caller
 * sets to sizeof the struct, so that members can be added at the end: what an older caller does not
 * have counts as 0, and 0 means the usual value of every member but a pairing.
 *
 *   eigen_rope_rotation how = {.struct_size = sizeof how, .pairing = EIGEN_ROPE_SPLIT_HALF};
 *
 * Extents, strides and axes are listed from the slowest axis to the fastest, as DLPack, PyTorch and
 * NumPy list them.
 */
#ifndef EIGEN_ROPE_C_TYPES_H
#define EIGEN_ROPE_C_TYPES_H

#include <stddef.h>
#include <stdint.h>

/** Marks the functions that the shared library exports. */
#if defined(__GNUC__)
#define EIGEN_ROPE_C_API __attribute__((visibility("default")))
#else
#define EIGEN_ROPE_C_API
#endif

/** Says in C++ that a function throws nothing. */
#ifdef __cplusplus
#define EIGEN_ROPE_C_NOEXCEPT noexcept
#else
#define EIGEN_ROPE_C_NOEXCEPT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** \addtogroup reference_c
 *  @{ */

/** The version of the binary interface that this header describes: eigen_rope_abi_version() of a
 * library that fits it is the same number. It changes when a program compiled before would break,
 * and not when functions, members or words are added. */
#define EIGEN_ROPE_ABI_VERSION 1

/** The largest number of axes that a tensor may have. */
#define EIGEN_ROPE_MAX_RANK 8

/** What became of a call: EIGEN_ROPE_OK, or what has failed. */
typedef int32_t eigen_rope_status;

/** The values of an eigen_rope_status. */
enum {
  EIGEN_ROPE_OK = 0,               /**< Done. */
  EIGEN_ROPE_INVALID_ARGUMENT = 1, /**< Refused; the message names argument, rule and value. */
  EIGEN_ROPE_OUT_OF_MEMORY = 2,    /**< Memory for a result or a copy could not be had. */
  EIGEN_ROPE_INTERNAL = 3          /**< Anything else, such as a C++ exception of a parallel_for. */
};

/** The codes of a tensor's type and memory that the library takes, with DLPack's numbers. */
enum {
  EIGEN_ROPE_INT = 0,    /**< kDLInt, of 32 or 64 bits: positions, rows and slots. */
  EIGEN_ROPE_FLOAT = 2,  /**< kDLFloat, of 16, 32 or 64 bits. */
  EIGEN_ROPE_BFLOAT = 4, /**< kDLBfloat, of 16 bits. */
  EIGEN_ROPE_CPU = 1     /**< kDLCPU, the only kind of memory. */
};

/** Where a tensor's memory is: DLPack's DLDevice. */
typedef struct eigen_rope_tensor_device {
  int32_t device_type; /**< EIGEN_ROPE_CPU. */
  int32_t device_id;   /**< Not looked at. */
} eigen_rope_tensor_device;

/** The type of a tensor's elements: DLPack's DLDataType. */
typedef struct eigen_rope_tensor_type {
  uint8_t code;   /**< EIGEN_ROPE_FLOAT or EIGEN_ROPE_BFLOAT; EIGEN_ROPE_INT in lists. */
  uint8_t bits;   /**< 16, 32 or 64. */
  uint16_t lanes; /**< The number of numbers in an element: 1. */
} eigen_rope_tensor_type;

/**
 * A view of a tensor in memory that others own, with the members and the layout of DLPack's
 * DLTensor.
 *
 *     element (i_0, i_1, ...) = data[i_0 * strides[0] + i_1 * strides[1] + ...]
 *
 * A DLTensor is assigned member by member, without copying extents or strides. Shape and strides
 * are read during the call alone. Where a function writes to a tensor, no two elements may share
 * memory; where it reads, a stride may be 0.
 */
typedef struct eigen_rope_tensor {
  void* data;                      /**< The memory; NULL only if there are no elements. */
  eigen_rope_tensor_device device; /**< Where it is. */
  int32_t ndim;                    /**< The number of axes, 1 to EIGEN_ROPE_MAX_RANK. */
  eigen_rope_tensor_type dtype;    /**< The type of the elements. */
  const int64_t* shape;            /**< ndim extents. */
  const int64_t* strides;          /**< ndim distances in elements, of any sign; NULL if dense. */
  uint64_t byte_offset;            /**< From data to element (0, 0, ...). */
} eigen_rope_tensor;

/** Returns a dense tensor in the memory of the processor.
 *
 *     const int64_t shape[] = {tokens, heads, D};
 *     eigen_rope_tensor q = eigen_rope_cpu_tensor(memory, EIGEN_ROPE_FLOAT, 32, 3, shape);
 */
static inline eigen_rope_tensor eigen_rope_cpu_tensor(void* data, uint8_t code, uint8_t bits,
                                                      int32_t ndim, const int64_t* shape) {
  eigen_rope_tensor tensor;
  tensor.data = data;
  tensor.device.device_type = EIGEN_ROPE_CPU;
  tensor.device.device_id = 0;
  tensor.ndim = ndim;
  tensor.dtype.code = code;
  tensor.dtype.bits = bits;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  tensor.strides = NULL; /* NOLINT(modernize-use-nullptr): C has none */
  tensor.byte_offset = 0;
  return tensor;
}

/** What a parallel_for calls for the items first, ..., last - 1, with the `work` it was given. It
 * may be called from any thread, and from several at the same time for different items. */
typedef void (*eigen_rope_work)(void* work, int64_t first, int64_t last);

/**
 * The threads that a call may use: a parallel_for of the caller's.
 *
 * parallel_for(context, count, run, work) calls run(work, first, last) for ranges that together
 * make up [0, count) once, in any order and from any threads, and returns when all of them are
 * done. There are at most `threads` items, each worth a task of its own. Where there is too little
 * to do for two, it is not called, and the calling thread does the work. Results have the same bits
 * for any number of threads. A parallel_for that leaves items out is refused after the call, when
 * results may be partly written.
 */
typedef struct eigen_rope_device {
  size_t struct_size; /**< sizeof(eigen_rope_device). */
  /** The caller's function; it must be given. */
  void (*parallel_for)(void* context, int64_t count, eigen_rope_work run, void* work);
  void* context;    /**< Passed on as it is. */
  int32_t threads;  /**< The number of threads it uses, the calling one included; at least 1. */
  int32_t reserved; /**< 0. */
} eigen_rope_device;

/** Which elements of a row form a pair, as eigen_rope::PairKind. There is no usual one: nothing in
 * a tensor shows the pairing that its model was trained for. */
enum {
  EIGEN_ROPE_SPLIT_HALF = 1,               /**< (k, k + P) of 2P elements: GPT-NeoX, Llama. */
  EIGEN_ROPE_INTERLEAVED = 2,              /**< (2k, 2k + 1): GPT-J, Llama as published. */
  EIGEN_ROPE_QUARTER = 3,                  /**< Split halves inside each half. */
  EIGEN_ROPE_INTERLEAVED_TO_SPLIT_HALF = 4 /**< Reads (2k, 2k + 1), writes (k, k + P). */
};

/** In which direction a rotation is applied, as eigen_rope::Direction. */
enum {
  EIGEN_ROPE_FORWARD = 0,  /**< The rotation itself. */
  EIGEN_ROPE_BACKWARD = 1, /**< Its transpose: dL/dx from dL/dy. */
  EIGEN_ROPE_INVERSE = 2   /**< Its inverse. */
};

/** Which axes a rotation names. */
enum {
  EIGEN_ROPE_NAMED_AXIS = 1,      /**< The features are on eigen_rope_rotation::axis. */
  EIGEN_ROPE_NAMED_TABLE_AXIS = 2 /**< The table's entries are on table_axis. */
};

/** Which elements a rotation turns, in which direction, and on which threads. */
typedef struct eigen_rope_rotation {
  size_t struct_size;  /**< sizeof(eigen_rope_rotation). */
  int32_t pairing;     /**< EIGEN_ROPE_SPLIT_HALF or another pairing; it must be given. */
  int32_t direction;   /**< EIGEN_ROPE_FORWARD or another direction; gradients do not use it. */
  int64_t rotary_dims; /**< The width of the window that is rotated; 0: to the end of the row. */
  int64_t offset;      /**< The element of a row at which the window begins. */
  uint32_t flags;      /**< EIGEN_ROPE_NAMED_AXIS, EIGEN_ROPE_NAMED_TABLE_AXIS, both or 0. */
  int32_t axis;        /**< The feature axis of x; without its flag the last one. */
  int32_t table_axis;  /**< The axis of a table with the entries of a row; else the last one. */
  int32_t reserved;    /**< 0. */
  const eigen_rope_device* device; /**< The threads to use; NULL: the calling thread alone. */
} eigen_rope_rotation;

/** The rules by which pairs are dealt to the axes of positions, as eigen_rope::SectionPattern. */
enum {
  EIGEN_ROPE_NO_SECTIONS = 0,      /**< Tokens have one position each. */
  EIGEN_ROPE_CONTIGUOUS = 1,       /**< The axes follow one another. */
  EIGEN_ROPE_VISION = 2,           /**< The axes follow one another, each with exponents from 0. */
  EIGEN_ROPE_INTERLEAVED_GGML = 3, /**< The axes take turns, as in ggml's imrope. */
  EIGEN_ROPE_INTERLEAVED_HF = 4    /**< The axes take turns, as in Hugging Face's Qwen3-VL. */
};

/** Numbers in the caller's memory that say where tokens stand. */
typedef struct eigen_rope_position_list {
  size_t struct_size; /**< sizeof(eigen_rope_position_list). */
  const void* data;   /**< The numbers, one behind the other: [axis][batch][token]. */
  int64_t count;      /**< How many there are: axes x batches x tokens. */
  int64_t batches;    /**< The sequences that have positions of their own; 0 counts as 1. */
  eigen_rope_tensor_type dtype; /**< Integers or floats of 32 or 64 bits; int64 is kept exactly. */
  int32_t section_pattern;      /**< EIGEN_ROPE_NO_SECTIONS, or how pairs are dealt to axes. */
  const int64_t* sections;      /**< The pairs of each axis; NULL without sections. */
  int64_t section_count;        /**< The number of axes, 0 without sections. */
} eigen_rope_position_list;

/** Integers in the caller's memory that say which row of a table, or which slot of a cache, each
 * token has. They are read where they lie, during the call alone. */
typedef struct eigen_rope_index_list {
  size_t struct_size; /**< sizeof(eigen_rope_index_list). */
  const void* data;   /**< The integers, one behind the other. */
  int64_t count;      /**< How many there are: one for each token; 0 as if there were no list. */
  eigen_rope_tensor_type dtype; /**< EIGEN_ROPE_INT of 32 or 64 bits. */
  int32_t reserved;             /**< 0. */
} eigen_rope_index_list;

/**
 * The rows of one tensor in a rotation of tokens: where they are written, and where read.
 *
 * The axes of both tensors are [tokens or slots, heads, D]. Several axes may count tokens, or
 * slots: pages of [pages, page size, heads, D] have pages times page size slots.
 */
typedef struct eigen_rope_token_rows {
  size_t struct_size;            /**< sizeof(eigen_rope_token_rows). */
  const eigen_rope_tensor* to;   /**< What is written. */
  const eigen_rope_tensor* from; /**< What is read, of the same type; NULL: `to`, in place. */
  /** The slot of each token, or -1 for one that is not written; NULL: token t has slot t. */
  const eigen_rope_index_list* slots;
} eigen_rope_token_rows;

/** One parameter of frequencies by its name. Exactly one of word, list and number is its value: the
 * word if it is not NULL, or else the list if it is not NULL, or else the number. */
typedef struct eigen_rope_parameter {
  const char* name;   /**< A member of Powers or of the scaling: "rotary_dims", "base", "factor". */
  double number;      /**< A number, or a count of tokens, pairs or dims. */
  const char* word;   /**< One of several words: "exact" for the ends of YaRN's ramp. */
  const double* list; /**< list_count numbers: "factors", "short_factor". */
  int64_t list_count; /**< How many. */
} eigen_rope_parameter;

/** Which end of the rotation a backward pass is given besides dL/dy. */
enum {
  EIGEN_ROPE_FROM_OUTPUT = 0, /**< The rotation's output y. */
  EIGEN_ROPE_FROM_INPUT = 1   /**< The rotation's input x. */
};

/** Which gradient a shape is of. */
enum {
  EIGEN_ROPE_OF_ANGLES = 1, /**< An entry for each pair: angles and magnitudes. */
  EIGEN_ROPE_OF_TABLE = 2   /**< An entry for each of the table: cos and sin. */
};

/**
 * The memory that a backward pass writes to; what is NULL is not computed.
 *
 * dx has the type and shape of y. The others are of float64, in the shape that
 * eigen_rope_gradient_shape() says, and sums over the axes along which the table is broadcast. No
 * two may overlap, and only dx may be g or y itself.
 */
typedef struct eigen_rope_gradients {
  size_t struct_size;                     /**< sizeof(eigen_rope_gradients). */
  int32_t from;                           /**< EIGEN_ROPE_FROM_OUTPUT or EIGEN_ROPE_FROM_INPUT. */
  int32_t reserved;                       /**< 0. */
  const eigen_rope_tensor* dx;            /**< dL/dx. */
  const eigen_rope_tensor* angle;         /**< dL/dangle, per radian. */
  const eigen_rope_tensor* log_magnitude; /**< dL/dlog m of each pair. */
  const eigen_rope_tensor* cos;           /**< dL/dcos; both this and sin, or neither. */
  const eigen_rope_tensor* sin;           /**< dL/dsin. */
} eigen_rope_gradients;

/** How fast each pair turns, and the attention factor m: an eigen_rope::Frequencies. It does not
 * change, so threads may share it. */
typedef struct eigen_rope_frequencies eigen_rope_frequencies;

/** Where each token stands: an eigen_rope::Positions. It does not change, so threads may share
 * it. */
typedef struct eigen_rope_positions eigen_rope_positions;

/** @} */

#ifdef __cplusplus
}
#endif

#endif
