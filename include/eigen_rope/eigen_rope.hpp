// SPDX-License-Identifier: Apache-2.0
//
// Everything: frequencies and positions make a table, a table and a pairing make a rotation.
//
//   eigen_rope::Frequencies f = eigen_rope::Frequencies::powers({128});                   how fast each pair turns
//   eigen_rope::CosSinCache<float> cache(f, eigen_rope::Positions::range(0, tokens));     where each token stands
//   y = eigen_rope::rotate(q, cache, eigen_rope::half);                                   which elements form a pair
//
// Each header can also be included alone.
#pragma once

#include "eigen_rope/cache.hpp"
#include "eigen_rope/check_gradient.hpp"
#include "eigen_rope/composed.hpp"
#include "eigen_rope/composed_complex.hpp"
#include "eigen_rope/composed_table.hpp"
#include "eigen_rope/device.hpp"
#include "eigen_rope/direction.hpp"
#include "eigen_rope/double_double.hpp"
#include "eigen_rope/dynamic_ntk.hpp"
#include "eigen_rope/error.hpp"
#include "eigen_rope/float_recurrence.hpp"
#include "eigen_rope/frequencies.hpp"
#include "eigen_rope/gradient_check_options.hpp"
#include "eigen_rope/gradient_report.hpp"
#include "eigen_rope/gradients.hpp"
#include "eigen_rope/growing_cache.hpp"
#include "eigen_rope/kernel_target.hpp"
#include "eigen_rope/layout.hpp"
#include "eigen_rope/operators/aclnn.hpp"
#include "eigen_rope/operators/aclnn_calls.hpp"
#include "eigen_rope/operators/ggml.hpp"
#include "eigen_rope/operators/onnx.hpp"
#include "eigen_rope/operators/onnx_node.hpp"
#include "eigen_rope/pairing.hpp"
#include "eigen_rope/parameter_gradients.hpp"
#include "eigen_rope/positions.hpp"
#include "eigen_rope/rates.hpp"
#include "eigen_rope/reference.hpp"
#include "eigen_rope/rerotate.hpp"
#include "eigen_rope/rotate.hpp"
#include "eigen_rope/rotate_strided.hpp"
#include "eigen_rope/rotate_to.hpp"
#include "eigen_rope/scalar_type.hpp"
#include "eigen_rope/scaling_choice.hpp"
#include "eigen_rope/scaling_gradients.hpp"
#include "eigen_rope/scalings.hpp"
#include "eigen_rope/sections.hpp"
#include "eigen_rope/shape.hpp"
#include "eigen_rope/streaming.hpp"
#include "eigen_rope/strided_view.hpp"
#include "eigen_rope/table.hpp"
#include "eigen_rope/table_gradient.hpp"
#include "eigen_rope/tangent.hpp"
#include "eigen_rope/tensor_view.hpp"
#include "eigen_rope/token_row.hpp"
#include "eigen_rope/version.hpp"
#include "eigen_rope/xpos.hpp"
#include "eigen_rope/xpos_gradients.hpp"
