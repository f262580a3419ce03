"""How `coquina.Array` behaves as a Python object: reading, writing, files, pickles, metadata, threads."""

import copy
import gc
import io
import multiprocessing
import operator
import os
import pickle
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

import coquina as cq

GRID = np.arange(6 * 50 * 40, dtype="i4").reshape(6, 50, 40)
CUT = {"chunks": (4, 20, 15), "blocks": (2, 7, 5)}
RECORD = np.dtype([("id", "<i4"), ("at", [("x", "<f8"), ("y", ">f8")]), ("tag", "S3"), ("m", "<i2", (2, 3))])


@pytest.fixture
def array():
    return cq.asarray(GRID, **CUT)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.b2nd"


def records(n=100):
    x = np.zeros(n, RECORD)
    x["id"] = np.arange(n)
    x["at"]["x"] = np.linspace(0, 1, n)
    x["at"]["y"] = -np.arange(n)
    x["tag"] = b"ab"
    x["m"] = np.arange(6 * n).reshape(n, 2, 3)
    return x


# What it says of itself.


def test_an_array_describes_itself(array):
    assert (array.shape, array.dtype, array.ndim, array.size) == (GRID.shape, GRID.dtype, 3, GRID.size)
    assert (array.itemsize, array.nbytes, len(array)) == (4, GRID.nbytes, 6)
    assert (array.chunks, array.blocks) == (CUT["chunks"], CUT["blocks"])
    assert (array.path, array.mode) == (None, "a")
    info = array.info
    assert (info.codec, info.level, info.filters) == ("zstd", 1, [("shuffle", 0)])
    assert (info.nchunks, info.special_chunks) == (2 * 3 * 3, 0)
    assert 0 < info.cbytes == array.cbytes < array.nbytes
    assert array.cratio == array.nbytes / array.cbytes > 1
    for fact in ("(6, 50, 40)", "int32", "zstd, level 1", "18 chunks"):
        assert fact in str(info)
    assert "int32" in repr(array)
    assert "in memory" in repr(array)


def test_options_reach_the_chunks(path):
    filters = [("trunc_prec", 10), "bitshuffle"]
    a = cq.asarray(GRID.astype("f4"), codec="lz4", level=9, filters=filters, path=path)
    info = cq.open(path).info
    assert (info.codec, info.level, info.filters) == ("lz4", 9, [("trunc_prec", 10), ("bitshuffle", 0)])
    assert a.info.path == str(path)
    with pytest.raises(ValueError, match=r"takes 0\.\.=9"):
        cq.asarray(GRID, level=11)
    with pytest.raises(ValueError, match="takes one of"):
        cq.zeros(4, codec="lzma")


def test_the_access_hint_shapes_the_chunks():
    rows = cq.zeros((4096, 4096), access="rows")
    columns = cq.zeros((4096, 4096), access="columns")
    assert rows.chunks[1] > columns.chunks[1]
    assert rows.blocks_touched(np.s_[7]) < columns.blocks_touched(np.s_[7])
    assert rows.blocks_touched(np.s_[:, 7]) > columns.blocks_touched(np.s_[:, 7])
    assert cq.zeros((4096, 4096), access=(64, 64)).shape == (4096, 4096)
    with pytest.raises(ValueError, match="takes any, rows, columns"):
        cq.zeros(4, access="diagonal")


# Keys that the compiled code takes by itself, against NumPy and against those that it leaves to Python.

KEYS = [
    (), ..., 3, -1, np.int64(2), np.s_[1:3], np.s_[::-1], np.s_[4:1:-2], np.s_[2:2], np.s_[5:100], np.s_[-3:],
    (1, 2), (1, 2, 3), (0, -1, -1), (..., 0), (0, ...), (..., 1, 2, 3), (1, ..., 2), (slice(None), 5),
    np.s_[1:5:2, ::-3, 7:30:4], np.s_[..., ::-1], np.s_[:, 3, ::5], (np.int32(1), 2, np.uint8(3)), np.s_[9:3],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_common_keys_read_what_numpy_reads(array, key):
    ours, theirs = array[key], GRID[key]
    assert type(ours) is type(theirs)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours, theirs)
    if isinstance(ours, np.ndarray):
        assert ours.flags.writeable
        assert ours.flags.owndata or ours.base.flags.owndata


