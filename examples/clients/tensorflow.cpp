// SPDX-License-Identifier: Apache-2.0
//
// A kernel of TensorFlow: y = Rope(x, cos, sin) on the session's threads, which are Eigen's device.
#include <eigen_rope/any/any.hpp>

#include "clients.hpp"  // "tensorflow/core/framework/op_kernel.h"

namespace er = eigen_rope;
namespace tf = tensorflow;

namespace {

er::any::Tensor view(const tf::Tensor& t) {
  const auto type = t.dtype() == tf::DT_FLOAT      ? er::ScalarType::f32
                    : t.dtype() == tf::DT_DOUBLE   ? er::ScalarType::f64
                    : t.dtype() == tf::DT_HALF     ? er::ScalarType::f16
                    : t.dtype() == tf::DT_BFLOAT16 ? er::ScalarType::bf16
                                                   : throw er::Error("[rope] no such type");
  return er::any::tensor(type, t.data(), t.shape().dims(), t.shape().dim_sizes().data());
}

class RopeOp : public tf::OpKernel {
 public:
  explicit RopeOp(tf::OpKernelConstruction* construction) : OpKernel(construction) {
    construction->GetAttr("pairing", &pairing_);
    construction->GetAttr("direction", &direction_);
  }

  void Compute(tf::OpKernelContext* context) override {
    tf::Tensor* y = nullptr;
    context->allocate_output(0, context->input(0).shape(), &y);
    try {
      er::any::rotate_to(view(*y), view(context->input(0)),
                         er::any::table_of(view(context->input(1)), view(context->input(2))),
                         er::any::pairing_of(pairing_), er::any::direction_of(direction_),
                         context->eigen_cpu_device());
    } catch (const er::Error& error) {
      context->CtxFailure(error.what());
    }
  }

 private:
  std::string pairing_, direction_;
};

}  // namespace

std::unique_ptr<tf::OpKernel> make_rope_op(tf::OpKernelConstruction* construction) {
  return std::make_unique<RopeOp>(construction);
}
