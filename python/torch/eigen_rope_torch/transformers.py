# SPDX-License-Identifier: Apache-2.0
"""Models of Hugging Face's transformers with this library's rotation.

    with patch_transformers(model, tables="parity"):
        model.generate(**inputs)                      our kernels, the model's own float tables
    handle = patch_transformers(model, tables="exact")  tables from the model's configuration
    handle.undo()

Nothing of a model is taken for granted. The function that its attention calls is asked for answers
to random tensors, and replaced only where a rotation of this library gives the same ones; the same
holds for its tables. What is not recognised is refused by its name, before anything is changed.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from . import _rebind
from .rotation import rotate, table

_ROTATES = re.compile(r"rotary|rope(?!rt)|rotate_pos", re.IGNORECASE)
# What makes the tables, or is a part of a function that rotates.
_DOES_NOT_ROTATE = re.compile(r"rotate_half|rotate_every_two|dynamic_rope|rope_init|parameters")
_WORDS = {"q", "k", "x", "cos", "sin", "position_ids", "unsqueeze_dim"}


@dataclass(frozen=True)
class _Plan:
    """How a function of transformers rotates."""

    pairing: str
    entries: str  # which of the table's: all of them, or the first half
    pairs: bool  # an entry for each pair, where all are read
    tensors: int  # q and k, or one
    unsqueeze_dim: int
    parameters: tuple[str, ...]

    def turned(self, x: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int) -> Tensor:
        width = cos.shape[-1]
        if self.entries == "first half":
            cos, sin = cos[..., : width // 2], sin[..., : width // 2]
        if cos.dtype is not x.dtype and not (x.dtype.itemsize == 2 and cos.dtype is torch.float32):
            wide = torch.float32 if x.dtype.itemsize == 2 else x.dtype
            cos, sin = cos.to(wide), sin.to(wide)
        return rotate(
            x,
            cos.unsqueeze(unsqueeze_dim),
            sin.unsqueeze(unsqueeze_dim),
            self.pairing,
            rotary_dims=2 * width if self.pairs else width,
        )

    def function(self) -> Callable:
        """The function of transformers by this library."""
        turned, default = self.turned, self.unsqueeze_dim
        if self.tensors == 1:

            def one(x, cos, sin, unsqueeze_dim=default):
                return turned(x, cos, sin, unsqueeze_dim)

            return one
        if "position_ids" in self.parameters:

            def both_at(q, k, cos, sin, position_ids=None, unsqueeze_dim=default):
                return turned(q, cos, sin, unsqueeze_dim), turned(k, cos, sin, unsqueeze_dim)

            return both_at

        def both(q, k, cos, sin, unsqueeze_dim=default):
            return turned(q, cos, sin, unsqueeze_dim), turned(k, cos, sin, unsqueeze_dim)

        return both


def _answers(call: Callable, tensors: int, width: int, unsqueeze_dim: int):
    """What a function makes of random numbers in double, or None where it takes no such width."""
    generator = torch.Generator().manual_seed(width)

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    # Every extent is another, so that a table that broadcasts elsewhere does not fit.
    shapes = {
        1: ((2, 3, 5, 16), (2, 1, 5, 16)),
        2: ((2, 5, 3, 16), (2, 5, 1, 16)),
        -2: ((5, 3, 16), (5, 1, 16)),
    }[unsqueeze_dim]
    of_table = (2, 5, width) if unsqueeze_dim > 0 else (5, width)
    x = [random(*shape) for shape in shapes[:tensors]]
    cos, sin = random(*of_table), random(*of_table)
    try:
        made = call(*x, cos, sin)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return None
    return (made,) if isinstance(made, Tensor) else tuple(made)


def _close(ours: tuple | None, theirs: tuple | None) -> bool:
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    # Some functions compute in float, whatever they are given.
    return all(
        a.shape == b.shape and torch.allclose(a, b, rtol=1e-5, atol=1e-5)
        for a, b in zip(ours, theirs, strict=True)
    )


def _plan(function: types.FunctionType) -> _Plan | None:
    """The rotation that has the function's answers for every width that it takes."""
    signature = inspect.signature(function).parameters
    names = tuple(signature)
    tensors = 1 if names[:3] == ("x", "cos", "sin") else 2
    if not set(names) <= _WORDS or (tensors == 2 and names[:4] != ("q", "k", "cos", "sin")):
        return None
    given = signature.get("unsqueeze_dim")
    defaults = (1, 2, -2) if given is None else (given.default,)
    for default in defaults:
        if default not in (1, 2, -2):
            continue
        theirs = {width: _answers(function, tensors, width, default) for width in (16, 8)}
        if not any(theirs.values()):
            continue
        for pairing in ("split_half", "interleaved", "interleaved_to_split_half"):
            for entries, pairs in (("all", False), ("first half", False), ("all", True)):
                plan = _Plan(pairing, entries, pairs, tensors, default, names)
                ours = plan.function()
                if all(
                    answer is None or _close(_answers(ours, tensors, width, default), answer)
                    for width, answer in theirs.items()
                ):
                    return plan
    return None


