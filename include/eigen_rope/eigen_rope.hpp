// SPDX-License-Identifier: Apache-2.0
//
// All headers of the library but those that read models' files.
//
//   eigen_rope::Frequencies f = eigen_rope::Frequencies::powers({128});
//   eigen_rope::Cache<float> cache(f, eigen_rope::Positions::range(0, tokens));
//   y = eigen_rope::rotate(q, cache, eigen_rope::split_half);
//
// Frequencies say how fast each pair turns, and positions where each token stands. Together they
// make a table. The pairing says which elements form a pair; a table and a pairing make a rotation.
//
// Each header can also be included alone. The headers in models/ are included by name, because
// programs that use them link eigen_rope::models.
#pragma once

#include "eigen_rope/any/any.hpp"
#include "eigen_rope/any/choices.hpp"
#include "eigen_rope/any/scalar_type.hpp"
#include "eigen_rope/any/tensor.hpp"
#include "eigen_rope/check/check_gradient.hpp"
#include "eigen_rope/check/options.hpp"
#include "eigen_rope/check/report.hpp"
#include "eigen_rope/choices/context_shard.hpp"
#include "eigen_rope/choices/default_axis.hpp"
#include "eigen_rope/choices/direction.hpp"
#include "eigen_rope/choices/dynamic_ntk.hpp"
#include "eigen_rope/choices/frequencies.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/number_list.hpp"
#include "eigen_rope/choices/pairing.hpp"
#include "eigen_rope/choices/positions.hpp"
#include "eigen_rope/choices/scaling.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/forms/composed.hpp"
#include "eigen_rope/forms/composed_complex.hpp"
#include "eigen_rope/forms/composed_table.hpp"
#include "eigen_rope/forms/reference.hpp"
#include "eigen_rope/gradients/gradient_options.hpp"
#include "eigen_rope/gradients/gradients.hpp"
#include "eigen_rope/gradients/parameter_gradients.hpp"
#include "eigen_rope/gradients/scaling_gradients.hpp"
#include "eigen_rope/gradients/table_gradient.hpp"
#include "eigen_rope/gradients/tangent.hpp"
#include "eigen_rope/gradients/xpos_gradients.hpp"
#include "eigen_rope/machine/device.hpp"
#include "eigen_rope/machine/kernel_target.hpp"
#include "eigen_rope/machine/streaming.hpp"
#include "eigen_rope/numbers/double_double.hpp"
#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "eigen_rope/operators/aclnn.hpp"
#include "eigen_rope/operators/aclnn_calls.hpp"
#include "eigen_rope/operators/ggml.hpp"
#include "eigen_rope/operators/onnx.hpp"
#include "eigen_rope/operators/onnx_node.hpp"
#include "eigen_rope/rotation/matrix_view.hpp"
#include "eigen_rope/rotation/piece_view.hpp"
#include "eigen_rope/rotation/rerotate.hpp"
#include "eigen_rope/rotation/rotate.hpp"
#include "eigen_rope/rotation/rotate_strided.hpp"
#include "eigen_rope/rotation/rotate_to.hpp"
#include "eigen_rope/rotation/rotate_tokens.hpp"
#include "eigen_rope/rotation/tensor_view.hpp"
#include "eigen_rope/rows/strided_view.hpp"
#include "eigen_rope/rows/table.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/float_recurrence.hpp"
#include "eigen_rope/tables/growing_cache.hpp"
#include "eigen_rope/tables/token_row.hpp"
#include "eigen_rope/tables/xpos.hpp"
#include "eigen_rope/version.hpp"
