# SPDX-License-Identifier: Apache-2.0
"""Tests whether a gradient is right, for any function of arrays.

The arithmetic of the check is the library's and knows flat arrays of float64 only. This file makes
them of a function and its arguments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigen_rope import _core

Flat = NDArray[np.float64]


def check_gradient(
    f: Callable[..., ArrayLike],
    vjp: Callable[..., Any] | ArrayLike,
    x: ArrayLike | tuple[ArrayLike, ...],
    *,
    names: Sequence[str] = (),
    absolute: float = 0.0,
    relative: float = 0.0,
    method: str = "automatic",
    precision: str = "widest",
    coverage: str = "automatic",
    every_entry_limit: int = 1024,
    projections: int = 8,
    step: float = 0.0,
    typical_x: float = 1.0,
    seed: int = 1,
) -> _core.GradientReport:
    """Compare the gradient that `vjp` claims with numeric derivatives of `f` at `x`.

    There is no tolerance to choose: the check measures how f and the claim round, and how far the
    numeric derivatives are off. With a function that takes complex arrays derivatives are taken by
    the complex step, which loses no digits, and otherwise by central differences.

    >>> report = check_gradient(lambda v: v**3, lambda v, g: 3 * v**2 * g, np.array([1.0, 2.0]))
    >>> assert report, report

    Args:
        f: a pure function of the arrays in x that returns an array or a number.
        vjp: (*x, g) -> J^T g, one gradient or a tuple of one for each argument, where g has the
            shape of f's result. Where f returns one number, it may be the gradient itself.
        x: an array of float32 or float64 or a number, or a tuple of several.
        names: the arguments' names in the report.
        absolute, relative: tolerances that are added to the measured errors.
        method: automatic, complex_step or central_differences.
        precision: widest (float64 where f takes it) or own (the arguments' own type).
        coverage: automatic, every_entry or projections.
        every_entry_limit: the most inputs and outputs together of which automatic checks all.
        projections: the number of random projections for each argument.
        step: the step of central differences; 0 for the usual one.
        typical_x: the least size that an element is taken to have when the step is scaled.
        seed: of every random choice.

    Returns:
        a report that is true if everything agrees, and whose str() says what was found.

    Raises:
        ValueError: for a gradient that has not its argument's shape, for a result of f that changes
            its shape, and for options outside their range.
        TypeError: for arguments that are no arrays of float32 or float64.
    """
    options = _core.CheckOptions(
        absolute, relative, method, coverage, every_entry_limit, projections, step, typical_x, seed
    )
    if precision not in ("widest", "own"):
        raise ValueError(f"[rope] precision must be widest or own, got {precision}")
    arguments = _Arguments(x, names)
    output = _evaluated(f(*arguments.arrays))
    own = max(_epsilon(array) for array in (*arguments.arrays, output))
    compute, value_epsilon = arguments.dtypes, own
    directional = None
    if precision == "widest":
        if _takes(f, arguments, np.float64):
            compute, value_epsilon = [np.dtype(np.float64)] * len(arguments.arrays), 2.0**-52
        if method != "central_differences" and _takes(f, arguments, np.complex128):
            directional = _complex_step(f, arguments)

    def value(at: Flat) -> Flat:
        return _flat(_same_shape(f(*arguments.unpacked(at, compute)), output))

    def claimed(at: Flat, w: Flat) -> Flat:
        if not callable(vjp):
            if w.size != 1:
                raise ValueError(
                    f"[rope] a gradient without a cotangent g needs f to return one value, "
                    f"got {w.size}"
                )
            gradient: Flat = arguments.packed(vjp) * w[0]
            return gradient
        g = w.reshape(output.shape).astype(output.dtype)
        return arguments.packed(vjp(*arguments.unpacked(at, arguments.dtypes), g))

    return _core.run_gradient_check(
        arguments.names,
        arguments.shapes,
        list(output.shape),
        arguments.flat,
        value,
        value_epsilon,
        directional,
        claimed,
        own,
        options,
        "differentiable",
    )


def check_adjoint(
    forward: Callable[[Any], ArrayLike],
    transpose: Callable[[Any], ArrayLike],
    x: ArrayLike,
    *,
    coverage: str = "automatic",
    every_entry_limit: int = 1024,
    projections: int = 8,
    seed: int = 1,
) -> _core.GradientReport:
    """Test whether `transpose` is the transpose of the linear map `forward`, without differences.

    >>> report = check_adjoint(
    ...     lambda v: rotate(v, cache, "split_half"),
    ...     lambda w: rotate_backward(w, cache, "split_half"),
    ...     x,
    ... )

    Args:
        forward: A, a function of an array of x's shape and type.
        transpose: its transpose, a function of an array of the shape and type of A's result.
        x: an array that gives shape and type; its values are not used.
        coverage: automatic, every_entry or projections.
        every_entry_limit: the most inputs and outputs together of which automatic checks all.
        projections: the number of random projections.
        seed: of every random choice.

    Raises:
        ValueError, TypeError: in the cases of check_gradient().
    """
    options = _core.CheckOptions(
        0.0, 0.0, "automatic", coverage, every_entry_limit, projections, 0.0, 1.0, seed
    )
    arguments = _Arguments((x,), ())
    output = _evaluated(forward(*arguments.arrays))
    epsilon = max(_epsilon(arguments.arrays[0]), _epsilon(output))

    def directional(_: Flat, v: Flat) -> Flat:
        return _flat(_same_shape(forward(*arguments.unpacked(v, arguments.dtypes)), output))

    def claimed(_: Flat, w: Flat) -> Flat:
        return arguments.packed(transpose(w.reshape(output.shape).astype(output.dtype)))

    return _core.run_gradient_check(
        arguments.names,
        arguments.shapes,
        list(output.shape),
        arguments.flat,
        None,
        epsilon,
        directional,
        claimed,
        epsilon,
        options,
        "linear",
    )


class _Arguments:
    """The arguments of f, as arrays and as one flat array of float64."""

    def __init__(self, x: Any, names: Sequence[str]) -> None:
        given = x if isinstance(x, tuple) else (x,)
        self.arrays = [_evaluated(one) for one in given]
        usual = ["x"] if len(given) == 1 else [f"x{i}" for i in range(len(given))]
        self.names = list(names) or usual
        if len(self.names) != len(given):
            raise ValueError(
                f"[rope] names must be one for each of {len(given)} arguments, got "
                f"{len(self.names)}"
            )
        self.dtypes = [array.dtype for array in self.arrays]
        self.shapes = [list(array.shape) for array in self.arrays]
        self.flat = np.concatenate([_flat(array) for array in self.arrays])

    def unpacked(self, flat: NDArray[Any], dtypes: Sequence[Any]) -> list[NDArray[Any]]:
        """Return new arrays of these types, from all their elements."""
        ends = np.cumsum([array.size for array in self.arrays])[:-1]
        return [
            part.reshape(array.shape).astype(dtype)
            for part, array, dtype in zip(np.split(flat, ends), self.arrays, dtypes, strict=True)
        ]

    def packed(self, gradients: Any) -> Flat:
        """Return one gradient for each argument as a flat array."""
        given = gradients if isinstance(gradients, tuple) else (gradients,)
        if len(given) != len(self.arrays):
            raise ValueError(
                f"[rope] the claim must have one gradient for each argument ({len(self.arrays)}), "
                f"got {len(given)}"
            )
        parts = []
        for name, array, one in zip(self.names, self.arrays, given, strict=True):
            gradient = np.asarray(one)
            if gradient.shape != array.shape:
                raise ValueError(
                    f"[rope] the gradient of {name} must have shape {list(array.shape)}, got "
                    f"{list(gradient.shape)}"
                )
            parts.append(_flat(gradient))
        return np.concatenate(parts)


def _evaluated(value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype not in (np.float32, np.float64):
        raise TypeError(
            "[rope] the arguments and the result of f must be of float32 or float64, got "
            f"{array.dtype}"
        )
    return array


def _same_shape(result: ArrayLike, first: NDArray[Any]) -> NDArray[Any]:
    array = np.asarray(result)
    if array.shape != first.shape:
        raise ValueError(
            f"[rope] every result of f must have shape {list(first.shape)}, got {list(array.shape)}"
        )
    return array


def _flat(array: NDArray[Any]) -> Flat:
    return np.ascontiguousarray(array, dtype=np.float64).reshape(-1)


def _epsilon(array: NDArray[Any]) -> float:
    return float(np.finfo(array.dtype).eps)


def _takes(f: Callable[..., Any], arguments: _Arguments, dtype: type) -> bool:
    """Return whether f takes arrays of this type, and returns one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a complex number made a real one is no complex function
        try:
            result = f(*arguments.unpacked(arguments.flat, [dtype] * len(arguments.arrays)))
        except Exception:  # whatever f does with arrays that it was not written for
            return False
    return np.asarray(result).dtype == dtype


def _complex_step(
    f: Callable[..., Any], arguments: _Arguments
) -> Callable[[NDArray[np.float64], NDArray[np.float64]], Flat]:
    step = 2.0**-100  # its square is nothing beside 1, and itself far from underflow
    types = [np.complex128] * len(arguments.arrays)

    def directional(at: Flat, v: Flat) -> Flat:
        moved = at + 1j * step * v
        return _flat(np.asarray(f(*arguments.unpacked(moved, types))).imag / step)

    return directional
