// SPDX-License-Identifier: Apache-2.0
#include "tool/inspect/layer_kinds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/published_models.hpp"
#include "tool/inspect/inspect.hpp"
#include "tool/inspect/plot.hpp"
#include "tool/inspect/report.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::tool::layer_kinds_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

TEST(LayerKinds, AreThoseOfTheLists) {
  EXPECT_THAT(kinds_of_layers(test::two_kinds()),
              Optional(ElementsAre(1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0)));
  models::ModelRope model = test::two_kinds();
  model.layer_count = 14;
  EXPECT_THAT(kinds_of_layers(model),
              Optional(ElementsAre(1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, -1, -1)));
}

TEST(LayerKinds, AreOneForAllWithoutAList) {
  models::ModelRope model = test::llama2();
  EXPECT_EQ(kinds_of_layers(model), std::nullopt) << "how many there are is not said";
  model.layer_count = 3;
  EXPECT_THAT(kinds_of_layers(model), Optional(ElementsAre(0, 0, 0)));
  model.layers.clear();
  EXPECT_THAT(kinds_of_layers(model), Optional(ElementsAre(-1, -1, -1)));
}

TEST(LayerKinds, AreNotKnownWhereAListIsMissingBesideOthers) {
  models::ModelRope model = test::two_kinds();
  model.layer_count = 12;
  model.layers[1].layers.clear();
  EXPECT_EQ(kinds_of_layers(model), std::nullopt);
}

TEST(LayerKinds, NumbersAreShortened) {
  EXPECT_EQ(text_of_numbers({}), "");
  EXPECT_EQ(text_of_numbers({3}), "3");
  EXPECT_EQ(text_of_numbers({3, 4}), "3, 4");
  EXPECT_EQ(text_of_numbers({0, 1, 2, 4, 6, 7, 8, 9}), "0 to 2, 4, 6 to 9");
  std::vector<eigen_rope::Index> odd;
  for (eigen_rope::Index i = 1; i < 99; i += 2) odd.push_back(i);
  EXPECT_EQ(text_of_numbers(odd), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, ...");
}

TEST(LayerKinds, InspectSaysWhichLayersDoNotRotate) {
  models::ModelRope model = test::llama2();
  model.layer_count = 8;
  model.layers[0].layers = {0, 1, 2, 4, 5, 6};
  EXPECT_THAT(text_of(inspect(model, {}), Rows::all, {}),
              HasSubstr("\n  not rotated               2 of them: 3, 7\n"));
  EXPECT_EQ(json_of(inspect(model, {}))["not_rotated"], Json({3, 7}));
  model.layers.clear();
  const std::string still = text_of(inspect(model, {}), Rows::all, {});
  EXPECT_THAT(still, HasSubstr("\nno layer of this model rotates\n"));
  EXPECT_THAT(still, testing::Not(HasSubstr("turns within")));
  EXPECT_THAT([&] { draw(inspect(model, {}), "still.svg"); },
              testing::ThrowsMessage<FileError>(
                  "[rope] still.svg: there is nothing to draw: no layer rotates"));
}

}  // namespace
}  // namespace eigen_rope::tool::layer_kinds_tests
