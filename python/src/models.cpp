// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <eigen_rope/models/gguf.hpp>
#include <eigen_rope/models/hugging_face.hpp>
#include <eigen_rope/models/model_rope.hpp>
#include <filesystem>
#include <string>

#include "bindings.hpp"
#include "pairing.hpp"
#include "parameters.hpp"

namespace eigen_rope_python {
namespace {

using er::models::LayerRope;
using er::models::ModelRope;
using er::models::Strictness;

Strictness strictness(bool strict) { return strict ? Strictness::strict : Strictness::lenient; }

nb::object pairing_of(const LayerRope& layer) {
  if (!layer.pairing) return nb::none();
  return nb::cast(pairing_of_model(*layer.pairing, layer.head_dims));
}

void bind_layer(nb::module_& module) {
  nb::class_<LayerRope>(module, "LayerRope", R"(
The rotation of one kind of layer of a model.

>>> layer = from_config("config.json").layers[0]
>>> cache = Cache(layer.frequencies(tokens), Positions.range(0, tokens))
>>> y = rotate(x, cache, layer.pairing))")
      .def_ro("layer_type", &LayerRope::layer_type,
              "The layer type as the file names it; empty where all layers are alike.")
      .def_ro("layers", &LayerRope::layers,
              "The numbers of these layers; empty where all layers are alike or the file does not "
              "say.")
      .def_ro("head_dims", &LayerRope::head_dims, "The width of a row.")
      .def_prop_ro(
          "powers", [](const LayerRope& self) { return to_python(self.powers); },
          nb::sig("def powers(self) -> eigen_rope.Powers"), "The rates before scaling.")
      .def_prop_ro(
          "scaling", [](const LayerRope& self) { return to_python(self.scaling); },
          nb::sig("def scaling(self) -> eigen_rope.Scaling | None"), "The scaling, or None.")
      .def_prop_ro("pairing", &pairing_of, nb::sig("def pairing(self) -> Pairing | None"),
                   "The pairing with its window; None where it is not known.")
      .def_ro("sections", &LayerRope::sections,
              "The sections of models whose tokens have several positions, or None.")
      .def_ro("softmax_multiplier", &LayerRope::softmax_multiplier,
              "The factor of the logits besides 1 / sqrt(d); no part of the frequencies.")
      .def("frequencies", &LayerRope::frequencies, nb::arg("length") = 0, R"(
Return the rates and the attention factor of these layers.

Args:
    length: the number of tokens of the sequence, for scalings that depend on it.

Raises:
    ValueError: in the cases of Frequencies.)")
      .def("__repr__", [](const LayerRope& self) {
        return "LayerRope(" + (self.layer_type.empty() ? "" : self.layer_type + ": ") +
               self.frequencies().text() + ")";
      });
}

}  // namespace

void bind_models(nb::module_& module) {
  bind_layer(module);
  nb::class_<ModelRope>(module, "ModelRope", R"(
The rotation of a model, as its files describe it. from_config() makes it.

Counts are 0 where the file does not say.)")
      .def_ro("architecture", &ModelRope::architecture, "The file's name for the architecture.")
      .def_ro("context", &ModelRope::context, "The number of tokens the model is meant for.")
      .def_ro("layer_count", &ModelRope::layer_count, "The number of layers.")
      .def_ro("heads", &ModelRope::heads, "The number of query heads.")
      .def_ro("key_heads", &ModelRope::key_heads, "The number of key and value heads.")
      .def_ro("layers", &ModelRope::layers, "The kinds of layers that rotate; at least one.")
      .def_ro("warnings", &ModelRope::warnings, "Remarks on the file, one sentence each.")
      .def("__repr__", [](const ModelRope& self) {
        return "ModelRope(" + self.architecture + ", " + std::to_string(self.layers.size()) +
               (self.layers.size() == 1 ? " kind of layer)" : " kinds of layers)");
      });
  module.def(
      "read_gguf",
      [](const std::filesystem::path& path, bool strict) {
        return er::models::read_gguf(path, strictness(strict));
      },
      nb::arg("path"), nb::arg("strict"), nb::call_guard<nb::gil_scoped_release>(),
      nb::sig("def read_gguf(path: str | os.PathLike[str], strict: bool) -> ModelRope"));
  module.def(
      "read_hugging_face",
      [](const std::filesystem::path& path, bool strict) {
        return er::models::read_hugging_face(path, strictness(strict));
      },
      nb::arg("path"), nb::arg("strict"), nb::call_guard<nb::gil_scoped_release>(),
      nb::sig("def read_hugging_face(path: str | os.PathLike[str], strict: bool) -> ModelRope"));
  module.def(
      "parse_hugging_face",
      [](const std::string& text, bool strict) {
        return er::models::parse_hugging_face(text, strictness(strict));
      },
      nb::arg("text"), nb::arg("strict"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace eigen_rope_python