def _replacements(model: nn.Module) -> list[tuple[nn.Module, str, Callable]]:
    """The methods of the model's modules that rotate, as (module, name, method) to be set."""
    plans: dict[types.FunctionType, _Plan] = {}
    copies: dict[types.FunctionType, types.FunctionType] = {}
    wanted = []
    for name, module in model.named_modules():
        for method, function in _rebind.methods(module).items():
            rotating = {
                word: called
                for word, called in _rebind.functions_called(function).items()
                if _ROTATES.search(word) and not _DOES_NOT_ROTATE.search(word)
            }
            for word, called in rotating.items():
                if called not in plans:
                    plan = _plan(called)
                    if plan is None:
                        raise ValueError(
                            f"[rope] model must rotate in a way that is known, got {word} of "
                            f"{called.__module__}, which {name} ({type(module).__name__}) calls"
                        )
                    plans[called] = plan
            if rotating:
                if function not in copies:
                    copies[function] = _rebind.with_globals(
                        function, {word: plans[f].function() for word, f in rotating.items()}
                    )
                wanted.append((module, method, types.MethodType(copies[function], module)))
    if not wanted:
        raise ValueError(
            "[rope] model must have modules that rotate with functions of "
            f"transformers, got {type(model).__name__}"
        )
    return wanted


class Patch:
    """What patch_transformers() has changed, to be undone: by undo(), or at the end of a with."""

    def __init__(self, model: nn.Module, changes: list[tuple[nn.Module, str, Callable]]) -> None:
        self._model = model
        self._changes: list[tuple[nn.Module, str]] = []
        for module, name, method in changes:
            setattr(module, name, method)
            self._changes.append((module, name))
        model._eigen_rope_patch = self

    @property
    def modules(self) -> int:
        """The number of modules whose methods are replaced."""
        return len({id(module) for module, _ in self._changes})

    def undo(self) -> None:
        """Gives the model its own methods back. A second call does nothing."""
        for module, name in self._changes:
            delattr(module, name)
        if self._changes:
            del self._model._eigen_rope_patch
        self._changes = []

    def __enter__(self) -> Patch:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()


def patch_transformers(model: nn.Module, tables: str = "parity") -> Patch:
    """Has a model of transformers rotate with this library, and returns what undoes it.

    tables is parity, for the cosines and sines that the model makes in float, or exact, for those
    of its configuration: correctly rounded at any position, and float32 where the model has 16
    bits. exact needs the package eigen_rope, which reads the configuration.

    Attention of every kind (SDPA, eager), caches, generation, torch.compile and training work as
    before; on devices other than the CPU, PyTorch's own operations rotate. Other models of the same
    class are not changed.

    Errors: ValueError, before anything is changed, for what is not recognised, with its name; for
    a model that is patched; for scalings whose rates depend on the length, where tables is exact.
    """
    if tables not in ("parity", "exact"):
        raise ValueError(f"[rope] tables must be parity or exact, got {tables}")
    if getattr(model, "_eigen_rope_patch", None) is not None:
        raise ValueError("[rope] model must not be patched already; undo() gives it back")
    changes = _replacements(model)
    if tables == "exact":
        changes += _exact_tables(model)
    return Patch(model, changes)


