# SPDX-License-Identifier: Apache-2.0
"""Powers and scalings: the parameters that rates are made from.

The names and the usual values are those of the library, and a test compares them. What a value must
be is checked where rates are made, by Frequencies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import ClassVar


def _as_tuples(parameters: object, *names: str) -> None:
    """Replace lists and arrays by tuples, so that parameters can be compared and hashed."""
    for name in names:
        object.__setattr__(parameters, name, tuple(getattr(parameters, name)))


@dataclass(frozen=True)
class Powers:
    """The parameters that every scaling begins with: powers of a base, one for each pair.

        rate_k = base^(-2 e_k / exponent_dims) * linear_scale / factor_k

    Args:
        rotary_dims: the width of the rotated window; even. There are rotary_dims / 2 pairs.
        base: the base of the powers, rope_theta of Hugging Face.
        linear_scale: what multiplies every rate.
        attention_factor: m, which multiplies cosines and sines.
        factors: the divisor of each rate; none divides nothing.
        exponents: the exponents e_k, as Sections.exponents() gives them; none means 0, 1, 2, ...
        exponent_dims: the divisor of the exponents; 0 stands for rotary_dims.
    """

    rotary_dims: int
    base: float = 10000.0
    linear_scale: float = 1.0
    attention_factor: float = 1.0
    factors: Iterable[float] = ()
    exponents: Iterable[int] = ()
    exponent_dims: int = 0

    def __post_init__(self) -> None:
        _as_tuples(self, "factors", "exponents")


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """What every scaling is. Use one of the classes below."""

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        SCALINGS[cls.name] = cls


SCALINGS: dict[str, type[Scaling]] = {}


@dataclass(frozen=True, kw_only=True)
class Linear(Scaling):
    """Linear scaling (position interpolation): every rate is divided by factor."""

    name: ClassVar[str] = "linear"
    factor: float


@dataclass(frozen=True, kw_only=True)
class Proportional(Scaling):
    """p-RoPE: the rates of the first pairs are divided by factor, and the others stop."""

    name: ClassVar[str] = "proportional"
    factor: float = 1.0
    rotated_pairs: int


@dataclass(frozen=True, kw_only=True)
class DynamicNtkScaling(Scaling):
    """Dynamic NTK: past the original context the base grows with the length of the sequence."""

    name: ClassVar[str] = "dynamic"
    factor: float
    original_context: int


@dataclass(frozen=True, kw_only=True)
class NtkScaling(Scaling):
    """NTK-aware scaling by a fixed factor, as vLLM has it: mixed_b = 0 divides all rates alike."""

    name: ClassVar[str] = "ntk"
    factor: float
    mixed_b: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Yarn(Scaling):
    """YaRN as Hugging Face and DeepSeek define it.

    Pairs with many turns within the original context keep their rates, pairs with few are divided
    by factor, and a ramp between beta_fast and beta_slow turns blends the two.

    Args:
        factor: the divisor of slow pairs.
        original_context: the number of tokens the model was first trained with.
        beta_fast: the turns above which a pair keeps its rate.
        beta_slow: the turns below which a pair is divided fully.
        ends: rounded (truncate = true) or exact.
        magnitude: the rule for m: hugging_face, deepseek, or given (attention_factor alone).
        mscale: a parameter of that rule, or None.
        mscale_all_dim: a parameter of that rule.
        extrapolation: the weight of the kept part of a rate.
    """

    name: ClassVar[str] = "yarn"
    factor: float
    original_context: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    ends: str = "rounded"
    magnitude: str = "hugging_face"
    mscale: float | None = None
    mscale_all_dim: float = 0.0
    extrapolation: float = 1.0


@dataclass(frozen=True, kw_only=True)
class GgmlYarn(Scaling):
    """YaRN as ggml and llama.cpp define it; see the page on scalings for the differences."""

    name: ClassVar[str] = "ggml_yarn"
    ext_factor: float = 1.0
    original_context: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    ends: str = "rounded"


@dataclass(frozen=True, kw_only=True)
class Llama3(Scaling):
    """Llama 3.1's scaling: slow pairs are divided by factor, with a blend in a band of pairs."""

    name: ClassVar[str] = "llama3"
    factor: float
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_context: int


@dataclass(frozen=True, kw_only=True)
class LongRope(Scaling):
    """LongRoPE: a list of divisors for lengths within the original context, and one beyond it."""

    name: ClassVar[str] = "longrope"
    short_factor: Iterable[float]
    long_factor: Iterable[float]
    original_context: int
    factor: float = 1.0
    magnitude: str = "from_factor"

    def __post_init__(self) -> None:
        _as_tuples(self, "short_factor", "long_factor")


def parameters(one: type[Powers] | type[Scaling]) -> list[str]:
    """Return the names of the parameters of a class, in order."""
    return [field.name for field in fields(one)]
