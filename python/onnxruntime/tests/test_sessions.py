# SPDX-License-Identifier: Apache-2.0
"""What sessions do with an operator: shapes that change, memory that is used again, threads, many
sessions, tensors without elements."""

import threading

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, load_from_string, numpy_helper

import calls
from calls import Call
from definition import require
from problems import contrib, standard


def big(scalar="float32", tokens=512, rank=4):
    """A prompt, which is worth several threads."""
    random = np.random.default_rng(3)
    heads, head = 32, 128
    shape = (1, heads, tokens, head) if rank == 4 else (1, tokens, heads * head)
    angle = random.uniform(-3, 3, (1, tokens, head // 2))
    dtype = calls.SCALARS[scalar]
    return Call(
        "RotaryEmbedding",
        {
            "x": random.standard_normal(shape).astype(dtype),
            "cos": np.cos(angle).astype(dtype),
            "sin": np.sin(angle).astype(dtype),
        },
        attributes={"num_heads": heads},
    )


def test_the_output_has_xs_shape_when_the_model_is_loaded():
    call = next(contrib("float32"))
    rank = call.inputs["x"].ndim
    for of, made in ((call, calls.options(calls.REPLACED)), (call.own(), calls.options())):
        assert calls.session(of, made).get_outputs()[0].shape == list(call.inputs["x"].shape)
        made = calls.options(calls.REPLACED)
        named = calls.session(of, made, "named").get_outputs()[0].shape
        assert named == [f"x{i}" for i in range(rank)]
        made = calls.options(calls.REPLACED)
        calls.session(of, made, "unknown")


def test_shapes_that_change_from_run_to_run():
    random = np.random.default_rng(4)
    call = next(standard("float32"))
    for shapes in ("named", "unknown"):
        session = calls.session(call, calls.options(calls.REPLACED), shapes)
        for batch, tokens in ((1, 1), (3, 7), (1, 40), (0, 5), (2, 0), (2, 5)):
            angle = random.uniform(-3, 3, (batch, tokens, 8))
            of = Call(
                call.op,
                {
                    "x": random.standard_normal((batch, tokens, 48)).astype(np.float32),
                    "cos": np.cos(angle).astype(np.float32),
                    "sin": np.sin(angle).astype(np.float32),
                },
                attributes=call.attributes,
            )
            y = session.run(None, of.arrays())[0]
            require(of, y)


@pytest.mark.parametrize("scalar", calls.SCALARS)
def test_threads_give_the_same_bits(scalar):
    for rank in (3, 4):
        call = big(scalar, rank=rank)
        one, *more = (
            calls.run(calls.session(call, calls.options(calls.REPLACED, n)), call.arrays())
            for n in (1, 2, 5)
        )
        for y in more:
            assert (y.view(np.uint8) == one.view(np.uint8)).all()
        rows = slice(0, 1), slice(0, 1) if rank == 4 else slice(0, 512)
        assert np.isfinite(one[rows].astype(np.float64)).all()
    call = big(scalar, tokens=20)
    require(call, calls.run(calls.session(call, calls.options(calls.REPLACED, 2)), call.arrays()))


def test_a_session_of_one_thread_starts_none():
    """Neither ONNX Runtime nor the library: the process has as many threads as before."""
    call = big()
    session = calls.session(call, calls.options(calls.REPLACED, 1))
    session.run(None, call.arrays())

    def count():
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))

    before = count()
    for _ in range(3):
        session.run(None, call.arrays())
    assert count() == before


def test_memory_that_is_used_again():
    """A row of nodes, of which each may write where its x was, gives what single nodes give."""
    call = next(standard("float32"))
    expected = call.arrays()
    for _ in range(6):
        expected["x"] = calls.replaced(call := Call(call.op, expected, "", call.attributes))
    call = next(standard("float32"))
    x = call.inputs["x"].copy()
    for of, made in ((call, calls.options(calls.REPLACED)), (call.own(), calls.options())):
        session = ort.InferenceSession(of.model(copies=6), made, providers=["CPUExecutionProvider"])
        for _ in range(3):
            np.testing.assert_array_equal(session.run(None, of.arrays())[0], expected["x"])
        np.testing.assert_array_equal(call.inputs["x"], x)  # the caller's stays