@dataclass(frozen=True)
class _Rates:
    """The frequencies of one kind of layers."""

    high: Tensor
    low: Tensor
    attention_factor: float

    def entries(self, position_ids: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        high, low = (t.to(position_ids.device) for t in (self.high, self.low))
        return table(
            high, position_ids, attention_factor=self.attention_factor, dtype=dtype, low_rates=low
        )


def _rates(layer) -> _Rates:
    rates, (factor, _) = layer.frequencies().__getstate__()
    high, low = (torch.tensor(t, dtype=torch.float64) for t in zip(*rates, strict=True))
    return _Rates(high, low, factor)


_SHAPES: dict[str, Callable[[Tensor], Tensor]] = {
    "both halves": lambda t: torch.cat((t, t), -1),
    "neighbours": lambda t: t.repeat_interleave(2, -1),
    "one for each pair": lambda t: t,
}


def _exact_tables(model: nn.Module) -> list[tuple[nn.Module, str, Callable]]:
    try:
        from eigen_rope import DynamicNtkScaling, LongRope, from_config
    except ImportError as error:
        raise ImportError(
            "[rope] tables = exact needs the package eigen_rope: pip install ./python"
        ) from error
    changes = []
    for name, module in model.named_modules():
        if not _ROTATES.search(type(module).__name__) or "forward" not in _rebind.methods(module):
            continue
        where = f"{name} ({type(module).__name__})"
        parameters = list(inspect.signature(module.forward).parameters)
        if parameters not in (["x", "position_ids"], ["x", "position_ids", "layer_type"]):
            raise ValueError(
                f"[rope] the tables of {where} must be made of x, position_ids and "
                f"layer_type, got {', '.join(parameters)}"
            )
        layers = from_config(module.config, strict=True).layers
        by_type = {}
        for layer in layers:
            if layer.sections is not None:
                raise ValueError(
                    f"[rope] tokens must have one position for exact tables, got "
                    f"sections in {where}"
                )
            if isinstance(layer.scaling, DynamicNtkScaling | LongRope):
                raise ValueError(
                    "[rope] rates must not depend on the length for exact tables, got "
                    f"{type(layer.scaling).__name__} in {where}"
                )
            by_type[layer.layer_type] = _rates(layer)
        changes.append((module, "forward", _exact_forward(module, by_type, where)))
    if not changes:
        raise ValueError(
            f"[rope] model must have a module that makes its tables, got {type(model).__name__}"
        )
    return changes


def _exact_forward(module: nn.Module, by_type: dict[str, _Rates], where: str) -> Callable:
    """The module's forward by exact tables, in the shape in which it gives its own."""
    device = next(module.buffers()).device
    positions = torch.arange(8, device=device)[None]
    # A model that was moved to 16 bits has rates of 16 bits, which exact tables mend.
    rates_dtype = next(b.dtype for b in module.buffers() if b.dtype.is_floating_point)
    allowed = max(1e-4, 8 * torch.finfo(rates_dtype).eps)
    probe = torch.zeros(1, dtype=torch.float32, device=device)
    has_types = "layer_type" in inspect.signature(module.forward).parameters
    shapes = set()
    for layer_type, rates in by_type.items():
        ours = rates.entries(positions, torch.float32)
        theirs = module.forward(probe, positions, *([layer_type] if has_types else []))
        fitting = [
            shape
            for shape, widen in _SHAPES.items()
            if all(
                widen(a).shape == b.shape and torch.allclose(widen(a), b, atol=allowed)
                for a, b in zip(ours, theirs, strict=True)
            )
        ]
        if not fitting:
            raise ValueError(
                f"[rope] the tables of {where} must be those of the model's configuration, got "
                f"others{f' for {layer_type}' if layer_type else ''}"
            )
        shapes.add(fitting[0])
    if len(shapes) != 1:
        raise ValueError(f"[rope] the tables of {where} must all have one shape, got {shapes}")
    widen = _SHAPES[shapes.pop()]
    only = next(iter(by_type.values())) if len(by_type) == 1 else None

    def forward(self, x, position_ids, layer_type=None):
        rates = only if only is not None else by_type[layer_type]
        dtype = torch.float64 if x.dtype is torch.float64 else torch.float32
        with torch.no_grad():
            return tuple(widen(t) for t in rates.entries(position_ids, dtype))

    return types.MethodType(forward, module)
