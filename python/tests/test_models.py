# SPDX-License-Identifier: Apache-2.0
"""Models' files: what the readers' own recorded expectations say of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import recorded

import eigen_rope as er

MODELS = recorded.REPOSITORY / "tests" / "data" / "models"
GGUF = sorted((MODELS / "gguf").glob("*.gguf"))
RATES = json.loads((MODELS / "transformers_rates.json").read_text())["fixtures"]


@pytest.mark.parametrize("path", GGUF, ids=lambda path: path.stem)
def test_gguf(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    model = er.from_config(path)
    for name in ("architecture", "context", "layer_count", "heads", "key_heads"):
        assert getattr(model, name) == expected[name], name
    assert len(model.layers) == len(expected["layers"])
    for layer, other in zip(model.layers, expected["layers"], strict=True):
        assert layer.layer_type == other["layer_type"]
        assert layer.head_dims == other["head_dims"]
        assert layer.powers.rotary_dims == other["rotary_dims"]
        assert layer.powers.base == pytest.approx(other["base"], rel=1e-7)
        frequencies = layer.frequencies(model.context)
        np.testing.assert_allclose(frequencies.rates, other["rates"], 2e-6)


def config(name):
    return json.loads((MODELS / "hugging_face" / f"{name}.json").read_text())


def test_every_source_of_a_configuration_is_the_same(tmp_path):
    class Configuration:
        """As far as the reader can tell, an object of transformers."""

        def to_dict(self):
            return config("llama_3_1") | {"dtype": np.dtype("float16")}

    (tmp_path / "config.json").write_text(json.dumps(config("llama_3_1")))
    sources = [
        MODELS / "hugging_face" / "llama_3_1.json",
        str(MODELS / "hugging_face" / "llama_3_1.json"),
        tmp_path,
        config("llama_3_1"),
        Configuration(),
    ]
    for model in map(er.from_config, sources):
        (layer,) = model.layers
        assert model.architecture == "llama"
        assert layer.pairing == er.Pairing("split_half")
        assert layer.powers == er.Powers(128, base=500000.0)
        assert layer.scaling == er.Llama3(factor=8.0, original_context=8192)
        assert layer.frequencies() == er.Frequencies(layer.powers, layer.scaling)
        assert layer.sections is None
        assert layer.softmax_multiplier == 1.0


def test_sections_and_layer_types():
    assert er.from_config(config("qwen2_vl")).layers[0].sections == er.Sections(
        "contiguous", [16, 24, 24]
    )
    kinds = [layer.layer_type for layer in er.from_config(config("gemma_3")).layers]
    assert kinds == ["full_attention", "sliding_attention"]
    window = er.from_config(config("gpt_neox")).layers[0].pairing
    assert window == er.Pairing("split_half", rotary_dims=24)


def test_strictness():
    odd = config("llama_3_1") | {"rope_scaling": {"rope_type": "linear", "factor": 0.5}}
    with pytest.raises(ValueError, match=r"^\[rope\] [^\n]*factor"):
        er.from_config(odd)
    unknown = config("llama_3_1") | {"swa_rope_theta": 10000.0}
    with pytest.raises(ValueError, match=r"^\[rope\] [^\n]*swa_rope_theta"):
        er.from_config(unknown)
    assert any("swa_rope_theta" in line for line in er.from_config(unknown, strict=False).warnings)


def test_what_is_no_configuration(tmp_path):
    with pytest.raises(TypeError, match=r"^\[rope\] source must be a path, .*, got int$"):
        er.from_config(5)
    with pytest.raises(ValueError, match=r"^\[rope\] "):
        er.from_config(tmp_path / "missing.json")
    with pytest.raises(ValueError, match=r"^\[rope\] "):
        er.from_config(tmp_path / "missing.gguf")
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with pytest.raises(ValueError, match=r"^\[rope\] [^\n]*broken.gguf"):
        er.from_config(broken)
