# SPDX-License-Identifier: Apache-2.0
"""The types of arguments."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from numpy.typing import NDArray

from eigen_rope._core import Pairing, Table


@runtime_checkable
class SupportsDLPack(Protocol):
    """An array of any framework that exchanges memory by DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


Array: TypeAlias = NDArray[Any] | SupportsDLPack
ArrayT = TypeVar("ArrayT", bound=Array)
TableLike: TypeAlias = Table | tuple[Array, Array]
PairingLike: TypeAlias = Pairing | str
