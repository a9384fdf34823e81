# SPDX-License-Identifier: Apache-2.0
"""PyTorch as one of the peers: the formulas that models are written with, eager and compiled, on
[1, tokens, heads, head].

   eager     x * cos + rotate_half(x) * sin, full-width tables in x's scalar (Hugging Face)
   compiled  the same through torch.compile
   complex   view_as_complex(x) * table, in float (interleaved pairs only)
   package   rotary-embedding-torch, which forms sin and cos from its cached angles in every call
             (interleaved pairs only)
   ours, ours_inplace
             eigen_rope_torch, this library's operators, with half-width float tables

Outputs are allocated by PyTorch in every call: that is how it is used.
"""

import importlib.metadata
from typing import Callable

import numpy as np
import torch

from protocol import THREADS, Case, Contender, Pages, Request, random_input, serve

try:
    from rotary_embedding_torch import RotaryEmbedding
except ImportError:
    RotaryEmbedding = None

try:
    import eigen_rope_torch
except ImportError:
    eigen_rope_torch = None

Tensor = torch.Tensor
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def rotate_half(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_every_two(x: Tensor) -> Tensor:
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def split_half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return x * cos + rotate_half(x) * sin


def interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return x * cos + rotate_every_two(x) * sin


def partial_split_half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    width = cos.shape[-1]
    return torch.cat((split_half(x[..., :width], cos, sin), x[..., width:]), dim=-1)


def partial_interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    width = cos.shape[-1]
    return torch.cat((interleaved(x[..., :width], cos, sin), x[..., width:]), dim=-1)


def by_complex(x: Tensor, table: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * table).flatten(-2).type_as(x)


def partial_by_complex(x: Tensor, table: Tensor) -> Tensor:
    width = 2 * table.shape[-1]
    return torch.cat((by_complex(x[..., :width], table), x[..., width:]), dim=-1)


def make(request: Request) -> Case:
    dtype = TYPES[request.scalar]
    shape = (1, request.tokens, request.heads, request.head)
    size = int(np.prod(shape))
    storage = np.float32 if dtype == torch.float32 else np.uint16
    pages = Pages(size * np.dtype(storage).itemsize, 2)
    x = torch.from_numpy(pages.at(0, storage, shape)).view(dtype)
    y = pages.at(1, storage, shape)
    x.copy_(torch.from_numpy(random_input(request))[None])

    angles = torch.from_numpy(request.angles())[None, :, None, :]
    wide = (
        torch.cat((angles, angles), dim=-1)
        if request.split_half
        else angles.repeat_interleave(2, dim=-1)
    )
    cos, sin = wide.cos().to(dtype), wide.sin().to(dtype)
    whole = request.rotary == request.head
    formula = (
        (split_half if request.split_half else interleaved)
        if whole
        else (partial_split_half if request.split_half else partial_interleaved)
    )
    torch.compiler.reset()
    compiled = torch.compile(formula, dynamic=False)

    last: dict[str, Tensor] = {}

    def add(name: str, call: Callable[[], Tensor]) -> None:
        def run() -> None:
            last["y"] = call()

        contenders[name] = Contender(run, lambda: last["y"][0].float().numpy())

    contenders: dict[str, Contender] = {}
    add("eager", lambda: formula(x, cos, sin))
    add("compiled", lambda: compiled(x, cos, sin))
    if not request.split_half:
        table = torch.polar(torch.ones_like(angles), angles).to(torch.complex64)
        product = by_complex if whole else partial_by_complex
        add("complex", lambda: product(x, table))
        if RotaryEmbedding is not None:
            module = RotaryEmbedding(request.rotary, theta=request.base, seq_before_head_dim=True)
            add("package", lambda: module.rotate_queries_or_keys(x, offset=request.first_position))
    if eigen_rope_torch is not None:
        pairing = "split_half" if request.split_half else "interleaved"
        entries = angles.cos().to(torch.float32), angles.sin().to(torch.float32)
        rotary = None if whole else request.rotary
        again = x.clone()

        def ours() -> Tensor:
            return eigen_rope_torch.rotate(x, *entries, pairing, rotary_dims=rotary)

        def in_place() -> Tensor:
            return eigen_rope_torch.rotate_(again, *entries, pairing, rotary_dims=rotary)

        def first_in_place() -> np.ndarray:
            # Every run turns it further, so what is compared is one turn of x.
            once = eigen_rope_torch.rotate_(x.clone(), *entries, pairing, rotary_dims=rotary)
            return once[0].float().numpy()

        add("ours", ours)
        contenders["ours_inplace"] = Contender(in_place, first_in_place)
    return Case(contenders, x.data_ptr(), y.ctypes.data, y.nbytes, x[0].float().numpy(), pages)


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    note = "outputs allocated by torch"
    if RotaryEmbedding is not None:
        note += f"; rotary-embedding-torch {importlib.metadata.version('rotary-embedding-torch')}"
    if eigen_rope_torch is not None:
        note += f"; eigen_rope_torch {importlib.metadata.version('eigen-rope-torch')}"
    with torch.inference_mode():
        serve({"peer": "torch", "version": torch.__version__, "note": note}, make)
