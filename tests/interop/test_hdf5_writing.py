"""Datasets that coquina creates: parameters are those that filters set up, and their makers read them."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import product
from random import Random

import h5py
import hdf5plugin
import numpy as np
import pytest

from coquina.hdf5 import File
from tests.array_cases import PADDED, assert_same_array, random_items, same_items

CODECS = ("zstd", "lz4", "lz4hc", "blosclz", "zlib")
SHUFFLES = {"nofilter": 0, "shuffle": 1, "bitshuffle": 2}


def _pipelines() -> dict[str, tuple[dict[str, object], dict[str, object]]]:
    """Return our options and those of h5py with hdf5plugin that ask for the same."""
    made: dict[str, tuple[dict[str, object], dict[str, object]]] = {"none": ({"filter": "none"}, {})}
    for codec, (filters, number), level in product(CODECS, SHUFFLES.items(), (1, 6, 9)):
        ours = {"codec": codec, "filters": filters, "level": level}
        made[f"blosc2 {codec} {filters} {level}"] = (
            {"filter": "blosc2", **ours},
            dict(hdf5plugin.Blosc2(cname=codec, clevel=level, filters=number)),
        )
        made[f"blosc {codec} {filters} {level}"] = (
            {"filter": "blosc", **ours},
            dict(hdf5plugin.Blosc(cname=codec, clevel=level, shuffle=number)),
        )
    for filters, number in SHUFFLES.items():
        made[f"blosc snappy {filters}"] = (
            {"filter": "blosc", "codec": "snappy", "filters": filters, "level": 5},
            dict(hdf5plugin.Blosc(cname="snappy", clevel=5, shuffle=number)),
        )
    for level, shuffle in product((1, 9), (False, True)):
        filters = "shuffle" if shuffle else "nofilter"
        made[f"bzip2 {level} {shuffle}"] = (
            {"filter": "bzip2", "level": level, "filters": filters},
            {**hdf5plugin.BZip2(blocksize=level), "shuffle": shuffle},
        )
    made["blosc2 delta"] = (
        {"filter": "blosc2", "filters": "delta", "codec": "lz4", "level": 5},
        dict(hdf5plugin.Blosc2(cname="lz4", clevel=5, filters=3)),
    )
    for level, shuffle in product((0, 1, 6, 9), (False, True)):
        made[f"gzip {level} {shuffle}"] = (
            {"filter": "gzip", "level": level, "filters": "shuffle" if shuffle else "nofilter"},
            {"compression": "gzip", "compression_opts": level, "shuffle": shuffle},
        )
    for shuffle in (False, True):
        filters = "shuffle" if shuffle else "nofilter"
        made[f"lz4 {shuffle}"] = (
            {"filter": "lz4", "filters": filters},
            {**hdf5plugin.LZ4(), "shuffle": shuffle},
        )
        for level in (1, 9, 22):
            made[f"zstd {level} {shuffle}"] = (
                {"filter": "zstd", "level": level, "filters": filters},
                {**hdf5plugin.Zstd(clevel=level), "shuffle": shuffle},
            )
    made["bitshuffle none"] = (
        {"filter": "bitshuffle", "codec": "none"},
        dict(hdf5plugin.Bitshuffle(cname="none")),
    )
    made["bitshuffle lz4"] = ({"filter": "bitshuffle"}, dict(hdf5plugin.Bitshuffle(cname="lz4")))
    for level in (1, 11, 22):
        made[f"bitshuffle zstd {level}"] = (
            {"filter": "bitshuffle", "codec": "zstd", "level": level},
            dict(hdf5plugin.Bitshuffle(cname="zstd", clevel=level)),
        )
    return made


PIPELINES = _pipelines()
DTYPES = [
    *("u1", "<i2", ">i2", "<i4", ">u8", "<f2", "<f4", ">f8", "<c8", ">c16", "?", "S1", "S5", "S300"),
    PADDED,
    np.dtype(("<f4", (2, 3))),
    np.dtype([("id", "<i8"), ("name", "S290"), ("xy", ">f4", (2,))]),
]
DATASETS, DATASETS_LONG = 4, 60


def filters_of(dataset: h5py.Dataset) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return id, flags and parameters of each filter, without what both may do: shuffle single bytes."""
    plist = dataset.id.get_create_plist()
    rows = [plist.get_filter(at)[:3] for at in range(plist.get_nfilters())]
    # hdf5plugin leaves the size of Blosc2's blocks to the library.
    rows = [
        (code, flags, (v[0], 0, *v[2:]) if code == hdf5plugin.BLOSC2_ID else v) for code, flags, v in rows
    ]
    return [row for row in rows if row[::2] != (2, (1,))]


def random_case(rng: Random) -> tuple[np.ndarray, np.dtype, tuple[int, ...]]:
    """Return items, the dtype of the dataset, and chunks."""
    dtype = np.dtype(rng.choice(DTYPES))
    shape = tuple(
        rng.randint(1, {1: 300, 2: 25, 3: 9, 4: 5}[rank]) for rank in [rng.randint(1, 4)] for _ in range(rank)
    )
    items = random_items(rng, (*shape, *dtype.shape), dtype.base)
    if rng.random() < 0.2:
        items[...] = items.flat[0]  # One value over and over: chunks are special ones.
    return items, dtype, tuple(rng.randint(1, n) for n in shape)


