// SPDX-License-Identifier: Apache-2.0
//
// The keys of a configuration that lie around its rope parameters: sizes, base, rotated share,
// pairing, sections. One reader per file; a family's values stand in for missing keys, with a
// warning. hugging_face_scaling.hpp has the parameters' own formulas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eigen_rope/models/model_rope.hpp"
#include "models/families.hpp"
#include "models/json_object.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {

/// One kind of layer: where its parameters stand and what is special about it.
struct LayerKind {
  /// nullptr for a rotation without scaling.
  const JsonObject* parameters = nullptr;
  std::string layer_type{};
  std::vector<Index> layers{};
  /// Its parameters stand within a layer type's.
  bool nested = false;
  /// The base is rope_local_base_freq.
  bool local_base = false;
  /// The base is global_rope_theta.
  bool global_base = false;
  /// The base is the class's, whatever the file says outside.
  bool fixed_base = false;
  /// The head is global_head_dim wide.
  bool global_head = false;
};

class ConfigReader {
 public:
  /// `top` is the whole file, `text` its part about text, or the same.
  ConfigReader(const JsonObject& top, const JsonObject& text);

  const Family* family() const { return family_; }
  LayerRule rule() const;
  const JsonObject& text() const { return text_; }
  /// Architecture and counts; layers are the caller's.
  ModelRope model() const;
  /// The base of a rotation that is alike in all layers.
  double base_of(const JsonObject* parameters) const { return base({parameters, "", {}}); }
  /// Throws eigen_rope::Error.
  LayerRope layer(const LayerKind& kind) const;

 private:
  std::string known_as(const char* key) const;
  Index count(std::initializer_list<const char*> names, Index family_value, Index most) const;
  Index head_dims(const LayerKind& kind) const;
  Index read_head_dims(const LayerKind& kind) const;
  double base(const LayerKind& kind) const;
  /// The family's where neither place has it.
  double fraction(const LayerKind& kind, const std::string& type, Index head_dims) const;
  double followed(const LayerKind& kind, const JsonObject& owner, const char* name, double value,
                  const std::string& type, Index head_dims) const;
  const char* fraction_name() const;
  void mind_unread(const char* name) const;
  Index rotary_dims(const LayerKind& kind, const std::string& type, Index head_dims,
                    double fraction) const;
  std::optional<Pairing> pairing(Index head_dims, Index rotary_dims) const;
  std::optional<JsonObject> layer_part(Index layer) const;
  std::optional<Index> per_layer_head_dim(const LayerKind& kind) const;
  std::optional<Sections> default_sections(const std::string& path, Index pairs) const;
  const char* section_name(const JsonObject& parameters) const;
  std::optional<Sections> sections(const JsonObject& parameters, Index pairs) const;

  const JsonObject& text_;
  std::string model_type_;
  const Family* family_;
  Index context_ = 0;
  std::string context_path_;
};

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
