"""Shapes that `tune` proposes: it counts what is touched, and reads some blocks of the array, each once."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.tuning import samples, shapes
from coquina.tuning.counting import blocks_touched, chunks_touched, mean_touched
from coquina.tuning.patterns import Pattern, patterns, uses

RNG = np.random.default_rng(5)
WAVES = (RNG.normal(280, 3, (60, 80, 90)).cumsum(0) / 7).round(1).astype("f4")


# Counting


@given(st.data())
def test_counts_are_the_mean_of_blocks_touched_over_all_places(data):
    total = data.draw(st.integers(1, 50))
    chunk = data.draw(st.integers(1, 60))
    block = data.draw(st.integers(1, chunk))
    length = data.draw(st.integers(1, total))
    array = cq.zeros((total,), "u1", chunks=(chunk,), blocks=(block,))
    touched = [array.blocks_touched(np.s_[at : at + length]) for at in range(total - length + 1)]
    assert mean_touched(total, length, chunk, block) == pytest.approx(np.mean(touched))


@settings(max_examples=40)
@given(st.data())
def test_counts_of_boxes_are_those_of_arrays(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=2, max_size=3)))
    chunks = tuple(data.draw(st.integers(1, length)) for length in shape)
    blocks = tuple(data.draw(st.integers(1, length)) for length in chunks)
    pattern = Pattern(tuple(data.draw(st.none() | st.integers(1, length)) for length in shape))
    region = pattern.region(shape)
    starts = product(*(range(total - length + 1) for total, length in zip(shape, region, strict=True)))
    keys = [
        tuple(slice(at, at + length) for at, length in zip(start, region, strict=True)) for start in starts
    ]
    array = cq.zeros(shape, "u1", chunks=chunks, blocks=blocks)
    whole = cq.zeros(shape, "u1", chunks=chunks, blocks=chunks)
    for count, one in ((blocks_touched(shape, chunks, blocks, pattern), array),
                       (chunks_touched(shape, chunks, pattern), whole)):  # fmt: skip
        assert count == pytest.approx(np.mean([one.blocks_touched(key) for key in keys]))


def test_an_axis_of_any_length_is_counted_at_once():
    assert mean_touched(10**15, 10**6, 3 * 10**6, 10**6) == pytest.approx(2, abs=1e-5)
    assert mean_touched(10**12, 1, 7 * 10**5, 3 * 10**5) == 1


# Ways of reading


def test_words_stand_for_patterns():
    every = [str(one) for one in patterns((4, 5, 6), "any")]
    assert every == ["[i, :, :]", "[:, i, :]", "[:, :, i]", "[i, i, i]"]
    assert [str(one) for one in patterns((4, 5, 6), "series")] == ["[:, i, i]", "[i, :, i]", "[i, i, :]"]
    for word, key in [
        ("rows", "[i, :, :]"), ("columns", "[:, :, i]"), ("planes:-2", "[:, i, :]"),
        ("series:1", "[i, :, i]"), ("points", "[i, i, i]"), ("whole", "[:, :, :]"),
        ("boxes:1,2,3", "[i, i:i+2, i:i+3]"), ((4, 1, 1), "[i:i+4, i, i]"),
    ]:  # fmt: skip
        assert [str(one) for one in patterns((4, 5, 6), word)] == [key]
    assert [str(one) for one in patterns((1000,), "any")] == ["[i:i+10]", "[i]"]
    assert [one.weight for one in uses((4, 5), {"points": 2, (1, 5): 0.5})] == [2, 0.5]


@pytest.mark.parametrize(
    ("access", "error", "text"),
    [
        ("plane", ValueError, "takes any, whole"), ("planes:3", ValueError, "not an axis of an array"),
        ("points:1", ValueError, "takes any"), ("boxes:1,2", ValueError, "does not fit"),
        ((1, 2, 99), ValueError, "does not fit"), ("boxes:0,1,1", ValueError, "does not fit"),
        ("boxes:a,b,c", ValueError, "not fit"), (5, TypeError, "mapping"), ({}, ValueError, "at least one"),
        ({"points": 0}, ValueError, "above 0"), ({"points": "2"}, TypeError, "not str"),
        ({"points": float("nan")}, ValueError, "above 0"), ({7: 1}, TypeError, "takes any"),
    ],
)  # fmt: skip
def test_ways_of_reading_that_there_are_not_are_refused(access, error, text):
    with pytest.raises(error, match=text):
        cq.tune(WAVES, access=access)


# Shapes


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_default_stays_unless_another_cut_takes_a_tenth_less(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 2000), min_size=1, max_size=3)))
    access = data.draw(st.sampled_from(["any", "whole", "rows", "columns", "planes", "series", "points"]))
    asked = uses(shape, access)
    found = shapes.cuts(shape, 8, asked)
    default = next(one for one in found if one.name == "default")
    assert found[0] is default or found[0].seconds <= default.seconds * 0.96
    assert min(one.seconds for one in found) >= found[0].seconds * 0.9 / 1.05
    assert found[1:] == sorted(found[1:], key=lambda one: one.seconds)
    for cut in found[:3]:
        array = cq.zeros(shape, "f8", chunks=cut.chunks, blocks=cut.blocks)
        assert len(cut.readings) == sum(len(use.patterns) for use in asked)
        for reading in cut.readings:
            if all(length is None for length in reading.pattern.lengths):
                assert reading.blocks == array.blocks_touched(())
            assert reading.decoded_bytes >= reading.wanted_bytes > 0
    assert shapes.cuts(shape, 8, asked) == found


def test_nothing_said_leaves_the_rule_alone_and_what_was_given():
    assert [one.key for one in shapes.cuts((500, 600), 8, uses((500, 600), "any"))] == [
        shapes.rule((500, 600), 8)
    ]
    advice = cq.tune(WAVES, chunks=(30, 40, 90), access="series:0")
    assert advice.chunks == (30, 40, 90)
    assert {one.chunks for one in advice.cuts} == {(30, 40, 90)}
    advice = cq.tune(WAVES, chunks=(30, 40, 90), blocks=(30, 5, 5), access="points")
    assert [one.key for one in advice.cuts] == [((30, 40, 90), (30, 5, 5))]
    with pytest.raises(ValueError, match="larger than chunks"):
        cq.tune(WAVES, chunks=(3, 4, 9), blocks=(30, 5, 5))


def test_lines_and_maps_get_blocks_along_them():
    lines, maps = (cq.tune(WAVES, access=f"{kind}:0") for kind in ("series", "planes"))
    assert lines.blocks[0] == 60
    assert maps.blocks[0] == 1
    often = [cq.tune(WAVES, access={"series:0": times, "planes:0": 1}).blocks[0] for times in (1e-4, 1, 1e4)]
    assert often == sorted(often)
    assert often[0] < often[-1]


def test_the_cut_of_an_array_stays_if_no_other_is_better():
    array = cq.asarray(WAVES, chunks=(60, 80, 90), blocks=(20, 20, 45))
    assert (cq.tune(array).blocks, cq.tune(array).cuts[0].name) == ((20, 20, 45), "current")
    bad = cq.asarray(WAVES, chunks=(60, 80, 90), blocks=(60, 80, 90))
    assert cq.tune(bad, access="points").cuts[0].name != "current"
    assert "current" in [one.name for one in cq.tune(bad, access="points").cuts]


# Samples


class Watched:
    """Items that are read in slices; each may be read once."""

    def __init__(self, shape):
        self.shape, self.dtype, self.reads = shape, np.dtype("f4"), []

    def __getitem__(self, key):
        self.reads.append(tuple((one.start, one.stop) for one in key))
        lengths = [one.stop - one.start for one in key]
        return np.arange(np.prod(lengths), dtype="f4").reshape(lengths)


def test_some_blocks_are_read_once_and_little_of_the_array():
    source = Watched((4000, 3000, 500))
    advice = cq.tune(source)
    assert len(source.reads) == len(set(source.reads)) <= samples.PLACES * samples.BLOCKS
    read = sum(np.prod([stop - start for start, stop in one]) * 4 for one in source.reads)
    assert read <= advice.sample_bytes <= samples.BYTES_MAX
    assert advice.places == samples.PLACES
    huge = Watched((10**6, 10**6))
    assert cq.tune(huge, blocks=(2000, 4000), chunks=(4000, 4000)).sample_bytes <= samples.BYTES_MAX


@settings(max_examples=40)
@given(st.data())
def test_samples_are_blocks_of_the_array_padded_with_zeros(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=0, max_size=3)))
    chunks = tuple(data.draw(st.integers(1, length)) for length in shape)
    blocks = tuple(data.draw(st.integers(1, length)) for length in chunks)
    x = np.arange(1, 1 + np.prod(shape, dtype=int), dtype="i4").reshape(shape)
    seen = set()
    for place in samples.places(x, chunks, blocks):
        assert place.count == np.count_nonzero(place.items)
        assert place.items.shape[1:] == blocks
        for items in place.items:
            start = np.argwhere(x == items.flat[0])[0]
            ends = [min(at + n, m) for at, n, m in zip(start, blocks, shape, strict=True)]
            part = x[tuple(slice(at, end) for at, end in zip(start, ends, strict=True))]
            np.testing.assert_array_equal(items[tuple(map(slice, part.shape))], part)
            assert np.count_nonzero(items) == part.size
            assert items.flat[0] not in seen
            seen.add(items.flat[0])
    assert seen
