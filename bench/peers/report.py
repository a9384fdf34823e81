# SPDX-License-Identifier: Apache-2.0
"""Turns measurements.json and recorded.json into the tables, docs/peers.md and the data of the
plot."""

import argparse
import json
import string
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from measure import PAIRINGS, SCALARS, SCALARS_OF_TWO, SHAPES
from trainer_page import section_of

HERE = Path(__file__).parent
Spread = tuple[float, float, float]  # quartiles of the ratio to memcpy

SHAPE_TITLES = {
    "decode": "decode, 1 token",
    "tok16": "16 tokens",
    "prefill512": "512 tokens",
    "prefill4096": "4096 tokens",
    "partial512": "512, partial",
}
SCALAR_TITLES = {"f32": "float", "f16": "float16", "bf16": "bfloat16"}

# What the short table and the plot show: of several ways to ask the same of a peer, the fastest.
ROWS: list[tuple[str, str, list[str]]] = [
    ("rope", "`y = eigen_rope::rotate(x)`", ["rope/expr"]),
    ("rope_inplace", "`x = eigen_rope::rotate(x)`, in place", ["rope/inplace"]),
    (
        "onnxruntime",
        "ONNX Runtime {version}",
        [
            "onnxruntime/microsoft_4d",
            "onnxruntime/microsoft_3d",
            "onnxruntime/onnx23_4d",
            "onnxruntime/onnx23_3d",
        ],
    ),
    (
        "onnxruntime_ours",
        "`eigen_rope_onnxruntime` in ONNX Runtime {version}",
        [
            "onnxruntime/ours_microsoft_4d",
            "onnxruntime/ours_microsoft_3d",
            "onnxruntime/ours_onnx23_4d",
            "onnxruntime/ours_onnx23_3d",
        ],
    ),
    ("torch_ours", "`eigen_rope_torch.rotate(x)` in PyTorch {version}", ["torch/ours"]),
    (
        "torch_ours_inplace",
        "`eigen_rope_torch.rotate_(x)`, in place",
        ["torch/ours_inplace"],
    ),
    ("torch_compiled", "PyTorch {version}, compiled", ["torch/compiled"]),
    ("torch_eager", "PyTorch {version}, eager", ["torch/eager", "torch/complex"]),
    ("jax_ours", "`eigen_rope.jax.rotate(x)` in JAX {version}", ["jax/ours"]),
    ("jax_ours_donated", "the same, x donated", ["jax/ours_donated"]),
    ("jax", "JAX {version}, `jnp` under `jit`", ["jax/formula", "jax/halves"]),
    (
        "tensorflow_ours",
        "`eigen_rope_tensorflow.rotate(x)` in TensorFlow {version}",
        ["tensorflow/ours", "tensorflow/ours_function"],
    ),
    ("tensorflow", "TensorFlow {version}, `tf.function`", ["tensorflow/function"]),
    ("tensorflow_xla", "TensorFlow {version}, through XLA", ["tensorflow/xla"]),
    ("ggml", "ggml {version}", ["ggml/rope_ext"]),
    ("ggml_inplace", "ggml {version}, in place", ["ggml/rope_ext_inplace"]),
]
PLOT_TITLES = {
    "rope": "eigen-rope",
    "onnxruntime": "ONNX Runtime {version}",
    "torch_compiled": "PyTorch {version}, compiled",
    "torch_eager": "PyTorch {version}, eager",
    "jax": "JAX {version}",
    "tensorflow": "TensorFlow {version}",
    "ggml": "ggml {version}",
}
CONTENDERS = {
    "rope/expr": "rope, `y = eigen_rope::rotate(x)`",
    "rope/inplace": "rope, `x = eigen_rope::rotate(x)`",
    "onnxruntime/microsoft_4d": "ONNX Runtime, com.microsoft, [1, heads, tokens, head]",
    "onnxruntime/microsoft_3d": "ONNX Runtime, com.microsoft, [1, tokens, heads * head]",
    "onnxruntime/onnx23_4d": "ONNX Runtime, ai.onnx 23, [1, heads, tokens, head]",
    "onnxruntime/onnx23_3d": "ONNX Runtime, ai.onnx 23, [1, tokens, heads * head]",
    "onnxruntime/ours_microsoft_4d": "eigen_rope_onnxruntime, com.microsoft, 4-D",
    "onnxruntime/ours_microsoft_3d": "eigen_rope_onnxruntime, com.microsoft, 3-D",
    "onnxruntime/ours_onnx23_4d": "eigen_rope_onnxruntime, ai.onnx 23, 4-D",
    "onnxruntime/ours_onnx23_3d": "eigen_rope_onnxruntime, ai.onnx 23, 3-D",
    "torch/eager": "PyTorch, `x * cos + rotate_half(x) * sin`",
    "torch/compiled": "PyTorch, the same through `torch.compile`",
    "torch/complex": "PyTorch, `view_as_complex(x) * table`",
    "torch/ours": "PyTorch, `eigen_rope_torch.rotate(x)`",
    "torch/ours_inplace": "PyTorch, `eigen_rope_torch.rotate_(x)`",
    "torch/package": "PyTorch, rotary-embedding-torch",
    "jax/formula": "JAX, `x * cos + rotate_half(x) * sin` under `jit`",
    "jax/halves": "JAX, the two members of the pairs apart, under `jit`",
    "jax/ours": "JAX, `eigen_rope.jax.rotate(x)` under `jit`",
    "jax/ours_donated": "JAX, the same, x donated",
    "tensorflow/eager": "TensorFlow, `x * cos + rotate_half(x) * sin`, eager",
    "tensorflow/function": "TensorFlow, the same as a `tf.function`",
    "tensorflow/xla": "TensorFlow, the same with `jit_compile=True`",
    "tensorflow/ours": "TensorFlow, `eigen_rope_tensorflow.rotate(x)`, eager",
    "tensorflow/ours_function": "TensorFlow, the same as a `tf.function`",
    "ggml/rope_ext": "ggml, `ggml_rope_ext`",
    "ggml/rope_ext_inplace": "ggml, `ggml_rope_ext_inplace`",
}


