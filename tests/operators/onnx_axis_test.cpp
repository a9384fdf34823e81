// SPDX-License-Identifier: Apache-2.0
//
// Every recorded output of the ONNX operators with the features on other axes: the operators
// themselves take dense row-major tensors only, so X is put into every other order of axes and
// rotated by a table of the recorded caches. The answers must be as close to the recorded ones as
// the operators' own.
#include <gtest/gtest.h>

#include <map>

#include "support/axis_orders.hpp"
#include "support/onnx_closeness.hpp"

namespace eigen_rope::test::onnx_axis_tests {
namespace {

template <class Scalar>
std::vector<Scalar> elements_of(const OnnxTensor& tensor) {
  std::vector<Scalar> elements;
  for (std::size_t i = 0; i < tensor.count(); ++i) elements.push_back(tensor.element<Scalar>(i));
  return elements;
}

/// X's extents, the head size in front.
Shape shape_of(const OnnxMeaning& is) {
  if (is.rank_4) return {is.head, is.sequence, is.heads, is.batch};
  return {is.head, is.heads, is.sequence, is.batch};
}

/// A row for every token, all heads of which share it.
template <class Scalar>
PlacedTable<Scalar> table_of(const OnnxMeaning& is) {
  PlacedTable<Scalar> table;
  table.width = is.rotary / 2;
  table.outer = is.rank_4 ? Shape{is.sequence, 1, is.batch} : Shape{1, is.sequence, is.batch};
  for (std::int64_t b = 0; b < is.batch; ++b) {
    for (std::int64_t s = 0; s < is.sequence; ++s) {
      for (std::int64_t k = 0; k < is.rotary / 2; ++k) {
        table.cos.push_back(is.cos.element<Scalar>(is.entry_of(k, b, s)));
        table.sin.push_back(is.sin.element<Scalar>(is.entry_of(k, b, s)));
      }
    }
  }
  return table;
}

/// see(c, exact, bytes) of each answer.
template <class Scalar, class See>
void rotate_as(const OnnxCase& c, const See& see) {
  const OnnxMeaning is{c};
  ASSERT_EQ(is.scale, 1.0) << "the table holds the caches as they are";
  const std::vector<ExactElement> exact = onnx_formula(c);
  const Pairing pairing = Pairing(is.neighbours ? PairKind::interleaved : PairKind::split_half)
                              .with_rotary_dims(is.rotary);
  rotate_in_every_order<4>(elements_of<Scalar>(is.x), shape_of(is), table_of<Scalar>(is), pairing,
                           Direction::forward, [&](const std::vector<Scalar>& y) {
                             Bytes bytes(y.size() * sizeof(Scalar));
                             std::memcpy(bytes.data(), y.data(), bytes.size());
                             see(c, exact, std::move(bytes));
                           });
}

template <class See>
void rotate_every_case(const OnnxFolder& folder, const See& see) {
  for (const OnnxCase& c : folder.read()) {
    SCOPED_TRACE(c.name);
    const std::string& type = c.output.dtype;
    if (type == "float32") {
      rotate_as<float>(c, see);
    } else if (type == "float16") {
      rotate_as<Eigen::half>(c, see);
    } else if (type == "bfloat16") {
      rotate_as<Eigen::bfloat16>(c, see);
    } else {
      FAIL() << "no test rotates " << type;
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::size_t answers_of(const OnnxFolder& folder) {
  return folder.recorded * answers_in_every_order<4>;
}

TEST(OnnxAxis, ConformanceDataOfTheOperator) {
  OnnxJudge judge;
  rotate_every_case(onnx_node, [&](const auto&... answer) { judge.see_node(answer...); });
  EXPECT_EQ(judge.answers(), answers_of(onnx_node));
}

TEST(OnnxAxis, Runtime) {
  std::map<std::string, OnnxJudge> judges;
  rotate_every_case(onnx_runtime, [&](const OnnxCase& c, const auto&... answer) {
    judges[c.output.dtype].see(c, answer...);
  });
  EXPECT_EQ(judges["float32"].answers() + judges["float16"].answers(), answers_of(onnx_runtime));
  judges["float16"].conclude_16_bit();
}

TEST(OnnxAxis, Bfloat16RoundedOnce) {
  OnnxJudge judge;
  rotate_every_case(onnx_bfloat16, [&](const auto&... answer) { judge.see(answer...); });
  EXPECT_EQ(judge.answers(), answers_of(onnx_bfloat16));
  judge.conclude_16_bit();
}

}  // namespace
}  // namespace eigen_rope::test::onnx_axis_tests
