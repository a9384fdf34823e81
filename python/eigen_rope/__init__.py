# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding for arrays of numpy and everything that has DLPack.

    import eigen_rope as er

    frequencies = er.Frequencies(er.Powers(128, base=500000.0))
    cache = er.Cache(frequencies, er.Positions.range(0, tokens))
    y = er.rotate(x, cache, "split_half")  # x is [batch, tokens, heads, 128]
    dx = er.rotate_backward(dy, cache, "split_half")

Frequencies and positions make a table of cosines and sines, Cache. The table and a pairing make the
rotation. Arrays are read where they lie. What does not fit is refused with a ValueError, in one
sentence, before anything is written.
"""

from eigen_rope import _core
from eigen_rope._check import check_adjoint, check_gradient
from eigen_rope._choices import (
    DynamicNtkScaling,
    GgmlYarn,
    Linear,
    Llama3,
    LongRope,
    NtkScaling,
    Powers,
    Proportional,
    Scaling,
    Yarn,
)
from eigen_rope._core import (
    Cache,
    Frequencies,
    GradientEntry,
    GradientReport,
    Gradients,
    GrowingCache,
    LayerRope,
    ModelRope,
    Pairing,
    Positions,
    Sections,
    Table,
    kernel_target,
    kernel_targets,
)
from eigen_rope._gradients import (
    ScalingGradients,
    attention_factor_gradient,
    gradients,
    position_gradients,
    rate_gradients,
    scaling_gradients,
)
from eigen_rope._models import from_config
from eigen_rope._rotation import (
    rotate,
    rotate_backward,
    rotate_inplace,
    rotate_inverse,
    rotate_tokens,
)

__version__ = _core.version

__all__ = [
    "Cache",
    "DynamicNtkScaling",
    "Frequencies",
    "GgmlYarn",
    "GradientEntry",
    "GradientReport",
    "Gradients",
    "GrowingCache",
    "LayerRope",
    "Linear",
    "Llama3",
    "LongRope",
    "ModelRope",
    "NtkScaling",
    "Pairing",
    "Positions",
    "Powers",
    "Proportional",
    "Scaling",
    "ScalingGradients",
    "Sections",
    "Table",
    "Yarn",
    "__version__",
    "attention_factor_gradient",
    "check_adjoint",
    "check_gradient",
    "from_config",
    "gradients",
    "kernel_target",
    "kernel_targets",
    "position_gradients",
    "rate_gradients",
    "rotate",
    "rotate_backward",
    "rotate_inplace",
    "rotate_inverse",
    "rotate_tokens",
    "scaling_gradients",
]
