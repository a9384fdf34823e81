/* SPDX-License-Identifier: Apache-2.0
 *
 * The library in C, as a binding calls it: a table, a rotation of queries inside a larger buffer on
 * threads of our own, its transpose, and what a refusal says.
 */
#include <eigen_rope/c/eigen_rope.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A parallel_for of threads that end with it. A program would keep its threads. */
typedef struct {
  eigen_rope_work run;
  void* work;
  int64_t item;
} task;

static void* run_task(void* argument) {
  const task* const one = argument;
  one->run(one->work, one->item, one->item + 1);
  return NULL;
}

enum { most_threads = 4 };

static void on_pthreads(void* context, int64_t count, eigen_rope_work run, void* work) {
  pthread_t threads[most_threads];
  task tasks[most_threads];
  int started[most_threads] = {0};
  ++*(int*)context;
  for (int64_t i = 1; i < count; ++i) {
    tasks[i] = (task){run, work, i};
    started[i] = pthread_create(&threads[i], NULL, run_task, &tasks[i]) == 0;
  }
  run(work, 0, 1);
  for (int64_t i = 1; i < count; ++i) {
    if (started[i]) {
      pthread_join(threads[i], NULL);
    } else {
      run(work, i, i + 1); /* there was no thread for it */
    }
  }
}

static void require(eigen_rope_status status) {
  if (status == EIGEN_ROPE_OK) return;
  fprintf(stderr, "%s\n", eigen_rope_last_message());
  exit(1);
}

static float* numbers(size_t count) {
  float* const memory = malloc(count * sizeof *memory);
  if (memory == NULL) exit(1);
  for (size_t i = 0; i < count; ++i) memory[i] = (float)(i % 1009) / 1009.0F - 0.5F;
  return memory;
}

int main(void) {
  enum { tokens = 256, heads = 8, D = 128 };
  const size_t count = (size_t)tokens * heads * D;

  /* Frequencies and positions make a table, whose shape the library says. */
  const eigen_rope_parameter of_llama3[] = {{.name = "rotary_dims", .number = D},
                                            {.name = "base", .number = 500000.0},
                                            {.name = "factor", .number = 8.0},
                                            {.name = "original_context", .number = 8192}};
  eigen_rope_frequencies* frequencies = NULL;
  eigen_rope_positions* positions = NULL;
  require(eigen_rope_frequencies_create("llama3", of_llama3, 4, 0, &frequencies));
  require(eigen_rope_positions_range(0, tokens, &positions));
  int64_t of_table[EIGEN_ROPE_MAX_RANK];
  int32_t table_axes = 0;
  require(eigen_rope_table_shape(frequencies, positions, "tnd", of_table, &table_axes));
  float* const cosines = numbers((size_t)tokens * D / 2);
  float* const sines = numbers((size_t)tokens * D / 2);
  const eigen_rope_tensor c =
      eigen_rope_cpu_tensor(cosines, EIGEN_ROPE_FLOAT, 32, table_axes, of_table);
  const eigen_rope_tensor s =
      eigen_rope_cpu_tensor(sines, EIGEN_ROPE_FLOAT, 32, table_axes, of_table);
  require(eigen_rope_fill_table(&c, &s, frequencies, positions, "tnd"));

  /* The queries of a buffer [tokens, q and k and v, heads, D], with strides as DLPack has them. */
  float* const buffer = numbers(3 * count);
  const float* const before = numbers(3 * count);
  const int64_t shape[] = {tokens, heads, D}, strides[] = {3 * heads * D, D, 1};
  eigen_rope_tensor q = eigen_rope_cpu_tensor(buffer, EIGEN_ROPE_FLOAT, 32, 3, shape);
  q.strides = strides;

  int calls = 0;
  const eigen_rope_device device = {.struct_size = sizeof device,
                                    .parallel_for = on_pthreads,
                                    .context = &calls,
                                    .threads = most_threads};
  eigen_rope_rotation how = {
      .struct_size = sizeof how, .pairing = EIGEN_ROPE_SPLIT_HALF, .device = &device};
  require(eigen_rope_rotate(&q, &q, &c, &s, &how));
  const float rotated = buffer[3 * heads * D]; /* of the second token */

  /* m is 1, so the transpose is the inverse: the gradient of the gradient's input is x again. */
  how.direction = EIGEN_ROPE_BACKWARD;
  require(eigen_rope_rotate(&q, &q, &c, &s, &how));
  double furthest = 0;
  for (size_t i = 0; i < 3 * count; ++i) furthest = fmax(furthest, fabs(buffer[i] - before[i]));
  printf("max |backward(forward(x)) - x| = %.2g, on threads in %d calls of 2\n", furthest, calls);

  how.rotary_dims = 7;
  const eigen_rope_status refused = eigen_rope_rotate(&q, &q, &c, &s, &how);
  printf("%d: %s\n", (int)refused, eigen_rope_last_message());

  const int right = fabs(rotated - before[3 * heads * D]) > 1e-3 && furthest < 1e-6 && calls == 2 &&
                    refused == EIGEN_ROPE_INVALID_ARGUMENT;
  eigen_rope_frequencies_destroy(frequencies);
  eigen_rope_positions_destroy(positions);
  free(cosines);
  free(sines);
  free(buffer);
  free((void*)before);
  return right ? 0 : 1;
}
