// SPDX-License-Identifier: Apache-2.0
//
// A program that has the macros of <windows.h> and of X11 before it includes the library's headers:
// `small` is rpcndr.h's, min and max are those without NOMINMAX. Only the headers of the standard
// library and of Eigen come first, which have measures of their own.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>
#include <utility>
#include <variant>
#include <vector>

// windef.h, rpcndr.h, combaseapi.h
#define far
#define near
#define pascal
#define cdecl
#define small char
#define hyper __int64
#define interface struct
#define CONST const
#define VOID void
#define IN
#define OUT
#define OPTIONAL
#define FALSE 0
#define TRUE 1
#define STRICT 1
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
// winnt.h, winerror.h, wingdi.h, winuser.h
#define DELETE (0x00010000L)
#define NO_ERROR 0L
#define ERROR 0
#define ABSOLUTE 1
#define RELATIVE 2
#define OPAQUE 2
#define TRANSPARENT 1
#define PASSTHROUGH 19
#define DIFFERENCE 11
#define RGB(r, g, b) ((r) | (g) | (b))
#define GetObject GetObjectA
// math.h
#define DOMAIN 1
#define OVERFLOW 3
#define UNDERFLOW 4
// X11/X.h, X11/Xlib.h
#define Always 2
#define Bool int
#define False 0
#define None 0L
#define Status int
#define Success 0
#define True 1

#include <all_headers.hpp>

int main() {
  const eigen_rope::Cache<float> cache(eigen_rope::Frequencies::powers({8}),
                                       eigen_rope::Positions::range(0, 3),
                                       eigen_rope::Layout::sd());
  Eigen::Tensor<float, 2> x(8, 3);
  x.setConstant(1.0F);
  const Eigen::Tensor<float, 2> y = eigen_rope::rotate(x, cache, eigen_rope::interleaved);
  const Eigen::Tensor<float, 2> back =
      eigen_rope::rotate_inverse(y, cache, eigen_rope::interleaved);
  const Eigen::Tensor<float, 0> worst = (back - x).abs().maximum();
  return worst() < 1e-5F ? 0 : 1;
}
