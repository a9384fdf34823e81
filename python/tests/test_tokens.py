# SPDX-License-Identifier: Apache-2.0
"""Tokens whose rows and slots are listed."""

from __future__ import annotations

import definition
import numpy as np
import pytest

import eigen_rope as er

TOKENS, HEADS, DIMS, CONTEXT = 6, 2, 8, 32
X = np.random.default_rng(5).standard_normal((TOKENS, HEADS, DIMS))
GROWING = er.GrowingCache(er.Frequencies(er.Powers(DIMS)), dtype=np.float64)
IDS = np.array([3, 4, 31, 0, 0, 7])


def expected(ids=IDS):
    cos, sin = definition.table(ids[:, None], definition.rates(DIMS))
    return definition.rotate(X, cos, sin, "interleaved")


def rotate(**changes):
    arguments = dict(x=X, table=GROWING.rows(0, CONTEXT), ids=IDS, pairing="interleaved")
    return er.rotate_tokens(**(arguments | changes))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_rows_of_the_table(dtype):
    definition.assert_close(rotate(ids=IDS.astype(dtype)), expected(), 8)
    definition.assert_close(rotate(ids=IDS.tolist()), expected(), 8)


def test_without_a_list_token_t_reads_row_t():
    rows = GROWING.rows(0, TOKENS)
    definition.assert_close(rotate(table=rows, ids=None), expected(np.arange(TOKENS)), 8)


def test_slots_of_pages():
    pages = np.full((3, 4, HEADS, DIMS), 7.0)
    slots = [11, 0, -1, 5, 2, 1]
    assert rotate(out=pages, slots=slots) is pages
    flat = pages.reshape(12, HEADS, DIMS)
    for token, slot in enumerate(slots):
        if slot >= 0:
            definition.assert_close(flat[slot], expected()[token], 8)
    untouched = sorted(set(range(12)) - set(slots))
    np.testing.assert_array_equal(flat[untouched], 7.0)


def test_in_place_and_back():
    x = X.copy()
    rotate(x=x, out=x)
    definition.assert_close(x, expected(), 8)
    rotate(x=x, out=x, direction="inverse")
    definition.assert_close(x, X.astype("g"), 8)


REFUSED = {
    "a row too far": dict(ids=[32] * TOKENS),
    "a negative row": dict(ids=[-1] * TOKENS),
    "too few rows": dict(ids=[1, 2]),
    "no rows": dict(ids=[]),
    "rows on two axes": dict(ids=[[1, 2, 3, 4, 5, 6]]),
    "slots without an output": dict(slots=[0] * TOKENS),
    "slots that are shared": dict(slots=[0] * TOKENS, out=np.zeros((9, HEADS, DIMS))),
    "a slot too far": dict(slots=range(4, 10), out=np.zeros((9, HEADS, DIMS))),
    "no slots": dict(slots=[], out=np.zeros((9, HEADS, DIMS))),
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED.keys())
def test_refused(changes):
    with pytest.raises(ValueError, match=r"^\[rope\] [^\n]*, got "):
        rotate(**changes)
    assert not changes.get("out", np.zeros(1)).any()


def test_rows_must_be_integers():
    with pytest.raises(TypeError, match=r"^\[rope\] ids must be integers, got float64$"):
        rotate(ids=IDS + 0.5)
