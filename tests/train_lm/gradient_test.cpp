// SPDX-License-Identifier: Apache-2.0
//
// The gradient of the whole model, every element of every tensor, learned rates included, against
// central differences in double.
//
//   |dL/dw - (L(w + h) - L(w - h)) / 2h| <= 1e-7 + 1e-6 |dL/dw|,   h = 1e-5
//
// Truncation error is of the order h^2 |L'''| and rounding error of the order 1e-16 / h = 1e-11, so
// the bound is generous by two orders of magnitude and a wrong factor still stands out by four.
// relu(x)^2 has a continuous derivative.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cross_entropy.hpp"
#include "rope_choice.hpp"
#include "rotations.hpp"
#include "threads.hpp"
#include "transformer.hpp"
#include "windows.hpp"

namespace train_lm {
namespace {

constexpr Index context = 37;  // more than one block of queries, and not a multiple of it

/// A rope kind, and whether its rates are among the parameters.
struct Case {
  std::string rope;
  Rates rates = Rates::fixed;
};

std::string case_name(const Case& c) {
  return c.rates == Rates::learned ? "learned_" + c.rope : c.rope;
}

void PrintTo(const Case& c, std::ostream* out) { *out << case_name(c); }

ModelConfig small_model(Rates rates = Rates::fixed) {
  ModelConfig config;
  config.vocabulary = 7;
  config.layers = 2;
  config.heads = 2;
  config.dim = 8;
  config.rates = rates;
  return config;
}

class GradientTest : public testing::TestWithParam<Case> {
 protected:
  GradientTest()
      : pool_(2),
        device_(&pool_, 2),
        config_(small_model(GetParam().rates)),
        profile_(2),
        model_(config_, device_, profile_),
        weights_(config_),
        gradient_(config_) {
    weights_.initialise(3);
    // Gains away from 1, where a forgotten gain would show.
    for (std::size_t i = 0; i < weights_.layout().slots.size(); ++i) {
      if (weights_.slot(i).kind != SlotKind::gain) continue;
      for (Index j = 0; j < weights_.slot(i).size(); ++j)
        weights_.data(i)[j] = 0.7 + 0.1 * static_cast<double>(j);
    }
    std::vector<int> text;
    for (int i = 0; i < 200; ++i)
      text.push_back(
          static_cast<int>(random_bits(5, Stream::windows, static_cast<std::uint64_t>(i)) % 7));
    draw_batch(text, context, 3, 11, 0, batch_);
    RopeChoice choice;
    choice.kind = GetParam().rope;
    choice.factor = 4.0;
    choice.base = 100.0;
    if (choice.rotates())
      frequencies_ = {training_rope(choice, config_.head_dim(), context).frequencies()};
    if (GetParam().rates == Rates::learned) {
      // Another for each layer, so that none can take another's.
      const std::vector<double> first = training_rope(choice, config_.head_dim(), context).rates();
      for (std::size_t layer = 0; layer < weights_.layout().layers.size(); ++layer) {
        std::vector<double> rates = first;
        for (double& rate : rates) rate *= 0.7 + 0.2 * static_cast<double>(layer);
        weights_.set_rates(layer, rates);
      }
    }
    make_tables();
  }

  /// Of the weights as they are.
  void make_tables() {
    LayerFrequencies layers = frequencies_;
    if (GetParam().rates == Rates::learned) {
      layers.clear();
      const auto m = static_cast<double>(frequencies_.front().attention_factor());
      for (std::size_t layer = 0; layer < weights_.layout().layers.size(); ++layer) {
        layers.push_back(eigen_rope::Frequencies::explicit_rates(weights_.rates(layer), m));
      }
    }
    rotations_ = Rotations<double>(layers, eigen_rope::Positions::range(0, context));
  }

  double loss() {
    if (GetParam().rates == Rates::learned) make_tables();
    return mean(model_.losses(weights_, batch_, rotations_));
  }

  /// Sets gradient_; returns the loss.
  double backward() {
    return mean(model_.losses_and_gradient(weights_, batch_, rotations_, gradient_));
  }