@pytest.mark.parametrize(
    "key",
    [
        6,
        -7,
        10**30,
        (0, 50),
        (1, 2, 3, 4),
        (..., ...),
        "id",
        1.5,
        slice(None, None, 0),
        (slice("a"),),
        None.__class__,
    ],
    ids=str,
)
def test_wrong_keys_raise_what_numpy_raises(array, key):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        GRID[key]
    with pytest.raises(theirs.type) as ours:
        array[key]
    if theirs.type is IndexError and isinstance(key, (int, tuple)):
        assert str(ours.value) == str(theirs.value)


def test_a_bool_is_a_mask_and_not_an_index(array):
    assert array[True].shape == (1, *GRID.shape)
    assert array[False].shape == (0, *GRID.shape)


def test_one_element_reads_one_block_and_once(array):
    before = array.info
    assert array[3, 4, 5] == GRID[3, 4, 5]
    assert array[3, 4, 6] == GRID[3, 4, 6]
    after = array.info
    assert after.blocks_decoded == before.blocks_decoded + 1
    assert after.blocks_cached == before.blocks_cached + 1
    assert array.blocks_touched((3, 4, 5)) == 1


def test_blocks_touched_counts_what_a_read_decodes(array):
    array.cache_bytes = 0
    for key in (
        np.s_[0],
        np.s_[:, 0],
        np.s_[..., 0],
        np.s_[1:3, 5:9, 3:30],
        ([0, 5], [1, 49], [2, 39]),
        GRID > 11900,
    ):
        before = array.info.blocks_decoded
        np.testing.assert_array_equal(array[key], GRID[key])
        assert array.blocks_touched(key) == array.info.blocks_decoded - before
    assert array.blocks_touched(np.s_[2:2]) == 0


def test_other_brackets_and_views(array):
    rows, columns = [5, 0], [3, 3, 1]
    np.testing.assert_array_equal(array.oindex[rows, columns, ::7], GRID[np.ix_(rows, columns)][..., ::7])
    np.testing.assert_array_equal(array.vindex[[0, 1], [2, 3], [4, 5]], GRID[[0, 1], [2, 3], [4, 5]])
    view = array.view(np.s_[1:5, ::2])
    np.testing.assert_array_equal(view[1, 3:5], GRID[1:5, ::2][1, 3:5])
    array.oindex[rows, columns] = -1
    array.vindex[[0, 1], [2, 3], [4, 5]] = [-2, -3]
    view[0, 0] = -4
    expected = GRID.copy()
    expected[np.ix_(rows, columns)] = -1
    expected[[0, 1], [2, 3], [4, 5]] = [-2, -3]
    expected[1, 0] = -4
    np.testing.assert_array_equal(array[...], expected)


def test_assignment_is_numpys(array):
    expected = GRID.copy()
    for key, value in [
        (np.s_[0], 7), (np.s_[1, 2, 3], 3.9), (np.s_[::2, 3], np.arange(40)),
        (np.s_[..., 0], [[1], [2], [3]] * 2),
        (GRID % 7 == 0, -5), ([0, 2, 0], np.float64(8)), (np.s_[2:2], 1), (np.s_[4], np.ones((1, 1, 40))),
        (np.s_[3:5, ::-1, 2], np.arange(50)), ((), 0), (np.s_[5], True),
    ]:  # fmt: skip
        expected[key] = value
        array[key] = value
        np.testing.assert_array_equal(array[...], expected)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (np.s_[0], np.ones(7)),
        (np.s_[0], "x"),
        (np.s_[0, 0, 0], [1, 2]),
        (np.s_[9], 1),
        (np.s_[:, :, :, 0], 1),
    ],
)
def test_wrong_assignments_raise_what_numpy_raises_and_change_nothing(array, key, value):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        GRID.copy()[key] = value
    with pytest.raises(theirs.type):
        array[key] = value
    np.testing.assert_array_equal(array[...], GRID)


