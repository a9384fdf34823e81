// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/operators/aclnn_calls.hpp"

#include <fmt/core.h>

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "operators/aclnn_translate.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::aclnn {
namespace {

using eigen_rope::detail::fail;
using translate::Stage;

enum class Operation { embedding, gradient, apply, apply_v2 };

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::embedding: return "aclnnRotaryPositionEmbedding";
    case Operation::gradient: return "aclnnRotaryPositionEmbeddingGrad";
    case Operation::apply: return "aclnnApplyRotaryPosEmb";
    case Operation::apply_v2: break;
  }
  return "aclnnApplyRotaryPosEmbV2";
}

struct Execution {
  Operation operation;
  std::function<void(const Device&)> run;
};

/// What GetWorkspaceSize has prepared and no execution has fetched. An executor is its number here,
/// and numbers are never used again, so an old one is recognised without looking where it points.
class Registry {
 public:
  aclOpExecutor* add(Execution execution) {
    const std::lock_guard<std::mutex> lock(mutex_);
    executions_.emplace(++last_, std::move(execution));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number, never dereferenced
    return reinterpret_cast<aclOpExecutor*>(last_);
  }

  /// Throws, and keeps it, if it is another operation's.
  Execution take(const aclOpExecutor* executor, Operation operation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = find(executor);
    if (found->second.operation != operation) {
      fail(fmt::format("executor must be one made for {}", name_of(operation)),
           name_of(found->second.operation));
    }
    Execution execution = std::move(found->second);
    executions_.erase(found);
    return execution;
  }

  void remove(const aclOpExecutor* executor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    executions_.erase(find(executor));
  }

 private:
  using Executions = std::unordered_map<std::uintptr_t, Execution>;

  Executions::iterator find(const aclOpExecutor* executor) {
    const auto found = executions_.find(reinterpret_cast<std::uintptr_t>(executor));
    if (found == executions_.end())
      fail("executor must be one that GetWorkspaceSize made and no call has released, got another");
    return found;
  }

  std::mutex mutex_;
  Executions executions_;
  std::uintptr_t last_ = 0;
};

/// Never destroyed: threads may outlive the end of main.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

/// Fixed memory, so that keeping the message of a std::bad_alloc cannot fail.
thread_local char recent_message[1024] = "";

void keep_message(std::string_view message) {
  const std::size_t length = message.copy(recent_message, sizeof(recent_message) - 1);
  recent_message[length] = '\0';
}

aclnnStatus status_of(Stage stage) {
  switch (stage) {
    case Stage::pointers: return ACLNN_ERR_PARAM_NULLPTR;
    case Stage::parameters: return ACLNN_ERR_PARAM_INVALID;
    case Stage::shapes: break;
  }
  return ACLNN_ERR_INNER_TILING_ERROR;
}

/// Calls call(stage); the status of a refusal is that of the stage reached.
template <class Call>
aclnnStatus guarded(const Call& call) noexcept {
  Stage stage = Stage::pointers;
  try {
    call(stage);
    return ACLNN_SUCCESS;
  } catch (const Error& error) {
    keep_message(error.what());
    return status_of(stage);
  } catch (const std::exception& error) {
    keep_message(error.what());
  } catch (...) {
    keep_message("[rope] unknown failure");
  }
  return ACLNN_ERR_INNER_TILING_ERROR;
}

template <class Pointee>
Pointee& required(const char* name, Pointee* pointer) {
  if (pointer == nullptr) fail(fmt::format("{} must be given, got a null pointer", name));
  return *pointer;
}

/// Where GetWorkspaceSize leaves its results.
struct Results {
  std::uint64_t* workspace_size;
  aclOpExecutor** executor;

  void require() const {
    required("workspaceSize", workspace_size);
    required("executor", executor);
  }
  void set(Operation operation, std::function<void(const Device&)> run) const {
    *executor = registry().add({operation, std::move(run)});
    *workspace_size = 0;
  }
};

aclnnStatus execute(Operation operation, const aclOpExecutor* executor,
                    aclrtStream stream) noexcept {
  return guarded([&](Stage& stage) {
    required("executor", executor);
    stage = Stage::parameters;
    const Execution execution = registry().take(executor, operation);
    execution.run(stream == nullptr ? Device() : *static_cast<const Device*>(stream));
  });
}

bool has_elements(const aclTensor* tensor) {
  if (tensor == nullptr) return false;
  for (const std::int64_t extent : tensor->shape) {
    if (extent == 0) return false;
  }
  return true;
}

Mode mode_named(std::string_view name) {
  for (const Mode mode : {Mode::half, Mode::interleave, Mode::quarter, Mode::interleave_half}) {
    if (name == translate::name_of_mode(mode)) return mode;
  }
  fail("rotaryMode must be half, interleave, quarter or interleave-half", name);
}

