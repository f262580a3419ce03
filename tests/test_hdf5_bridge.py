"""The bridge to libhdf5 against h5py: raw symbols and capsules, threads, locks, closed files."""

from __future__ import annotations

import threading
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest

from coquina import _core
from coquina._core import Hdf5Library

PHIL = h5py._objects.phil
SHAPE, CHUNKS = (50, 37), (8, 10)
BOTH = pytest.mark.parametrize("raw", [True, False], ids=["symbols", "capsules"])


@pytest.fixture
def file(tmp_path: Path):
    with h5py.File(tmp_path / "x.h5", "w") as made:
        yield made


def starts_of(dataset: Any) -> list[tuple[int, ...]]:
    grid = np.ndindex(*(-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)))
    return [tuple(i * c for i, c in zip(at, dataset.chunks, strict=True)) for at in grid]


def dataset_with_gaps(file: h5py.File, **options: Any) -> Any:
    """Every third chunk is not stored, every fifth is stored without its first filter."""
    dataset = file.create_dataset("d", SHAPE, "i4", chunks=CHUNKS, **options)
    values = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE)
    for number, start in enumerate(starts_of(dataset)):
        region = tuple(slice(s, s + c) for s, c in zip(start, CHUNKS, strict=True))
        if number % 3:
            dataset[region] = values[region]
        if number % 5 == 4 and options:
            plain = np.full(CHUNKS, number, "i4").tobytes()
            dataset.id.write_direct_chunk(start, plain, filter_mask=3)
    file.flush()
    return dataset


PIPELINES = {
    "none": {},
    "gzip": {"compression": "gzip", "shuffle": True},
    "lzf": {"compression": "lzf", "shuffle": True, "maxshape": (None, None)},
}


@pytest.fixture(params=PIPELINES)
def dataset(request: pytest.FixtureRequest, tmp_path: Path):
    # Reopened, since right after a write with a mask libhdf5 answers 0 for that mask.
    with h5py.File(tmp_path / "gaps.h5", "w", libver="latest") as made:
        dataset_with_gaps(made, **PIPELINES[request.param])
    with h5py.File(tmp_path / "gaps.h5") as opened:
        yield opened["d"]


def test_the_best_way_is_by_symbols_where_there_are_some(file: h5py.File):
    dataset = file.create_dataset("d", data=np.zeros(3))
    assert Hdf5Library(dataset, raw=True).raw_symbols
    assert not Hdf5Library(dataset, raw=False).raw_symbols
    assert Hdf5Library(dataset).raw_symbols
    assert Hdf5Library(dataset).dataset is dataset


@BOTH
def test_chunks_are_those_that_h5py_reads(dataset: Any, raw: bool):
    library = Hdf5Library(dataset, raw=raw)
    masks = set()
    for start in starts_of(dataset):
        found = library.read_chunk(start)
        room = bytearray(5000)
        into = library.read_chunk_into(start, room)
        if dataset.id.get_chunk_info_by_coord(start).size == 0:
            assert found is None
            assert into is None
            continue
        mask, stored = dataset.id.read_direct_chunk(start)
        assert found == (stored, mask)
        assert into == (len(stored), mask)
        assert room[: len(stored)] == stored
        masks.add(mask)
    assert masks == ({0, 3} if dataset.compression else {0})


@BOTH
def test_the_table_is_that_of_h5py(dataset: Any, raw: bool):
    expected = []
    dataset.id.chunk_iter(
        lambda info: expected.append((info.chunk_offset, info.byte_offset, info.size, info.filter_mask))
    )
    library = Hdf5Library(dataset, raw=raw)
    assert library.chunk_table() == expected
    assert sorted(library.chunk_table(by_number=True)) == sorted(expected)
    assert 0 < len(expected) < len(starts_of(dataset))
    for start, address, size, mask in expected:
        with open(dataset.file.filename, "rb") as bytes_of_file:
            bytes_of_file.seek(address)
            assert (bytes_of_file.read(size), mask) == library.read_chunk(start)


@BOTH
def test_nothing_is_stored_in_a_new_dataset(file: h5py.File, raw: bool):
    for name, options in {"late": {"compression": "gzip"}, "fixed": {"maxshape": (10, 10)}}.items():
        library = Hdf5Library(file.create_dataset(name, (10, 10), "f8", chunks=(5, 5), **options), raw=raw)
        assert library.read_chunk((5, 0)) is None
        assert library.chunk_table() == []
        assert library.chunk_table(by_number=True) == []