def test_arrays_without_axes_and_without_items():
    item = cq.asarray(np.float32(2.5))
    assert item.shape == ()
    assert item[()] == np.float32(2.5)
    assert type(item[()]) is np.float32
    assert item[...].shape == ()
    item[()] = 3
    assert (float(item), int(item), complex(item), bool(item)) == (3.0, 3, 3 + 0j, True)
    none = cq.asarray(np.empty((3, 0, 5), "i8"))
    assert none[...].shape == (3, 0, 5)
    assert none[1, :, ::-1].shape == (0, 5)
    none[...] = 4
    none.resize((3, 2, 5))
    np.testing.assert_array_equal(none[...], np.zeros((3, 2, 5)))


@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "i1",
        ">i2",
        "<u8",
        "f2",
        ">f4",
        "c8",
        ">c16",
        "M8[ns]",
        ">m8[D]",
        "S5",
        "<U3",
        ">U4",
        "V7",
        "M8[25s]",
        RECORD,
    ],
    ids=str,
)
def test_every_dtype_comes_back_bit_for_bit(dtype, path):
    rng = np.random.default_rng(5)
    dtype = np.dtype(dtype)
    if dtype.kind == "U":
        x = np.array(["a", "bcd", ""] * 111, dtype)
    else:
        x = rng.integers(0, 2, 333 * dtype.itemsize, "u1").view(dtype)
    a = cq.asarray(x, path=path, chunks=100, blocks=30)
    b = cq.open(path)
    assert a.dtype == b.dtype == dtype
    assert b.dtype.str == dtype.str
    assert a[...].tobytes() == b[...].tobytes() == x.tobytes()
    assert b[7].tobytes() == x[7].tobytes()
    assert type(b[7]) is type(x[7])


@pytest.mark.parametrize(
    "x", [[object()], np.array([None]), np.array(["a"], np.dtypes.StringDType()), np.empty(3, "V0")]
)
def test_what_is_not_data_is_refused(x):
    with pytest.raises(TypeError):
        cq.asarray(x)


# Fields.


def test_fields_read_and_write_their_bytes_only():
    x = records()
    a = cq.asarray(x, chunks=30, blocks=8)
    for name in RECORD.names:
        np.testing.assert_array_equal(a[name], x[name])
        assert a[name].dtype == x[name].dtype
    np.testing.assert_array_equal(a[["tag", "id"]], x[["tag", "id"]])
    assert list(a.fields) == list(RECORD.names)
    np.testing.assert_array_equal(a.fields["id"][90:10:-7], x["id"][90:10:-7])
    np.testing.assert_array_equal(a.view("at")[[5, 5, 1]], x["at"][[5, 5, 1]])
    a["id"] = np.arange(100) * 2.0
    a["m"] = [[1, 2, 3], [4, 5, 6]]
    a.fields["tag"][3:5] = b"zzz"
    a[["id", "at"]] = x[["id", "at"]][::-1]
    a["tag"] = b"q"
    x["m"] = [[1, 2, 3], [4, 5, 6]]
    x[["id", "at"]] = x[["id", "at"]][::-1].copy()
    x["tag"] = b"q"
    np.testing.assert_array_equal(a[...], x)
    with pytest.raises(ValueError, match="no field"):
        a["nothing"]
    with pytest.raises(KeyError):
        a.fields["nothing"]
    assert dict(cq.zeros(3).fields) == {}
    with pytest.raises(IndexError):
        cq.zeros(3)["id"]


def test_single_records_are_numpys():
    x = records(5)
    a = cq.asarray(x)
    assert a[3] == x[3]
    assert type(a[3]) is np.void
    a[2] = x[4]
    assert a[2] == x[4]


# Making them.


def test_asarray_takes_what_numpy_takes(path):
    expected = np.arange(6.0).reshape(2, 3)
    for x in (
        [[0, 1, 2], [3, 4, 5]],
        expected.T.copy().T,
        expected[::-1][::-1],
        memoryview(expected),
        cq.asarray(expected),
    ):
        a = cq.asarray(x, "f8")
        np.testing.assert_array_equal(a[...], expected)
        assert a.dtype == np.float64

    class Capsule:
        def __dlpack__(self, **options):
            return expected.__dlpack__(**options)

        def __dlpack_device__(self):
            return expected.__dlpack_device__()

    np.testing.assert_array_equal(cq.asarray(Capsule())[...], expected)
    assert cq.asarray(3).dtype == np.asarray(3).dtype
    assert cq.asarray(GRID, "f4").dtype == np.float32
    assert cq.asarray(GRID.astype(">i4")).dtype.str == ">i4"


