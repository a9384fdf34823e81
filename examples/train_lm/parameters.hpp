// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the model: one flat vector, and a list that says which part of it is which tensor.
//
//   embedding.weight                      [dim, vocabulary]
//   layers.<i>.norm1.weight               [dim]
//   layers.<i>.attention.{q,k,v,o}.weight [dim, dim]
//   layers.<i>.norm2.weight               [dim]
//   layers.<i>.mlp.up.weight              [dim, 4 dim]
//   layers.<i>.mlp.down.weight            [4 dim, dim]
//   norm.weight                           [dim]
//   head.weight                           [dim, vocabulary]
//
// Shapes are ColMajor [in, out], which is a RowMajor [out, in] in a checkpoint, as PyTorch has it. Weights, gradients and Adam's moments
// all have this layout. There is no table of positions: the rotation is the only thing that tells the model where a token stands.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"
#include "tensor.hpp"

namespace train_lm {

inline constexpr Index max_layers = 64;
inline constexpr Index max_dim = 4096;

/// The shape of the model. dim is divisible by heads.
struct ModelConfig {
  Index vocabulary = 0;
  Index layers = 3;
  Index heads = 4;
  Index dim = 96;

  Index head_dim() const { return dim / heads; }
  Index hidden() const { return 4 * dim; }
};

/// One tensor inside the flat vector. A vector has cols = 1 and is_vector.
struct Slot {
  std::string name;
  Index rows = 0;
  Index cols = 1;
  Index offset = 0;
  bool is_vector = false;
  /// The spread of the normal distribution it starts from; vectors start as ones.
  double spread = 0;

  Index size() const { return rows * cols; }
};

/// The slots of one layer, as indices into ParameterLayout::slots.
struct LayerSlots {
  std::size_t norm1, q, k, v, o, norm2, up, down;
};

struct ParameterLayout {
  explicit ParameterLayout(const ModelConfig& c) {
    const double in_dim = 1.0 / std::sqrt(static_cast<double>(c.dim));
    const double residual = 1.0 / std::sqrt(2.0 * static_cast<double>(c.layers));
    embedding = matrix("embedding.weight", c.dim, c.vocabulary, 0.5);
    for (Index i = 0; i < c.layers; ++i) {
      const std::string prefix = "layers." + std::to_string(i) + ".";
      LayerSlots layer{};
      layer.norm1 = vector(prefix + "norm1.weight", c.dim);
      layer.q = matrix(prefix + "attention.q.weight", c.dim, c.dim, in_dim);
      layer.k = matrix(prefix + "attention.k.weight", c.dim, c.dim, in_dim);
      layer.v = matrix(prefix + "attention.v.weight", c.dim, c.dim, in_dim);
      layer.o = matrix(prefix + "attention.o.weight", c.dim, c.dim, in_dim * residual);
      layer.norm2 = vector(prefix + "norm2.weight", c.dim);
      layer.up = matrix(prefix + "mlp.up.weight", c.dim, c.hidden(), in_dim);
      layer.down = matrix(prefix + "mlp.down.weight", c.hidden(), c.dim, 0.5 * in_dim * residual);
      layers.push_back(layer);
    }
    norm = vector("norm.weight", c.dim);
    head = matrix("head.weight", c.dim, c.vocabulary, 0.5 * in_dim);
  }

  std::vector<Slot> slots;
  std::vector<LayerSlots> layers;
  std::size_t embedding = 0;
  std::size_t norm = 0;
  std::size_t head = 0;
  Index size = 0;

 private:
  std::size_t matrix(const std::string& name, Index rows, Index cols, double spread) {
    slots.push_back({name, rows, cols, size, false, spread});
    size += rows * cols;
    return slots.size() - 1;
  }
  std::size_t vector(const std::string& name, Index rows) {
    slots.push_back({name, rows, 1, size, true, 0});
    size += rows;
    return slots.size() - 1;
  }
};

/// Owns the flat vector. Zero when made.
template <class S>
class Parameters {
 public:
  explicit Parameters(const ModelConfig& config) : layout_(config), flat_(layout_.size) { flat_.setZero(); }

  const ParameterLayout& layout() const { return layout_; }
  const Slot& slot(std::size_t i) const { return layout_.slots[i]; }
  Vector<S>& flat() { return flat_; }
  const Vector<S>& flat() const { return flat_; }

  S* data(std::size_t i) { return flat_.data() + slot(i).offset; }
  const S* data(std::size_t i) const { return flat_.data() + slot(i).offset; }
  MatrixMap<S> matrix(std::size_t i) { return {data(i), slot(i).rows, slot(i).cols}; }
  MatrixMap<const S> matrix(std::size_t i) const { return {data(i), slot(i).rows, slot(i).cols}; }
  /// All elements of a slot, whatever its shape.
  VectorMap<S> vector(std::size_t i) { return {data(i), slot(i).size()}; }
  VectorMap<const S> vector(std::size_t i) const { return {data(i), slot(i).size()}; }

  /// The state training starts from.
  void initialise(std::uint64_t seed) {
    for (std::size_t i = 0; i < layout_.slots.size(); ++i) {
      for (Index j = 0; j < slot(i).size(); ++j) {
        const auto normal = [&] { return random_normal(seed, Stream::weights, i, static_cast<std::uint64_t>(j)); };
        data(i)[j] = slot(i).is_vector ? S(1) : static_cast<S>(slot(i).spread * normal());
      }
    }
  }

 private:
  ParameterLayout layout_;
  Vector<S> flat_;
};

}  // namespace train_lm
