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
//   layers.<i>.attention.log_rates        [dim / heads / 2]   only where the rates are learned
//
// Shapes are ColMajor [in, out], which is a RowMajor [out, in] in a checkpoint, as PyTorch has it.
// Weights, gradients and Adam's moments all have this layout. There is no table of positions: the
// rotation is the only thing that tells the model where a token stands.
//
// Rates are learned as logarithms, since they span four powers of ten and Adam moves every number
// about as far in a step; so they also stay positive. Each layer has its own: layers look at
// different distances, and a table of a layer costs next to nothing. They come last, so that every
// other tensor starts from the same numbers as in a model whose rates are fixed.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "random.hpp"
#include "tensor.hpp"

namespace train_lm {

/// What becomes of the rotation's rates in training.
enum class Rates { fixed, learned };

/// The shape of the model. dim is divisible by heads.
struct ModelConfig {
  Index vocabulary = 0;
  Index layers = 3;
  Index heads = 4;
  Index dim = 96;
  Rates rates = Rates::fixed;

  Index head_dim() const { return dim / heads; }
  Index hidden() const { return 4 * dim; }
};

/// Gains start as ones; log rates start as they are set. Only matrices are decayed.
enum class SlotKind { matrix, gain, log_rates };

/// One tensor inside the flat vector. What is no matrix has cols = 1.
struct Slot {
  std::string name;
  Index rows = 0;
  Index cols = 1;
  Index offset = 0;
  SlotKind kind = SlotKind::matrix;
  /// The spread of the normal distribution a matrix starts from.
  double spread = 0;

  Index size() const { return rows * cols; }
};

/// The slots of one layer, as indices into ParameterLayout::slots. k follows q.
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
      layer.norm1 = gain(prefix + "norm1.weight", c.dim);
      layer.q = matrix(prefix + "attention.q.weight", c.dim, c.dim, in_dim);
      layer.k = matrix(prefix + "attention.k.weight", c.dim, c.dim, in_dim);
      layer.v = matrix(prefix + "attention.v.weight", c.dim, c.dim, in_dim);
      layer.o = matrix(prefix + "attention.o.weight", c.dim, c.dim, in_dim * residual);
      layer.norm2 = gain(prefix + "norm2.weight", c.dim);
      layer.up = matrix(prefix + "mlp.up.weight", c.dim, c.hidden(), in_dim);
      layer.down = matrix(prefix + "mlp.down.weight", c.hidden(), c.dim, 0.5 * in_dim * residual);
      layers.push_back(layer);
    }
    norm = gain("norm.weight", c.dim);
    head = matrix("head.weight", c.dim, c.vocabulary, 0.5 * in_dim);
    if (c.rates == Rates::fixed) return;
    for (Index i = 0; i < c.layers; ++i) {
      log_rates.push_back(vector("layers." + std::to_string(i) + ".attention.log_rates",
                                 c.head_dim() / 2, SlotKind::log_rates));
    }
  }

  std::vector<Slot> slots;
  std::vector<LayerSlots> layers;
  std::size_t embedding = 0;
  std::size_t norm = 0;
  std::size_t head = 0;
  /// One per layer, or none.
  std::vector<std::size_t> log_rates;
  Index size = 0;

 private:
  std::size_t matrix(const std::string& name, Index rows, Index cols, double spread) {
    slots.push_back({name, rows, cols, size, SlotKind::matrix, spread});
    size += rows * cols;
    return slots.size() - 1;
  }
  std::size_t gain(const std::string& name, Index rows) {
    return vector(name, rows, SlotKind::gain);
  }
  std::size_t vector(const std::string& name, Index rows, SlotKind kind) {
    slots.push_back({name, rows, 1, size, kind, 0});
    size += rows;
    return slots.size() - 1;
  }
};

/// Owns the flat vector. Zero when made.
template <class S>
class Parameters {
 public:
  explicit Parameters(const ModelConfig& config) : layout_(config), flat_(layout_.size) {
    flat_.setZero();
  }

  const ParameterLayout& layout() const { return layout_; }
  const Slot& slot(std::size_t i) const { return layout_.slots[i]; }
  Vector<S>& flat() { return flat_; }
  const Vector<S>& flat() const { return flat_; }

  S* data(std::size_t i) { return flat_.data() + slot(i).offset; }
  const S* data(std::size_t i) const { return flat_.data() + slot(i).offset; }
  MatrixMap<S> matrix(std::size_t i) { return {data(i), slot(i).rows, slot(i).cols}; }
  MatrixMap<const S> matrix(std::size_t i) const { return {data(i), slot(i).rows, slot(i).cols}; }
  /// Those of queries and keys side by side, as one matrix [dim, 2 dim].
  MatrixMap<S> query_key(const LayerSlots& layer) {
    return {data(layer.q), slot(layer.q).rows, slot(layer.q).cols + slot(layer.k).cols};
  }
  MatrixMap<const S> query_key(const LayerSlots& layer) const {
    return {data(layer.q), slot(layer.q).rows, slot(layer.q).cols + slot(layer.k).cols};
  }
  /// All elements of a slot, whatever its shape.
  VectorMap<S> vector(std::size_t i) { return {data(i), slot(i).size()}; }
  VectorMap<const S> vector(std::size_t i) const { return {data(i), slot(i).size()}; }

  /// The learned rates of a layer, radians per token. Only where they are learned.
  std::vector<double> rates(std::size_t layer) const {
    const VectorMap<const S> logs = vector(layout_.log_rates[layer]);
    std::vector<double> rates;
    for (Index k = 0; k < logs.size(); ++k) rates.push_back(std::exp(static_cast<double>(logs(k))));
    return rates;
  }
  /// rates: positive, one per pair.
  void set_rates(std::size_t layer, const std::vector<double>& rates) {
    VectorMap<S> logs = vector(layout_.log_rates[layer]);
    for (std::size_t k = 0; k < rates.size(); ++k)
      logs(static_cast<Index>(k)) = static_cast<S>(std::log(rates[k]));
  }

  /// The state training starts from, but for rates.
  void initialise(std::uint64_t seed) {
    for (std::size_t i = 0; i < layout_.slots.size(); ++i) {
      for (Index j = 0; j < slot(i).size(); ++j) {
        const auto normal = [&] {
          return random_normal(seed, Stream::weights, i, static_cast<std::uint64_t>(j));
        };
        data(i)[j] =
            slot(i).kind == SlotKind::matrix ? static_cast<S>(slot(i).spread * normal()) : S(1);
      }
    }
  }

 private:
  ParameterLayout layout_;
  Vector<S> flat_;
};

}  // namespace train_lm
