// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <future>
#include <memory>

#include "frame.hpp"

namespace eigen_rope_jax {
namespace {

/// The items of one call. Tasks that begin after its end own it as well.
class Items {
 public:
  Items(er::Index count, const er::Device::Work& work) : work_(work), count_(count) {}

  /// Does items until all are taken.
  void take() {
    for (er::Index item = next_++; item < count_; item = next_++) {
      work_(item, item + 1);
      if (++done_ == count_) finished_.set_value();
    }
  }

  void wait() { finished_.get_future().wait(); }

 private:
  er::Device::Work work_;  // valid until all items are done
  er::Index count_;
  std::atomic<er::Index> next_{0};
  std::atomic<er::Index> done_{0};
  std::promise<void> finished_;  // condition variables would need the libstdc++ of GCC 12
};

bool is_refused(const XLA_FFI_Api& api, XLA_FFI_Error* error) {
  if (error == nullptr) return false;
  XLA_FFI_Error_Destroy_Args arguments{};
  arguments.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE;
  arguments.error = error;
  api.XLA_FFI_Error_Destroy(&arguments);
  return true;
}

void begin(void* data) {
  const std::unique_ptr<std::shared_ptr<Items>> items(static_cast<std::shared_ptr<Items>*>(data));
  (*items)->take();
}

}  // namespace

er::Device Pool::device() const {
  const XLA_FFI_Api& api = *frame_->api;
  std::int64_t threads = 1;
  XLA_FFI_ThreadPool_NumThreads_Args arguments{};
  arguments.struct_size = XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE;
  arguments.ctx = frame_->ctx;
  arguments.num_threads = &threads;
  if (is_refused(api, api.XLA_FFI_ThreadPool_NumThreads(&arguments)) || threads <= 1) return {};
  return {*this, static_cast<int>((std::min)(threads, std::int64_t{1024}))};
}

void Pool::operator()(er::Index count, const er::Device::Work& work) const {
  const XLA_FFI_Api& api = *frame_->api;
  const auto items = std::make_shared<Items>(count, work);
  for (er::Index other = 1; other < count; ++other) {
    auto owner = std::make_unique<std::shared_ptr<Items>>(items);
    XLA_FFI_ThreadPool_Schedule_Args arguments{};
    arguments.struct_size = XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE;
    arguments.ctx = frame_->ctx;
    arguments.task = begin;
    arguments.data = owner.get();
    if (is_refused(api, api.XLA_FFI_ThreadPool_Schedule(&arguments))) break;
    static_cast<void>(owner.release());  // the task's now, which may have run already
  }
  items->take();
  items->wait();
}

}  // namespace eigen_rope_jax