def test_array_likes_are_read_in_boxes_of_whole_chunks(monkeypatch):
    monkeypatch.setattr("coquina.arrays.regions.BOX_BYTES", 1 << 12)
    monkeypatch.setattr("coquina.arrays.regions.boxes.__defaults__", (1 << 12,))
    read = []

    class Dataset:
        shape, dtype = GRID.shape, GRID.dtype

        def __getitem__(self, key):
            read.append(key)
            return GRID[key]

    a = cq.asarray(Dataset(), "i8", **CUT)
    assert a.dtype == np.int64
    np.testing.assert_array_equal(a[...], GRID)
    assert len(read) > 10
    chunks = CUT["chunks"]
    assert all(part.start % size == 0 for region in read for part, size in zip(region, chunks, strict=True))


def test_h5py_and_zarr_datasets_are_sources(tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        a = cq.asarray(file.create_dataset("x", data=GRID, chunks=(2, 25, 20)))
        np.testing.assert_array_equal(a[...], GRID)
    b = cq.asarray(zarr.array(GRID, chunks=(3, 10, 10)))
    np.testing.assert_array_equal(b[...], GRID)


CONSTANTS = [
    ("zeros", (), {}), ("ones", (), {}), ("empty", (), {}), ("full", (2.5,), {}), ("full", (-0.0,), {}),
    ("full", (7,), {"dtype": ">u2"}), ("full", (b"ab",), {}), ("ones", (), {"dtype": "f2"}),
    ("ones", (), {"dtype": ">c16"}), ("zeros", (), {"dtype": "U3"}),
    ("full", (np.datetime64("2020-01-01"),), {}),
    ("full", (np.arange(5),), {}), ("zeros", (), {"dtype": RECORD}), ("full", (300,), {"dtype": "u2"}),
]  # fmt: skip


# A value of several items goes into shapes that it can be broadcast to only.
CONSTANTS_OF_SHAPES = [
    (name, arguments, options, shape)
    for name, arguments, options in CONSTANTS
    for shape in [(), 7, (0, 5), (40, 3, 5)]
    if not (arguments and np.ndim(arguments[0]) and shape in ((), 7))
]


@pytest.mark.parametrize(("name", "arguments", "options", "shape"), CONSTANTS_OF_SHAPES, ids=str)
def test_constants_are_numpys(name, arguments, options, shape, path):
    expected = getattr(np, "zeros" if name == "empty" else name)(shape, *arguments, **options)
    for a in (getattr(cq, name)(shape, *arguments, **options),
              getattr(cq, name)(shape, *arguments, path=path, **options), cq.open(path)):  # fmt: skip
        assert a.dtype == expected.dtype
        assert a[...].tobytes() == expected.tobytes()
        assert a.shape == expected.shape


def test_constants_take_no_space(path):
    shape = (10**6, 10**5)
    for make in (cq.zeros, cq.empty, cq.nans):
        a = make(shape, path=path, overwrite=True)
        assert a.info.special_chunks == a.info.nchunks
        assert path.stat().st_size < 2000
    assert np.isnan(a[10**6 - 1, :: 10**4]).all()
    assert cq.full((10**4, 10**3), 1.5).cratio > 1000
    for dtype in ("f4", ">f8", "f2", "c16"):
        assert np.isnan(cq.nans((3, 4), dtype)[...]).all()
    with pytest.raises(TypeError):
        cq.nans(3, "i4")


def test_likes_follow_their_model(array):
    for name in ("zeros", "ones", "empty"):
        a = getattr(cq, f"{name}_like")(array)
        assert (a.shape, a.dtype, a.chunks, a.blocks) == (
            array.shape,
            array.dtype,
            array.chunks,
            array.blocks,
        )
    a = cq.full_like(GRID, 3, dtype="f4", shape=(2, 2))
    np.testing.assert_array_equal(a[...], np.full((2, 2), 3, "f4"))
    assert cq.zeros_like([1, 2, 3]).dtype == np.int64


ARANGES = [
    (10,), (3, 20), (3, 20, 4), (20, 3, -3), (0, 1, 0.1), (5, 5), (5, 2), (1, 4, 0.5, "f4"),
    (10, None, 1, "u1"),
    (np.datetime64("2020-01-01"), np.datetime64("2020-03-01")), (0.1, 700, 0.3),
    (-5000, 5000, 7, ">i4"),
    (0, 1000, 0.25, "f2"), (0, 500, 0.1, "f4"), (10**15, 10**15 + 5000, 3),
]  # fmt: skip


@pytest.mark.parametrize("at_once", [1 << 23, 2], ids=["at once", "in boxes"])
def test_ranges_are_numpys_bit_for_bit(at_once, monkeypatch):
    monkeypatch.setattr("coquina.arrays.sequences._AT_ONCE", at_once)
    monkeypatch.setattr("coquina.arrays.regions.boxes.__defaults__", (1 << 10,))
    for arguments in ARANGES:
        ours, theirs = cq.arange(*arguments, chunks=50), np.arange(*arguments)
        assert ours.dtype == theirs.dtype, arguments
        assert ours[...].tobytes() == theirs.tobytes(), arguments
    for arguments in [(0, 1), (2, 3, 1001), (5, -7, 777, False), (0, 1, 1), (0, 0, 9),
                      (3, 9, 400, True, "i4"), (0, 1, 5, True, "f4"), (-1, 1j, 333), (0, 5, 0)]:  # fmt: skip
        ours, theirs = (
            cq.linspace(*arguments[:4], dtype=(arguments[4:] or [None])[0]),
            np.linspace(*arguments[:4], dtype=(arguments[4:] or [None])[0]),
        )
        assert ours.dtype == theirs.dtype, arguments
        assert ours[...].tobytes() == theirs.tobytes(), arguments
    with pytest.raises(ZeroDivisionError):
        cq.arange(0, 5, 0)


def test_items_of_iterables_and_buffers():
    np.testing.assert_array_equal(
        cq.fromiter((i * i for i in range(1000)), "i4", chunks=77)[...], np.arange(1000) ** 2
    )
    np.testing.assert_array_equal(cq.fromiter(iter(range(1000)), "i4", 10)[...], np.arange(10))
    assert cq.fromiter([], "f8").shape == (0,)
    with pytest.raises(ValueError, match="7 are missing"):
        cq.fromiter([1, 2, 3], "i4", 10)
    data = np.arange(50, dtype="<u2").tobytes()
    np.testing.assert_array_equal(cq.frombuffer(data, "<u2", 10, 4)[...], np.arange(2, 12))


def test_slabs_of_any_length_become_one_file(path):
    cuts = [0, 3, 3, 4, 55, 300, 1000]
    x = np.arange(1000 * 7.0).reshape(1000, 7)
    slabs = (x[start:stop] for start, stop in pairwise(cuts))
    a = cq.from_slabs(slabs, path=path, chunks=(64, 7), blocks=(16, 7))
    np.testing.assert_array_equal(cq.open(path)[...], x)
    assert a.shape == x.shape
    assert a.info.dead_bytes == 0
    for wrong in ([np.ones((2, 7)), np.ones((2, 6))], [np.ones(3, "i4"), np.ones(3, "f8")], []):
        with pytest.raises((ValueError, TypeError)):
            cq.from_slabs(wrong, path=path.with_name("b"))
    assert [p.name for p in path.parent.iterdir()] == ["a.b2nd"]


# Files.


@pytest.mark.parametrize("contiguous", [True, False])
def test_files_and_directories_keep_arrays(path, contiguous):
    a = cq.asarray(GRID, path=path, contiguous=contiguous, **CUT)
    a.attrs["unit"] = "m"
    a.close()
    assert path.is_file() is contiguous
    with cq.open(path) as b:
        np.testing.assert_array_equal(b[...], GRID)
        assert (b.chunks, b.blocks, b.mode, b.path) == (*CUT.values(), "r", str(path))
        assert b.attrs["unit"] == "m"
        assert b.info.checksums == "fresh"
        with pytest.raises(ValueError, match="reading only"):
            b[0] = 1
    with cq.open(path, "a") as b:
        assert b.mode == "a"
        b[0] = 1
    assert (cq.open(path)[0] == 1).all()
    with pytest.raises(FileExistsError):
        cq.zeros(3, path=path, contiguous=contiguous)
    cq.zeros(3, path=path, contiguous=contiguous, overwrite=True)
    assert cq.open(path).shape == (3,)


def test_one_writer_many_readers_that_see_commits_only(path):
    writer = cq.asarray(GRID, path=path, **CUT)
    reader = cq.open(path)
    with pytest.raises(BlockingIOError):
        cq.open(path, "a")
    with writer.transaction():
        writer[0] = -1
        writer.append(GRID)
        assert (writer[0] == -1).all()
        assert not reader.refresh()
        np.testing.assert_array_equal(cq.open(path)[...], GRID)
    np.testing.assert_array_equal(reader[...], GRID)
    assert reader.refresh()
    assert reader.shape == (12, 50, 40)
    assert (reader[0] == -1).all()

    def fail():
        with writer.transaction():
            writer[...] = 5
            writer.resize((1, 1, 1))
            raise RuntimeError("never mind")

    with pytest.raises(RuntimeError, match="never mind"):
        fail()
    assert writer.shape == (12, 50, 40)
    assert (writer[0] == -1).all()
    writer.close()
    with cq.open(path, "a") as other:
        assert other.shape == (12, 50, 40)


def test_file_objects_and_offsets(tmp_path, path):
    cq.asarray(GRID, path=path, **CUT)
    inside = tmp_path / "inside"
    inside.write_bytes(b"x" * 100 + path.read_bytes() + b"y" * 9)
    b = cq.open(inside, offset=100)
    np.testing.assert_array_equal(b[:, 3], GRID[:, 3])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(b))[2], GRID[2])
    np.testing.assert_array_equal(cq.open(io.BytesIO(path.read_bytes()))[1:3], GRID[1:3])
    with inside.open("rb") as file:
        c = cq.open(file, offset=100)
        np.testing.assert_array_equal(c[...], GRID)
        assert c[1, 2, 3] == GRID[1, 2, 3]
    with pytest.raises(ValueError, match="path"):
        cq.open(io.BytesIO(path.read_bytes()), "a")
    with pytest.raises(ValueError, match="takes 'r'"):
        cq.open(path, "w")
    with pytest.raises(FileNotFoundError):
        cq.open(tmp_path / "nothing")
    (tmp_path / "junk").write_bytes(b"junk" * 100)
    with pytest.raises(cq.UnsupportedError, match="plain text"):
        cq.open(tmp_path / "junk")


