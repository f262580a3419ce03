"""New datasets: as the filters' own plugins make them, and read by h5py and PyTables."""

from __future__ import annotations

import os
import subprocess
import sys

import h5py
import hdf5plugin
import numpy as np
import pytest
import tables

import coquina as cq
from coquina.hdf5 import File
from coquina.tuning_options import DEFAULT_LEVEL

DATA = (np.arange(40 * 50) % 97).astype("f4").reshape(40, 50)
RECORD = np.dtype([("id", "<i4"), ("name", "S300"), ("xy", "<f8", (2,))])

#: Our options, and those of h5py that ask for the same.
PIPELINES = {
    "blosc2": ({}, hdf5plugin.Blosc2(cname="zstd", clevel=DEFAULT_LEVEL, filters=1)),
    "blosc2 lz4 bitshuffle": (
        {"codec": "lz4", "level": 9, "filters": "bitshuffle"},
        hdf5plugin.Blosc2(cname="lz4", clevel=9, filters=2),
    ),
    "blosc2 zlib": (
        {"codec": "zlib", "filters": "nofilter"},
        hdf5plugin.Blosc2(cname="zlib", clevel=DEFAULT_LEVEL, filters=0),
    ),
    "blosc": ({"filter": "blosc", "codec": "lz4hc"}, hdf5plugin.Blosc(cname="lz4hc", clevel=5, shuffle=1)),
    "blosc zstd": (
        {"filter": "blosc", "filters": "bitshuffle"},
        hdf5plugin.Blosc(cname="zstd", clevel=5, shuffle=2),
    ),
    "gzip": ({"filter": "gzip", "level": 4}, {"compression": "gzip", "shuffle": True}),
    "gzip alone": (
        {"filter": "gzip", "level": 9, "filters": []},
        {"compression": "gzip", "compression_opts": 9},
    ),
    "lz4": ({"filter": "lz4"}, {**hdf5plugin.LZ4(), "shuffle": True}),
    "zstd": ({"filter": "zstd", "level": 12, "filters": "nofilter"}, hdf5plugin.Zstd(clevel=12)),
    "bitshuffle": ({"filter": "bitshuffle"}, hdf5plugin.Bitshuffle(cname="lz4")),
    "bitshuffle zstd": (
        {"filter": "bitshuffle", "codec": "zstd", "level": 3},
        hdf5plugin.Bitshuffle(cname="zstd", clevel=3),
    ),
    "bitshuffle none": ({"filter": "bitshuffle", "codec": "none"}, hdf5plugin.Bitshuffle(cname="none")),
    "none": ({"filter": "none"}, {}),
    "checksum": ({"filter": "none", "fletcher32": True}, {"fletcher32": True}),
    "blosc2 and checksum": (
        {"fletcher32": True},
        {**hdf5plugin.Blosc2(cname="zstd", clevel=DEFAULT_LEVEL, filters=1), "fletcher32": True},
    ),
}
SHAPES = {
    "1-d": (np.arange(700, dtype="i8"), (64,)),
    "2-d": (DATA, (16, 20)),
    "3-d": (np.arange(4000, dtype=">u2").reshape(10, 20, 20), (3, 20, 7)),
    "bytes": (np.arange(100, dtype="u1"), (33,)),
    "bool": (np.arange(100) % 3 == 0, (33,)),
    "complex": (np.arange(90).reshape(9, 10) * (1 + 2j), (4, 10)),
    "strings": (np.array([b"a", b"bc", b"def"] * 20), (13,)),
    "records": (np.array([(n, b"n" * (n % 9), (n, -n)) for n in range(50)], RECORD), (16,)),
}


def filters_of(dataset: h5py.Dataset) -> list[tuple]:
    """Id, flags and parameters of each filter, without a shuffle of single bytes, which does nothing."""
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(at)[:3] for at in range(plist.get_nfilters())]
    return [row for row in filters if row[::2] != (2, (1,))]


