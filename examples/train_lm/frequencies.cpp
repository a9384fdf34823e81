// SPDX-License-Identifier: Apache-2.0
#include "frequencies.hpp"

#include <cstddef>

namespace train_lm {

template <class S>
LayerFrequencies run_frequencies(const RunConfig& config, const Parameters<S>& weights,
                                 Scaling scaling, double length_factor) {
  if (!config.rope.rotates()) return {};
  const RopeParameters trained =
      training_rope(config.rope, config.model.head_dim(), config.context);
  const eigen_rope::Frequencies wanted =
      stretched(trained, scaling, length_factor, config.context).frequencies();
  if (config.model.rates == Rates::fixed) return {wanted};
  const std::vector<double> first = trained.rates();
  LayerFrequencies layers;
  for (std::size_t layer = 0; layer < weights.layout().layers.size(); ++layer) {
    std::vector<double> rates = weights.rates(layer);
    if (scaling != Scaling::none) {
      for (std::size_t k = 0; k < rates.size(); ++k)
        rates[k] *= static_cast<double>(wanted.rates()[k]) / first[k];
    }
    layers.push_back(eigen_rope::Frequencies::explicit_rates(
        rates, static_cast<double>(wanted.attention_factor())));
  }
  return layers;
}

template LayerFrequencies run_frequencies(const RunConfig&, const Parameters<float>&, Scaling,
                                          double);
template LayerFrequencies run_frequencies(const RunConfig&, const Parameters<double>&, Scaling,
                                          double);

std::vector<double> first_rates(const RunConfig& config) {
  return training_rope(config.rope, config.model.head_dim(), config.context).rates();
}

}  // namespace train_lm
