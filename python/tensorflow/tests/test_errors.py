# SPDX-License-Identifier: Apache-2.0
"""Whatever is refused is refused in one sentence, eagerly and while a graph is built."""

import numpy as np
import pytest
import tensorflow as tf

import eigen_rope_tensorflow as er

REFUSED = (tf.errors.InvalidArgumentError, ValueError, TypeError)


def good():
    x = tf.random.normal((2, 3, 4, 8))
    angle = tf.random.normal((3, 1, 4))
    return x, tf.cos(angle), tf.sin(angle)


def wide(t):
    return tf.cast(t, tf.float64)


# What is wrong, what is changed, the words of the sentence.
BAD = [
    ("integers", lambda x, c, s: (tf.cast(x, tf.int32), c, s), "x must be of float16.*got int32"),
    ("complex numbers", lambda x, c, s: (tf.cast(x, tf.complex64), c, s), "x must be of float16"),
    ("words", lambda x, c, s: (tf.constant(["a"]), c, s), "x must be of float16.*got string"),
    ("nothing", lambda x, c, s: (None, c, s), "x must be a tensor, got NoneType"),
    ("an object", lambda x, c, s: (x, object(), s), "cos must be a tensor, got object"),
    (
        "a ragged tensor",
        lambda x, c, s: (tf.ragged.constant([[1.0, 2.0], [1.0]]), c, s),
        "x must be dense, got a RaggedTensor",
    ),
    (
        "a sparse tensor",
        lambda x, c, s: (tf.sparse.from_dense([[1.0, 0.0]]), c, s),
        "x must be dense, got a SparseTensor",
    ),
    (
        "a table of 16 bits",
        lambda x, c, s: (x, tf.cast(c, tf.float16), tf.cast(s, tf.float16)),
        "cos must have the type of x, float32, got float16",
    ),
    (
        "a table of 64 bits",
        lambda x, c, s: (tf.cast(x, tf.bfloat16), wide(c), wide(s)),
        "cos must have the type of x, bfloat16, or be of float32, got float64",
    ),
    (
        "two scalars in a table",
        lambda x, c, s: (x, wide(c), s),
        "sin must have the type of cos, float64, got float32",
    ),
    (
        "two shapes in a table",
        lambda x, c, s: (x, c, s[:2]),
        r"sin must have the shape of cos, \[3, 1, 4\], got \[2, 1, 4\]",
    ),
    ("other tokens", lambda x, c, s: (x, c[:2], s[:2]), "cos must have 1 or 3 on axis -3"),
    (
        "another width",
        lambda x, c, s: (x, c[..., :3], s[..., :3]),
        "cos must have 4 or 8 on axis -1",
    ),
    ("more axes than x", lambda x, c, s: (x[0, 0], c, s), "cos must have at most the 2 axes of x"),
    ("no axes", lambda x, c, s: (x[0, 0, 0, 0], c, s), "x must have at least 1 axis"),
    ("no axes in the table", lambda x, c, s: (x, c[0, 0, 0], s[0, 0, 0]), "on axis -1, got shape"),
    ("odd features", lambda x, c, s: (x[..., :7], c, s), "rotary_dims must be.*by 2, got 7"),
    ("no features", lambda x, c, s: (x[..., :0], c, s), "rotary_dims must be positive"),
    (
        "alternating axes",
        lambda x, c, s: (tf.zeros((2,) * 9 + (8,)), *[tf.ones((2, 1) * 4 + (2, 4))] * 2),
        "x must have at most 8 axes where neighbours",
    ),
]