@pytest.mark.parametrize("count", [DATASETS, pytest.param(DATASETS_LONG, marks=pytest.mark.long)])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_h5py_reads_them_and_would_have_stored_them_so(pipeline, count, tmp_path):
    ours, theirs = PIPELINES[pipeline]
    rng = Random(pipeline)
    made = {}
    with File(tmp_path / "x.h5", "w") as f:
        for number in range(count):
            items, dtype, chunks = random_case(rng)
            checked = rng.random() < 0.4
            name = f"{number} {dtype} {chunks} {checked}".replace("/", "|")
            made[name] = items
            d = f.create_dataset(name, dtype=dtype, data=items, chunks=chunks, fletcher32=checked, **ours)
            assert_same_array(d[...], items)
            like = f.h5.create_dataset(
                f"like {number}",
                items.shape[: len(chunks)],
                dtype,
                chunks=chunks,
                fletcher32=checked,
                **theirs,
            )
            assert filters_of(d.h5) == filters_of(like), name
            assert d.h5.id.get_type().equal(like.id.get_type())
    with h5py.File(tmp_path / "x.h5") as f:
        for name, items in made.items():
            assert same_items(f[name][...].view(items.dtype), items), name
            infos = []
            f[name].id.chunk_iter(infos.append)
            expected = [range(0, n, c) for n, c in zip(f[name].shape, f[name].chunks, strict=True)]
            assert len(infos) == math.prod(map(len, expected)), name
            assert {info.filter_mask for info in infos} == {0}, name


#: Which of them PyTables has the filters for.
PYTABLES = [
    name
    for name in PIPELINES
    if name.split()[0] in ("none", "blosc", "blosc2", "gzip", "bzip2") and "snappy" not in name
]
READER = """
import sys, json, numpy as np, tables
with np.load(sys.argv[2]) as items, tables.open_file(sys.argv[1]) as f:
    for name in items.files:
        theirs, ours = f.get_node("/" + name), items[name]
        read = np.asarray(theirs.read())
        assert read.shape == ours.shape, (name, read.shape, ours.shape)
        for field in ours.dtype.names or [...]:
            assert (read[field] == ours[field]).all(), name
    print(len(items.files))
"""


def test_pytables_reads_them(tmp_path):
    rng = Random(3)
    made = {}
    with File(tmp_path / "x.h5", "w") as f:
        for number, pipeline in enumerate(PYTABLES):
            for checked, rank in product((False, True), (1, 2, 3)):
                dtype = rng.choice(("u1", "<i2", ">i4", "<f4", ">f8", "<i8", "S5", "record"))
                dtype = np.dtype([("id", "<i4"), ("s", "S7"), ("v", "<f8")] if dtype == "record" else dtype)
                shape = (rng.randint(50, 300),) if rank == 1 or dtype.names else (9,) * (rank - 1) + (7,)
                items = random_items(rng, shape, dtype)
                # NaNs are not equal, and it cuts strings at their ends.
                items = np.nan_to_num(items) if dtype.kind == "f" else items
                if dtype.names:
                    items["v"] = np.arange(shape[0])
                name = f"d{number}_{checked}_{rank}"
                made[name] = items
                f.create_dataset(
                    name,
                    data=items,
                    chunks=tuple(-(-n // 2) for n in shape),
                    fletcher32=checked,
                    **PIPELINES[pipeline][0],
                )
    np.savez(tmp_path / "items.npz", **made)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        READER,
        str(tmp_path / "x.h5"),
        str(tmp_path / "items.npz"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(made) == 6 * len(PYTABLES)


@pytest.mark.parametrize("name", ["blosc2:zstd", "blosc2:lz4", "blosc:zstd", "blosc:blosclz", "zlib"])
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_parameters_are_those_of_pytables(name, rank, tmp_path):
    library, _, codec = name.partition(":")
    items = np.arange(math.prod(range(9, 9 + rank)), dtype="f4").reshape(tuple(range(9, 9 + rank)))
    chunks = tuple(n // 2 for n in items.shape)
    code = """
import sys, numpy as np, tables
chunks = eval(sys.argv[3])
items = np.load(sys.argv[4])
with tables.open_file(sys.argv[1], "w") as f:
    filters = tables.Filters(complevel=5, complib=sys.argv[2], shuffle=True)
    f.create_carray("/", "theirs", obj=items, filters=filters, chunkshape=chunks)
"""
    np.save(tmp_path / "items.npy", items)
    path = tmp_path / "x.h5"
    arguments = [str(path), name, str(chunks), str(tmp_path / "items.npy")]
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, *arguments], check=True)
    with File(path, "r+") as f:
        kind = "gzip" if library == "zlib" else library
        ours = f.create_dataset("ours", data=items, chunks=chunks, filter=kind, codec=codec or None, level=5)
        theirs, found = filters_of(f.h5["theirs"]), filters_of(ours.h5)
        assert [row[::2] for row in found] == [row[::2] for row in known_parts(theirs)]
        np.testing.assert_array_equal(f["theirs"][...], items)


def known_parts(filters: list[tuple[int, int, tuple[int, ...]]]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Leave away what PyTables adds for itself behind the parameters of zlib."""
    return [(code, flags, values[:1] if code == 1 else values) for code, flags, values in filters]