@BOTH
def test_addresses_count_the_user_block(tmp_path: Path, raw: bool):
    with h5py.File(tmp_path / "u.h5", "w", userblock_size=1024) as file:
        dataset = file.create_dataset("d", data=np.arange(100), chunks=(40,))
        file.flush()
        library = Hdf5Library(dataset, raw=raw)
        content = (tmp_path / "u.h5").read_bytes()
        for rows in (library.chunk_table(), library.chunk_table(by_number=True)):
            assert len(rows) == 3
            for start, address, size, _ in rows:
                assert (content[address : address + size], 0) == library.read_chunk(start)


@BOTH
def test_a_written_chunk_has_mask_0_whatever_was_there(file: h5py.File, raw: bool):
    # libhdf5 keeps the mask of a chunk that is overwritten with as many bytes.
    dataset = file.create_dataset("d", (20, 10), "i4", chunks=CHUNKS, compression="gzip", shuffle=True)
    values = np.arange(80, dtype="i4")
    shuffled = values.view("u1").reshape(80, 4).T.tobytes()
    stored = zlib.compress(shuffled, 6)
    dataset.id.write_direct_chunk((0, 0), bytes(len(stored)), filter_mask=3)
    dataset.id.write_direct_chunk((8, 0), bytes(320), filter_mask=3)
    library = Hdf5Library(dataset, raw=raw)
    library.write_chunk((0, 0), stored)
    library.write_chunk((8, 0), memoryview(stored))
    library.flush()
    name = file.filename
    file.close()
    with h5py.File(name) as again:
        for start in ((0, 0), (8, 0)):
            assert again["d"].id.read_direct_chunk(start) == (0, stored)
        assert np.array_equal(again["d"][:16], np.concatenate([values, values]).reshape(16, 10))


@BOTH
def test_misuse_is_refused_with_name_and_place(dataset: Any, raw: bool):
    library = Hdf5Library(dataset, raw=raw)
    with pytest.raises(ValueError, match=r"/d: chunk at \(8\): the start has 1 axes, the dataset 2"):
        library.read_chunk((8,))
    with pytest.raises(OSError, match=r"/d: chunk at \(1, 10\): H5Dread_chunk: .*boundary"):
        library.read_chunk((1, 10))
    stored = next(start for start in starts_of(dataset) if library.read_chunk(start))
    with pytest.raises(ValueError, match="there is room for 3"):
        library.read_chunk_into(stored, bytearray(3))
    with pytest.raises(OSError, match=r"/d: chunk at .*H5Dwrite_chunk: .*write"):
        library.write_chunk(stored, b"abc")
    with pytest.raises(OSError, match="H5Dwrite_chunk"):
        library.write_chunk((4000, 0), b"abc")


@BOTH
def test_a_dataset_without_chunks_says_so(file: h5py.File, raw: bool):
    library = Hdf5Library(file.create_dataset("flat", data=np.arange(10)), raw=raw)
    with pytest.raises(OSError, match=r"/flat: .*not a chunked dataset"):
        library.read_chunk((0,))
    with pytest.raises(OSError, match=r"/flat: H5Dchunk_iter: .*not a chunked dataset"):
        library.chunk_table()


@BOTH
def test_a_closed_dataset_is_an_error(tmp_path: Path, raw: bool):
    file = h5py.File(tmp_path / "c.h5", "w")
    library = Hdf5Library(file.create_dataset("d", data=np.arange(100), chunks=(10,)), raw=raw)
    assert library.read_chunk((10,)) is not None
    file.close()
    for call in (
        lambda: library.read_chunk((10,)),
        lambda: library.read_chunk_into((10,), bytearray(80)),
        lambda: library.write_chunk((10,), b"x"),
        library.chunk_table,
        library.flush,
    ):
        with pytest.raises(ValueError, match="/d: the dataset or its file was closed"):
            call()
    with pytest.raises(ValueError, match="Invalid dataset identifier"):
        Hdf5Library(library.dataset, raw=raw)


def run_all(work: list[Any]) -> None:
    """Run functions in threads, and raise what any of them raised."""
    raised: list[BaseException] = []

    def run(one: Any) -> None:
        try:
            one()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


