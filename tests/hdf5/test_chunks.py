"""Stored chunks: the direct chunk API, with PyTables' checks, and against h5py and PyTables."""

from __future__ import annotations

import zlib

import h5py
import hdf5plugin  # noqa: F401
import numpy as np
import pytest
import tables

import coquina as cq
from coquina.hdf5 import ChunkInfo, fast
from coquina.hdf5.chunks import StoredChunks
from coquina.hdf5.places import inside

DATA = np.arange(20 * 30, dtype="i4").reshape(20, 30)
UNSHUFFLED = 0b01


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


@pytest.fixture
def h5(path):
    with h5py.File(path, "w") as f:
        f.create_dataset(
            "d", data=DATA, chunks=(8, 10), maxshape=(None, 30), shuffle=True, compression="gzip"
        )
        yield f


def test_the_session_of_direct_chunking(path):
    """Frames made one by one, stored as they are, and read as they are and by everybody's pipelines."""
    images = [np.random.default_rng(n).integers(0, 9, (50, 60), "u2") for n in range(4)]
    with cq.hdf5.File(path, "w") as f:
        array = f.create_dataset(
            "array", (0, 50, 60), "u2", maxshape=(None, 50, 60), chunks=(1, 50, 60), codec="lz4"
        )
        array.truncate(len(images))
        for i, image in enumerate(images):
            chunk = cq.asarray(image[np.newaxis], chunks=(1, 50, 60), blocks=(1, 10, 60), codec="lz4")
            array.write_chunk((i, 0, 0), chunk.to_bytes())
        assert array.shape == (4, 50, 60)
        np.testing.assert_array_equal(array[2], images[2])
    with cq.open(path) as f:
        array = f["array"]
        for i, image in enumerate(images):
            info = array.chunk_info((i, 30, 40))
            assert info.start == (i, 0, 0)
            stored = array.read_chunk(info.start)
            assert len(stored) == info.size
            assert path.read_bytes()[info.offset : info.offset + info.size] == stored
            np.testing.assert_array_equal(cq.from_bytes(stored)[0], image)
        np.testing.assert_array_equal(array[...], images)
        assert array.access == "direct"
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["array"][...], images)
    with tables.open_file(path) as f:
        np.testing.assert_array_equal(f.root.array[:, 10:30], np.array(images)[:, 10:30])
        assert f.root.array.chunk_info((1, 0, 0)).start == (1, 0, 0)


def test_infos_are_those_of_h5py(h5):
    d = fast(h5["d"])
    h5["d"].resize((30, 30))
    d = fast(h5["d"])
    for coords in [(0, 0), (7, 9), (8, 10), (19, 29)]:
        start = tuple(at - at % chunk for at, chunk in zip(coords, (8, 10), strict=True))
        theirs = h5["d"].id.get_chunk_info_by_coord(start)
        assert d.chunk_info(coords) == ChunkInfo(start, theirs.filter_mask, theirs.byte_offset, theirs.size)
    assert d.chunk_info((29, 29)) == ChunkInfo((24, 20), None, None, None)
    infos = list(d.chunk_iter())
    assert [info.start for info in infos] == [(i, j) for i in (0, 8, 16) for j in (0, 10, 20)]
    assert infos == [d.chunk_info(info.start) for info in infos]
    h5["d"].resize((8, 30))
    assert [info.start[0] for info in fast(h5["d"]).chunk_iter()] == [0, 0, 0]


def test_chunks_come_and_go_as_they_are(h5):
    d = fast(h5["d"])
    mask, stored = h5["d"].id.read_direct_chunk((8, 20))
    assert d.read_chunk((8, 20)) == stored
    out = bytearray(len(stored) + 5)
    view = d.read_chunk((8, 20), out)
    assert (bytes(view), bytes(out[len(stored) :])) == (stored, bytes(5))
    with pytest.raises(ValueError, match=str(len(stored))):
        d.read_chunk((8, 20), bytearray(len(stored) - 1))
    d.write_chunk((0, 0), stored, mask)
    np.testing.assert_array_equal(d[:8, :10], DATA[8:16, 20:])
    np.testing.assert_array_equal(h5["d"][:8, :10], DATA[8:16, 20:])


