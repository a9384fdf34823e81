// SPDX-License-Identifier: Apache-2.0
//
// Which of Highway's targets the processor has: the one function of Highway that is not in its
// headers and that this library calls. Distributions have it in a shared object only, which a
// package of Python must not need. Highway's documentation says what each target requires
// (g3doc/quick_reference.md); targets that the library is not compiled for are left out.
#include "hwy/targets.h"

#include <cstdint>

#if HWY_ARCH_X86
#include <cpuid.h>
#elif HWY_ARCH_ARM_A64
#include <sys/auxv.h>

#include <asm/hwcap.h>
#endif

namespace hwy {
namespace {

#if HWY_ARCH_X86
// Features that Clang 14 has no name for in __builtin_cpu_supports.
bool has_f16c_and_lzcnt() {
  constexpr unsigned f16c = 1u << 29, lzcnt = 1u << 5;
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & f16c) == 0) return false;
  return __get_cpuid(0x80000001u, &a, &b, &c, &d) != 0 && (c & lzcnt) != 0;
}

int64_t processor_targets() {
  __builtin_cpu_init();
  const bool sse4 = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                    __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul") &&
                    __builtin_cpu_supports("aes");
  // The builtin also asks whether the operating system keeps the wide registers.
  const bool avx2 = sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    has_f16c_and_lzcnt();
  const bool avx3 = avx2 && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) | (avx3 ? HWY_AVX3 : 0);
}
#elif HWY_ARCH_ARM_A64
int64_t processor_targets() {
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0 ? HWY_NEON : 0;
}
#else
int64_t processor_targets() { return 0; }
#endif

}  // namespace

int64_t SupportedTargets() { return processor_targets() | HWY_STATIC_TARGET; }

}  // namespace hwy
