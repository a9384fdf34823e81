# SPDX-License-Identifier: Apache-2.0
"""The gradients of a loss with respect to everything that a rotation reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigen_rope import _core
from eigen_rope._choices import Powers, Scaling
from eigen_rope._typing import Array, PairingLike, TableLike


def gradients(
    dy: Array,
    table: TableLike,
    pairing: PairingLike,
    *,
    y: Array | None = None,
    x: Array | None = None,
    wanted: str | Iterable[str] = "angle",
    dx: Array | None = None,
    threads: int = 1,
) -> _core.Gradients:
    """Compute the gradients of angles, magnitudes, the table and x, in one pass over memory.

        d angle = y_A g_B - y_B g_A      d cos = g_A x_a + g_B x_b
        d log m = y_A g_A + y_B g_B      d sin = g_B x_a - g_A x_b

    All but dx are summed in float64 over the rows of x that share a row of the table.

    >>> d = gradients(dy, cache, "split_half", y=y, wanted=["dx", "angle"])
    >>> rate_gradients(d, positions)

    Args:
        dy: dL/dy.
        table: what the forward rotation read.
        pairing: that of the forward rotation.
        y: the rotation's output. With one entry for each pair it is enough, so a rotation may have
            overwritten its x.
        x: the rotation's input, in place of y. A table with one entry for each element needs it,
            and so does the gradient of a table with a magnitude of zero.
        wanted: any of dx, angle, log_magnitude and table.
        dx: where dL/dx is written; it may be dy or y itself. Without it "dx" makes a new array.
        threads: how many threads may share the work. The result is the same.

    Raises:
        ValueError: for an argument that does not fit, in one sentence. Nothing is written then.
        TypeError: for an argument of another kind, and unless one of x and y is given.
    """
    if (x is None) == (y is None):
        raise TypeError("[rope] one of x and y must be given, got " + ("both", "none")[x is None])
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    into: Any = True if dx is None and "dx" in names else dx
    return _core.gradients(dy, table, pairing, y, x, into, names, threads)


def rate_gradients(
    gradients: _core.Gradients, positions: _core.Positions, *, layout: str = "bsnd"
) -> NDArray[np.float64]:
    """Return dL/drate of each pair: the sum over tokens and sequences of position dL/dangle.

    Args:
        gradients: with "angle", for a table of these positions and this layout.
        positions: those the table was made of.
        layout: that of the table.

    Raises:
        ValueError: if the angle's gradient was not asked for, or the table had other extents.
    """
    return _core.rate_gradients(gradients, positions, layout)


def position_gradients(
    gradients: _core.Gradients,
    frequencies: _core.Frequencies,
    positions: _core.Positions,
    *,
    layout: str = "bsnd",
) -> NDArray[np.float64]:
    """Return dL/dposition of each token, of shape [axes, batches, tokens].

    Args:
        gradients: with "angle", for a table of these positions and this layout.
        frequencies: those the table was made of.
        positions: those the table was made of.
        layout: that of the table.

    Raises:
        ValueError: in the cases of rate_gradients(), and for frequencies of other pairs.
    """
    return _core.position_gradients(gradients, frequencies, positions, layout)


def attention_factor_gradient(
    gradients: _core.Gradients,
    frequencies: _core.Frequencies,
    positions: _core.Positions,
    *,
    layout: str = "bsnd",
) -> float:
    """Return dL/dm of the attention factor m.

    Args:
        gradients: with "log_magnitude"; for an m of 0 with "table", computed from x.
        frequencies: those the table was made of.
        positions: those the table was made of.
        layout: that of the table.

    Raises:
        ValueError: if what it needs was not asked for, or the table had other extents.
    """
    return _core.attention_factor_gradient(gradients, frequencies, positions, layout)


class ScalingGradients(NamedTuple):
    """The gradients of parameters, each under the parameter's own name.

    What is no real number (a count, a word) is copied.
    """

    powers: Powers
    scaling: Scaling | None


def scaling_gradients(
    powers: Powers,
    scaling: Scaling | None,
    rates: ArrayLike,
    *,
    attention_factor: float = 0.0,
    length: int = 0,
) -> ScalingGradients:
    """Return the gradients of the parameters that rates were made from.

        dL/dp = sum over pairs k of dL/drate_k drate_k/dp + dL/dm dm/dp

    >>> of_rates = rate_gradients(d, positions)
    >>> scaling_gradients(powers, yarn, of_rates).scaling.factor

    Args:
        powers: the powers of the frequencies.
        scaling: their scaling, or None.
        rates: dL/drate of each pair.
        attention_factor: dL/dm; 0 where m is not learned.
        length: the number of tokens, for scalings that depend on it.

    Raises:
        ValueError: where Frequencies refuses the parameters, and unless rates are one per pair.
    """
    numbers = np.asarray(rates, dtype=np.float64).ravel().tolist()
    return ScalingGradients(
        *_core.scaling_gradients(powers, scaling, numbers, attention_factor, length)
    )