def test_coordinates_are_checked(h5):
    d = fast(h5["d"])
    d.resize((30, 30))
    for call in (d.read_chunk, lambda coords: d.write_chunk(coords, b"x")):
        with pytest.raises(ValueError, match=r"begins there, but at \(8, 0\)"):
            call((9, 0))
        with pytest.raises(IndexError, match="outside of the shape"):
            call((32, 0))
        with pytest.raises(IndexError, match="outside"):
            call((-8, 0))
        with pytest.raises(ValueError, match="2 axes"):
            call((0,))
        with pytest.raises(TypeError):
            call((0.0, 0))
    with pytest.raises(KeyError, match="never written"):
        d.read_chunk((24, 0))
    with pytest.raises(KeyError, match="never written"):
        d.read_chunk((24, 0), bytearray(1000))
    with pytest.raises(IndexError):
        d.chunk_info((0, 30))
    h5["flat"] = DATA
    for call in (fast(h5["flat"]).read_chunk, fast(h5["flat"]).chunk_info):
        with pytest.raises(cq.UnsupportedError, match="not chunked"):
            call((0, 0))


def test_what_is_read_only_is_not_written(path):
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=DATA, chunks=(8, 10))
    with cq.open(path) as f, pytest.raises(ValueError, match="reading only"):
        f["d"].write_chunk((0, 0), bytes(320))


def test_masks_are_kept_and_go(h5):
    # libhdf5 keeps the mask of a chunk that is overwritten by one of the same size, and right after a chunk
    # was written with a mask it reads it as if it had none.
    d = fast(h5["d"])
    plain, gzipped = DATA[:8, :10].copy(), h5["d"].id.read_direct_chunk((0, 0))[1]
    unfiltered = plain.tobytes()
    for _ in range(2):
        d.write_chunk((0, 0), unfiltered, 0b11)
        assert d.chunk_info((0, 0)).filter_mask == 0b11
        np.testing.assert_array_equal(h5["d"][:8, :10], plain)
        np.testing.assert_array_equal(d[:8, :10], plain)
        d.write_chunk((0, 0), gzipped)
        assert d.chunk_info((0, 0)).filter_mask == 0
        np.testing.assert_array_equal(h5["d"][:8, :10], plain)
    # As many bytes with another mask, to and fro.
    import zlib

    unshuffled = zlib.compress(unfiltered)
    shuffled = zlib.compress(plain.reshape(-1).view("u1").reshape(-1, 4).T.tobytes())
    size = max(len(unshuffled), len(shuffled))
    unshuffled, shuffled = unshuffled.ljust(size, b"\0"), shuffled.ljust(size, b"\0")
    for _ in range(2):
        for content, mask in ((unshuffled, UNSHUFFLED), (shuffled, 0)):
            d.write_chunk((0, 0), content, mask)
            assert d.chunk_info((0, 0))[1::2] == (mask, size)
            np.testing.assert_array_equal(h5["d"][:8, :10], plain)


def test_chunks_written_here_are_what_pytables_reads_as_chunks(path):
    with cq.hdf5.File(path, "w") as f:
        f.create_dataset("d", data=DATA, chunks=(8, 10), codec="zstd")
        ours = {info.start: bytes(f["d"].read_chunk(info.start)) for info in f["d"].chunk_iter()}
    with tables.open_file(path) as f:
        assert len(ours) == 9
        for start, stored in ours.items():
            assert f.root.d.read_chunk(start) == stored
        np.testing.assert_array_equal(f.root.d[...], DATA)


def _same_as_h5py(path, infos):
    with h5py.File(path) as f:
        for info in infos:
            theirs = f["d"].id.get_chunk_info_by_coord(info.start)
            assert info == ChunkInfo(info.start, theirs.filter_mask, theirs.byte_offset, theirs.size)