@BOTH
def test_threads_read_and_write_beside_h5py(tmp_path: Path, raw: bool):
    with h5py.File(tmp_path / "a.h5", "w") as a, h5py.File(tmp_path / "b.h5", "w") as b:
        a["d"] = values = np.random.default_rng(4).integers(0, 255, (300, 64), "u1")
        read = Hdf5Library(a.create_dataset("c", data=values, chunks=(1, 64)), raw=raw)
        write = Hdf5Library(b.create_dataset("w", values.shape, "u1", chunks=(1, 64)), raw=raw)
        other = a["d"]

        def reads() -> None:
            for row in (*range(300), *range(299, -1, -1)):
                assert read.read_chunk((row, 0)) == (values[row].tobytes(), 0)

        def writes() -> None:
            for row in range(300):
                write.write_chunk((row, 0), values[row].tobytes())

        def uses_h5py() -> None:
            for row in range(300):
                assert np.array_equal(other[row], values[row])

        run_all([reads, reads, writes, uses_h5py])
        assert np.array_equal(b["w"][:], values)


@BOTH
def test_who_holds_the_lock_of_h5py_can_read(dataset: Any, raw: bool):
    library = Hdf5Library(dataset, raw=raw)
    table = library.chunk_table()
    start = table[0][0]
    expected = library.read_chunk(start)
    found: list[Any] = []
    other = threading.Thread(target=lambda: found.append(library.read_chunk(start)))
    with PHIL:
        assert library.read_chunk(start) == expected
        other.start()
        # It waits for the lock, and must not keep this thread from going on.
        assert library.chunk_table() == table
        assert not found
    other.join()
    assert found == [expected]


@BOTH
def test_chunks_come_while_another_thread_wants_the_gil(dataset: Any, raw: bool):
    library = Hdf5Library(dataset, raw=raw)
    table = library.chunk_table()
    stop, spun = threading.Event(), []

    def spin() -> None:
        count = 0
        while not stop.is_set():
            count += 1
        spun.append(count)

    spinner = threading.Thread(target=spin)
    spinner.start()
    try:
        for start, _, size, mask in table[:5]:
            stored, found = library.read_chunk(start) or (b"", None)
            assert (len(stored), found) == (size, mask)
    finally:
        stop.set()
        spinner.join()
    assert spun


class FileObject:
    """A Python file, to be called from within libhdf5 while nobody has the GIL."""

    def __init__(self, path: Path) -> None:
        self.file = open(path, "rb")  # noqa: SIM115
        self.is_broken = False

    def readinto(self, out: Any) -> int | None:
        if self.is_broken:
            raise OSError("the disk is gone")
        return self.file.readinto(out)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@BOTH
def test_drivers_in_python_and_their_errors(tmp_path: Path, raw: bool):
    with h5py.File(tmp_path / "p.h5", "w") as file:
        file.create_dataset("d", data=np.arange(1000), chunks=(100,))
    source = FileObject(tmp_path / "p.h5")
    with h5py.File(source) as file:
        library = Hdf5Library(file["d"], raw=raw)
        for start in range(0, 1000, 100):
            assert library.read_chunk((start,)) == (np.arange(start, start + 100).tobytes(), 0)
        source.is_broken = True
        with pytest.raises(OSError, match=r"/d: chunk at \(100\): H5Dread_chunk"):
            library.read_chunk((100,))
        source.is_broken = False
        assert library.read_chunk((100,)) == (np.arange(100, 200).tobytes(), 0)
    source.file.close()


def facts_of(shape: tuple[int, ...], rank: int, dtype: np.dtype[Any], **known: Any) -> Any:
    """What is known of a dataset without chunks in a file that nobody else has, or what is said instead."""
    facts = {
        "shape": shape, "rank": rank, "chunks": (), "filters": [], "terminated": (), "checksums": True,
        "dtype_text": dtype.str, "itemsize": dtype.itemsize, "fill": bytes(dtype.itemsize), "seconds": None,
        "is_writable": False, "place": None, "path": None, "device": None, "inode": None, "header": None,
        "contiguous": None, "remote": None, "encoding": None,
    }  # fmt: skip
    assert known.keys() <= facts.keys()
    return SimpleNamespace(**facts | known)


def opened_by(dataset: Any, access: str, memory_type: Any = None, **known: Any) -> _core.ArrayHandle:
    shape = (*dataset.shape, *dataset.dtype.shape)
    if dataset.chunks:
        known["chunks"] = (*dataset.chunks, *dataset.dtype.shape)
    facts = facts_of(shape, dataset.ndim, (memory_type or dataset).dtype.base, **known)
    return _core.open_dataset(Hdf5Library(dataset, memory_type=memory_type), facts, access=access)