  Eigen::ThreadPool pool_;
  const Device device_;
  ModelConfig config_;
  Profile profile_;
  Transformer<double> model_;
  Parameters<double> weights_;
  Parameters<double> gradient_;
  Batch batch_;
  LayerFrequencies frequencies_;
  Rotations<double> rotations_;
};

TEST_P(GradientTest, MatchesCentralDifferences) {
  constexpr double h = 1e-5;
  backward();
  for (std::size_t i = 0; i < weights_.layout().slots.size(); ++i) {
    double largest = 0;
    for (Index j = 0; j < weights_.slot(i).size(); ++j) {
      double& w = weights_.data(i)[j];
      const double kept = w;
      w = kept + h;
      const double above = loss();
      w = kept - h;
      const double below = loss();
      w = kept;
      const double expected = (above - below) / (2 * h);
      const double actual = gradient_.data(i)[j];
      largest = std::max(largest, std::abs(actual));
      ASSERT_NEAR(actual, expected, 1e-7 + 1e-6 * std::abs(expected))
          << weights_.slot(i).name << " element " << j;
    }
    EXPECT_GT(largest, 1e-5) << weights_.slot(i).name << " has no gradient to speak of";
  }
}

TEST_P(GradientTest, DoesNotDependOnWhatTheBuffersHeld) {
  backward();
  const Vector<double> first = gradient_.flat();
  gradient_.flat().setConstant(1e3);
  backward();
  for (Index i = 0; i < first.size(); ++i) ASSERT_EQ(first(i), gradient_.flat()(i)) << i;
}

TEST_P(GradientTest, TheLossIsThatOfTheForwardPass) { EXPECT_EQ(backward(), loss()); }

// Threads have gradients of their own, which are summed: in double, to the rounding of that sum.
TEST_P(GradientTest, HardlyDependsOnTheNumberOfThreads) {
  backward();
  for (const int others : {1, 3, 5}) {  // 5: more than there are windows
    Eigen::ThreadPool pool(others);
    const Device device(&pool, others);
    Profile profile(others);
    Transformer<double> model(config_, device, profile);
    Parameters<double> gradient(config_);
    model.losses_and_gradient(weights_, batch_, rotations_, gradient);
    const double largest = gradient_.flat().cwiseAbs().maxCoeff();
    for (Index i = 0; i < gradient.flat().size(); ++i)
      ASSERT_NEAR(gradient.flat()(i), gradient_.flat()(i), 1e-13 * largest) << others;
  }
}

INSTANTIATE_TEST_SUITE_P(Ropes, GradientTest,
                         testing::Values(Case{"none"}, Case{"default"}, Case{"ntk"}, Case{"yarn"},
                                         Case{"default", Rates::learned},
                                         Case{"yarn", Rates::learned}),
                         [](const auto& rope) { return case_name(rope.param); });

TEST(GgmlYarn, ScalesTheAttention) {
  RopeChoice choice;
  choice.kind = "yarn";
  choice.factor = 4.0;
  const auto m = static_cast<double>(training_rope(choice, 8, 32).frequencies().attention_factor());
  EXPECT_NEAR(m, 1 + 0.1 * std::log(4.0), 1e-12);
}

// Only differences of positions matter, so a window that starts later has the same losses.
TEST(Rotation, SeesOnlyDistances) {
  Eigen::ThreadPool pool(1);
  const Device device(&pool, 1);
  Profile profile(1);
  const ModelConfig config = small_model();
  Parameters<double> weights(config);
  weights.initialise(1);
  Transformer<double> model(config, device, profile);
  const std::vector<int> text{0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 6, 1, 3};
  const Batch batch = make_batch(text, {0, 2}, 10);
  const eigen_rope::Frequencies frequencies =
      training_rope(RopeChoice{}, config.head_dim(), 10).frequencies();
  const Rotations<double> here({frequencies}, eigen_rope::Positions::range(0, 10));
  const Rotations<double> later({frequencies}, eigen_rope::Positions::range(1000, 10));
  const std::vector<double> a = model.losses(weights, batch, here);
  const std::vector<double> b = model.losses(weights, batch, later);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
}

TEST(Attention, IsCausal) {
  Eigen::ThreadPool pool(1);
  const Device device(&pool, 1);
  Profile profile(1);
  const ModelConfig config = small_model();
  Parameters<double> weights(config);
  weights.initialise(1);
  Transformer<double> model(config, device, profile);
  std::vector<int> text(42, 1);
  const auto losses = [&] {
    const Batch batch = make_batch(text, {0}, 40);
    return model.losses(weights, batch, Rotations<double>());
  };
  const std::vector<double> before = losses();
  text[35] = 4;
  const std::vector<double> after = losses();
  for (std::size_t i = 0; i < 34; ++i) EXPECT_EQ(before[i], after[i]) << i;
  EXPECT_NE(before[34], after[34]);
  EXPECT_NE(before[35], after[35]);
}

TEST(Threads, AnErrorOfOneReachesTheCaller) {
  Eigen::ThreadPool pool(3);
  const Device device(&pool, 3);
  for (int failing = 0; failing < 3; ++failing) {
    std::atomic<int> called{0};
    const auto body = [&](int thread) {
      ++called;
      if (thread == failing) throw std::runtime_error("thread " + std::to_string(thread));
    };
    try {
      on_threads(device, 3, body);
      ADD_FAILURE() << failing;
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), "thread " + std::to_string(failing));
    }
    EXPECT_EQ(called, 3);
  }
}

TEST(Threads, SharesCoverEverythingOnce) {
  for (const int shares : {1, 2, 3, 7}) {
    for (const Index count : {0, 1, 6, 7, 100}) {
      Index next = 0;
      for (int thread = 0; thread < shares; ++thread) {
        const Range share = share_of(count, thread, shares);
        EXPECT_EQ(share.begin, next);
        EXPECT_LE(share.size(), count / shares + 1);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace train_lm
