// SPDX-License-Identifier: Apache-2.0
//
// Everything: frequencies and positions make a table, a table and a pairing make a rotation.
//
//   rope::Frequencies f = rope::Frequencies::powers({128});                   how fast each pair turns
//   rope::CosSinCache<float> cache(f, rope::Positions::range(0, tokens));     where each token stands
//   y = rope::rotate(q, cache, rope::half);                                   which elements form a pair
//
// Each header can also be included alone.
#pragma once

#include "rope/cache.hpp"
#include "rope/check_gradient.hpp"
#include "rope/composed.hpp"
#include "rope/composed_complex.hpp"
#include "rope/composed_table.hpp"
#include "rope/device.hpp"
#include "rope/direction.hpp"
#include "rope/double_double.hpp"
#include "rope/dynamic_ntk.hpp"
#include "rope/error.hpp"
#include "rope/float_recurrence.hpp"
#include "rope/frequencies.hpp"
#include "rope/gradient_check_options.hpp"
#include "rope/gradient_report.hpp"
#include "rope/gradients.hpp"
#include "rope/growing_cache.hpp"
#include "rope/kernel_target.hpp"
#include "rope/layout.hpp"
#include "rope/operators/aclnn.hpp"
#include "rope/operators/aclnn_calls.hpp"
#include "rope/operators/ggml.hpp"
#include "rope/operators/onnx.hpp"
#include "rope/operators/onnx_node.hpp"
#include "rope/pairing.hpp"
#include "rope/parameter_gradients.hpp"
#include "rope/positions.hpp"
#include "rope/rates.hpp"
#include "rope/reference.hpp"
#include "rope/rerotate.hpp"
#include "rope/rotate.hpp"
#include "rope/rotate_strided.hpp"
#include "rope/rotate_to.hpp"
#include "rope/scalar_type.hpp"
#include "rope/scaling_choice.hpp"
#include "rope/scaling_gradients.hpp"
#include "rope/scalings.hpp"
#include "rope/sections.hpp"
#include "rope/shape.hpp"
#include "rope/streaming.hpp"
#include "rope/strided_view.hpp"
#include "rope/table.hpp"
#include "rope/table_gradient.hpp"
#include "rope/tangent.hpp"
#include "rope/tensor_view.hpp"
#include "rope/token_row.hpp"
#include "rope/version.hpp"
#include "rope/xpos.hpp"
#include "rope/xpos_gradients.hpp"
