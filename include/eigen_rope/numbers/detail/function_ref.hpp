// SPDX-License-Identifier: Apache-2.0
//
// A reference to something that can be called, whose type the callee does not know: two pointers.
//
//   void visit_all(FunctionRef<void(Index)> visit);
//   visit_all([&](Index i) { ... });
//
// A function that takes one is compiled once, whatever it is called with, and the library can have
// it compiled for its users.
#pragma once

#include <utility>

#include "eigen_rope/version.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::detail {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  /// `function` must outlive every call.
  template <class Function>
  // NOLINTNEXTLINE(google-explicit-constructor): a lambda is passed as it is
  FunctionRef(const Function& function)
      : function_(&function), call_([](const void* called, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(called))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* function_;
  Result (*call_)(const void* function, Arguments... arguments);
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::detail
