// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <eigen_rope/any/any.hpp>
#include <eigen_rope/operators/onnx.hpp>
#include <string>

namespace eigen_rope_onnxruntime {
namespace {

/// Shapes whose memory the thread keeps, so that a call asks for none.
struct Tensors {
  er::onnx::Inputs inputs;
  er::onnx::Tensor Y;
};

Tensors& tensors_of_thread() {
  thread_local Tensors tensors;
  return tensors;
}

/// Where a node has its inputs.
struct Places {
  std::size_t cos;
  std::size_t ids;
};

template <class Node>
constexpr Places places{2, 1};
template <>
constexpr Places places<er::onnx::RotaryEmbedding>{1, 3};

template <class Node>
class NodeKernel final : public Kernel {
 public:
  NodeKernel(const Runtime& runtime, Types types, std::size_t inputs, Node node)
      : Kernel(runtime, types, inputs), node_(std::move(node)) {
    er::onnx::check(node_);
  }

  void compute(const Context& context) const override {
    auto& [from, Y] = tensors_of_thread();
    constexpr Places place = places<Node>;
    from.X.type = from.cos_cache.type = from.sin_cache.type = Y.type = types().x;
    required("X", context.read(0, inputs(), from.X.shape, from.X.data));
    required("cos_cache",
             context.read(place.cos, inputs(), from.cos_cache.shape, from.cos_cache.data));
    required("sin_cache",
             context.read(place.cos + 1, inputs(), from.sin_cache.shape, from.sin_cache.data));
    if (!from.position_ids) from.position_ids.emplace();
    const void* ids = nullptr;
    if (context.read(place.ids, inputs(), from.position_ids->shape, ids)) {
      from.position_ids->data = static_cast<const std::int64_t*>(ids);
    } else {
      from.position_ids.reset();
    }
    Y.shape = from.X.shape;
    Y.data = context.output(Y.shape);
    const Threads threads(context);
    er::onnx::run(node_, from, Y, threads.device());
  }

 private:
  static void required(const char* name, bool found) {
    if (!found) throw er::Error(std::string("[rope] ") + name + " is a required input, got none");
  }

  Node node_;
};

/// The library's own rotation, whose table has the axes of x, or the last ones of them.
class RotationKernel final : public Kernel {
 public:
  RotationKernel(const Runtime& runtime, Types types, std::size_t inputs,
                 const Attributes& attributes)
      : Kernel(runtime, types, inputs),
        pairing_(er::any::pairing_of(attributes.text("pairing", "split_half"))),
        direction_(er::any::direction_of(attributes.text("direction", "forward"))),
        axis_(attributes.integer("axis", -1)) {
    const std::int64_t rotary_dims = attributes.integer("rotary_dims", 0);
    const std::int64_t offset = attributes.integer("offset", 0);
    if (rotary_dims < 0) refuse("rotary_dims must not be negative", rotary_dims);
    if (rotary_dims % 2 != 0) refuse("rotary_dims must be even", rotary_dims);
    if (offset < 0) refuse("offset must not be negative", offset);
    if (axis_ < -er::max_rank || axis_ >= er::max_rank)
      refuse("axis must be in [-8, 7], as tensors have at most 8 axes", axis_);
    if (rotary_dims != 0) pairing_ = pairing_.with_rotary_dims(rotary_dims);
    pairing_ = pairing_.with_offset(offset);
  }

  void compute(const Context& context) const override {
    thread_local Dims x_shape, cos_shape, sin_shape;
    const void *x = nullptr, *cos = nullptr, *sin = nullptr;
    context.read(0, inputs(), x_shape, x);
    context.read(1, inputs(), cos_shape, cos);
    context.read(2, inputs(), sin_shape, sin);
    const auto from = view(types().x, x, x_shape, "x");
    const auto of_cos = view(types().table, cos, cos_shape, "cos");
    const auto of_sin = view(types().table, sin, sin_shape, "sin");
    er::any::Table table = er::any::table_of(of_cos, of_sin);
    const int rank = from.shape.rank();
    if (axis_ < -rank || axis_ >= rank) {
      refuse("axis must be in [" + std::to_string(-rank) + ", " + std::to_string(rank - 1) + "]",
             axis_);
    }
    // Counted from the last, as a table may have fewer axes than x.
    const int axis = static_cast<int>(axis_ < 0 ? axis_ : axis_ - rank);
    er::Pairing pairing = pairing_;
    if (axis != -1) {
      pairing = pairing.along(rank + axis);
      table.feature_axis = table.shape.rank() + axis;
    }
    const er::any::Tensor to{from.type, context.output(x_shape), from.shape};
    const Threads threads(context);
    er::any::rotate_to(to, from, table, pairing, direction_, threads.device());
  }

