# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as one of the peers: RotaryEmbedding of com.microsoft (1) and of ai.onnx (23), each
in its 4-D and its 3-D layout, by ONNX Runtime's own kernels and by this library's (ours_), which
take their place where eigen_rope_onnxruntime is installed.

Tables are given, in x's scalar, as the operators want them. Input and output are bound once, so a
run copies nothing. Small shapes are timed as 16 independent nodes of one graph, all from x to y, so
that starting a run does not count; graph optimisation is off, as it would merge them.
"""

import importlib.metadata
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from protocol import THREADS, Array, Case, Contender, Pages, Request, random_input, serve

try:
    import eigen_rope_onnxruntime
    import ml_dtypes
except ImportError:
    eigen_rope_onnxruntime = None

TYPES = {"f32": (np.float32, TensorProto.FLOAT), "f16": (np.float16, TensorProto.FLOAT16)}
THEIRS = tuple(TYPES)
if eigen_rope_onnxruntime is not None:
    TYPES["bf16"] = (ml_dtypes.bfloat16, TensorProto.BFLOAT16)


def model(request: Request, domain: str, rank: int, nodes: int) -> bytes:
    scalar = TYPES[request.scalar][1]
    tokens, heads, head, pairs = request.tokens, request.heads, request.head, request.rotary // 2
    shape = [1, heads, tokens, head] if rank == 4 else [1, tokens, heads * head]
    contrib = domain == "com.microsoft"
    table = [request.first_position + tokens, pairs] if contrib else [1, tokens, pairs]
    inputs = [helper.make_tensor_value_info("x", scalar, shape)]
    if contrib:
        inputs.append(helper.make_tensor_value_info("ids", TensorProto.INT64, [1, tokens]))
    inputs += [helper.make_tensor_value_info(name, scalar, table) for name in ("cos", "sin")]
    outputs = [helper.make_tensor_value_info(f"y{i}", scalar, shape) for i in range(nodes)]
    attributes: dict[str, Any] = {"interleaved": 0 if request.split_half else 1}
    if rank == 3 or request.rotary != head:
        attributes["num_heads"] = heads
    if request.rotary != head:
        attributes["rotary_embedding_dim"] = request.rotary
    names = [value.name for value in inputs]
    graph = [
        helper.make_node("RotaryEmbedding", names, [f"y{i}"], domain=domain, **attributes)
        for i in range(nodes)
    ]
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    built = helper.make_model(
        helper.make_graph(graph, "rope", inputs, outputs), opset_imports=opsets
    )
    built.ir_version = 10
    return built.SerializeToString()


def contender(
    request: Request,
    domain: str,
    rank: int,
    nodes: int,
    x: Array,
    y: Array,
    keep: list[object],
    ours: bool,
) -> Contender:
    dtype, scalar = TYPES[request.scalar]
    options = onnxruntime.SessionOptions()
    if ours:
        eigen_rope_onnxruntime.register(options, replace=("ai.onnx", "com.microsoft"))
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model(request, domain, rank, nodes), options, providers=["CPUExecutionProvider"]
    )
    binding = session.io_binding()
    tokens, heads, head = request.tokens, request.heads, request.head
    shape = (1, heads, tokens, head) if rank == 4 else (1, tokens, heads * head)

    def bind(name: str, array: Array, kind: int) -> None:
        keep.append(array)
        binding.bind_input(name, "cpu", 0, kind, list(array.shape), array.ctypes.data)

    x[:] = (
        (random_input(request).transpose(1, 0, 2) if rank == 4 else random_input(request))
        .reshape(-1)
        .astype(dtype)
    )
    bind("x", x.reshape(shape), scalar)
    angles = request.angles()
    if domain == "com.microsoft":
        bind(
            "ids",
            np.arange(request.first_position, request.first_position + tokens, dtype=np.int64)[
                None, :
            ].copy(),
            TensorProto.INT64,
        )
        angles = np.concatenate([np.zeros((request.first_position, angles.shape[1])), angles])
    else:
        angles = angles[None]
    bind("cos", np.cos(angles).astype(dtype), scalar)
    bind("sin", np.sin(angles).astype(dtype), scalar)
    for node in range(nodes):
        binding.bind_output(f"y{node}", "cpu", 0, scalar, list(shape), y.ctypes.data)

    def result() -> Array:
        return (
            y.reshape(heads, tokens, head).transpose(1, 0, 2)
            if rank == 4
            else y.reshape(tokens, heads, head)
        )

    return Contender(lambda: session.run_with_iobinding(binding), result, nodes)


def make(request: Request) -> Case:
    if request.scalar not in TYPES:
        raise ValueError(f"ONNX Runtime does not rotate {request.scalar} on a CPU")
    dtype = TYPES[request.scalar][0]
    size = request.tokens * request.heads * request.head
    bytes_each = size * np.dtype(dtype).itemsize
    pages = Pages(bytes_each, 3)
    # x in the order of each rank, and one y
    x_of = {4: pages.at(0, dtype, (size,)), 3: pages.at(1, dtype, (size,))}
    y = pages.at(2, dtype, (size,))
    nodes = 16 if request.tokens <= 16 else 1
    keep: list[object] = [pages]
    contenders = {}
    kernels = {"": False} if request.scalar in THEIRS else {}
    if eigen_rope_onnxruntime is not None:
        kernels["ours_"] = True
    for prefix, ours in kernels.items():
        for domain, name in (("com.microsoft", "microsoft"), ("", "onnx23")):
            for rank in (4, 3):
                contenders[f"{prefix}{name}_{rank}d"] = contender(
                    request, domain, rank, nodes, x_of[rank], y, keep, ours
                )
    return Case(
        contenders,
        x_of[3].ctypes.data,
        y.ctypes.data,
        bytes_each,
        random_input(request).astype(dtype),
        keep,
    )


if __name__ == "__main__":
    note = "tables given in x's scalar"
    if eigen_rope_onnxruntime is not None:
        version = importlib.metadata.version("eigen-rope-onnxruntime")
        note += f"; eigen_rope_onnxruntime {version}"
    serve({"peer": "onnxruntime", "version": onnxruntime.__version__, "note": note}, make)
