# SPDX-License-Identifier: Apache-2.0
"""The layer of Keras: values, positions, policies, models, training, files."""

import json
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er
import matrices

HUB = json.loads((Path(__file__).parent / "keras_hub.json").read_text())


def angles(positions, dims, base=10000.0):
    return np.asarray(positions)[..., None] * base ** (-np.arange(0, dims, 2) / dims)


def turned(x, positions, **options):
    """x [batch, tokens, heads, D] by the definition."""
    angle = angles(positions, options.pop("dims", x.shape[-1]), options.pop("base", 10000.0))
    return matrices.rotate(x, np.cos(angle)[..., None, :], np.sin(angle)[..., None, :], **options)


@pytest.fixture
def x(random):
    return random.normal(size=(2, 5, 3, 8)).astype(np.float32)


@pytest.mark.parametrize("case", HUB["cases"], ids=lambda case: case["name"])
def test_keras_hub(case):
    """What the layer of that name in keras_hub has given."""
    layer = er.RotaryEmbedding(**case["options"])
    y = layer(np.float32(case["x"]), **case["call"])
    np.testing.assert_allclose(y, np.float32(case["y"]), atol=1e-6)


@pytest.mark.parametrize("pairing", matrices.PAIRINGS)
def test_pairings_and_windows(x, pairing):
    layer = er.RotaryEmbedding(pairing, base=500.0, rotary_dims=4, offset=2)
    expected = turned(x, range(5), dims=4, base=500.0, pairing=pairing, rotary_dims=4, offset=2)
    np.testing.assert_allclose(layer(x), expected, atol=1e-6)


def test_where_tokens_stand(x):
    layer = er.RotaryEmbedding()
    for start in (0, 7, tf.constant(7), 127_000, np.int64(3)):
        expected = turned(x, np.arange(5) + int(start))
        np.testing.assert_allclose(layer(x, start_index=start), expected, atol=1e-6)
    np.testing.assert_allclose(
        layer(x, start_index=tf.constant([2, 30])),
        turned(x, np.arange(5) + np.array([[2], [30]])),
        atol=1e-6,
    )
    ids = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    np.testing.assert_allclose(layer(x, positions=ids[0]), turned(x, ids[0]), atol=1e-6)
    np.testing.assert_allclose(layer(x, positions=ids), turned(x, ids), atol=1e-6)
    np.testing.assert_allclose(layer(x, positions=ids + 0.5), turned(x, ids + 0.5), atol=1e-6)


@pytest.mark.parametrize(
    ("sequence", "features"), [(1, 3), (2, 3), (-2, -1), (3, 1), (2, 1), (0, 3), (3, 0)]
)
def test_axes(random, sequence, features):
    shape = [2, 3, 2, 3]
    shape[sequence], shape[features] = 5, 8
    x = random.normal(size=shape).astype(np.float32)
    layer = er.RotaryEmbedding(sequence_axis=sequence, feature_axis=features)
    moved = np.moveaxis(x, (sequence, features), (-2, -1))
    angle = angles(range(5), 8)
    expected = matrices.rotate(moved, np.cos(angle), np.sin(angle))
    np.testing.assert_allclose(
        layer(x), np.moveaxis(expected, (-2, -1), (sequence, features)), atol=1e-6
    )


def test_scalings(x):
    scaling = {"name": "linear", "factor": 4.0}
    layer = er.RotaryEmbedding(scaling=scaling)
    np.testing.assert_allclose(layer(x), turned(x, np.arange(5) / 4), atol=1e-6)
    explicit = er.RotaryEmbedding(rates=10000.0 ** (-np.arange(4) / 4) / 4, attention_factor=1.5)
    np.testing.assert_allclose(explicit(x), 1.5 * turned(x, np.arange(5) / 4), atol=1e-6)
    yarn = {"name": "yarn", "factor": 4.0, "original_context": 64}
    _, m = er.rates("yarn", rotary_dims=8, factor=4.0, original_context=64)
    first = er.RotaryEmbedding(scaling=yarn)(x)[:, 0]  # at position 0 only m is left
    np.testing.assert_allclose(first, float(m) * x[:, 0], rtol=1e-6)


@pytest.mark.parametrize(
    ("policy", "dtype", "error"),
    [
        ("float32", "float32", 1e-6),
        ("float64", "float64", 1e-12),
        ("mixed_bfloat16", "bfloat16", 2**-8),
        ("mixed_float16", "float16", 2**-11),
        ("bfloat16", "bfloat16", 2**-8),
    ],
)
def test_policies_round_once(x, policy, dtype, error):
    layer = er.RotaryEmbedding(dtype=policy)
    positions = np.arange(5, dtype=np.float32) + 4099  # bfloat16 has none of these
    y = layer(x, positions=positions)
    assert y.dtype == dtype
    given = tf.cast(x, dtype).numpy().astype(np.float64)
    expected = turned(given, positions)
    size = np.hypot(*np.split(given, 2, -1))
    off = np.abs(y.numpy().astype(np.float64) - expected)
    assert (off <= error * np.concatenate((size, size), -1) + 1e-15).all()