# What a framework's user would write, and this library in the same framework.
IN_FRAMEWORKS: list[tuple[str, str, str]] = [
    ("PyTorch, the formula", "torch/eager", "torch/ours"),
    ("PyTorch, the formula, compiled", "torch/compiled", "torch/ours"),
    ("PyTorch, complex numbers", "torch/complex", "torch/ours"),
    ("JAX, the formula under `jit`", "jax/formula", "jax/ours"),
    ("JAX, the members of the pairs apart, under `jit`", "jax/halves", "jax/ours"),
    (
        "ONNX Runtime, com.microsoft, 4-D",
        "onnxruntime/microsoft_4d",
        "onnxruntime/ours_microsoft_4d",
    ),
    (
        "ONNX Runtime, com.microsoft, 3-D",
        "onnxruntime/microsoft_3d",
        "onnxruntime/ours_microsoft_3d",
    ),
    ("ONNX Runtime, ai.onnx 23, 4-D", "onnxruntime/onnx23_4d", "onnxruntime/ours_onnx23_4d"),
    ("ONNX Runtime, ai.onnx 23, 3-D", "onnxruntime/onnx23_3d", "onnxruntime/ours_onnx23_3d"),
    ("TensorFlow, the formula, eager", "tensorflow/eager", "tensorflow/ours"),
    ("TensorFlow, `tf.function`", "tensorflow/function", "tensorflow/ours_function"),
    ("TensorFlow, through XLA", "tensorflow/xla", "tensorflow/ours_function"),
]


