# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch, which need its package: read and written where they lie, by DLPack."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import LlamaConfig

import eigen_rope as er

CACHE = er.Cache(er.Frequencies(er.Powers(16)), er.Positions.range(3, 5))
SHAPE = (2, 5, 3, 16)


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotate split-half pairs in float64."""
    rates = 10000.0 ** (-torch.arange(8, dtype=torch.float64) / 8)
    angle = torch.arange(3, 8, dtype=torch.float64)[:, None] * rates
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x.double().chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("transposed", [False, True])
def test_tensors_are_rotated_where_they_lie(dtype, transposed):
    x = torch.rand(SHAPE).to(dtype)
    if transposed:  # heads before tokens in memory
        x = x.transpose(1, 2).contiguous().transpose(1, 2)
    expected, address = rotated(x), x.data_ptr()
    out = torch.empty_like(x)
    assert er.rotate(x, CACHE, "split_half", out=out) is out
    assert er.rotate_inplace(x, CACHE, "split_half") is x
    assert x.data_ptr() == address
    torch.testing.assert_close(x, out, rtol=0, atol=0)
    tolerance = 3 * torch.finfo(dtype).eps
    torch.testing.assert_close(x.double(), expected, rtol=0, atol=tolerance)


def test_a_result_is_an_array_of_numpy():
    x = torch.rand(SHAPE, dtype=torch.bfloat16)
    y = er.rotate(x, CACHE, "split_half")
    assert type(y) is np.ndarray
    assert y.dtype.name == "bfloat16"
    assert torch.from_numpy(y.view(np.uint16)).view(torch.bfloat16).shape == x.shape


def test_what_is_no_memory_of_the_cpu_or_part_of_a_graph_is_refused():
    parameter = torch.rand(SHAPE, requires_grad=True)
    before = parameter.detach().clone()
    for call in (er.rotate, er.rotate_inplace):
        with pytest.raises(ValueError, match=r"^\[rope\] x must not require a gradient: "):
            call(parameter, CACHE, "split_half")
    assert torch.equal(parameter, before)
    with pytest.raises(ValueError, match=r"^\[rope\] x must be in the CPU's memory, got meta$"):
        er.rotate(torch.empty(SHAPE, device="meta"), CACHE, "split_half")
    with pytest.raises(ValueError, match=r"^\[rope\] x must be of float16, .*, got torch.int32$"):
        er.rotate(torch.zeros(SHAPE, dtype=torch.int32), CACHE, "split_half")


def test_a_configuration_of_transformers():
    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": 50000.0,
            "factor": 4.0,
            "original_max_position_embeddings": 1024,
        },
        max_position_embeddings=4096,
    )
    layer = er.from_config(config).layers[0]
    assert layer.powers == er.Powers(16, base=50000.0)
    assert layer.scaling == er.Yarn(factor=4.0, original_context=1024)
    assert layer.pairing == er.Pairing("split_half")
