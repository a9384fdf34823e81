# SPDX-License-Identifier: Apache-2.0
"""10,000 calls leave no memory behind, whether they succeed or are refused."""

import contextlib

import torch

import eigen_rope_torch as er
from leaks import left_behind


def test_no_call_leaves_memory_behind():
    x = torch.randn(2, 3, 4, 64, requires_grad=True)
    cos, sin = (t.requires_grad_() for t in (torch.rand(3, 1, 32), torch.rand(3, 1, 32)))
    rates = torch.rand(32, requires_grad=True)

    def forward():
        with torch.no_grad():
            er.rotate_(er.rotate(x, cos, sin), cos, sin)

    def backward():
        y = er.rotate(x, cos, sin).sum() + er.table(rates, torch.arange(3))[0].sum()
        torch.autograd.grad(y, (x, cos, rates))

    def refused():
        with contextlib.suppress(RuntimeError, ValueError):
            er.rotate(x, cos[:2], sin[:2])

    for call in (forward, backward, refused):
        process, python = left_behind(call)
        # A tensor of 6 KiB a call would be 60 MB, and 16 bytes a call 160 KB.
        assert process < 4 << 20, call
        assert python < 64 << 10, call