class Results:
    """What was measured with a number of threads."""

    def __init__(
        self, measurements: dict[str, Any], recorded: dict[str, Any], threads: int
    ) -> None:
        self.measurements = measurements
        self.recorded = recorded if threads == 1 else {}
        self.cases = {
            (case["shape"], case["scalar"], case["pairing"]): case
            for case in measurements["cases"]
            if case["threads"] == threads
        }

    def measured(self, peer: str) -> bool:
        return any(
            name.startswith(peer + "/")
            for case in self.cases.values()
            for name in case["contenders"]
        )

    def shapes(self) -> list[str]:
        return [shape for shape in SHAPES if any(key[0] == shape for key in self.cases)]

    def scalars(self) -> list[str]:
        return [scalar for scalar in SCALARS if any(key[1] == scalar for key in self.cases)]

    def spread(self, key: tuple[str, str, str], contender: str) -> Spread | None:
        found = self.cases.get(key, {}).get("contenders", {}).get(contender)
        return tuple(found["ratio"]) if found else None

    def is_recorded(self, contenders: list[str]) -> bool:
        """Whether the recorded figure stands in for a peer that could not be measured; there are
        none for in-place forms."""
        peer = contenders[0].split("/")[0]
        return (
            not self.measured(peer)
            and peer in self.recorded
            and contenders[0] != "ggml/rope_ext_inplace"
        )

    def best(self, key: tuple[str, str, str], contenders: list[str]) -> Spread | None:
        if self.is_recorded(contenders):
            shape, scalar, pairing = key
            ratio = (
                self.recorded[contenders[0].split("/")[0]]["ratios"]
                .get(shape, {})
                .get(scalar, {})
                .get(pairing)
            )
            return (ratio, ratio, ratio) if ratio else None
        spreads = [
            spread for spread in (self.spread(key, contender) for contender in contenders) if spread
        ]
        return min(spreads, key=lambda spread: spread[1]) if spreads else None

    def version(self, peer: str) -> str:
        source = self.measurements["peers"] if self.measured(peer) else self.recorded
        return source.get(peer, {}).get("version", "").split("+")[0]

    def title(self, title: str, contenders: list[str]) -> str:
        title = title.format(version=self.version(contenders[0].split("/")[0]))
        return title + " (recorded)" if self.is_recorded(contenders) else title


