"""`Dataset` as an array: keys and assignment against NumPy over all pipelines, and what HDF5 cannot do."""

from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

import h5py
import hdf5plugin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.expressions import assignment
from coquina.hdf5 import File, fast
from tests.array_cases import (
    NESTED,
    PADDED,
    assert_same_array,
    random_items,
    random_lengths,
)
from tests.test_indexing_keys import outcome, random_key

DATA = np.arange(6 * 50 * 40, dtype="i4").reshape(6, 50, 40)
seeds = st.integers(0, 2**62)
LONG = 15

DTYPES = [
    np.dtype(dtype)
    for dtype in (
        *("?", "i1", "u2", "<i4", ">i4", "u8", "f2", ">f4", "f8", "c8", ">c16", "S1", "S5"),
        np.dtype([("x", "<i4"), ("s", "S3"), ("m", ">f8", (2, 3)), ("in", [("z", "<c8"), ("flag", "?")])]),
        PADDED,
    )
]
#: What h5py is asked for, with what else it takes.
PIPELINES: list[dict[str, object]] = [
    {},
    {"compression": "gzip", "shuffle": True},
    {"compression": "gzip", "fletcher32": True},
    {"compression": "lzf"},
    {"compression": "lzf", "shuffle": True, "fletcher32": True},
    {"fletcher32": True},
    dict(hdf5plugin.Blosc2(cname="lz4", filters=1)),
    dict(hdf5plugin.Blosc2(cname="zstd", filters=2)),
    {**hdf5plugin.Blosc2(cname="blosclz", filters=1), "fletcher32": True},
    dict(hdf5plugin.Blosc(cname="zlib", shuffle=1)),
    dict(hdf5plugin.Blosc(cname="lz4", shuffle=2)),
    dict(hdf5plugin.LZ4()),
    dict(hdf5plugin.Zstd()),
    dict(hdf5plugin.Bitshuffle(cname="lz4")),
    dict(hdf5plugin.Bitshuffle(cname="zstd")),
    dict(hdf5plugin.Bitshuffle(cname="none")),
    dict(hdf5plugin.BZip2()),
    {"chunks": None},
]


def law(examples: int):
    """Check a law, a function of a seed and a path, for so many seeds; as a long test for many more."""

    def decorate(function):
        @pytest.mark.parametrize(
            "examples", [examples, pytest.param(examples * LONG, marks=pytest.mark.long)]
        )
        def test(examples, tmp_path):
            @settings(max_examples=examples, deadline=None, database=None)
            @given(seed=seeds)
            def check(seed):
                function(seed, tmp_path / "x.h5")

            check()

        return test

    return decorate


def random_dataset(rng: Random, h5: h5py.File) -> tuple[h5py.Dataset, np.ndarray]:
    """Make a dataset of any dtype, shape and pipeline, of which some chunks may never be written."""
    shape = random_lengths(rng, axes_max=4)
    dtype = rng.choice(DTYPES)
    values = random_items(rng, shape, dtype)
    options = dict(rng.choice(PIPELINES))
    if 0 in shape or not shape or options.get("chunks", 1) is None:
        return h5.create_dataset("d", data=values), values
    chunks = tuple(rng.randint(1, length) for length in shape)
    maxshape = tuple(rng.choice((length, None, length + 7)) for length in shape)
    d = h5.create_dataset("d", shape, dtype, chunks=chunks, maxshape=maxshape, **options)
    if rng.random() < 0.3:
        # Only a part is written: the rest is the fill value.
        rows = slice(0, rng.randint(0, shape[0]))
        kept, values = values, np.zeros(shape, dtype)
        values[rows] = kept[rows]
        d[rows] = kept[rows]
    else:
        d[...] = values
    return d, values


@law(150)
def test_any_key_reads_what_numpy_reads(seed, path):
    rng = Random(seed)
    with h5py.File(path, "w", libver=rng.choice(("earliest", "latest"))) as f:
        theirs, values = random_dataset(rng, f)
        ours = fast(theirs, access=rng.choice((None, None, "whole")))
        assert_same_array(ours[...], values)
        for _ in range(3):
            key = random_key(rng, values.shape)
            assert_same_outcome(outcome(lambda: ours[key]), outcome(lambda: values[key]))  # noqa: B023
    with h5py.File(path) as f:
        for access in (None, rng.choice((None, "fetched", "whole"))):
            legal = fastest_access(f["d"])
            ours = fast(f["d"], access=access if legal != "whole" else None)
            for _ in range(3):
                key = random_key(rng, values.shape)
                assert_same_outcome(outcome(lambda: ours[key]), outcome(lambda: values[key]))  # noqa: B023
            assert ours.handle.stats().get("fallbacks", 0) == 0


def fastest_access(h5: h5py.Dataset) -> str:
    return fast(h5).access