void prepare_apply(Operation operation, const ApplyInputs& inputs, Layout layout, Mode mode,
                   const Results& results, Stage& stage) {
  translate::check(inputs, layout, mode, stage);
  results.set(operation,
              [=](const Device& device) { apply_rotary_pos_emb(inputs, layout, mode, device); });
}

}  // namespace

const char* aclGetRecentErrMsg() noexcept { return recent_message; }

aclnnStatus aclDestroyAclOpExecutor(const aclOpExecutor* executor) noexcept {
  return guarded([&](Stage& stage) {
    required("executor", executor);
    stage = Stage::parameters;
    registry().remove(executor);
  });
}

aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(const aclTensor* x, const aclTensor* cos,
                                                         const aclTensor* sin, std::int64_t mode,
                                                         const aclTensor* out,
                                                         std::uint64_t* workspaceSize,
                                                         aclOpExecutor** executor) noexcept {
  return guarded([&](Stage& stage) {
    const Results results{workspaceSize, executor};
    const Inputs inputs{required("x", x), required("cos", cos), required("sin", sin)};
    const Tensor y = required("out", out);
    results.require();
    const auto rotary_mode = static_cast<Mode>(mode);
    translate::check(y, inputs, rotary_mode, stage);
    results.set(Operation::embedding, [=](const Device& device) {
      rotary_position_embedding(y, inputs, rotary_mode, device);
    });
  });
}

aclnnStatus aclnnRotaryPositionEmbedding(void* /*workspace*/, std::uint64_t /*workspaceSize*/,
                                         aclOpExecutor* executor, aclrtStream stream) noexcept {
  return execute(Operation::embedding, executor, stream);
}

aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
    const aclTensor* dy, const aclTensor* cos, const aclTensor* sin, const aclTensor* xOptional,
    std::int64_t mode, const aclTensor* dx, const aclTensor* dcos, const aclTensor* dsin,
    std::uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
  return guarded([&](Stage& stage) {
    const Results results{workspaceSize, executor};
    GradInputs inputs{required("dy", dy), required("cos", cos), required("sin", sin), {}};
    GradOutputs outputs{required("dx", dx), {}, {}};
    results.require();
    if (xOptional != nullptr) inputs.x = *xOptional;
    const bool unwanted = xOptional == nullptr && !has_elements(dcos) && !has_elements(dsin);
    if (dcos != nullptr && !unwanted) outputs.dcos = *dcos;
    if (dsin != nullptr && !unwanted) outputs.dsin = *dsin;
    const auto rotary_mode = static_cast<Mode>(mode);
    translate::check(outputs, inputs, rotary_mode, stage);
    results.set(Operation::gradient, [=](const Device& device) {
      rotary_position_embedding_grad(outputs, inputs, rotary_mode, device);
    });
  });
}

aclnnStatus aclnnRotaryPositionEmbeddingGrad(void* /*workspace*/, std::uint64_t /*workspaceSize*/,
                                             aclOpExecutor* executor, aclrtStream stream) noexcept {
  return execute(Operation::gradient, executor, stream);
}

aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(const aclTensor* query, const aclTensor* key,
                                                   const aclTensor* cos, const aclTensor* sin,
                                                   std::int64_t layout,
                                                   std::uint64_t* workspaceSize,
                                                   aclOpExecutor** executor) noexcept {
  return guarded([&](Stage& stage) {
    const Results results{workspaceSize, executor};
    const ApplyInputs inputs{required("query", query), required("key", key), required("cos", cos),
                             required("sin", sin)};
    results.require();
    prepare_apply(Operation::apply, inputs, static_cast<Layout>(layout), Mode::half, results,
                  stage);
  });
}

aclnnStatus aclnnApplyRotaryPosEmb(void* /*workspace*/, std::uint64_t /*workspaceSize*/,
                                   aclOpExecutor* executor, aclrtStream stream) noexcept {
  return execute(Operation::apply, executor, stream);
}

aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(const aclTensor* query, const aclTensor* key,
                                                     const aclTensor* cos, const aclTensor* sin,
                                                     std::int64_t layout, const char* rotaryMode,
                                                     std::uint64_t* workspaceSize,
                                                     aclOpExecutor** executor) noexcept {
  return guarded([&](Stage& stage) {
    const Results results{workspaceSize, executor};
    const ApplyInputs inputs{required("query", query), required("key", key), required("cos", cos),
                             required("sin", sin)};
    const std::string_view mode_name = &required("rotaryMode", rotaryMode);
    results.require();
    stage = Stage::shapes;
    prepare_apply(Operation::apply_v2, inputs, static_cast<Layout>(layout), mode_named(mode_name),
                  results, stage);
  });
}

aclnnStatus aclnnApplyRotaryPosEmbV2(void* /*workspace*/, std::uint64_t /*workspaceSize*/,
                                     aclOpExecutor* executor, aclrtStream stream) noexcept {
  return execute(Operation::apply_v2, executor, stream);
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::aclnn