def number(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def cell(spreads: list[Spread | None], quartiles: bool) -> str:
    def one(spread: Spread | None) -> str:
        if spread is None:
            return "-"
        return (
            f"{number(spread[1])} ({number(spread[0])} - {number(spread[2])})"
            if quartiles
            else number(spread[1])
        )

    return " / ".join(one(spread) for spread in spreads) if any(spreads) else "-"


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def short_table(results: Results) -> str:
    lines: list[str] = []
    for scalar in results.scalars():
        lines.append(
            line(
                [
                    f"**{SCALAR_TITLES[scalar]}**",
                    *(SHAPE_TITLES[shape] for shape in results.shapes()),
                ]
            )
        )
        if len(lines) == 1:
            lines.append(line(["---"] * (len(results.shapes()) + 1)))
        for _, title, contenders in ROWS:
            cells = [
                cell(
                    [results.best((shape, scalar, pairing), contenders) for pairing in PAIRINGS],
                    quartiles=False,
                )
                for shape in results.shapes()
            ]
            if any(text != "-" for text in cells):
                lines.append(line([results.title(title, contenders), *cells]))
    return "\n".join(lines)


def frameworks_table(results: Results, scalar: str) -> str:
    """The time in a framework over that of its own way, both of one process."""
    lines = [
        line(["", *(SHAPE_TITLES[shape] for shape in results.shapes())]),
        line(["---"] * (len(results.shapes()) + 1)),
    ]
    for title, own, ours in IN_FRAMEWORKS:
        cells: list[str] = []
        for shape in results.shapes():
            keys = [(shape, scalar, pairing) for pairing in PAIRINGS]
            pairs = [(results.spread(key, ours), results.spread(key, own)) for key in keys]
            ratios = [number(a[1] / b[1]) if a and b else "-" for a, b in pairs]
            cells.append(" / ".join(ratios))
        if any(character.isdigit() for text in cells for character in text):
            lines.append(line([title, *cells]))
    return "\n".join(lines)


def full_table(results: Results, scalar: str) -> str:
    lines = [
        line(["", *(SHAPE_TITLES[shape] for shape in results.shapes())]),
        line(["---"] * (len(results.shapes()) + 1)),
    ]
    for contender, title in CONTENDERS.items():
        cells = [
            cell(
                [results.spread((shape, scalar, pairing), contender) for pairing in PAIRINGS],
                quartiles=True,
            )
            for shape in results.shapes()
        ]
        if any(text != "-" for text in cells):
            lines.append(line([title, *cells]))
    return "\n".join(lines)


def recorded_table(results: Results) -> str:
    shapes = [shape for shape in SHAPES if shape != "tok16"]
    lines = [
        line(["recorded", *(SHAPE_TITLES[shape] for shape in shapes)]),
        line(["---"] * (len(shapes) + 1)),
    ]
    for peer, record in results.recorded.items():
        for scalar in ("f32", "f16"):
            ratios = [record["ratios"][shape][scalar] for shape in shapes]
            cells = [f"{ratio['split_half']:g} / {ratio['interleaved']:g}" for ratio in ratios]
            lines.append(line([f"{peer} {record['version']}, {SCALAR_TITLES[scalar]}", *cells]))
    lines.append("")
    lines += [
        item(f"{peer} {record['version']}: {record['how']}.")
        for peer, record in results.recorded.items()
    ]
    return "\n".join(lines)


def copies_table(results: Results) -> str:
    """memcpy in microseconds, which every process measures for itself: whether they saw the same
    machine."""
    peers = list(results.measurements["peers"])
    lines = [line(["memcpy, microseconds", *peers]), line(["---"] * (len(peers) + 1))]
    for shape in results.shapes():
        for scalar in ("f32", "f16"):
            case = results.cases.get((shape, scalar, "split_half"))
            if case:
                found = [case["contenders"].get(f"{peer}/memcpy") for peer in peers]
                cells = [f"{copy['microseconds']:.3g}" if copy else "-" for copy in found]
                lines.append(line([f"{SHAPE_TITLES[shape]}, {SCALAR_TITLES[scalar]}", *cells]))
    return "\n".join(lines)


def item(text: str) -> str:
    """An item of a list, as wide as prose on pages may be."""
    return textwrap.fill(
        "- " + text,
        100,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def refusals(results: Results) -> str:
    reasons: dict[str, list[str]] = {}
    for (shape, scalar, pairing), case in results.cases.items():
        for name, reason in case["refused"].items():
            kind = reason.rsplit(": ", 1)[0] if "differs" in reason else reason
            reasons.setdefault(f"{name.split('/')[0]}: {kind}", []).append(
                f"{shape} {scalar} {pairing}"
            )
    lines = [
        item(f"{peer}: not measured: {reason}")
        for peer, reason in results.measurements["missing"].items()
    ]
    lines += [item(f"{reason} ({', '.join(cases)})") for reason, cases in reasons.items()]
    return "\n".join(lines) if lines else "- none"


def versions(results: Results) -> str:
    return "\n".join(
        item(f"{name} {hello['version']}: {hello['note']}")
        for name, hello in results.measurements["peers"].items()
    )


def plotted(results: Results) -> list[tuple[str, list[str]]]:
    """Titles and contenders of the peers there are figures for."""
    keys = [
        (shape, scalar, pairing)
        for shape in results.shapes()
        for scalar in ("f32", "f16")
        for pairing in PAIRINGS
    ]
    return [
        (PLOT_TITLES[name], contenders)
        for name, _, contenders in ROWS
        if name in PLOT_TITLES and any(results.best(key, contenders) for key in keys)
    ]


def draw(results: Results, out: Path, images: Path) -> None:
    for scalar in ("f32", "f16"):
        (out / f"plot_{scalar}.dat").write_text(plot_data(results, scalar))
    rows = plotted(results)
    recorded = ",".join(
        str(i) for i, (_, contenders) in enumerate(rows, start=1) if results.is_recorded(contenders)
    )
    for terminal in ("svg", "png"):
        subprocess.run(
            [
                "gnuplot",
                "-c",
                str(HERE / "peers.gnuplot"),
                str(out),
                str(images / f"peers.{terminal}"),
                terminal,
                str(len(rows)),
                recorded or "none",
            ],
            check=True,
        )


def plot_data(results: Results, scalar: str) -> str:
    """A column of ratios for each plotted peer, split_half then interleaved; the columns' titles
    first."""
    rows = plotted(results)
    titles = [results.title(title, contenders) for title, contenders in rows]
    lines = ["shape " + " ".join(f'"{title}" "{title}"' for title in titles)]
    for shape in results.shapes():
        values: list[str] = []
        for _, contenders in rows:
            for pairing in PAIRINGS:
                spread = results.best((shape, scalar, pairing), contenders)
                values.append(str(spread[1]) if spread else "?")
        lines.append(f'"{SHAPE_TITLES[shape]}" ' + " ".join(values))
    return "\n".join(lines) + "\n"


def models_table(file: Path) -> str:
    """What models_peer.py has measured."""
    if not file.exists():
        return "transformers could not be installed in this run."
    found = json.loads(file.read_text())

    def spread(numbers: list[float], factor: float = 1) -> str:
        low, median, high = (f"{factor * number:.3g}" for number in numbers)
        return f"{median} ({low} - {high})"

    rows = ["| | transformers | this library |", "| --- | --- | --- |"]
    for error in found["errors"]:
        first = error["position"]
        rows.append(
            f"| largest error of a cosine, positions {first:,} to {first + 15:,} "
            f"| {error['transformers']:.1e} | {error['ours']:.1e} |"
        )
    tables = {name: spread(seconds, 1e3) for name, seconds in found["tables"].items()}
    rows.append(
        f"| a table of 4096 positions and 64 pairs, ms | {tables['transformers']} "
        f"| {tables['eigen_rope']} in numpy, {tables['eigen_rope_torch']} in PyTorch |"
    )
    model = {kind: spread(ratios) for kind, ratios in found["model"].items()}
    rows.append(
        "| four layers of Llama, 512 tokens, over the time with its own rotation "
        f"| 1 | {model['parity']} with its tables, {model['exact']} with exact ones |"
    )
    about = (
        f"transformers {found['version']}, a Llama in float32 with heads of 128 elements and the "
        "base 10000, one\nthread. Medians (quartiles). Its table has two entries for each pair, "
        "this library's one. The model\nis changed by `eigen_rope_torch.patch_transformers`."
    )
    return about + "\n\n" + "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder of measurements.json; tables and plot data are written there",
    )
    parser.add_argument("--page", type=Path, required=True, help="docs/peers.md")
    parser.add_argument(
        "--images", type=Path, required=True, help="where peers.svg and peers.png go"
    )
    options = parser.parse_args()
    recorded = json.loads((HERE / "recorded.json").read_text())
    measurements = json.loads((options.out / "measurements.json").read_text())
    results = Results(measurements, recorded, threads=1)
    of_two = Results(measurements, recorded, threads=2)

    table = short_table(results)
    (options.out / "readme_table.md").write_text(table + "\n")
    table_of_two = short_table(of_two)
    frameworks = "\n\n".join(
        f"**{SCALAR_TITLES[scalar]}, {title}**\n\n{frameworks_table(found, scalar)}"
        for found, title in ((results, "one thread"), (of_two, "two threads"))
        for scalar in found.scalars()
    )
    print(table, table_of_two, frameworks, sep="\n\n")
    whole = (list(SHAPES), SCALARS, list(SHAPES), SCALARS_OF_TWO)
    if (
        results.shapes(),
        results.scalars(),
        of_two.shapes(),
        of_two.scalars(),
    ) != whole:
        print(f"not every case was measured: {options.page} and its picture are left as they are")
        return 0
    draw(results, options.out, options.images)
    page = string.Template((HERE / "page.md.in").read_text())
    full = "\n\n".join(
        f"### {SCALAR_TITLES[scalar]}\n\n{full_table(results, scalar)}"
        for scalar in results.scalars()
    )
    options.page.write_text(
        page.substitute(
            machine=results.measurements["machine"],
            versions=versions(results),
            short=table,
            two=table_of_two,
            frameworks=frameworks,
            full=full,
            recorded=recorded_table(results),
            refusals=refusals(results),
            copies=copies_table(results),
            models=models_table(options.out / "models.json"),
            trainer=section_of(options.page.read_text()),
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