class Asked:
    """Counts how often the chunks of datasets are listed."""

    def __init__(self, monkeypatch):
        self.lists = 0
        rows_of = StoredChunks._rows

        def rows(chunks):
            known = chunks._known
            found = rows_of(chunks)
            self.lists += chunks._known is not known
            return found

        monkeypatch.setattr(StoredChunks, "_rows", rows)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_chunks_are_listed_once_as_long_as_nothing_changes(path, monkeypatch, mode):
    """Each `chunk_info` had libhdf5 walk over all chunks, 24 ms of 10^5: a loop took quadratic time."""
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=DATA, chunks=(1, 1), compression="gzip")
    asked = Asked(monkeypatch)
    with cq.open(path, mode) as f:
        infos = [f["d"].chunk_info((i, j)) for i in range(20) for j in range(30)]
        assert infos == list(f["d"].chunk_iter())
    assert asked.lists == 1
    _same_as_h5py(path, infos)


def test_a_loop_that_writes_each_chunk_again_lists_them_once(path, monkeypatch):
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=DATA, chunks=(2, 3), compression="gzip")
    asked = Asked(monkeypatch)
    with cq.open(path, "r+") as f:
        d = f["d"]
        for row in range(0, 20, 2):
            for column in range(0, 30, 3):
                info = d.chunk_info((row, column))
                stored = zlib.compress(zlib.decompress(bytes(d.read_chunk(info.start))), 0)
                assert len(stored) != info.size
                d.write_chunk(info.start, stored)
        assert asked.lists == 1
        infos = [d.chunk_info((row, column)) for row in range(0, 20, 2) for column in range(0, 30, 3)]
        assert asked.lists == 2
        np.testing.assert_array_equal(d[...], DATA)
    _same_as_h5py(path, infos)


def test_what_is_told_of_chunks_is_never_out_of_date(path):
    """After any change by whichever of our handles, and by h5py's objects once they were handed out."""
    rng = np.random.default_rng(5)
    with cq.open(path, "w") as f:
        made = f.create_dataset("d", data=DATA, chunks=(4, 5), maxshape=(None, 30), filter="gzip")
        d, table = f["d"], f.create_table("t", {"d": "i4"})
        changes = [
            lambda: d.__setitem__((slice(3, 9), slice(2, 9)), rng.integers(0, 99, (6, 7))),
            lambda: made.resize((made.shape[0] + 3, 30)),
            lambda: made.resize((8, 30)),
            lambda: d.append(rng.integers(0, 99, (5, 30)).astype("i4")),
            lambda: d.write_chunk((0, 0), zlib.compress(bytes(80), 0)),
            lambda: d.write_chunk((0, 5), bytes(80), 0b11),
            lambda: table.append([(1,)]),
            lambda: f.h5["d"].__setitem__((0, 0), rng.integers(0, 99)),
            lambda: f.h5["d"].resize((20, 30)),
        ]
        for change in changes * 2:
            change()
            infos = [d.chunk_info((i, j)) for i in range(0, d.shape[0], 4) for j in range(0, 30, 5)]
            id_ = inside(d).id
            for info in [*infos, *(d.chunk_info(info.start) for info in infos)]:
                theirs = id_.get_chunk_info_by_coord(info.start)
                found = (theirs.filter_mask, theirs.byte_offset, theirs.size)
                assert info == (info.start, *(found if theirs.size else (None, None, None)))


def test_files_that_others_write_to_are_asked_each_time(path):
    with h5py.File(path, "w", libver="latest") as f:
        f.create_dataset("d", data=DATA, chunks=(4, 5), maxshape=(None, 30), compression="gzip")
        f.swmr_mode = True
        with cq.hdf5.File(path, swmr=True) as g:
            d = g["d"]
            for _ in range(3):
                assert d.chunk_info((19, 0)).start == (16, 0)
            f["d"].resize((24, 30))
            f["d"][...] = np.random.default_rng(0).integers(0, 1 << 30, (24, 30))
            f["d"].flush()
            d.refresh()
            for info in d.chunk_iter():
                assert len(d.read_chunk(info.start)) == info.size == d.chunk_info(info.start).size
            assert d.chunk_info((23, 29)).size is not None