def forget_sizes_of_blocks(filters: list[tuple]) -> list[tuple]:
    """hdf5plugin leaves the choice of Blosc2's block size to the library; we say ours."""
    return [(code, flags, (*v[:1], 0, *v[2:]) if code == 32026 else v) for code, flags, v in filters]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipelines_are_those_of_the_plugins_and_h5py_reads_them(tmp_path, pipeline, shape):
    ours, theirs = PIPELINES[pipeline]
    values, chunks = SHAPES[shape]
    with File(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("ours", data=values, chunks=chunks, **ours)
        assert d.chunks == chunks
        np.testing.assert_array_equal(d[...], values)
        like = f.h5.create_dataset("theirs", data=values, chunks=chunks, **theirs)
        assert forget_sizes_of_blocks(filters_of(f.h5["ours"])) == filters_of(like)
        assert f.h5["ours"].id.get_type().equal(like.id.get_type())
        np.testing.assert_array_equal(f["theirs"][...], values)
        assert f["theirs"].dtype == d.dtype
    with h5py.File(tmp_path / "x.h5") as f:
        np.testing.assert_array_equal(f["ours"][...], values)
        masks = [f["ours"].id.get_chunk_info(n).filter_mask for n in range(f["ours"].id.get_num_chunks())]
        assert set(masks) == {0}


@pytest.mark.parametrize("pipeline", ["blosc2", "blosc2 lz4 bitshuffle", "blosc", "gzip", "none", "checksum"])
@pytest.mark.parametrize("shape", ["1-d", "2-d", "3-d", "strings", "complex"])
def test_pytables_reads_and_extends_them(tmp_path, pipeline, shape):
    values, chunks = SHAPES[shape]
    with File(tmp_path / "x.h5", "w") as f:
        f.create_dataset(
            "d", data=values, chunks=chunks, maxshape=(None, *values.shape[1:]), **PIPELINES[pipeline][0]
        )
    with tables.open_file(tmp_path / "x.h5", "a") as f:
        np.testing.assert_array_equal(f.root.d[2:-2], values[2:-2])
        if values.dtype.kind == "c":
            # It takes compounds for arrays that do not grow.
            f.root.d[...] = values
            return
        assert isinstance(f.root.d, tables.EArray)
        f.root.d.append(values)
    with cq.open(tmp_path / "x.h5") as f:
        np.testing.assert_array_equal(f["d"][...], np.concatenate([values, values]))


def test_no_plugin_is_needed(tmp_path):
    code = """
import sys
sys.modules["hdf5plugin"] = None
import h5py, numpy as np
from coquina.hdf5 import File, plugin
for n in (32026, 32001, 32008, 32004, 32015):
    if h5py.h5z.filter_avail(n): h5py.h5z.unregister_filter(n)
x = np.arange(600.).reshape(20, 30)
with File(sys.argv[1], "w") as f:
    for filter in ("blosc2", "blosc", "lz4", "zstd", "bitshuffle"):
        # At edges what is as long as the items could be these themselves, and libhdf5 is asked.
        d = f.create_dataset(filter, data=x, chunks=(7, 9), filter=filter)
        assert (d[...] == x).all()
"""
    path = tmp_path / "x.h5"
    # Others' plugins would be found by this name.
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment)
    with h5py.File(path) as f:
        for name in ("blosc2", "blosc", "lz4", "zstd", "bitshuffle"):
            np.testing.assert_array_equal(f[name][...], np.arange(600.0).reshape(20, 30))
        like = f["bitshuffle"].id.get_create_plist().get_filter(0)
        assert like[2] == (0, 4, 8, 0, 2)


