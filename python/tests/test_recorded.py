# SPDX-License-Identifier: Apache-2.0
"""The recorded answers of other systems: Ascend's operator, ggml's, and scalings to 20 digits."""

from __future__ import annotations

import numpy as np
import pytest
import recorded

import eigen_rope as er

ACLNN = recorded.index("aclnn/cases.json")
GGML = [
    case
    for case in recorded.index("ggml/cases.json")["cases"]
    if case["mode_name"] in ("normal", "neox", "mrope", "imrope")
]
SCALINGS = {
    name: case for name, case in recorded.index("scaling/inv_freq.json").items() if name[0] != "_"
}
MODES = {
    "half": "split_half",
    "interleave": "interleaved",
    "quarter": "quarter",
    "interleave-half": "interleaved_to_split_half",
}


@pytest.mark.parametrize("case", ACLNN, ids=lambda case: case["name"])
def test_ascend(case):
    """Forward, backward, dcos and dsin of arbitrary tables, one entry for each element."""
    t = recorded.tensors("aclnn", case)
    pairing = MODES[case["mode_name"]]
    table = (t["cos"], t["sin"])
    epsilon = np.finfo(t["x"].dtype).eps
    sizes = 2 * (1 + np.abs(t["cos"]).max() + np.abs(t["sin"]).max())
    y = er.rotate(t["x"], table, pairing)
    assert np.abs(y - t["y"]).max() <= epsilon * sizes * np.abs(t["x"]).max()
    d = er.gradients(t["dy"], table, pairing, x=t["x"], wanted=["dx", "table"])
    assert np.abs(d.dx - t["dx"]).max() <= epsilon * sizes * np.abs(t["dy"]).max()
    shape = (1,) * (t["x"].ndim - t["cos"].ndim) + t["cos"].shape
    for got, expected in ((d.cos, t["dcos"]), (d.sin, t["dsin"])):
        np.testing.assert_allclose(got.reshape(shape), expected.reshape(shape), 1e-6, 1e-6)


def ggml_frequencies(case):
    """Return the frequencies of a case, in the library's words."""
    powers = er.Powers(
        case["n_dims"],
        base=case["freq_base"],
        linear_scale=case["freq_scale"],
        attention_factor=case["attn_factor"],
        factors=recorded.ggml_array(case["freq_factors"]) if case["freq_factors"] else (),
    )
    scaling = None
    if case["ext_factor"] != 0:
        scaling = er.GgmlYarn(
            ext_factor=case["ext_factor"],
            original_context=case["n_ctx_orig"],
            beta_fast=case["beta_fast"],
            beta_slow=case["beta_slow"],
        )
    return er.Frequencies(powers, scaling)


def ggml_rotation(case):
    """Return the cache and the pairing of a case."""
    ids = recorded.ggml_array(case["positions"])
    positions = er.Positions.ids(ids)
    if case["mode_name"] in ("mrope", "imrope"):
        pattern = {"mrope": "contiguous", "imrope": "interleaved_ggml"}[case["mode_name"]]
        positions = er.Positions.multi_axis(
            ids.reshape(4, -1), er.Sections(pattern, case["sections"])
        )
    cache = er.Cache(ggml_frequencies(case), positions)
    kind = "interleaved" if case["mode_name"] == "normal" else "split_half"
    return cache, er.Pairing(kind, rotary_dims=case["n_dims"], offset=case["n_offs"])


@pytest.mark.parametrize("group", sorted({case["group"] for case in GGML}))
def test_ggml(group):
    """ggml forms angles in float, so it is as far from us as from its recorded double answer."""
    cases = [case for case in GGML if case["group"] == group]
    assert cases
    for case in cases:
        x = recorded.ggml_array(case["input"]).reshape(case["ne"][::-1])
        expected = recorded.ggml_array(case["output"]).reshape(x.shape)
        x = x.astype(np.float16 if case["type"] == "f16" else np.float32)
        cache, pairing = ggml_rotation(case)
        function = {"forward": er.rotate, "backward": er.rotate_backward}[case["direction"]]
        y = function(x, cache, pairing).astype(np.float64)
        size = np.abs(x).max() * max(1.0, abs(case["attn_factor"]))
        rounding = 4 * np.finfo(x.dtype).eps * size
        bound = case["max_abs_err_vs_double"] * 1.01 + rounding
        assert np.abs(y - expected).max() <= bound, case["id"]


def scaling_of(case):
    """Return powers, scaling and length of a case, in the library's words."""
    p = case["params"]
    dims = p.get("dim") or p["head_dim"]
    kind = case["type"]
    length = p.get("seq_len", 0)
    if kind == "default":
        return er.Powers(int(dims * p.get("partial", 1)), base=p["base"]), None, 0
    powers = er.Powers(dims, base=p["base"])
    if kind == "linear":
        return powers, er.Linear(factor=p["factor"]), 0
    if kind == "dynamic":
        one = er.DynamicNtkScaling(factor=p["factor"], original_context=p["max_pos"])
        return powers, one, length
    if kind.startswith("ntk"):
        return powers, er.NtkScaling(factor=p["factor"], mixed_b=p.get("mixed_b", 1.0)), 0
    if kind == "proportional":
        return powers, er.Proportional(rotated_pairs=int(dims * p["partial"]) // 2), 0
    if kind == "llama3":
        one = er.Llama3(
            factor=p["factor"],
            low_freq_factor=p["low"],
            high_freq_factor=p["high"],
            original_context=p["original"],
        )
        return powers, one, 0
    if kind == "longrope":
        one = er.LongRope(
            short_factor=p["short_factor"],
            long_factor=p["long_factor"],
            original_context=p["orig"],
            factor=p["factor"],
        )
        return powers, one, length
    assert kind == "yarn"
    one = er.Yarn(
        factor=p["factor"],
        original_context=p["original"],
        beta_fast=p.get("beta_fast", 32),
        beta_slow=p.get("beta_slow", 1),
        ends="rounded" if p.get("truncate", True) else "exact",
        mscale=p.get("mscale"),
        mscale_all_dim=p.get("mscale_all_dim", 0.0),
    )
    return powers, one, 0


@pytest.mark.parametrize("name", SCALINGS)
def test_scalings(name):
    case = SCALINGS[name]
    powers, scaling, length = scaling_of(case)
    frequencies = er.Frequencies(powers, scaling, length=length)
    expected = [float(rate) for rate in case["inv_freq"]]
    np.testing.assert_array_max_ulp(frequencies.rates, np.array(expected), 4)
    assert abs(frequencies.attention_factor - float(case["attention_factor"])) <= 1e-15
