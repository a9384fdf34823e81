# SPDX-License-Identifier: Apache-2.0
"""Powers, scalings, positions, sections and pairings as values."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import eigen_rope as er
from eigen_rope import _choices, _core

SCALINGS = [
    er.Linear(factor=4.0),
    er.Proportional(rotated_pairs=3),
    er.DynamicNtkScaling(factor=2.0, original_context=64),
    er.NtkScaling(factor=8.0, mixed_b=0.625),
    er.Yarn(factor=4.0, original_context=64, mscale=0.7),
    er.GgmlYarn(original_context=64),
    er.Llama3(factor=8.0, original_context=64),
    er.LongRope(short_factor=[1.0] * 4, long_factor=np.full(4, 2.0), original_context=64),
]


def test_parameters_are_those_of_the_library():
    library = _core.library_parameters()
    classes = {"powers": er.Powers, **_choices.SCALINGS}
    assert classes.keys() == library.keys() - {"default"}
    for name, one in classes.items():
        for field in dataclasses.fields(one):
            usual = library[name].pop(field.name)  # None where it must be given
            must_be_given = field.default is dataclasses.MISSING
            assert must_be_given == (usual is None and field.name != "mscale"), (name, field.name)
            assert must_be_given or field.default == usual, (name, field.name)
        assert not library[name], name


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda one: one.name)
def test_scalings_are_values(scaling):
    assert pickle.loads(pickle.dumps(scaling)) == scaling
    assert hash(copy.copy(scaling)) == hash(scaling)
    changed = dataclasses.replace(er.Powers(8), base=5.0)
    frequencies = er.Frequencies(changed, scaling, length=100)
    assert frequencies.pairs == 4
    assert frequencies == pickle.loads(pickle.dumps(frequencies))
    assert frequencies != er.Frequencies(er.Powers(8, base=6.0), scaling, length=100)


def test_frequencies_take_any_sequence_as_their_state():
    frequencies = er.Frequencies(er.Powers(8))
    rates, factor = frequencies.__getstate__()
    made = er.Frequencies.__new__(er.Frequencies)
    made.__setstate__((tuple(rates), factor))
    assert made == frequencies
    for wrong in ((5, factor), ([1.0], factor), (rates, 1.0), ()):
        with pytest.raises((TypeError, IndexError, RuntimeError)):
            er.Frequencies.__new__(er.Frequencies).__setstate__(wrong)


def test_positions():
    assert er.Positions.range(3, 2) == er.Positions.ids([3, 4])
    assert er.Positions.ids(np.array([3, 4], np.uint8)) == er.Positions.ids([3.0, 4.0])
    assert er.Positions.packed([0, 1, 4], [70, 12]) == er.Positions.ids([70, 12, 13, 14])
    assert er.Positions.packed([0, 3, 5]) == er.Positions.ids([0, 1, 2, 0, 1])
    assert er.Positions.range(0, 8).shard(0, 2) == er.Positions.ids([0, 1, 6, 7])
    assert er.Positions.range(0, 8).shard(1, 2, sharding="contiguous") == er.Positions.range(4, 4)
    packed = er.Positions.packed([0, 4, 11]).shard(0, 2, cu_seqlens=[0, 4, 11])
    assert packed == er.Positions.ids([0, 3, 0, 1, 6, 0])
    large = 2**62 + 1
    assert er.Positions.ids([large]) == er.Positions.range(large, 1)
    np.testing.assert_array_equal(er.Positions.ids([[1, 2], [3, 4]]).values, [[[1, 2], [3, 4]]])
    assert er.Positions.ids([]).tokens == 0


def test_positions_on_several_axes():
    sections = er.Sections("contiguous", [1, 2, 1])
    ids = np.array([[0, 0], [5, 6], [3, 4]])
    positions = er.Positions.multi_axis(ids, sections)
    assert (positions.axes, positions.batches, positions.tokens) == (3, 1, 2)
    assert [sections.axis(pair) for pair in range(4)] == [0, 1, 1, 2]
    cache = er.Cache(er.Frequencies.explicit_rates([1.0] * 4), positions, dtype="f8", layout="sd")
    np.testing.assert_allclose(cache.cos[1], np.cos([0.0, 6.0, 6.0, 4.0]), rtol=1e-15)
    assert pickle.loads(pickle.dumps(sections)) == sections


def test_pairings():
    pairing = er.Pairing("interleaved", rotary_dims=32, offset=8, axis=1)
    assert repr(pairing) == "Pairing('interleaved', rotary_dims=32, offset=8, axis=1)"
    assert eval(repr(pairing), {"Pairing": er.Pairing}) == pairing
    assert pickle.loads(pickle.dumps(pairing)) == pairing
    assert {pairing, copy.deepcopy(pairing)} == {pairing}
    assert pairing != er.Pairing("interleaved")
    assert (er.Pairing("quarter") == "quarter") is False
