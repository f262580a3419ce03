"""Every option of python-blosc2's writers: what it writes is read here, and ours gives what it would."""

import dataclasses

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.interop import coverage

X = np.cumsum(np.random.default_rng(0).integers(-3, 4, 60_000)).astype("f4").reshape(60, 1000)
GRID = {"chunks": (20, 500), "blocks": (10, 100)}
#: A value of each option that is not the default, with ours for it.
CPARAMS = {
    "codec": (blosc2.Codec.LZ4HC, {"codec": "lz4hc"}),
    "clevel": (9, {"level": 9}),
    "use_dict": (True, {}),
    "splitmode": (blosc2.SplitMode.ALWAYS_SPLIT, {}),
    "filters": ([blosc2.Filter.BITSHUFFLE], {"filters": "bitshuffle"}),
    "nthreads": (2, {"threads": 2}),
}
#: Options that have a meaning only with others.
WITH = {
    "codec_meta": (
        {"codec": blosc2.Codec.ZFP_PREC, "codec_meta": 20, "filters": [], "filters_meta": []},
        {"codec": ("zfp_precision", 20)},
    ),
    "filters_meta": (
        {"filters": [blosc2.Filter.TRUNC_PREC, blosc2.Filter.SHUFFLE], "filters_meta": [10, 0]},
        {"filters": [("trunc_prec", 10), "shuffle"]},
    ),
}
CASES = {
    **{name: ({name: theirs}, ours) for name, (theirs, ours) in CPARAMS.items()},
    **WITH,
}


@pytest.mark.parametrize("option", CASES)
def test_arrays_of_every_option_of_cparams_are_read(option, tmp_path):
    theirs, _ = CASES[option]
    array = blosc2.asarray(X, urlpath=str(tmp_path / "a.b2nd"), cparams=blosc2.CParams(**theirs), **GRID)
    with cq.open(tmp_path / "a.b2nd") as ours:
        np.testing.assert_array_equal(ours[...], array[...])


#: For these see `test_dictionary_chunks_are_read_both_ways` and the split modes in test_blosc2_chunks.py.
OF_CHUNKS = ("use_dict", "splitmode")


@pytest.mark.parametrize("option", [name for name in CASES if name not in OF_CHUNKS])
def test_arrays_of_every_option_of_cparams_are_written(option, tmp_path):
    theirs, ours = CASES[option]
    array = cq.asarray(X, path=tmp_path / "a.b2nd", **GRID, **ours)
    read = blosc2.open(str(tmp_path / "a.b2nd"), mode="r")
    np.testing.assert_array_equal(read[...], array[...])
    would = blosc2.asarray(X, cparams=blosc2.CParams(**theirs), **GRID)
    if option != "nthreads":  # which is the reader's own
        assert getattr(read.schunk.cparams, option) == getattr(would.schunk.cparams, option)


@pytest.mark.parametrize(("field", "value"), [("typesize", 2), ("blocksize", 4096)])
def test_sizes_of_items_and_blocks_go_both_ways(field, value, tmp_path):
    data = X.tobytes()
    blosc2.SChunk(
        len(data), data, urlpath=str(tmp_path / "a.b2frame"), cparams=blosc2.CParams(**{field: value})
    )
    with cq.open(tmp_path / "a.b2frame") as ours:
        assert ours[0] == data
    words = {"typesize": {"typesize": 2}, "blocksize": {"typesize": 8, "blocksize": 4096}}[field]
    chunk = cq.compress(data, **words)
    assert blosc2.decompress2(chunk) == data


STORAGE = {
    "contiguous": {"contiguous": False},
    "urlpath": {},
    "mode": {"mode": "w"},
    "meta": {"meta": {"unit": b"K"}},
    "locking": {"locking": True},
    "initial_mapping_size": {"mmap_mode": "w+", "initial_mapping_size": 1 << 20},
    "mmap_mode": {"mmap_mode": "w+"},
}


@pytest.mark.parametrize("option", STORAGE)
def test_arrays_of_every_option_of_storage_are_read(option, tmp_path):
    path = tmp_path / "a.b2nd"
    array = blosc2.asarray(X, urlpath=str(path), **STORAGE[option])
    del array  # a mapped file is cut to its size then
    with cq.open(path) as ours:
        np.testing.assert_array_equal(ours[...], X)
        assert option != "meta" or ours.meta["unit"] == b"K"


@pytest.mark.parametrize("option", [name for name in STORAGE if name != "meta"])
def test_arrays_for_every_option_of_storage_are_written(option, tmp_path):
    path = tmp_path / "a.b2nd"
    cq.asarray(X, path=path, contiguous=option != "contiguous").close()
    reading = {"mmap_mode": {"mmap_mode": "r"}, "locking": {"locking": True}}.get(option, {"mode": "r"})
    theirs = blosc2.open(str(path), **reading)
    np.testing.assert_array_equal(theirs[...], X)
    assert option != "contiguous" or not theirs.schunk.contiguous


@pytest.mark.parametrize(("kind", "of"), [("cparams", blosc2.CParams), ("storage", blosc2.Storage)])
def test_all_options_have_a_row(kind, of):
    names = {one.name for one in dataclasses.fields(of)}
    assert {row.name for row in coverage.ROWS if row.kind == kind} == names
