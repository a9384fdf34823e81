# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding for JAX: exact tables, kernels for the CPU, every gradient.

    import eigen_rope.jax as er

    cos, sin = er.table(rates, positions)           exact, and differentiable in both
    y = er.rotate(x, cos[:, None], sin[:, None])    x [..., tokens, heads, D]

Both are differentiated forward and backward to any order, mapped by vmap and compiled by jit. On
other devices than the CPU, JAX's own operations do the same.
"""

from eigen_rope.jax import _load
from eigen_rope.jax._rotation import rotate, rotate_backward, rotate_inverse, table

_load.register()

__all__ = ["rotate", "rotate_backward", "rotate_inverse", "table"]
