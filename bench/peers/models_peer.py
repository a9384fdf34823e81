# SPDX-License-Identifier: Apache-2.0
"""Compares transformers with this library on a model's tables and in a whole model, and writes the
figures as JSON.

    python models_peer.py FILE

The tables are those of a Llama with heads of 128 elements and the base 10000. Their errors are
measured against 40 digits of mpmath. Both kinds of tables, and the model with its own rotation and
with that of eigen_rope_torch, take turns; a figure is the median of the turns, with the quartiles.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import eigen_rope
import eigen_rope_torch
import mpmath
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

PAIRS, BASE, TABLE_TOKENS, MODEL_TOKENS = 64, 10000.0, 4096, 512
NEAR = (127_000, 1_000_000)
TURNS = 21


def config() -> LlamaConfig:
    """Four layers of eight heads of 128 elements."""
    return LlamaConfig(
        vocab_size=1000,
        hidden_size=1024,
        intermediate_size=2752,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=2_000_000,
        rope_parameters={"rope_type": "default", "rope_theta": BASE},
    )


def exact_cosines(positions: range) -> list[list[float]]:
    with mpmath.workdps(40):
        rates = [mpmath.power(BASE, -mpmath.mpf(k) / PAIRS) for k in range(PAIRS)]
        return [[float(mpmath.cos(position * rate)) for rate in rates] for position in positions]


def errors() -> list[dict[str, Any]]:
    theirs = LlamaRotaryEmbedding(config())
    rows = []
    for first in NEAR:
        positions = range(first, first + 16)
        exact = torch.tensor(exact_cosines(positions), dtype=torch.float64)
        cos, _ = theirs(torch.zeros(1), torch.tensor([list(positions)]))
        frequencies = eigen_rope.Frequencies(eigen_rope.Powers(2 * PAIRS, base=BASE))
        cache = eigen_rope.Cache(frequencies, eigen_rope.Positions.range(first, len(positions)))
        ours = torch.from_numpy(cache.cos.copy()).reshape(len(positions), PAIRS)
        rows.append(
            {
                "position": first,
                "transformers": (cos[0, :, :PAIRS].double() - exact).abs().max().item(),
                "ours": (ours.double() - exact).abs().max().item(),
            }
        )
    return rows


def by_turns(contenders: dict[str, Callable[[], object]], calls: int) -> dict[str, list[float]]:
    """Seconds of a call of each, a number for each turn."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(TURNS + 1):
        for name, call in contenders.items():
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            if turn > 0:  # the first warms up
                seconds[name].append((time.perf_counter() - begin) / calls)
    return seconds


def quartiles(numbers: list[float]) -> list[float]:
    return statistics.quantiles(numbers, n=4)


def tables() -> dict[str, list[float]]:
    theirs = LlamaRotaryEmbedding(config())
    ids = torch.arange(TABLE_TOKENS)[None]
    frequencies = eigen_rope.Frequencies(eigen_rope.Powers(2 * PAIRS, base=BASE))
    positions = eigen_rope.Positions.range(0, TABLE_TOKENS)
    rates = torch.from_numpy(frequencies.rates.copy())
    seconds = by_turns(
        {
            "transformers": lambda: theirs(torch.zeros(1), ids),
            "eigen_rope": lambda: eigen_rope.Cache(frequencies, positions),
            "eigen_rope_torch": lambda: eigen_rope_torch.table(rates, ids[0]),
        },
        calls=5,
    )
    return {name: quartiles(each) for name, each in seconds.items()}


def whole_model() -> dict[str, list[float]]:
    """Of the time with its own rotation."""
    torch.manual_seed(1)
    model = LlamaForCausalLM(config()).eval()
    ids = torch.randint(0, 1000, (1, MODEL_TOKENS))

    other = {}
    for kind in ("parity", "exact"):
        other[kind] = LlamaForCausalLM(config()).eval()
        other[kind].load_state_dict(model.state_dict())
        eigen_rope_torch.patch_transformers(other[kind], tables=kind)
    seconds = by_turns(
        {"own": lambda: model(ids), **{kind: lambda m=m: m(ids) for kind, m in other.items()}},
        calls=1,
    )
    return {
        kind: quartiles([a / b for a, b in zip(seconds[kind], seconds["own"], strict=True)])
        for kind in other
    }


def main() -> None:
    torch.set_num_threads(1)
    with torch.inference_mode():
        found = {
            "version": transformers.__version__,
            "errors": errors(),
            "tables": tables(),
            "model": whole_model(),
        }
    Path(sys.argv[1]).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
