# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding for PyTorch: exact tables, kernels for the CPU, every gradient."""

from .rotation import rotate, rotate_, rotate_backward, rotate_inverse, table
from .transformers import Patch, patch_transformers

__all__ = [
    "Patch",
    "patch_transformers",
    "rotate",
    "rotate_",
    "rotate_backward",
    "rotate_inverse",
    "table",
]
