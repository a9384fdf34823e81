// SPDX-License-Identifier: Apache-2.0
//
// A program outside the project: reads a configuration, rotates, goes back, and catches what the library throws.
#include <rope/models/gguf.hpp>
#include <rope/models/hugging_face.hpp>
#include <rope/rope.hpp>

#include <cstdio>
#include <string>

namespace {

constexpr rope::Index dims = 64, heads = 4, tokens = 16;

template <class Scalar>
double there_and_back(const rope::Frequencies& frequencies) {
  const rope::CosSinCache<Scalar> cache(frequencies, rope::Positions::range(0, tokens));
  Eigen::Tensor<Scalar, 4> x(dims, heads, tokens, 2);
  x.setRandom();
  const Eigen::Tensor<Scalar, 4> y = rope::rotate(x, cache, rope::half);
  const Eigen::Tensor<Scalar, 4> back = rope::inverse(y, cache, rope::half);
  const Eigen::Tensor<Scalar, 0> worst = (back - x).abs().maximum();
  return static_cast<double>(worst());
}

/// The largest difference between a growing table's rotation and a fixed one's, and of the gradient from the transpose.
double other_ways(const rope::Frequencies& frequencies) {
  const rope::GrowingCache<float> growing(frequencies);
  const rope::CosSinCache<float> fixed(frequencies, rope::Positions::range(0, tokens));
  Eigen::Tensor<float, 3> x(dims, heads, tokens);
  x.setRandom();
  const Eigen::Tensor<float, 3> y = rope::rotate(x, growing.rows(0, tokens), rope::interleaved);
  const Eigen::Tensor<float, 3> same = rope::rotate(x, fixed, rope::interleaved);
  Eigen::Tensor<float, 3> dx = x;
  (void)rope::gradients(rope::output(rope::view(y)), rope::view(dx), fixed, rope::interleaved, rope::Wanted::angle, rope::view(dx));
  const Eigen::Tensor<float, 3> transposed = rope::transpose(x, fixed, rope::interleaved);
  const Eigen::Tensor<float, 0> worst = ((y - same).abs() + (dx - transposed).abs()).maximum();
  return static_cast<double>(worst());
}

/// Whether the five tables of this scalar, each compiled inside the library, agree in the rows they share.
template <class Scalar>
bool tables_agree(const rope::Frequencies& frequencies) {
  const rope::Positions positions = rope::Positions::range(0, 2);
  const rope::CosSinCache<Scalar> cache(frequencies, positions);
  const rope::GrowingCache<Scalar> growing(frequencies);
  rope::TokenRow<Scalar> row(frequencies);
  const rope::CosSinCache<Scalar> xpos = rope::xpos_cache<Scalar>(frequencies, positions, {}, rope::XposSide::query);
  const rope::CosSinCache<Scalar> moved =
      rope::rerotation_cache<Scalar>({frequencies, rope::Positions::range(0, 2)}, {frequencies, rope::Positions::range(1, 2)});
  const rope::Index second = cache.pairs();
  return growing.rows(1, 1).cos[0] == cache.cos()[second] && row.at(1).view().cos[0] == cache.cos()[second] && xpos.cos()[0] == Scalar(1) &&
         moved.sin()[0] == cache.sin()[second];
}

template <class Call>
bool refuses(const Call& call, const std::string& text) {
  try {
    call();
  } catch (const rope::Error& error) {
    return error.what() == text;
  }
  return false;
}

}  // namespace

int main() {
  const rope::models::ModelRope model = rope::models::parse_hugging_face(
      R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 2048, "rope_theta": 10000.0})");
  const rope::Frequencies frequencies = model.layers.front().frequencies();
  const bool good = there_and_back<float>(frequencies) < 1e-5 && there_and_back<double>(frequencies) < 1e-13 &&
                    there_and_back<Eigen::half>(frequencies) < 1e-2 && other_ways(frequencies) < 1e-5 && tables_agree<float>(frequencies) &&
                    tables_agree<double>(frequencies) && tables_agree<long double>(frequencies) && tables_agree<Eigen::half>(frequencies) &&
                    tables_agree<Eigen::bfloat16>(frequencies) &&
                    refuses([] { (void)rope::Frequencies::powers({7}); }, "[rope] rotary dims must be even, got 7") &&
                    refuses([] { (void)rope::models::read_gguf("missing.gguf"); }, "[rope] missing.gguf: there is no such file");
#ifdef EIGEN_PATCH_VERSION  // from Eigen 5, whose world is still 3
  const int eigen[] = {EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, EIGEN_PATCH_VERSION};
#else
  const int eigen[] = {EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION};
#endif
  std::printf("rope %d.%d.%d, C++%ld, Eigen %d.%d.%d\n", ROPE_VERSION_MAJOR, ROPE_VERSION_MINOR, ROPE_VERSION_PATCH,
              static_cast<long>(__cplusplus / 100 % 100), eigen[0], eigen[1], eigen[2]);
  return good ? 0 : 1;
}