def one_sentence(error):
    """What the error says, without the words that tf.function puts around it."""
    text = getattr(error, "message", None) or str(error)
    lines = [line.strip() for line in text.splitlines() if "[rope]" in line]
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize(("change", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_refused_in_one_sentence(change, words):
    given = change(*good())
    with pytest.raises(REFUSED, match=words) as error:
        er.rotate(*given)
    text = getattr(error.value, "message", None) or str(error.value)
    assert text.startswith("[rope] ")
    assert "\n" not in text
    assert "EigenRope" not in text


@pytest.mark.parametrize(
    ("change", "words"),
    [b[1:] for b in BAD if b[0] != "alternating axes"],
    ids=[b[0] for b in BAD if b[0] != "alternating axes"],
)
def test_refused_while_a_graph_is_built(change, words):
    given = change(*good())

    @tf.function
    def never():
        er.rotate(*given)
        raise AssertionError("the graph was built")

    with pytest.raises(REFUSED, match=words) as error:
        never()
    assert "[rope] " in one_sentence(error.value)


@pytest.mark.parametrize(
    "change",
    [b[1] for b in BAD if b[0] in ("other tokens", "another width", "no axes", "odd features")],
)
def test_refused_when_a_graph_learns_the_shape(change):
    given = change(*good())
    unknown = tf.function(er.rotate, input_signature=[tf.TensorSpec(None)] * 3)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        unknown(*given)
    assert one_sentence(error.value).startswith("[rope] ")


OPTIONS = [
    ({"offset": 4, "rotary_dims": 8}, "window must lie in rows of 8.*8 elements from 4 on"),
    ({"offset": -2}, "offset must be at least 0, got -2"),
    ({"offset": 8}, "rotary_dims must be positive"),
    ({"rotary_dims": 0}, "rotary_dims must be positive and divisible by 2, got 0"),
    ({"rotary_dims": -2}, "rotary_dims must be positive, or -1"),
    ({"rotary_dims": 6, "pairing": "quarter"}, "divisible by 4, got 6"),
    ({"rotary_dims": 8.0}, "rotary_dims must be an integer, got 8.0"),
    ({"rotary_dims": 2**70}, "rotary_dims must fit 64 bits, got"),
    ({"axis": 1.5}, "axis must be an integer, got 1.5"),
    ({"axis": -5}, r"axis must be in \[-4, 3\], got -5"),
    ({"axis": 4}, r"axis must be in \[-4, 3\], got 4"),
    ({"axis": "last"}, "axis must be an integer, got 'last'"),
    ({"pairing": "halves"}, "pairing must be split_half.*got halves"),
    ({"pairing": 3}, "pairing must be a string, got 3"),
    ({"direction": "back"}, "direction must be forward.*got back"),
    ({"direction": 1}, "direction must be a string, got 1"),
]


@pytest.mark.parametrize(("options", "words"), OPTIONS, ids=[str(o[0]) for o in OPTIONS])
def test_options_are_refused(options, words):
    given = good()

    @tf.function
    def in_a_graph():
        return er.rotate(*given, **options)

    with pytest.raises(REFUSED, match=words) as error:
        er.rotate(*given, **options)
    assert (getattr(error.value, "message", None) or str(error.value)).startswith("[rope] ")
    with pytest.raises(REFUSED, match=words):
        in_a_graph()


def test_an_inverse_of_a_table_with_zeros_is_refused():
    x, cos, sin = good()
    zero = tf.tensor_scatter_nd_update(cos, [[1, 0, 2]], [0.0])
    none = tf.tensor_scatter_nd_update(sin, [[1, 0, 2]], [0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^\[rope\] .*to be inverted"):
        er.rotate_inverse(x, zero, none)


TABLES = [
    (([[1.0]], [1]), {}, "rates must have 1 axis, got 2"),
    (([], [1]), {}, "rate"),
    (([1.0], tf.ones(1, tf.bfloat16)), {}, "positions must be of integers, float32 or float64"),
    (([1.0], tf.ones(1, tf.bool)), {}, "positions must be of integers.*got bool"),
    (([1.0], None), {}, "positions must be a tensor, got NoneType"),
    ((object(), [1]), {}, "rates must be a tensor, got object"),
    (([1.0], tf.ragged.constant([[1], [2, 3]])), {}, "positions must be dense, got a RaggedTensor"),
    (([1.0], ["a"]), {}, "positions must be of integers.*got string"),
    ((tf.ones(1, tf.int32), [1]), {}, "rates must be of float32 or float64, got int32"),
    (([1.0], [1]), {"dtype": tf.int32}, "dtype must be float16.*got int32"),
    (([1.0], [1]), {"dtype": "float7"}, "dtype must be float16.*got float7"),
    (([1.0], [1]), {"attention_factor": [1.0, 2.0]}, "attention_factor must be a scalar"),
    (([1.0], [1]), {"low_rates": [1.0, 2.0]}, r"low_rates must be one for each rate \(1\), got 2"),
    (([float("nan")], [1]), {}, "rate 0 must be finite"),
    (([1.0], [float("inf")]), {}, "position.*must be finite"),
    (([1.0], [1]), {"attention_factor": float("nan")}, "finite"),
]


@pytest.mark.parametrize(("given", "options", "words"), TABLES, ids=[t[2] for t in TABLES])
def test_tables_are_refused(given, options, words):
    with pytest.raises(REFUSED, match=words) as error:
        er.table(*given, **options)
    assert (getattr(error.value, "message", None) or str(error.value)).startswith("[rope] ")


RATES = [
    (("llama4",), {"rotary_dims": 8}, "scaling must be one of default.*got llama4"),
    ((3,), {"rotary_dims": 8}, "scaling must be a string, got 3"),
    (("default",), {"rotary_dims": 7}, "rotary.*7"),
    (("llama3",), {"rotary_dims": 8, "factr": 8}, "parameter must be one of.*got factr"),
    (("llama3",), {"rotary_dims": 8}, "must be given"),
    (("default",), {"rotary_dims": 8, "base": "x"}, "base must be a number, got x"),
    (("default",), {"rotary_dims": 8, "base": [[1.0]]}, "base must be a number, a list"),
    (("default",), {"rotary_dims": 8, "base": None}, "base must be a number, a list"),
    (("default",), {"rotary_dims": 8, "base": np.nan}, "base"),
    (("default",), {"rotary_dims": 8, "length": "x"}, "length must be an integer, got 'x'"),
]


@pytest.mark.parametrize(("given", "options", "words"), RATES, ids=[t[2] for t in RATES])
def test_rates_are_refused(given, options, words):
    with pytest.raises(REFUSED, match=words) as error:
        er.rates(*given, **options)
    assert (getattr(error.value, "message", None) or str(error.value)).startswith("[rope] ")
