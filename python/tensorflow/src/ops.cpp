// SPDX-License-Identifier: Apache-2.0
//
// The operators of TensorFlow: names, attributes, and shapes without data. A graph that cannot work
// is refused while it is built, in the words of the kernels (kernels.cpp).
//
//   EigenRope>Rotate          a rotation, its transpose (backward) or its inverse
//   EigenRope>TableGradient   the gradient of cos and sin, summed where they broadcast
//   EigenRope>Table           cos and sin of rates and positions, exact and rounded once
//   EigenRope>Rates           the rates of a scaling, by its name and its parameters' names
//
// Derivatives are in eigen_rope_tensorflow/_gradients.py. All four are functions of their inputs
// alone, so TensorFlow may fold, prune and share them.
#include "rotation.hpp"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace eigen_rope_tensorflow {
namespace {

using tf::shape_inference::InferenceContext;
using tf::shape_inference::ShapeHandle;

absl::Status argument(InferenceContext& context, int input, const char* name, const char* type,
                      Argument& result) {
  const ShapeHandle shape = context.input(input);
  result = {name, tf::DT_INVALID, context.RankKnown(shape), {}};
  for (int axis = 0; result.ranked && axis < context.Rank(shape); ++axis) {
    result.extents.push_back(context.Value(context.Dim(shape, axis)));
  }
  return context.GetAttr(type, &result.type);
}

absl::Status shape_of_rotation(InferenceContext* context) {
  Argument x, cos, sin;
  Choices choices;
  TF_RETURN_IF_ERROR(argument(*context, 0, "x", "T", x));
  TF_RETURN_IF_ERROR(argument(*context, 1, "cos", "U", cos));
  TF_RETURN_IF_ERROR(argument(*context, 2, "sin", "U", sin));
  TF_RETURN_IF_ERROR(read_choices(*context, true, choices));
  TF_RETURN_IF_ERROR(guarded([&] { check(x, cos, sin, choices); }));
  context->set_output(0, context->input(0));
  return absl::OkStatus();
}

absl::Status shape_of_table_gradient(InferenceContext* context) {
  Argument x, g, like;
  Choices choices;
  TF_RETURN_IF_ERROR(argument(*context, 0, "x", "T", x));
  TF_RETURN_IF_ERROR(argument(*context, 1, "g", "T", g));
  TF_RETURN_IF_ERROR(argument(*context, 2, "like", "U", like));
  TF_RETURN_IF_ERROR(read_choices(*context, false, choices));
  TF_RETURN_IF_ERROR(guarded([&] {
    check_alike(x, g);
    check(x, like, like, choices);
  }));
  context->set_output(0, context->input(2));
  context->set_output(1, context->input(2));
  return absl::OkStatus();
}

absl::Status shape_of_table(InferenceContext* context) {
  const ShapeHandle rates = context->input(0);
  TF_RETURN_IF_ERROR(guarded([&] {
    // The kernel says the same of tensors whose rank the graph does not know.
    if (context->RankKnown(rates) && context->Rank(rates) != 1) {
      throw er::Error("[rope] rates must have 1 axis, got " + std::to_string(context->Rank(rates)));
    }
    if (context->RankKnown(context->input(3)) && context->Rank(context->input(3)) != 0) {
      throw er::Error("[rope] attention_factor must be a scalar, got a tensor of " +
                      std::to_string(context->Rank(context->input(3))) + " axes");
    }
  }));
  ShapeHandle made = context->UnknownShape();
  if (context->RankKnown(rates)) {
    TF_RETURN_IF_ERROR(context->Concatenate(context->input(1), rates, &made));
  }
  context->set_output(0, made);
  context->set_output(1, made);
  return absl::OkStatus();
}

absl::Status shape_of_rates(InferenceContext* context) {
  context->set_output(0, context->Vector(context->UnknownDim()));
  context->set_output(1, context->Scalar());
  return absl::OkStatus();
}

REGISTER_OP("EigenRope>Rotate")
    .Input("x: T")
    .Input("cos: U")
    .Input("sin: U")
    .Output("y: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("U: {half, bfloat16, float, double}")
    .Attr("pairing: string = 'split_half'")
    .Attr("direction: string = 'forward'")
    .Attr("rotary_dims: int = -1")
    .Attr("offset: int = 0")
    .Attr("axis: int = -1")
    .Attr("outside: string = 'copy'")
    .SetShapeFn(shape_of_rotation);

REGISTER_OP("EigenRope>TableGradient")
    .Input("x: T")
    .Input("g: T")
    .Input("like: U")
    .Output("dcos: U")
    .Output("dsin: U")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("U: {half, bfloat16, float, double}")
    .Attr("pairing: string = 'split_half'")
    .Attr("rotary_dims: int = -1")
    .Attr("offset: int = 0")
    .Attr("axis: int = -1")
    .SetShapeFn(shape_of_table_gradient);

REGISTER_OP("EigenRope>Table")
    .Input("rates: double")
    .Input("positions: P")
    .Input("low_rates: double")
    .Input("attention_factor: double")
    .Output("cos: dtype")
    .Output("sin: dtype")
    .Attr("P: {int32, int64, float, double}")
    .Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
    .SetShapeFn(shape_of_table);

REGISTER_OP("EigenRope>Rates")
    .Input("numbers: double")
    .Output("rates: double")
    .Output("attention_factor: double")
    .Attr("scaling: string")
    .Attr("names: list(string)")
    .Attr("words: list(string)")
    .Attr("counts: list(int)")
    .Attr("length: int = 0")
    .SetShapeFn(shape_of_rates);

}  // namespace
}  // namespace eigen_rope_tensorflow