@law(100)
def test_any_assignment_is_numpys_and_h5py_sees_it(seed, path):
    rng = Random(seed)
    with h5py.File(path, "w") as f:
        theirs, values = random_dataset(rng, f)
        ours = fast(theirs)
        for _ in range(3):
            key = random_key(rng, values.shape)
            part = outcome(lambda: values[key])  # noqa: B023
            if isinstance(part, tuple):
                continue
            new = random_items(rng, np.shape(part), values.dtype)
            values[key] = new
            ours[key] = new
            assert_same_array(ours[...], values)
        assert_same_array(fast(theirs, access="whole")[...], values)
        if values.dtype.names is None:
            assert_same_array(theirs[...], values)
    with h5py.File(path) as f:
        assert_same_array(fast(f["d"])[...], values)


def assert_same_outcome(ours: object, theirs: object) -> None:
    """Check results; of exceptions only the types."""
    if isinstance(theirs, tuple):
        assert isinstance(ours, tuple), (ours, theirs)
        assert issubclass(ours[0], theirs[0]), (ours, theirs)
    else:
        assert_same_array(ours, theirs)


@pytest.fixture
def file(tmp_path):
    with File(tmp_path / "x.h5", "w") as f:
        yield f


@pytest.fixture
def dataset(file):
    return file.create_dataset("g/d", data=DATA, chunks=(2, 20, 16), maxshape=(None, 50, 60))


def test_a_dataset_describes_itself(file, dataset):
    dataset.attrs["unit"] = "counts"
    assert (dataset.name, dataset.file, dataset.parent) == ("/g/d", file, file["g"])
    assert (dataset.shape, dataset.dtype, dataset.ndim, len(dataset)) == (DATA.shape, DATA.dtype, 3, 6)
    assert (dataset.maxshape, dataset.chunks, dataset.layout) == ((None, 50, 60), (2, 20, 16), "chunked")
    assert (dataset.path, dataset.mode, dataset.durable) == (file.path, "a", False)
    assert (dataset.access, dataset.fillvalue) == ("fetched", 0)
    assert "opened for writing" in dataset.access_reason
    assert dataset.filters[0][:2] == (32026, "blosc2")
    assert dataset.h5.attrs["unit"] == "counts"
    assert list(dataset.meta) == []
    assert dataset.cbytes == dataset.h5.id.get_storage_size() > 0
    assert dataset.cratio == DATA.nbytes / dataset.cbytes
    info = dataset.info
    for fact in ("(6, 50, 40)", "int32", "blosc2 1", "fetched (opened for writing", "/g/d", "(None, 50, 60)"):
        assert fact in str(info)
    assert info.to_dict()["access"] == "fetched"
    assert info.nchunks == 3 * 3 * 3
    assert "/g/d" in dataset._repr_html_()


def test_other_brackets_and_views(dataset):
    rows, columns = [5, 0], [3, 3, 1]
    np.testing.assert_array_equal(dataset.oindex[rows, columns], DATA[np.ix_(rows, columns)])
    np.testing.assert_array_equal(dataset.vindex[[0, 1], [2, 3], [4, 5]], DATA[[0, 1], [2, 3], [4, 5]])
    view = dataset.view(np.s_[1:5, ::2])
    np.testing.assert_array_equal(view[1, 3:5], DATA[1:5, ::2][1, 3:5])
    view[0, 0] = -4
    assert (dataset.h5[1, 0] == -4).all()
    for region, items in dataset.iterchunks():
        np.testing.assert_array_equal(items, dataset.h5[region])
    np.testing.assert_array_equal(np.asarray(dataset), dataset.h5[...])


def test_fields_are_read_and_written(file):
    values = random_items(Random(1), (30,), NESTED)
    records = np.zeros(30, [("a", "<i4"), ("b", ">f8"), ("s", "S4"), ("m", "<f4", (2,))])
    records["a"], records["m"] = np.arange(30), np.arange(60).reshape(30, 2)
    d = file.create_dataset("r", data=records, chunks=(7,))
    np.testing.assert_array_equal(d["m"], records["m"])
    np.testing.assert_array_equal(d.fields["a"][3:9], records["a"][3:9])
    d["b"] = 2.5
    d[["a", "s"]] = np.array([(7, b"xy")], [("a", "i4"), ("s", "S4")])
    records["b"], records["a"], records["s"] = 2.5, 7, b"xy"
    assert_same_array(d[...], records)
    np.testing.assert_array_equal(d.h5[...], records)
    with pytest.raises(TypeError, match="HDF5 has no datatype"):
        file.create_dataset("n", data=values)


