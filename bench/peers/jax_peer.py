# SPDX-License-Identifier: Apache-2.0
"""JAX as one of the peers: the formulas that models are written with, under jit, on
[1, tokens, heads, head].

   formula   x * cos + rotate_half(x) * sin, full-width tables in x's scalar
   halves    the two members of the pairs apart, half-width tables: the quickest way in jnp
   ours      eigen_rope.jax, this library's primitive under jit, with half-width float tables
   ours_donated
             the same where x is donated, and the result takes its memory

Outputs are allocated by XLA in every call: that is how it is used. XLA's pool has as many threads
as the process has processors.
"""

import importlib.metadata
import os
from typing import Any, Callable

import numpy as np

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp

from protocol import Case, Contender, Pages, Request, random_input, serve

try:
    import eigen_rope.jax as eigen_rope_jax
except ImportError:
    eigen_rope_jax = None

Array = jax.Array
TYPES = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}


def members(x: Array, request: Request) -> tuple[Array, Array]:
    first, second = request.pair_slices()
    return x[..., first], x[..., second]


def joined(a: Array, b: Array, request: Request) -> Array:
    if request.split_half:
        return jnp.concatenate((a, b), axis=-1)
    return jnp.stack((a, b), axis=-1).reshape(*a.shape[:-1], request.rotary)


def whole_row(turned: Array, x: Array, request: Request) -> Array:
    if request.rotary == request.head:
        return turned
    return jnp.concatenate((turned, x[..., request.rotary :]), axis=-1)


def formula(x: Array, cos: Array, sin: Array, request: Request) -> Array:
    a, b = members(x, request)
    window = x[..., : request.rotary]
    return whole_row(window * cos + joined(-b, a, request) * sin, x, request)


def halves(x: Array, cos: Array, sin: Array, request: Request) -> Array:
    a, b = (t.astype(jnp.float32) for t in members(x, request))
    turned = joined(cos * a - sin * b, cos * b + sin * a, request)
    return whole_row(turned.astype(x.dtype), x, request)


def make(request: Request) -> Case:
    dtype = TYPES[request.scalar]
    shape = (1, request.tokens, request.heads, request.head)
    x = jnp.asarray(random_input(request)[None], dtype)
    pages = Pages(x.nbytes, 1)
    y = pages.at(0, np.uint8, (x.nbytes,))

    angles = request.angles()[None, :, None, :]
    wide = (
        np.concatenate((angles, angles), axis=-1)
        if request.split_half
        else np.repeat(angles, 2, axis=-1)
    )
    full = jnp.asarray(np.cos(wide), dtype), jnp.asarray(np.sin(wide), dtype)
    half = (
        jnp.asarray(np.cos(angles), jnp.float32),
        jnp.asarray(np.sin(angles), jnp.float32),
    )
    last: dict[str, Array] = {}
    contenders: dict[str, Contender] = {}

    def add(name: str, call: Callable[..., Array], table: tuple[Array, Array]) -> None:
        compiled = jax.jit(call)

        def run() -> None:
            last["y"] = compiled(x, *table)
            last["y"].block_until_ready()

        def result() -> np.ndarray[Any, Any]:
            return np.asarray(last["y"][0], np.float32)

        contenders[name] = Contender(run, result)

    add("formula", lambda x, cos, sin: formula(x, cos, sin, request), full)
    add("halves", lambda x, cos, sin: halves(x, cos, sin, request), half)
    if eigen_rope_jax is not None:
        pairing = "split_half" if request.split_half else "interleaved"

        def ours(x: Array, cos: Array, sin: Array, donate: bool = False) -> Array:
            return eigen_rope_jax.rotate(
                x, cos, sin, pairing, rotary_dims=request.rotary, donate=donate
            )

        add("ours", ours, half)
        donated = jax.jit(lambda x, cos, sin: ours(x, cos, sin, donate=True), donate_argnums=0)
        again = {"x": x.copy()}

        def in_place() -> None:
            again["x"] = donated(again["x"], *half)
            again["x"].block_until_ready()

        def first_in_place() -> np.ndarray[Any, Any]:
            # Every run turns it further, so what is compared is one turn of x.
            return np.asarray(donated(x.copy(), *half)[0], np.float32)

        contenders["ours_donated"] = Contender(in_place, first_in_place)
    assert x.shape == shape
    address = x.unsafe_buffer_pointer()
    return Case(
        contenders,
        address,
        y.ctypes.data,
        x.nbytes,
        np.asarray(x[0], np.float32),
        pages,
    )


if __name__ == "__main__":
    note = "under jit, outputs allocated by XLA"
    if eigen_rope_jax is not None:
        note += f"; eigen_rope {importlib.metadata.version('eigen-rope')}"
    serve({"peer": "jax", "version": jax.__version__, "note": note}, make)
