# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison with peers, for peers in Python: protocol.hpp in another language, and
the arrays they start from.

x is [tokens, heads, head], head fastest. A peer's module makes, for one request, its contenders:
what to run, how many rotations one run is, and how to read the result as [tokens, heads, head].
Each result is compared with the definition in double before it is timed.
"""

import ctypes
import json
import os
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

Array = np.ndarray


# How many threads the peer may use, which frameworks are told when they start. The process is bound
# to as many processors.
THREADS = int(os.environ.get("PEERS_THREADS", "1"))
# Processor time of one thread, so that others on a busy machine do not count; two share the time on
# the clock.
CLOCK = time.CLOCK_PROCESS_CPUTIME_ID if THREADS == 1 else time.CLOCK_MONOTONIC


@dataclass(frozen=True)
class Request:
    scalar: str  # f32, f16, bf16
    pairing: str  # split_half, interleaved
    head: int
    rotary: int
    heads: int
    tokens: int
    first_position: int
    base: float
    seconds: float  # how long the answer may take, about

    @property
    def split_half(self) -> bool:
        return self.pairing == "split_half"

    def angles(self) -> Array:
        """[tokens, rotary / 2] in double."""
        rates = self.base ** (-np.arange(0, self.rotary, 2, dtype=np.float64) / self.rotary)
        positions = np.arange(
            self.first_position, self.first_position + self.tokens, dtype=np.float64
        )
        return positions[:, None] * rates[None, :]

    def pair_slices(self) -> tuple[slice, slice]:
        if self.split_half:
            return slice(0, self.rotary // 2), slice(self.rotary // 2, self.rotary)
        return slice(0, self.rotary, 2), slice(1, self.rotary, 2)

    def rotated(self, x: Array) -> Array:
        """The definition, in double."""
        angles = self.angles()[:, None, :]
        cos, sin = np.cos(angles), np.sin(angles)
        y = x.astype(np.float64)
        first, second = self.pair_slices()
        a, b = y[..., first].copy(), y[..., second].copy()
        y[..., first] = cos * a - sin * b
        y[..., second] = cos * b + sin * a
        return y

    def error_limit(self) -> float:
        """Sum of squared errors over sum of squares: what rounding to the scalar makes."""
        epsilon = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}[self.scalar]
        return max(1e-6, 4 * epsilon**2)


@dataclass
class Contender:
    run: Callable[[], Any]
    result: Callable[[], Array]  # as [tokens, heads, head], after run()
    rotations: int = 1


@dataclass
class Case:
    contenders: dict[str, Contender]
    x_address: int
    y_address: int
    bytes: int
    x: Array  # what x holds, as numbers numpy can convert
    keep: Any = None  # owns what the addresses point to
    runs: dict[str, int] = field(default_factory=dict)  # how many runs one measurement takes
    one_round: float = 0.0  # seconds of one measurement of each


class Pages:
    """Arrays that begin on a page, a quarter page further each, as in protocol.hpp."""

    def __init__(self, bytes_each: int, count: int) -> None:
        self.stride = (bytes_each + 4095) // 4096 * 4096 + 1024
        self.memory = np.zeros(self.stride * count + 4096, dtype=np.uint8)
        self.memory.fill(0)
        self.first = -self.memory.ctypes.data % 4096

    def at(self, index: int, dtype: Any, shape: tuple[int, ...]) -> Array:
        begin = self.first + index * self.stride
        count = int(np.prod(shape))
        return (
            self.memory[begin : begin + count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)
        )


def random_input(request: Request) -> Array:
    """[tokens, heads, head] float32."""
    shape = (request.tokens, request.heads, request.head)
    return np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)


def require_rotated(request: Request, name: str, contender: Contender, expected: Array) -> None:
    contender.run()
    error = contender.result().astype(np.float64) - expected
    ratio = float(np.sum(error * error) / np.sum(expected * expected))
    if not ratio <= request.error_limit():
        raise ValueError(f"{name} differs from the definition: {ratio}")


def time_all(
    case: Case, seconds: float, copies: Callable[[int, int, int, int, int], float]
) -> dict[str, list[float]]:
    """Seconds of one rotation, for memcpy and each contender as often as the time allows (2 to 9
    times), in turn and in random order."""

    def block(name: str, runs: int) -> float:
        if name == "memcpy":
            return copies(case.y_address, case.x_address, case.bytes, runs, CLOCK)
        run = case.contenders[name].run
        begin = time.clock_gettime(CLOCK)
        for _ in range(runs):
            run()
        return time.clock_gettime(CLOCK) - begin

    if not case.runs:
        for name in ["memcpy", *case.contenders]:
            block(name, 1)
            once = max(block(name, 1), 1e-8)
            case.runs[name] = int(min(max(4e-3 / once, 1), 1e4))
            case.one_round += once * case.runs[name]
    samples: dict[str, list[float]] = {name: [] for name in case.runs}
    for _ in range(int(min(max(seconds / case.one_round, 2), 9))):
        order = list(case.runs)
        random.shuffle(order)
        for name in order:
            # Unmeasured, so that none finds the cache as the one before it left it, and those that
            # allocate their outputs are given memory of their own again.
            block(name, min(case.runs[name], 3))
            rotations = case.runs[name] * (
                1 if name == "memcpy" else case.contenders[name].rotations
            )
            samples[name].append(block(name, case.runs[name]) / rotations)
    return samples


def serve(hello: dict[str, str], make: Callable[[Request], Case]) -> None:
    """Answers requests until there are none. The library with memcpy is the only argument of the
    program."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what others print must not come between the answers
    library = ctypes.CDLL(sys.argv[1])
    copies = library.seconds_of_copies
    copies.argtypes = [
        *(
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_size_t,
            ctypes.c_int,
        )
    ]
    copies.restype = ctypes.c_double
    random.seed(1)
    print(json.dumps(hello), file=answers)
    current = ""
    case: Case | None = None
    failed: dict[str, str] = {}
    for line in sys.stdin:
        request = Request(**json.loads(line))
        answer: dict[str, Any] = {}
        try:
            if line != current or case is None:
                case = None
                case = make(request)
                expected = request.rotated(case.x)
                failed = {}
                for name, contender in list(case.contenders.items()):
                    try:
                        require_rotated(request, name, contender, expected)
                    except (
                        Exception
                    ) as error:  # a peer may refuse what it likes; it is named and not timed
                        failed[name] = str(error).strip().splitlines()[0][:200]
                        del case.contenders[name]
                current = line
            answer["seconds"] = time_all(case, request.seconds, copies)
            if failed:
                answer["failed"] = failed
        except Exception as error:
            case = None
            answer = {"error": (str(error).strip().splitlines() or [type(error).__name__])[0][:200]}
        print(json.dumps(answer), file=answers)
