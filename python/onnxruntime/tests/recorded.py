# SPDX-License-Identifier: Apache-2.0
"""The recorded calls of tests/data/golden/onnx, whose README says how close answers must be."""

import json
from pathlib import Path

import numpy as np

from calls import SCALARS, Call

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "data" / "golden" / "onnx"
INTEGERS = {"int64": np.dtype(np.int64), "int32": np.dtype(np.int32)}


def _domain(case):
    return "" if case["domain"] == "ai.onnx" else case["domain"]


def cases(folder):
    """[(name, call, output, tags)] of a folder."""
    data = (GOLDEN / folder / "data.bin").read_bytes()
    read = []
    for case in json.loads((GOLDEN / folder / "cases.json").read_text())["cases"]:
        tensors = {
            one["name"]: np.frombuffer(
                data,
                {**SCALARS, **INTEGERS}[one["dtype"]],
                int(np.prod(one["shape"])),
                one["offset"],
            ).reshape(one["shape"])
            for one in case["tensors"]
        }
        output = tensors.pop(case["tensors"][-1]["name"])
        call = Call(case["op"], tensors, _domain(case), case["attributes"])
        read.append((case["name"], call, output, case.get("tags", [])))
    return read


# Calls that work although the text or the runtime says otherwise or nothing.
EXTENSIONS = {
    ("", "float64"),
    ("", "zero heads"),
    ("com.microsoft", "bfloat16"),
}


def edge_calls():
    """[(name, call, works)] of the calls at the edge of the definition."""
    read = []
    for number, case in enumerate(json.loads((GOLDEN / "errors.json").read_text())):
        random = np.random.default_rng(number)
        rows = next(max(1, i["shape"][0]) for i in case["inputs"] if i["name"] == "cos_cache")
        tensors = {}
        for one in case["inputs"]:
            count = int(np.prod(one["shape"]))
            if one["dtype"] in INTEGERS:
                values = one.get("values", np.arange(count) % rows)
            else:
                values = random.uniform(-1, 1, count)
            tensors[one["name"]] = (
                np.asarray(values)
                .astype({**SCALARS, **INTEGERS}[one["dtype"]])
                .reshape(one["shape"])
            )
        domain = _domain(case)
        works = (domain, case["name"]) in EXTENSIONS or (
            case["onnxruntime_1_30"]["outcome"] == "accepted" if domain else case["spec"] == "valid"
        )
        call = Call(case["op"], tensors, domain, case["attributes"])
        read.append((f"{domain} {case['op']}: {case['name']}", call, works))
    return read