@pytest.mark.parametrize(
    "values",
    [
        np.float64(2.5), np.arange(6), np.empty((0, 3), "i2"), np.zeros((3, 0)),
        np.arange(24).reshape(2, 3, 4)[::-1],
        np.asfortranarray(DATA), [[1, 2], [3, 4]], 7, True, b"bytes", np.arange(5).astype("f2"),
        cq.asarray(DATA, chunks=(9, 9)), np.arange(3, dtype="G"),
    ],
    ids=lambda v: f"{type(v).__name__}{getattr(v, 'shape', '')}",
)  # fmt: skip
def test_data_of_any_kind_is_taken(tmp_path, values):
    with File(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("g/d", data=values)
        expected = np.asarray(values)
        assert (d.shape, d.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(d[...], expected)
        np.testing.assert_array_equal(f.h5["g/d"][...], expected)
        f.create_dataset("again", data=d, filter="gzip", chunks=None)
        f.create_dataset("theirs", data=f.h5["g/d"])
        np.testing.assert_array_equal(f["again"][...], expected)
        np.testing.assert_array_equal(f["theirs"][...], expected)


def test_shape_dtype_and_data_are_fitted(tmp_path):
    with File(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("a", (4, 3), "f8", data=np.arange(12))
        np.testing.assert_array_equal(d[...], np.arange(12.0).reshape(4, 3))
        assert d.dtype == "f8"
        assert f.create_dataset("b", 5).dtype == "f4"
        pairs = f.create_dataset("pairs", (10,), "(3,)f4", chunks=(4,))
        assert (pairs.shape, pairs.dtype, pairs.chunks) == ((10, 3), "f4", (4, 3))
        assert pairs.h5.shape == (10,)
        values = np.arange(30, dtype="f4").reshape(10, 3)
        pairs[...] = values
        np.testing.assert_array_equal(pairs.h5[...], values)
        more = f.create_dataset("more", dtype="(3,)f4", data=values, maxshape=(None,))
        np.testing.assert_array_equal(more.h5[...], values)
        more.append(values)
        more.resize((21,))
        np.testing.assert_array_equal(more[...], [*values, *values, [0, 0, 0]])
        for wrong in ({}, {"shape": (3,), "data": DATA}, {"data": DATA, "dtype": "(7,)f4"}):
            with pytest.raises((TypeError, ValueError), match="create_dataset"):
                f.create_dataset("wrong", **wrong)
        with pytest.raises(TypeError, match="opaque_dtype"):
            f.create_dataset("wrong", data=np.zeros(3, "M8[s]"))
        times = np.arange(3).astype("M8[s]")
        marked = f.create_dataset("times", data=times, dtype=h5py.opaque_dtype(times.dtype))
        np.testing.assert_array_equal(marked[...], times)
        assert "wrong" not in f


def test_fill_values_are_what_was_not_written(tmp_path):
    with File(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", (10, 10), ">i2", chunks=(4, 4), fillvalue=-5, maxshape=(None, None))
        assert d.fillvalue == -5
        d[2, 3] = 1
        d.resize((15, 12))
        expected = np.full((15, 12), -5)
        expected[2, 3] = 1
        np.testing.assert_array_equal(d[...], expected)
        np.testing.assert_array_equal(d.h5[...], expected)
        assert sum(1 for _ in d.chunk_iter()) == 1
        r = f.create_dataset("r", (5,), RECORD, fillvalue=(7, b"x", (1, 2)), chunks=(2,))
        assert r[3]["id"] == r.h5[3]["id"] == r.fillvalue["id"] == 7
        b = f.create_dataset("b", (5,), "?", fillvalue=True)
        assert b[...].all()


def test_chunks_follow_the_rule_or_are_as_given(tmp_path):
    with File(tmp_path / "x.h5", "w") as f:
        rule = cq.zeros((2000, 3000), "f8")
        d = f.create_dataset("rule", (2000, 3000), "f8")
        assert (d.chunks, d.blocks) == (rule.chunks, rule.blocks)
        d = f.create_dataset("given", (2000, 3000), "f8", chunks=(100, 200), blocks=(10, 40))
        assert d.chunks == (100, 200)
        assert filters_of(d.h5)[0][2][1] == 10 * 40 * 8
        assert f.create_dataset("n", (50,), chunks=7).chunks == (7,)
        grows = f.create_dataset("grows", (0, 30), maxshape=(None, 30))
        assert grows.chunks[0] > 1
        assert grows.chunks[1] <= 30
        bounded = f.create_dataset("bounded", (0, 30), maxshape=(5, 40))
        assert bounded.chunks[0] <= 5
        for wrong, error in [
            ({"chunks": (3,)}, ValueError),
            ({"chunks": (0, 3)}, ValueError),
            ({"chunks": (11, 3)}, ValueError),
            ({"maxshape": (3, 3)}, ValueError),
            ({"maxshape": (None,)}, ValueError),
            ({"filter": "lzma"}, ValueError),
            ({"codec": "lzma"}, ValueError),
            ({"filter": "gzip", "codec": "lz4"}, ValueError),
            ({"filter": "gzip", "level": 10}, ValueError),
            ({"filter": "lz4", "filters": "bitshuffle"}, ValueError),
            ({"filters": ["shuffle", "shrink"]}, ValueError),
        ]:
            with pytest.raises(error):
                f.create_dataset("wrong", (10, 10), **wrong)
        with pytest.raises(TypeError, match="cannot have chunks"):
            f.create_dataset("wrong", (), chunks=(1,))
        with pytest.raises(TypeError, match="cannot have chunks"):
            f.create_dataset("wrong", (), fletcher32=True)
        assert "wrong" not in f


def test_what_fails_half_way_leaves_no_name(tmp_path):
    class Broken:
        shape, dtype = (100, 100), np.dtype("f8")

        def __getitem__(self, key):
            raise ZeroDivisionError

    with File(tmp_path / "x.h5", "w") as f:
        with pytest.raises(ZeroDivisionError):
            f.create_dataset("a/b", data=Broken())
        assert list(f) == []


def test_items_of_no_array_are_left_to_h5py(tmp_path):
    with File(tmp_path / "x.h5", "w") as f:
        for name, data in [("str", "text"), ("list", ["a", "bc"]), ("bytes", np.array([b"x", None], object))]:
            if name == "bytes":
                data = np.array([b"x", b"yz"], h5py.string_dtype())
            d = f.create_dataset(name, data=data)
            assert isinstance(d, h5py.Dataset)
        assert f["list"].asstr()[1] == "bc"
        assert isinstance(
            f.create_dataset("lines", (3,), h5py.string_dtype(), maxshape=(None,)), h5py.Dataset
        )