def test_appending_and_resizing(path):
    a = cq.asarray(GRID, path=path, **CUT)
    a.append(GRID[:1], axis=0)
    a.append(np.ones((7, 50, 3), "i2"), axis=-1)
    expected = np.concatenate([np.concatenate([GRID, GRID[:1]]), np.ones((7, 50, 3), "i4")], axis=2)
    np.testing.assert_array_equal(a[...], expected)
    np.testing.assert_array_equal(cq.open(path)[...], expected)
    a.resize((3, 60, 10))
    a.resize((4, 60, 12))
    grown = np.zeros((4, 60, 12), "i4")
    grown[:3, :50, :10] = expected[:3, :, :10]
    np.testing.assert_array_equal(a[...], grown)
    for wrong, error in [(GRID[:, :1], ValueError), (np.ones((1, 60, 12)), TypeError), (GRID[0], ValueError)]:
        with pytest.raises(error):
            a.append(wrong)
    with pytest.raises(IndexError):
        a.append(GRID, axis=3)
    with pytest.raises(ValueError, match="axes"):
        a.resize((1, 2))
    assert a.info.dead_bytes > 0
    a.compact()
    assert a.info.dead_bytes == 0
    np.testing.assert_array_equal(cq.open(path)[...], grown)


def test_copies_are_cut_anew_and_saves_are_not(array, path):
    array.attrs["unit"] = "m"
    b = array.copy(
        path=path, chunks=(6, 10, 40), blocks=(3, 10, 8), codec="lz4", level=1, filters="bitshuffle"
    )
    assert (b.chunks, b.info.codec, b.info.filters, b.attrs["unit"]) == (
        (6, 10, 40),
        "lz4",
        [("bitshuffle", 0)],
        "m",
    )
    np.testing.assert_array_equal(b[...], GRID)
    assert array.copy().chunks == array.chunks
    assert array.copy(chunks="auto").chunks == GRID.shape
    array.save(path, overwrite=True)
    with pytest.raises(FileExistsError):
        array.save(path)
    saved = cq.open(path)
    assert (saved.chunks, saved.cbytes >= array.cbytes, saved.attrs["unit"]) == (array.chunks, True, "m")
    np.testing.assert_array_equal(saved[...], GRID)
    np.testing.assert_array_equal(cq.from_bytes(array.to_bytes())[...], GRID)