def test_an_input_that_is_needed_again_stays():
    """y = turned + x, where x is an intermediate result that the node must not overwrite."""
    call = next(standard("float32"))
    x = call.inputs["x"]
    nodes = [
        helper.make_node("Neg", ["x"], ["z"]),
        helper.make_node("RotaryEmbedding", ["z", "cos", "sin"], ["t"], **call.attributes),
        helper.make_node("Add", ["t", "z"], ["y"]),
    ]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
        for name, array in call.inputs.items()
    ]
    graph = helper.make_graph(
        nodes, "graph", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    model.ir_version = 10
    session = ort.InferenceSession(
        model.SerializeToString(),
        calls.options(calls.REPLACED),
        providers=["CPUExecutionProvider"],
    )
    y = session.run(None, call.arrays())[0]
    np.testing.assert_array_equal(y, -calls.replaced(call) - x)


def test_in_the_callers_own_memory():
    """Bound as input and as output, x is turned where it lies."""
    call = next(contrib("float32"))
    session = calls.session(call, calls.options(calls.REPLACED))
    arrays = {name: array.copy() for name, array in call.arrays().items()}
    calls.run(session, arrays, arrays["x"])
    require(call, arrays["x"])


def test_memory_that_overlaps_is_refused():
    call = next(contrib("float32"))
    session = calls.session(call, calls.options(calls.REPLACED))
    x = call.inputs["x"]
    memory = np.zeros(x.size + 4, np.float32)
    memory[: x.size] = x.reshape(-1)
    before = memory.copy()
    arrays = call.arrays() | {"x": memory[: x.size].reshape(x.shape)}
    with pytest.raises(Exception, match=r"\[rope\] Y must be X's own data or not overlap it"):
        calls.run(session, arrays, memory[4:].reshape(x.shape))
    np.testing.assert_array_equal(memory, before)


def test_many_sessions_and_threads():
    """Threads that run one session and sessions of their own, while some calls are refused."""
    problems = [next(standard("float32", seed)) for seed in range(4)]
    shared = calls.session(problems[0], calls.options(calls.REPLACED, 2), "unknown")
    wrong = []

    def work(call):
        own = calls.session(call.own(), calls.options(threads=2))
        expected = calls.owned(call)
        for _ in range(200):
            for session in (shared, own):
                if not (session.run(None, call.arrays())[0] == expected).all():
                    wrong.append("another result")
            try:
                shared.run(None, call.arrays() | {"cos": call.inputs["cos"][:1]})
                wrong.append("nothing refused")
            except Exception as error:
                if "[rope] cos_cache must be" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=work, args=(call,)) for call in problems]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_model_that_onnx_runtime_has_saved(tmp_path):
    """Optimised and written to a file, the model still means the same."""
    call = next(standard("float32"))
    made = calls.options(calls.REPLACED)
    made.optimized_model_filepath = str(tmp_path / "saved.onnx")
    expected = calls.run(calls.session(call, made), call.arrays())
    session = ort.InferenceSession(
        str(tmp_path / "saved.onnx"),
        calls.options(calls.REPLACED),
        providers=["CPUExecutionProvider"],
    )
    np.testing.assert_array_equal(calls.run(session, call.arrays()), expected)


def test_initializers():
    """Caches that are part of the model, as exporters write them."""
    call = next(contrib("float32"))
    model = load_from_string(call.model())
    for name in ("cos", "sin"):
        model.graph.initializer.append(numpy_helper.from_array(call.inputs[name], name))
    kept = [value for value in model.graph.input if value.name not in ("cos", "sin")]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    session = ort.InferenceSession(
        model.SerializeToString(),
        calls.options(calls.REPLACED),
        providers=["CPUExecutionProvider"],
    )
    y = session.run(None, {"x": call.inputs["x"], "ids": call.inputs["ids"]})[0]
    require(call, y)