def model_of(positions=False, tokens=None, **options):
    inputs = [keras.Input((tokens, 3, 8))]
    given = {}
    if positions:
        inputs.append(keras.Input((None,), dtype="int32"))
        given["positions"] = inputs[1]
    h = keras.layers.Dense(8)(inputs[0])
    h = er.RotaryEmbedding(name="turn", **options)(h, **given)
    return keras.Model(inputs if positions else inputs[0], keras.layers.Dense(1)(h))


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize(("positions", "tokens"), [(False, None), (True, None), (False, 5)])
def test_models_are_trained_and_saved(x, tmp_path, policy, positions, tokens):
    keras.utils.set_random_seed(1)
    scaling = {"name": "llama3", "factor": 8.0, "original_context": 64}
    model = model_of(positions, tokens, scaling=scaling, dtype=policy)
    model.compile("adam", "mse")
    assert not model.jit_compile  # which compile() found out by itself
    given = [x, np.tile(np.arange(5), (2, 1))] if positions else x
    history = model.fit(given, np.ones((2, 5, 3, 1)), epochs=5, verbose=0).history["loss"]
    assert history[-1] < history[0]
    before = model.predict(given, verbose=0)
    model.save(tmp_path / "model.keras")
    code = """
import sys, numpy, keras, eigen_rope_tensorflow
model = keras.models.load_model(sys.argv[1])
given = [t for t in numpy.load(sys.argv[2]).values()]
numpy.save(sys.argv[3], model.predict(given if len(given) > 1 else given[0], verbose=0))
"""
    np.savez(tmp_path / "given.npz", *(given if positions else [given]))
    files = [str(tmp_path / name) for name in ("model.keras", "given.npz", "after.npy")]
    subprocess.run([sys.executable, "-P", "-c", code, *files], check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(files[2]), before)
    model.export(tmp_path / "exported", verbose=False)
    exported = tf.saved_model.load(tmp_path / "exported")
    tensors = [tf.constant(t) for t in given] if positions else tf.constant(given)
    if positions:
        tensors[1] = tf.cast(tensors[1], tf.int32)
    np.testing.assert_allclose(exported.serve(tensors), before, atol=1e-6)


def test_has_no_weights_and_keeps_shape_and_mask(x):
    layer = er.RotaryEmbedding()
    out = layer(keras.KerasTensor((None, None, 3, 8), dtype="float32"))
    assert out.shape == (None, None, 3, 8)
    assert layer.weights == []
    assert layer.supports_masking
    again = er.RotaryEmbedding.from_config(json.loads(json.dumps(layer.get_config())))
    np.testing.assert_array_equal(again(x), layer(x))


def test_functions_take_any_number_of_tokens(x):
    layer = er.RotaryEmbedding()
    spec = [tf.TensorSpec((None, None, 3, 8)), tf.TensorSpec((), tf.int32)]
    function = tf.function(lambda x, start: layer(x, start_index=start), input_signature=spec)
    np.testing.assert_allclose(function(x[:, :4], 2), turned(x[:, :4], np.arange(4) + 2), atol=1e-6)
    np.testing.assert_allclose(function(x, 9), turned(x, np.arange(5) + 9), atol=1e-6)


BAD = [
    ({"pairing": "halves"}, (2, 5, 8), {}, "pairing must be split_half"),
    ({"feature_axis": 3}, (2, 5, 8), {}, r"feature_axis must be in \[-3, 2\], got 3"),
    ({"sequence_axis": 2}, (2, 5, 8), {}, "sequence_axis must be another axis"),
    ({"scaling": {"name": "llama4"}}, (2, 5, 8), {}, "scaling must be one of.*got llama4"),
    ({"scaling": {"factor": 2.0}}, (2, 5, 8), {}, "scaling must be a dict with the name.*factor"),
    ({"scaling": "llama3"}, (2, 5, 8), {}, "scaling must be a dict with the name.*'llama3'"),
    ({}, (2, 5, 8), {"start_index": 1.5}, "start_index must be an integer"),
    ({}, (2, 5, 8), {"start_index": None}, "start_index must be a tensor, got NoneType"),
    ({"rates": [1.0], "scaling": {"name": "linear"}}, (2, 5, 8), {}, "rates must not be given"),
    ({"rates": [1.0]}, (2, 5, 8), {}, "rates must be one for each of 4 pairs, got 1"),
    ({"rotary_dims": 16}, (2, 5, 8), {}, "window must lie in rows of 8"),
    ({}, (2, 5, 7), {}, "rotary.*7"),
    ({}, (2, 5, 8), {"positions": [1, 2]}, "cos must have 1 or 5"),
    ({}, (2, 5, 8), {"positions": [[[1]]]}, r"positions must be \[tokens\] or \[batch, tokens\]"),
    ({"sequence_axis": 0}, (5, 2, 8), {"positions": [[1] * 5] * 2}, "positions of each sequence"),
]


@pytest.mark.parametrize(("options", "shape", "call", "words"), BAD, ids=[b[3] for b in BAD])
def test_refused_in_one_sentence(options, shape, call, words):
    with pytest.raises(
        (ValueError, TypeError, tf.errors.InvalidArgumentError), match=words
    ) as error:
        er.RotaryEmbedding(**options)(np.zeros(shape, np.float32), **call)
    lines = [line for line in str(error.value).splitlines() if "[rope]" in line]
    assert len(lines) == 1


def test_integers_are_refused():
    with pytest.raises((TypeError, ValueError), match=r"\[rope\] x must be of float16"):
        er.RotaryEmbedding()(np.zeros((2, 5, 8), np.int32))


def test_a_functional_model_without_the_layer_is_told_of_it():
    with pytest.raises(TypeError, match=r"^\[rope\] x must be a tensor, got a KerasTensor"):
        er.rotate(keras.Input((5, 8)), np.ones((5, 4)), np.ones((5, 4)))


def test_other_backends_are_refused(monkeypatch):
    monkeypatch.setattr(keras.config, "backend", lambda: "jax")
    with pytest.raises(ValueError, match=r"^\[rope\] RotaryEmbedding must run on .*, got jax"):
        er.RotaryEmbedding()