def test_what_hdf5_cannot_do_says_so(dataset, tmp_path):
    with pytest.raises(cq.UnsupportedError, match="no transactions"), dataset.transaction():
        pass
    with pytest.raises(cq.UnsupportedError, match="coquina repack"):
        dataset.compact()
    with pytest.raises(cq.UnsupportedError, match="no commits"):
        dataset.durable = True
    dataset.durable = False
    for shape in [(6, 51, 40), (6, 50, 61)]:
        with pytest.raises(ValueError, match="maxshape"):
            dataset.resize(shape)
    for shape in [(6, 50), (6, -1, 40)]:
        with pytest.raises(ValueError, match="axes"):
            dataset.resize(shape)
    with pytest.raises(ValueError, match="maxshape"):
        dataset.append(DATA, axis=1)
    with pytest.raises(ValueError, match="axis"):
        dataset.resize(3, axis=3)
    flat = fast(dataset.h5.file.create_dataset("flat", data=DATA))
    with pytest.raises(cq.UnsupportedError, match="contiguous"):
        flat.resize((3, 50, 40))
    np.testing.assert_array_equal(dataset[...], DATA)
    dataset.file.close()
    with cq.open(tmp_path / "x.h5") as f:
        for change in (lambda d: d.__setitem__(0, 1), lambda d: d.append(DATA), lambda d: d.truncate(2)):
            with pytest.raises((ValueError, cq.CoquinaError, OSError)):
                change(f["g/d"])
        np.testing.assert_array_equal(f["g/d"][...], DATA)


def test_datasets_grow_and_shrink_as_in_h5py(dataset):
    dataset.append(DATA[:3])
    dataset.truncate(11)
    dataset.resize(50, axis=2)
    expected = np.zeros((11, 50, 50), "i4")
    expected[:6, :, :40], expected[6:9, :, :40] = DATA, DATA[:3]
    np.testing.assert_array_equal(dataset[...], expected)
    np.testing.assert_array_equal(dataset.h5[...], expected)
    dataset.resize((3, 10, 10))
    dataset.resize((6, 50, 40))
    expected = np.zeros_like(DATA)
    expected[:3, :10, :10] = DATA[:3, :10, :10]
    np.testing.assert_array_equal(dataset[...], expected)
    np.testing.assert_array_equal(dataset.h5[...], expected)


def test_copies_are_arrays(dataset, tmp_path):
    dataset.attrs["unit"] = "counts"
    dataset.attrs["scale"] = np.arange(3.0)
    dataset.attrs["a name that is too long for an array"] = 1
    for made in (
        dataset.copy(),
        copy.copy(dataset),
        copy.deepcopy(dataset),
        cq.from_bytes(dataset.to_bytes()),
    ):
        assert type(made) is cq.Array
        assert made.chunks == dataset.chunks
        np.testing.assert_array_equal(made[...], DATA)
        assert made.attrs["unit"] == "counts"
        np.testing.assert_array_equal(made.attrs["scale"], np.arange(3.0))
    dataset.save(tmp_path / "a.b2nd")
    with cq.open(tmp_path / "a.b2nd") as saved:
        np.testing.assert_array_equal(saved[...], DATA)
    with pytest.raises(FileExistsError):
        dataset.save(tmp_path / "a.b2nd")
    rechunked = dataset.copy(chunks=(6, 10, 10), codec="lz4")
    assert (rechunked.chunks, rechunked.info.codec) == ((6, 10, 10), "lz4")


def test_damaged_chunks_are_named(tmp_path):
    with File(tmp_path / "x.h5", "w") as f:
        d = f.create_dataset("d", data=DATA, chunks=(2, 50, 40), fletcher32=True)
        assert d.verify() == []
        where = d.chunk_info((2, 0, 0))
    with (tmp_path / "x.h5").open("r+b") as file:
        file.seek(where.offset + where.size // 2)
        file.write(bytes(64))
    with cq.open(tmp_path / "x.h5") as f:
        damage = f["d"].verify()
        assert [d.region[0] for d in damage] == [slice(2, 4)]
        with pytest.raises(cq.CoquinaError, match="chunk 1"):
            f["d"][...]
        np.testing.assert_array_equal(f["d"][4:], DATA[4:])


def test_threads_share_a_dataset(dataset):
    errors: list[BaseException] = []

    def read(n: int) -> None:
        try:
            rng = Random(n)
            for _ in range(30):
                key = random_key(rng, DATA.shape)
                ours, theirs = outcome(lambda: dataset[key]), outcome(lambda: DATA[key])  # noqa: B023
                if not isinstance(theirs, tuple):
                    np.testing.assert_array_equal(ours, theirs)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_threads_open_datasets_with_fill_values_at_once(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as made:
        for number in range(200):
            made.create_dataset(f"x{number}", (10,), "i4", chunks=(5,), fillvalue=number)
    with cq.open(tmp_path / "f.h5") as file, ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda number: int(file.dataset(f"x{number}").fillvalue), range(200))
        assert list(found) == list(range(200))


@pytest.mark.parametrize("eager_bytes", [0, 1 << 30])
def test_operators_in_place_change_a_dataset(tmp_path, monkeypatch, eager_bytes):
    monkeypatch.setattr(assignment, "EAGER_BYTES", eager_bytes)
    with cq.open(tmp_path / "x.h5", "w") as f:
        x = f.create_dataset("x", data=DATA, chunks=(2, 50, 40))
        x += 3
        x *= x
    with h5py.File(tmp_path / "x.h5") as f:
        assert np.array_equal(f["x"][...], (DATA + 3) ** 2)
