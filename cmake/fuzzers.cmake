# SPDX-License-Identifier: Apache-2.0
#
# How the library is compiled where it is fuzzed: with coverage for libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer. The row
# kernels are not: they take minutes to compile that way, and their buffers end at pages that cannot be touched (tests/fuzz/guarded_slot.hpp).
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "[rope] ROPE_BUILD_FUZZERS needs Clang (libFuzzer), got ${CMAKE_CXX_COMPILER_ID}")
endif()

set(rope_fuzz_flags -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer)
foreach(target rope rope_models)
  target_compile_options(${target} PRIVATE ${rope_fuzz_flags})
endforeach()
set_property(SOURCE src/kernels_bfloat16.cpp src/kernels_double.cpp src/kernels_float.cpp src/kernels_half.cpp src/kernels_pair_sums.cpp
  src/kernels_widen.cpp src/table_kernels.cpp APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=all)