 private:
  [[noreturn]] static void refuse(const std::string& rule, std::int64_t got) {
    throw er::Error("[rope] " + rule + ", got " + std::to_string(got));
  }

  static er::any::ConstTensor view(er::ScalarType type, const void* data, const Dims& shape,
                                   const char* name) {
    if (shape.size() > static_cast<std::size_t>(er::max_rank)) {
      refuse(std::string(name) + " must have at most 8 axes",
             static_cast<std::int64_t>(shape.size()));
    }
    return er::any::tensor(type, data, static_cast<int>(shape.size()), shape.data());
  }

  er::Pairing pairing_;
  er::Direction direction_;
  std::int64_t axis_;
};

/// An attribute, and which operators have it.
struct Known {
  const char* name;
  bool standard, contrib, multi_axis, rotation;

  bool of(Contract contract) const {
    switch (contract) {
      case Contract::standard: return standard;
      case Contract::contrib: return contrib;
      case Contract::multi_axis: return multi_axis;
      case Contract::rotation: break;
    }
    return rotation;
  }
};

constexpr Known known_attributes[] = {
    {"axis", false, false, false, true},
    {"direction", false, false, false, true},
    {"interleaved", true, true, true, false},
    {"is_packed_batching", false, true, false, false},
    {"mrope_layout", false, false, true, false},
    {"mrope_section", false, false, true, false},
    {"num_heads", true, true, true, false},
    {"offset", false, false, false, true},
    {"pairing", false, false, false, true},
    {"rotary_dims", false, false, false, true},
    {"rotary_embedding_dim", true, true, true, false},
    {"scale", false, true, true, false},
};

/// Throws for an attribute of one of the other operators. ONNX Runtime does not say which ones a
/// node has, so those that no operator knows go unnoticed.
void refuse_attributes_of_others(Contract contract, const Attributes& attributes) {
  std::string names;
  for (const Known& known : known_attributes) {
    if (known.of(contract)) names += std::string(names.empty() ? "" : ", ") + known.name;
  }
  for (const Known& known : known_attributes) {
    if (!known.of(contract) && attributes.has(known.name))
      throw er::Error("[rope] the attributes must be among " + names + ", got " + known.name);
  }
}

template <class Node>
Node common_attributes(const Attributes& attributes) {
  Node node;
  node.interleaved = attributes.integer("interleaved", node.interleaved);
  node.num_heads = attributes.integer("num_heads", node.num_heads);
  node.rotary_embedding_dim = attributes.integer("rotary_embedding_dim", node.rotary_embedding_dim);
  return node;
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(Contract contract, const Runtime& runtime, Types types,
                                    std::size_t inputs, const Attributes& attributes) {
  refuse_attributes_of_others(contract, attributes);
  switch (contract) {
    case Contract::standard: {
      auto node = common_attributes<er::onnx::RotaryEmbedding>(attributes);
      return std::make_unique<NodeKernel<er::onnx::RotaryEmbedding>>(runtime, types, inputs, node);
    }
    case Contract::contrib: {
      auto node = common_attributes<er::onnx::ContribRotaryEmbedding>(attributes);
      node.scale = attributes.number("scale", node.scale);
      node.is_packed_batching = attributes.integer("is_packed_batching", node.is_packed_batching);
      return std::make_unique<NodeKernel<er::onnx::ContribRotaryEmbedding>>(runtime, types, inputs,
                                                                            node);
    }
    case Contract::multi_axis: {
      auto node = common_attributes<er::onnx::MRotaryEmbedding>(attributes);
      node.scale = attributes.number("scale", node.scale);
      node.mrope_layout = attributes.integer("mrope_layout", node.mrope_layout);
      auto sections = attributes.integers("mrope_section");
      if (!sections) throw er::Error("[rope] attribute mrope_section is required, got none");
      node.mrope_section = *std::move(sections);
      return std::make_unique<NodeKernel<er::onnx::MRotaryEmbedding>>(runtime, types, inputs, node);
    }
    case Contract::rotation: break;
  }
  return std::make_unique<RotationKernel>(runtime, types, inputs, attributes);
}

}  // namespace eigen_rope_onnxruntime
