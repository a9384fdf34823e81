# SPDX-License-Identifier: Apache-2.0
"""The recorded answers of other systems: Ascend's operator with its gradients, and ggml's."""

import runpy

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import recorded

import eigen_rope.jax as er

_numpy = runpy.run_path(str(recorded.REPOSITORY / "python/tests/test_recorded.py"))
MODES, ggml_frequencies = _numpy["MODES"], _numpy["ggml_frequencies"]
GGML = [case for case in _numpy["GGML"] if case["mode_name"] in ("normal", "neox")]


@pytest.mark.parametrize("case", recorded.index("aclnn/cases.json"), ids=lambda case: case["name"])
def test_ascend(case):
    """Forward, backward, dcos and dsin of arbitrary tables, one entry for each element."""
    t = recorded.tensors("aclnn", case)
    pairing = MODES[case["mode_name"]]
    epsilon = np.finfo(t["x"].dtype).eps
    sizes = 2 * (1 + np.abs(t["cos"]).max() + np.abs(t["sin"]).max())
    y, vjp = jax.vjp(
        lambda x, cos, sin: er.rotate(x, cos, sin, pairing), *(t[n] for n in ("x", "cos", "sin"))
    )
    dx, dcos, dsin = vjp(jnp.asarray(t["dy"]))
    assert np.abs(y - t["y"]).max() <= epsilon * sizes * np.abs(t["x"]).max()
    assert np.abs(dx - t["dx"]).max() <= epsilon * sizes * np.abs(t["dy"]).max()
    for ours, expected in ((dcos, t["dcos"]), (dsin, t["dsin"])):
        # Recorded in float; a gradient of JAX has the type of what it is of.
        assert ours.shape == expected.shape
        assert ours.dtype == t["cos"].dtype
        allowed = max(1e-6, epsilon)
        np.testing.assert_allclose(ours.astype(np.float32), expected, allowed, allowed)


@pytest.mark.parametrize("group", sorted({case["group"] for case in GGML}))
def test_ggml(group):
    """ggml forms angles in float, so it is as far from us as from its recorded double answer."""
    for case in (case for case in GGML if case["group"] == group):
        x = recorded.ggml_array(case["input"]).reshape(case["ne"][::-1])
        expected = recorded.ggml_array(case["output"]).reshape(x.shape)
        x = x.astype(np.float16 if case["type"] == "f16" else np.float32)
        cos, sin = er.table(ggml_frequencies(case), recorded.ggml_array(case["positions"]))
        y = er.rotate(
            x,
            cos[:, None],
            sin[:, None],
            "interleaved" if case["mode_name"] == "normal" else "split_half",
            direction=case["direction"],
            rotary_dims=case["n_dims"],
            offset=case["n_offs"],
        )
        size = np.abs(x).max() * max(1.0, abs(case["attn_factor"]))
        bound = case["max_abs_err_vs_double"] * 1.01 + 4 * np.finfo(x.dtype).eps * size
        assert np.abs(np.asarray(y, np.float64) - expected).max() <= bound, case["id"]
