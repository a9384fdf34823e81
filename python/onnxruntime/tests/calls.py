# SPDX-License-Identifier: Apache-2.0
"""Sessions of one node, and runs of them with tensors of any type.

A node is in the domain that its operator is published in ("" is ai.onnx), and computed by ONNX
Runtime's own kernel, by the library's in its place, or as an operator of the library's own domain.
"""

import itertools
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import eigen_rope_onnxruntime

SCALARS = {
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
KINDS = {
    SCALARS["float32"]: TensorProto.FLOAT,
    SCALARS["float64"]: TensorProto.DOUBLE,
    SCALARS["float16"]: TensorProto.FLOAT16,
    SCALARS["bfloat16"]: TensorProto.BFLOAT16,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.int32): TensorProto.INT32,
}
# The names in the library's own domain.
OWN = {
    ("", "RotaryEmbedding"): "RotaryEmbedding",
    ("com.microsoft", "RotaryEmbedding"): "ContribRotaryEmbedding",
    ("com.microsoft", "MRotaryEmbedding"): "MRotaryEmbedding",
}
REPLACED = ("ai.onnx", "com.microsoft")
VERSION = tuple(int(number) for number in ort.__version__.split(".")[:2])
# The first version that knows opset 23 is 1.23.
# The Python interface of older ones binds numpy's own types alone, so no bfloat16.
BINDS_ALL = VERSION >= (1, 20)
OPSET, IR = (23, 10) if VERSION >= (1, 23) else (17, 8)
POISON = 0xCD


@dataclass
class Call:
    """A node and its inputs, in the node's order. None is an input that the node leaves out."""

    op: str
    inputs: dict[str, np.ndarray | None]
    domain: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)

    def own(self) -> "Call":
        """The same node in the library's own domain."""
        return Call(OWN[self.domain, self.op], self.inputs, "eigen_rope", self.attributes)

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: array for name, array in self.inputs.items() if array is not None}

    def model(self, shapes: str = "exact", copies: int = 1) -> bytes:
        """`shapes`: exact, named (every extent has a name), or unknown. With copies, as many nodes
        in a row as that."""

        def shape_of(name: str, array: np.ndarray) -> Any:
            if shapes == "exact":
                return array.shape
            return None if shapes == "unknown" else [f"{name}{i}" for i in range(array.ndim)]

        values = [
            helper.make_tensor_value_info(name, KINDS[array.dtype], shape_of(name, array))
            for name, array in self.arrays().items()
        ]
        names = [name if array is not None else "" for name, array in self.inputs.items()]
        results = [names[0], *(f"y{i}" for i in range(1, copies)), "y"]
        nodes = [
            helper.make_node(self.op, [x, *names[1:]], [y], domain=self.domain, **self.attributes)
            for x, y in itertools.pairwise(results)
        ]
        kind = values[0].type.tensor_type.elem_type
        graph = helper.make_graph(
            nodes, "graph", values, [helper.make_tensor_value_info("y", kind, None)]
        )
        opsets = [("", OPSET), ("com.microsoft", 1), ("eigen_rope", 1)]
        built = helper.make_model(
            graph, opset_imports=[helper.make_opsetid(name, version) for name, version in opsets]
        )
        built.ir_version = IR
        return built.SerializeToString()


def options(replace: tuple[str, ...] | None = (), threads: int = 1) -> ort.SessionOptions:
    """Options with the library's operators; None for those of ONNX Runtime alone."""
    made = ort.SessionOptions()
    made.intra_op_num_threads = threads
    made.log_severity_level = 4
    if replace is not None:
        eigen_rope_onnxruntime.register(made, replace)
    return made


def session(
    call: Call, made: ort.SessionOptions | None = None, shapes: str = "exact"
) -> ort.InferenceSession:
    return ort.InferenceSession(
        call.model(shapes), made or options(), providers=["CPUExecutionProvider"]
    )


def run(of: ort.InferenceSession, arrays: dict[str, np.ndarray], y: np.ndarray | None = None):
    """What the session writes to y, which is made if none is given."""
    if not BINDS_ALL:
        return of.run(None, arrays)[0]
    binding = of.io_binding()
    kept = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in kept.items():
        binding.bind_input(name, "cpu", 0, KINDS[array.dtype], list(array.shape), array.ctypes.data)
    x = next(iter(kept.values()))
    if y is None:
        y = poisoned(x)
    binding.bind_output("y", "cpu", 0, KINDS[y.dtype], list(y.shape), y.ctypes.data)
    of.run_with_iobinding(binding)
    return y


def poisoned(x: np.ndarray) -> np.ndarray:
    y = np.empty(x.shape, x.dtype)
    y.view(np.uint8).fill(POISON) if y.size else None
    return y


def is_untouched(y: np.ndarray) -> bool:
    return bool((y.view(np.uint8) == POISON).all()) if y.size else True


def replaced(call: Call, **how: Any) -> np.ndarray:
    """The library's answer in the place of ONNX Runtime's own kernel."""
    return run(session(call, options(REPLACED), **how), call.arrays())


def owned(call: Call, **how: Any) -> np.ndarray:
    """The answer of the same operator in the library's domain."""
    call = call.own()
    return run(session(call, **how), call.arrays())


def theirs(call: Call) -> np.ndarray:
    """ONNX Runtime's own answer."""
    return run(session(call, options(None)), call.arrays())