def test_damage_is_found_named_and_left_behind(path, tmp_path):
    a = cq.asarray(
        np.random.default_rng(0).integers(0, 255, (40, 40), "u1"), path=path, chunks=(10, 40), blocks=(5, 40)
    )
    expected = a[...]
    a.close()
    assert cq.open(path).verify() == []
    data = bytearray(path.read_bytes())
    data[data.index(expected[25].tobytes()[:20]) if expected[25].tobytes()[:20] in data else 900] ^= 1
    path.write_bytes(data)
    b = cq.open(path)
    (damage,) = b.verify()
    assert isinstance(damage.error, cq.CorruptError)
    assert damage.region[0].start == damage.chunk * 10
    assert f"chunk {damage.chunk}" in str(damage)
    with pytest.raises(cq.CorruptError, match=f"chunk {damage.chunk}"):
        b[damage.region]
    assert b.repair(tmp_path / "good.b2nd")[0].chunk == damage.chunk
    good = cq.open(tmp_path / "good.b2nd")
    assert good.verify() == []
    expected[damage.region] = 0
    np.testing.assert_array_equal(good[...], expected)


def test_iteration_and_chunks(array):
    for row, expected in zip(array, GRID, strict=True):
        np.testing.assert_array_equal(row, expected)
    assert [int(n) for n in cq.arange(5)] == [0, 1, 2, 3, 4]
    seen = np.zeros(GRID.shape, int)
    for region, items in array.iterchunks():
        np.testing.assert_array_equal(items, GRID[region])
        seen[region] += 1
    assert (seen == 1).all()
    assert list(cq.zeros((0, 3)).iterchunks()) == []
    assert [items.shape for _, items in cq.zeros(()).iterchunks()] == [()]