class TestTables:
    """Chunks of tables: of records as PyTables has them, and of columns cannot be compared."""

    @pytest.fixture(params=["rows", "columns"])
    def layout(self, request):
        return request.param

    @pytest.fixture
    def records(self):
        records = np.zeros(5000, [("a", "i4"), ("b", "f8")])
        records["a"], records["b"] = np.arange(5000), np.random.default_rng(1).normal(size=5000)
        return records

    def test_chunks_of_records_are_those_that_pytables_tells(self, path, records):
        with cq.create_table(path, records, layout="rows", chunk_rows=1024) as t:
            infos = list(t.chunk_iter())
            assert infos == [t.chunk_info((start,)) for start in range(0, 5000, 1024)]
            stored = [t.read_chunk(info.start) for info in infos]
            with pytest.raises(TypeError, match="takes no column"):
                t.chunk_info((0,), "a")
        with tables.open_file(path) as f:
            for info, ours in zip(infos, stored, strict=True):
                theirs = f.root.table.chunk_info((info.start[0] + 3,))
                assert (theirs.start, theirs.filter_mask, theirs.offset, theirs.size) == info
                assert f.root.table.read_chunk(info.start) == ours

    def test_a_chunk_of_another_table_is_written_as_it_is(self, path, records, layout):
        other = records[::-1].copy()
        with cq.create_table(path, records, name="/t", layout=layout, chunk_rows=1024) as t:
            t.create_index("a")
        with cq.create_table(path, other, name="/u", layout=layout, chunk_rows=1024):
            pass
        columns = [None] if layout == "rows" else ["a", "b"]
        with cq.open(path, "r+") as f:
            t, u = f["t"], f["u"]
            assert t.where("a == 3976").row_numbers().tolist() == [3976]
            for column in columns:
                t.write_chunk((1024,), u.read_chunk((1024,), None, column), 0, column)
            expected = records.copy()
            expected[1024:2048] = other[1024:2048]
            np.testing.assert_array_equal(t.to_numpy(), expected)
            rows = t.where("a == 3900").row_numbers()
            np.testing.assert_array_equal(rows, np.flatnonzero(expected["a"] == 3900))
        with cq.open_table(path, "/t") as t:
            np.testing.assert_array_equal(t.to_numpy(), expected)
            assert t.verify() == {}
            with pytest.raises(ValueError, match="reading only"):
                t.write_chunk((0,), b"", 0, columns[0])

    def test_rows_that_wait_are_written_before_chunks_are_told_of(self, path, layout):
        with cq.create_table(path, {"a": "i4"}, layout=layout, chunk_rows=4096) as t:
            column = None if layout == "rows" else "a"
            t.append([(5,)])
            assert t.chunk_info((0,), column).size
            assert [info.start for info in t.chunk_iter(column)] == [(0,)]

    def test_columns_are_named_and_may_have_several_arrays(self, path):
        with cq.create_table(path, {"a": [1, 2], "text": ["x", "yz"]}) as t:
            with pytest.raises(TypeError, match=r"one by one.*'a', 'text'"):
                t.chunk_info((0,))
            with pytest.raises(KeyError, match="no column 'b'"):
                t.chunk_info((0,), "b")
            with pytest.raises(IndexError, match="part 2"):
                t.chunk_info((0,), "text", 2)
            assert t.chunk_info((0,), "text", 1).start == (0,)
            assert t.read_chunk((0,), None, "text", 0) != t.read_chunk((0,), None, "text", 1)

    def test_directories_have_no_chunks_of_hdf5(self, tmp_path):
        table = cq.create_table(tmp_path / "t", {"a": [1, 2]})
        with table as t, pytest.raises(cq.UnsupportedError, match="frames"):
            t.chunk_info((0,), "a")
