# SPDX-License-Identifier: Apache-2.0
"""Methods whose global names mean something else, for one object.

A model's attention calls a function of its own module, such as apply_rotary_pos_emb. Replacing it
in the module would change every model of that module, so the methods of one object are copied, with
other globals. Decorators around a method are copied with it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import torch


def _decorated(function: types.FunctionType) -> types.FunctionType | None:
    """What a decorator's function calls, as functools.wraps() leaves it."""
    inner = getattr(function, "__wrapped__", None)
    return inner if isinstance(inner, types.FunctionType) else None


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def functions_called(function: types.FunctionType) -> dict[str, types.FunctionType]:
    """The global functions that a function, or what it decorates, names, by these names."""
    called = {
        name: function.__globals__[name]
        for name in _names(function.__code__)
        if isinstance(function.__globals__.get(name), types.FunctionType)
    }
    inner = _decorated(function)
    return called if inner is None else called | functions_called(inner)


def methods(module: torch.nn.Module) -> dict[str, types.FunctionType]:
    """The methods of the module's class and of its bases that do not belong to torch, by name."""
    found: dict[str, types.FunctionType] = {}
    for cls in reversed(type(module).__mro__):
        if cls.__module__.split(".")[0] in ("torch", "builtins"):
            continue
        found |= {
            name: member
            for name, member in vars(cls).items()
            if isinstance(member, types.FunctionType)
        }
    return found


def with_globals(function: types.FunctionType, other: Mapping[str, Any]) -> types.FunctionType:
    """A copy of the function, and of what it decorates, in which global names mean others."""
    variables = {
        **function.__globals__,
        **{k: v for k, v in other.items() if k in _names(function.__code__)},
    }
    # torch.compile reads globals of the module of this name, whatever the function's own are.
    variables.pop("__name__", None)
    inner = _decorated(function)
    copied = None if inner is None else with_globals(inner, other)
    closure = function.__closure__
    if closure is not None and inner is not None:
        closure = tuple(types.CellType(copied) if _holds(cell, inner) else cell for cell in closure)
    copy = types.FunctionType(
        function.__code__, variables, function.__name__, function.__defaults__, closure
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    if copied is not None:
        copy.__wrapped__ = copied
    copy.__doc__ = function.__doc__
    copy.__annotations__ = function.__annotations__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    return copy


def _holds(cell: types.CellType, function: types.FunctionType) -> bool:
    try:
        return cell.cell_contents is function
    except ValueError:  # an empty cell
        return False