# Python's protocols.


def test_pickles_by_path_or_by_value(array, path):
    array.attrs["unit"] = "m"
    b = pickle.loads(pickle.dumps(array))
    np.testing.assert_array_equal(b[...], GRID)
    assert (b.chunks, b.blocks, b.mode, b.attrs["unit"]) == (array.chunks, array.blocks, "a", "m")
    frozen = cq.from_bytes(array.to_bytes())
    assert pickle.loads(pickle.dumps(frozen)).mode == frozen.mode == "r"
    stored = array.copy(path=path)
    pickled = pickle.dumps(stored)
    assert len(pickled) < 500
    c = pickle.loads(pickled)
    assert (c.path, c.mode) == (str(path), "r")
    np.testing.assert_array_equal(c[...], GRID)


def test_copies_are_independent(array):
    for make in (copy.copy, copy.deepcopy):
        b = make(array)
        b[...] = 0
        np.testing.assert_array_equal(array[...], GRID)
        assert (b.chunks, b.mode) == (array.chunks, "a")


def test_numpy_takes_arrays(array):
    np.testing.assert_array_equal(np.asarray(array), GRID)
    assert np.asarray(array, "f8").dtype == np.float64
    assert np.array(array, copy=True).shape == GRID.shape
    with pytest.raises(ValueError, match="copy"):
        np.array(array, copy=False)
    assert np.add(array, 1).sum() == (GRID + 1).sum()
    np.testing.assert_array_equal(np.from_dlpack(array[1:3]), GRID[1:3])


def test_what_cannot_fit_is_refused_before_it_is_tried():
    a = cq.zeros((10**6, 10**6, 10))
    for read in (np.asarray, lambda a: a[...], lambda a: a[:-1], lambda a: a["x":] if 0 else a[::2]):
        with pytest.raises(MemoryError, match="iterchunks"):
            read(a)
    assert a[10**6 - 1, 3].shape == (10,)