def test_the_direct_path_reads_only_the_file_that_hdf5_has_open(tmp_path: Path):
    path = tmp_path / "d.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=np.arange(100), chunks=(30,))
    with h5py.File(path) as file:
        status = path.stat()
        there = {"path": path, "device": status.st_dev, "inode": status.st_ino}
        dataset = file["d"]
        there["header"] = h5py.h5o.get_info(dataset.id).addr
        assert opened_by(dataset, "direct", **there).stats()["access"] == "direct"
        path.rename(tmp_path / "moved.h5")
        with pytest.raises(FileNotFoundError, match=r"d\.h5"):
            opened_by(dataset, "direct", **there)
        path.write_bytes(b"another file")
        with pytest.raises(OSError, match="renamed or replaced"):
            opened_by(dataset, "direct", **there)
        with pytest.raises(ValueError, match="needs the path"):
            opened_by(dataset, "direct")
        with pytest.raises(ValueError, match=r"access \"fast\": takes direct"):
            opened_by(dataset, "fast")


def whole(dataset: Any, **options: Any) -> Any:
    handle = opened_by(dataset, "whole", is_writable=dataset.file.mode == "r+", **options)
    return _core.ArrayBase(handle, (options.get("memory_type") or dataset).dtype.base)


def write_all(array: Any, values: Any) -> None:
    array.write_selection([(0, 1, n) for n in values.shape], None, 0, values)


BOXES = {
    "contiguous": ("i2", {}),
    "big-endian": (">f8", {}),
    "chunks": ("u4", {"chunks": (7, 5), "compression": "gzip"}),
    "arrays": (np.dtype(("<i4", (3, 2))), {"chunks": (7, 5)}),
    "records": ([("a", ">i2"), ("b", "S3"), ("c", "f4", (2,))], {}),
    "enum": (h5py.enum_dtype({"NO": 0, "YES": 1}, "i1"), {}),
}


@pytest.mark.parametrize("case", BOXES)
def test_boxes_are_the_bytes_of_the_file(file: h5py.File, case: str):
    dtype, options = BOXES[case]
    dataset = file.create_dataset("d", (20, 12), dtype, **options)
    bytes_of_items = np.random.default_rng(1).integers(0, 2, 20 * 12 * dataset.dtype.itemsize, "u1")
    values = np.frombuffer(bytes_of_items.tobytes(), dataset.dtype.base)
    values = values.reshape(20, 12, *dataset.dtype.shape)
    array = whole(dataset)
    write_all(array, values)
    assert dataset[()].tobytes() == values.tobytes()
    for key in ((), (slice(3, 9), slice(2, 12)), (4,), (19, 11), (slice(4, 4),)):
        found = array[(*key, ...)]
        assert found.dtype == values.dtype
        assert found.tobytes() == values[(*key, ...)].tobytes()
    assert array.handle.stats()["boxes_whole"] > 0


def test_boxes_of_many_parts_are_put_together(file: h5py.File):
    # More than is read at once, cut at borders of chunks and within them.
    values = np.arange(12_000_000, dtype="f8").reshape(3, 1000, 4000)
    flat = file.create_dataset("flat", data=values)
    assert np.array_equal(whole(flat)[...], values)
    chunked = file.create_dataset("chunked", values.shape, "f8", chunks=(2, 300, 4000))
    array = whole(chunked)
    write_all(array, values)
    assert np.array_equal(chunked[:], values)
    assert np.array_equal(array[1:, 100:, :], values[1:, 100:, :])


def test_a_dataset_of_one_item_is_a_box_without_axes(file: h5py.File):
    dataset = file.create_dataset("one", data=np.float32(2.5))
    assert whole(dataset)[()] == np.float32(2.5)


def test_items_that_libhdf5_converts(file: h5py.File):
    dataset = file.create_dataset("half", data=np.array([[1.5, -2], [0, 1000]], ">f2"))
    array = whole(dataset, memory_type=h5py.h5t.py_create(np.dtype("f8")))
    assert array.dtype == "f8"
    assert np.array_equal(array[:], dataset[:])
    array.write_selection([(1, 1, 1), (0, 1, 2)], None, 0, np.array([[7.0, 8.25]]))
    assert dataset[:].tolist() == [[1.5, -2], [7, 8.25]]


def test_addresses_of_items_are_never_given_away(file: h5py.File):
    words = file.create_dataset("words", data=["a", "bc"], dtype=h5py.string_dtype())
    handle = _core.open_dataset(Hdf5Library(words), facts_of((2,), 1, np.dtype("V16")), access="whole")
    with pytest.raises(_core.UnsupportedError, match="variable length"):
        _core.ArrayBase(handle, np.dtype("V16"))[:]
