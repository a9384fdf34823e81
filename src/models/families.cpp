// SPDX-License-Identifier: Apache-2.0
#include "models/families.hpp"

#include <algorithm>
#include <iterator>

#include "models/families_table.inc"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

template <typename Row, std::size_t count>
const Row* find(const Row (&rows)[count], std::string_view model_type) {
  const auto* row = std::lower_bound(
      std::begin(rows), std::end(rows), model_type,
      [](const Row& entry, std::string_view name) { return entry.model_type < name; });
  return row == std::end(rows) || row->model_type != model_type ? nullptr : row;
}

}  // namespace

const Family* find_family(std::string_view model_type) { return find(families, model_type); }

const SilentFamily* find_silent_family(std::string_view model_type) {
  return find(silent_families, model_type);
}

const Family* families_begin() { return std::begin(families); }

const Family* families_end() { return std::end(families); }

FusedQkv fused_qkv(std::string_view model_type) {
  const Family* family = find_family(model_type);
  return family == nullptr ? FusedQkv::unknown : family->fused;
}

bool has_latent_attention(std::string_view model_type) {
  const Family* family = find_family(model_type);
  return family != nullptr && family->latent;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
