// SPDX-License-Identifier: Apache-2.0
//
// A program outside the project: reads a configuration, rotates, goes back, and catches what the
// library throws.
#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/models/gguf.hpp>
#include <eigen_rope/models/hugging_face.hpp>

#include <cstdio>
#include <string>

namespace {

constexpr eigen_rope::Index dims = 64, heads = 4, tokens = 16;

template <class Scalar>
double there_and_back(const eigen_rope::Frequencies& frequencies) {
  const eigen_rope::Cache<Scalar> cache(frequencies, eigen_rope::Positions::range(0, tokens));
  Eigen::Tensor<Scalar, 4> x(dims, heads, tokens, 2);
  x.setRandom();
  const Eigen::Tensor<Scalar, 4> y = eigen_rope::rotate(x, cache, eigen_rope::split_half);
  const Eigen::Tensor<Scalar, 4> back =
      eigen_rope::rotate_inverse(y, cache, eigen_rope::split_half);
  const Eigen::Tensor<Scalar, 0> worst = (back - x).abs().maximum();
  return static_cast<double>(worst());
}

/// The largest difference between a growing table's rotation and a fixed one's, and of the gradient
/// from the transpose.
double other_ways(const eigen_rope::Frequencies& frequencies) {
  const eigen_rope::GrowingCache<float> growing(frequencies);
  const eigen_rope::Cache<float> fixed(frequencies, eigen_rope::Positions::range(0, tokens));
  Eigen::Tensor<float, 3> x(dims, heads, tokens);
  x.setRandom();
  const Eigen::Tensor<float, 3> y =
      eigen_rope::rotate(x, growing.rows(0, tokens), eigen_rope::interleaved);
  const Eigen::Tensor<float, 3> same = eigen_rope::rotate(x, fixed, eigen_rope::interleaved);
  Eigen::Tensor<float, 3> dx = x;
  (void)eigen_rope::gradients_inplace(y, dx, fixed, eigen_rope::interleaved);
  const Eigen::Tensor<float, 3> transposed =
      eigen_rope::rotate_backward(x, fixed, eigen_rope::interleaved);
  const Eigen::Tensor<float, 0> worst = ((y - same).abs() + (dx - transposed).abs()).maximum();
  return static_cast<double>(worst());
}

/// Whether the five tables of this scalar, each compiled inside the library, agree in the rows they
/// share.
template <class Scalar>
bool tables_agree(const eigen_rope::Frequencies& frequencies) {
  const eigen_rope::Positions positions = eigen_rope::Positions::range(0, 2);
  const eigen_rope::Cache<Scalar> cache(frequencies, positions);
  const eigen_rope::GrowingCache<Scalar> growing(frequencies);
  eigen_rope::TokenRow<Scalar> row(frequencies);
  const eigen_rope::Cache<Scalar> xpos =
      eigen_rope::xpos_cache<Scalar>(frequencies, positions, {}, eigen_rope::XposSide::query);
  const eigen_rope::Cache<Scalar> moved =
      eigen_rope::rerotation_cache<Scalar>({frequencies, eigen_rope::Positions::range(0, 2)},
                                           {frequencies, eigen_rope::Positions::range(1, 2)});
  const eigen_rope::Index second = cache.pairs();
  return growing.rows(1, 1).cos[0] == cache.cos()[second] &&
         row.at(1).view().cos[0] == cache.cos()[second] && xpos.cos()[0] == Scalar(1) &&
         moved.sin()[0] == cache.sin()[second];
}

template <class Call>
bool refuses(const Call& call, const std::string& text) {
  try {
    call();
  } catch (const eigen_rope::Error& error) {
    return error.what() == text;
  }
  return false;
}

}  // namespace

int main() {
  const eigen_rope::models::ModelRope model = eigen_rope::models::parse_hugging_face(
      R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 2048, "rope_theta": 10000.0})");
  const eigen_rope::Frequencies frequencies = model.layers.front().frequencies();
  const bool good =
      there_and_back<float>(frequencies) < 1e-5 && there_and_back<double>(frequencies) < 1e-13 &&
      there_and_back<Eigen::half>(frequencies) < 1e-2 && other_ways(frequencies) < 1e-5 &&
      tables_agree<float>(frequencies) && tables_agree<double>(frequencies) &&
      tables_agree<long double>(frequencies) && tables_agree<Eigen::half>(frequencies) &&
      tables_agree<Eigen::bfloat16>(frequencies) &&
      refuses([] { (void)eigen_rope::Frequencies::powers({7}); },
              "[rope] rotary dims must be even, got 7") &&
      refuses([] { (void)eigen_rope::models::read_gguf("missing.gguf"); },
              "[rope] missing.gguf: there is no such file");
#ifdef EIGEN_PATCH_VERSION  // from Eigen 5, whose world is still 3
  const int eigen[] = {EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, EIGEN_PATCH_VERSION};
#else
  const int eigen[] = {EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION};
#endif
  std::printf("eigen-rope %d.%d.%d, C++%ld, Eigen %d.%d.%d\n", EIGEN_ROPE_VERSION_MAJOR,
              EIGEN_ROPE_VERSION_MINOR, EIGEN_ROPE_VERSION_PATCH,
              static_cast<long>(__cplusplus / 100 % 100), eigen[0], eigen[1], eigen[2]);
  return good ? 0 : 1;
}