def test_truth_and_numbers_are_numpys():
    for x in (
        np.array(3),
        np.array([3]),
        np.array([]),
        np.array([1, 2]),
        np.array(2.5),
        np.array([[0]]),
        np.array("7"),
    ):
        a = cq.asarray(x)
        for convert in (bool, int, float, operator.index, len, list):
            try:
                expected = convert(x)
            except Exception as error:
                with pytest.raises(type(error)):
                    convert(a)
            else:
                assert convert(a) == expected


def test_notebooks_get_a_picture_without_scripts(array):
    html = array._repr_html_()
    assert "<svg" in html
    assert "script" not in html
    assert html.count("<line") > 10
    assert "int32" in html
    for shape in [(), (5,), (0, 3), (3, 4, 5, 6), (10**9, 2), (1,) * 16, (10**6, 10**6)]:
        picture = cq.zeros(shape)._repr_html_()
        assert len(picture) < 100_000
    named = cq.zeros(3, np.dtype([("<b>", "i4")]))
    assert "<b>" not in named._repr_html_()


def test_settings_are_kept(array, path):
    assert array.cache_bytes > 0
    array.cache_bytes = 12345
    assert array.cache_bytes == 12345
    with pytest.raises(ValueError, match="takes 0 and more"):
        array.cache_bytes = -1
    stored = array.copy(path=path)
    assert stored.durable is False
    stored.durable = True
    assert stored.durable is True
    stored[0] = 1


def test_handles_leave_with_their_last_reference(path):
    a = cq.asarray(GRID, path=path)
    del a
    gc.collect()
    with cq.open(path, "a") as b:
        assert b.mode == "a"


# Threads and processes.


def test_threads_share_a_handle(array):
    errors = []

    def work(seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(150):
                key = tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in GRID.shape)
                np.testing.assert_array_equal(array[key], GRID[key])
                point = tuple(int(rng.integers(n)) for n in GRID.shape)
                assert array[point] == GRID[point]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_readers_see_whole_writes_only():
    a = cq.zeros((64, 1000), "i4", chunks=(8, 1000), blocks=(4, 500))
    done = threading.Event()
    seen = []

    def read():
        while not done.is_set():
            items = a[...]
            seen.append(len(np.unique(items)))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for value in range(1, 40):
        a[...] = value
    done.set()
    for reader in readers:
        reader.join()
    assert set(seen) == {1}


def test_a_forked_child_reads_and_a_spawned_one_reopens(array, path):
    stored = array.copy(path=path)
    stored.close()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        total = pool.apply(operator.methodcaller("__getitem__", 2), (cq.open(path),)).sum()
    assert total == GRID[2].sum()
    if hasattr(os, "fork"):
        code = (
            "import os, sys, numpy as np, coquina as cq\n"
            "a = cq.asarray(np.arange(10**6)); a[...]\n"
            "pid = os.fork()\n"
            "if pid == 0: os._exit(0 if a[...].sum() == 499999500000 else 1)\n"
            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        )
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


def test_integers_of_python_that_are_appended_fit_or_are_refused(tmp_path):
    """2**40 in an int32 array became 0, and a list of small integers was no uint8."""
    with cq.open(tmp_path / "f.h5", "w") as file:
        for dtype, bad in (("u1", [300]), ("u1", [-1]), ("i4", [2**40]), ("u8", [-1])):
            dataset = file.create_dataset(
                f"{dtype}{bad[0]}", data=np.zeros(3, dtype), maxshape=(None,), chunks=4
            )
            array = cq.asarray(np.zeros(3, dtype))
            with dataset.appending() as session:
                for one in (array, dataset, session):
                    with pytest.raises(OverflowError, match="out of bounds"):
                        one.append(bad)
                    with pytest.raises(TypeError, match="float64"):
                        one.append([1.5])
                session.append([1, 2])
            array.append([1, 2])
            assert array[:].tolist() == dataset[:].tolist() == [0, 0, 0, 1, 2]
            assert array.dtype == dataset.dtype == dtype
            dataset.append([3])
            assert dataset[-1] == 3
