"""What libhdf5, h5py and b2h5py get wrong, or nearly so: coquina's answer is right, and files stay right."""

from __future__ import annotations

import ctypes
import struct
import zlib
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t

import coquina as cq
from coquina._core import Hdf5Library
from coquina.hdf5 import File, copying, fast, recovery
from coquina.hdf5.superblock import lookup3

DATA = np.arange(40 * 30, dtype="i4").reshape(40, 30)
GZIP = {"compression": "gzip", "shuffle": True}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.h5"


def assert_direct(d: cq.hdf5.Dataset, values: np.ndarray) -> None:
    np.testing.assert_array_equal(d[...], values)
    assert (d.access, d.info.fallbacks, d.info.boxes_whole) == ("direct", 0, 0)


class TestCasesOfB2h5py:
    """b2h5py 0.5.1 answers these wrongly, or raises."""

    def test_a_filter_in_front_of_blosc2(self, path):
        with h5py.File(path, "w") as f:
            f.create_dataset("d", data=DATA, chunks=(7, 11), shuffle=True, **hdf5plugin.Blosc2())
        with cq.open(path) as f:
            assert_direct(f["d"], DATA)

    def test_one_item_is_one_item(self, path):
        with h5py.File(path, "w") as f:
            f.create_dataset("d", data=DATA, chunks=(7, 11), **hdf5plugin.Blosc2())
        with cq.open(path) as f, h5py.File(path) as g:
            for key in [(3, 7), (3,), (slice(3, 4), 7), (..., 7), ()]:
                ours, theirs = f["d"][key], g["d"][key]
                assert (type(ours), np.shape(ours)) == (type(theirs), np.shape(theirs))
                np.testing.assert_array_equal(ours, theirs)

    def test_fields(self, path):
        records = np.zeros(100, [("a", "<i4"), ("b", ">f8"), ("c", "S9")])
        records["a"], records["c"] = np.arange(100), b"text"
        with h5py.File(path, "w") as f:
            f.create_dataset("d", data=records, chunks=(30,), **hdf5plugin.Blosc2())
        with cq.open(path) as f:
            np.testing.assert_array_equal(f["d"]["a"], records["a"])
            np.testing.assert_array_equal(f["d"][["c", "a"]][20:80], records[["c", "a"]][20:80])

    def test_missing_and_unfiltered_chunks(self, path):
        with h5py.File(path, "w") as f:
            d = f.create_dataset("d", (30, 20), "i4", chunks=(10, 10), fillvalue=-1, **hdf5plugin.Blosc2())
            d[:10, :10] = DATA[:10, :10]
            d.id.write_direct_chunk((10, 10), DATA[10:20, 10:20].tobytes(), filter_mask=1)
        expected = np.full((30, 20), -1)
        expected[:10, :10], expected[10:20, 10:] = DATA[:10, :10], DATA[10:20, 10:20]
        with cq.open(path) as f:
            assert_direct(f["d"], expected)
            np.testing.assert_array_equal(f["d"][5:25, 5:15], expected[5:25, 5:15])

    def test_thousands_of_chunks_take_one_walk(self, path):
        with h5py.File(path, "w") as f:
            f.create_dataset("d", data=np.arange(4000), chunks=(1,), **hdf5plugin.Blosc2())
        with cq.open(path) as f:
            assert_direct(f["d"], np.arange(4000))
            assert (f["d"].info.table_rows, f["d"].info.chunks_direct) == (4000, 4000)


class TestMasks:
    """libhdf5 keeps the mask of a chunk that is overwritten with as many bytes."""

    @pytest.mark.parametrize("how", ["items", "chunk", "part"])
    def test_written_chunks_have_mask_0(self, path, how):
        shuffled = DATA[:10, :10].reshape(-1).view("u1").reshape(-1, 4).T.tobytes()
        stored = zlib.compress(shuffled, 5)
        with h5py.File(path, "w") as f:
            d = f.create_dataset("d", (20, 10), "i4", chunks=(10, 10), **GZIP)
            for start in (0, 10):
                d.id.write_direct_chunk((start, 0), DATA[:10, :10].tobytes(), filter_mask=3)
        with h5py.File(path, "r+") as f:
            d = fast(f["d"])
            if how == "items":
                d[...] = 7
            elif how == "part":
                d[5:15, 3] = 7
            else:
                # As many bytes with another mask, and with this one.
                d.write_chunk((0, 0), stored.ljust(400, b"\0"))
                d.write_chunk((10, 0), stored)
            expected = d[...]
            np.testing.assert_array_equal(f["d"][...], expected)
        with h5py.File(path) as f:
            np.testing.assert_array_equal(f["d"][...], expected)
            masks = {f["d"].id.get_chunk_info(n).filter_mask for n in range(2)}
            assert masks == {0}
        # One of the items is 7 as it is, in both chunks.
        assert (expected == 7).sum() == {"items": 200, "part": 10 + 2, "chunk": 2}[how]


@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
@pytest.mark.parametrize("maxshape", [(None, 30), (None, None), (40, None), (90, 30)], ids=str)
def test_chunks_outside_of_the_shape_are_none(path, libver, maxshape):
    """A writer that was killed, or one ahead of a reader, leaves more chunks than the shape has."""
    with h5py.File(path, "w", libver=libver) as f:
        d = f.create_dataset("d", data=DATA, chunks=(10, 10), maxshape=maxshape, **GZIP)
        header = h5py.h5o.get_info(d.id).addr
    content = bytearray(path.read_bytes())
    at = content.index(struct.pack("<QQ", 40, 30), header)
    content[at : at + 16] = struct.pack("<QQ", 25, 30)
    if content[header : header + 4] == b"OHDR":
        # The first part of a header of version 2 ends with a checksum.
        flags = content[header + 5]
        front = 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
        width = 1 << (flags & 3)
        size = int.from_bytes(content[header + front : header + front + width], "little")
        end = header + front + width + size
        assert at < end
        content[end : end + 4] = lookup3(bytes(content[header:end])).to_bytes(4, "little")
    path.write_bytes(content)
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][...], DATA[:25])
    for mode in ("r", "r+"):
        with cq.open(path, mode) as f:
            np.testing.assert_array_equal(f["d"][...], DATA[:25])
            np.testing.assert_array_equal(f["d"][22:, ::-2], DATA[22:25, ::-2])
            assert len(list(f["d"].chunk_iter())) == 9
            assert f["d"].info.fallbacks == 0


class TestOneEndlessAxisThatIsNotTheFirst:
    """libhdf5 2.0 lists the chunks of such datasets with wrong coordinates (`H5Dchunk_iter`)."""

    @pytest.fixture(params=["earliest", "latest"])
    def made(self, request, path):
        with h5py.File(path, "w", libver=request.param) as f:
            d = f.create_dataset("d", (4, 9, 6), "i4", chunks=(2, 1, 4), maxshape=(5, None, 6), **GZIP)
            values = np.arange(1, 217, dtype="i4").reshape(4, 9, 6)
            values[:, 5] = 0
            for row in (0, 1, 2, 3, 4, 6, 7, 8):
                d[:, row] = values[:, row]
        return path, values

    def test_infos_are_those_of_the_chunks(self, made):
        path, _ = made
        content = path.read_bytes()
        with cq.open(path) as f:
            infos = list(f["d"].chunk_iter())
            assert len(infos) == 2 * 8 * 2
            assert sorted(f["d"].h5.id.read_direct_chunk(i.start)[1] for i in infos) == sorted(
                content[i.offset : i.offset + i.size] for i in infos
            )
            for info in infos:
                stored = content[info.offset : info.offset + info.size]
                assert f["d"].read_chunk(info.start) == stored
                assert f["d"].chunk_info(info.start) == info
            assert f["d"].chunk_info((3, 5, 5)) == ((2, 5, 4), None, None, None)
            library = Hdf5Library(f["d"].h5)
            assert sorted(library.chunk_table(by_number=True)) == sorted(library.chunk_table())

    def test_copies_have_all_chunks(self, made, tmp_path):
        path, values = made
        copying.repack(path, tmp_path / "repacked.h5")
        found = recovery.recover(path, tmp_path / "recovered.h5")
        assert "32 of 32 chunks" in str(found)
        for name in ("repacked.h5", "recovered.h5"):
            with h5py.File(tmp_path / name) as f:
                np.testing.assert_array_equal(f["d"][...], values)

    def test_items_are_right_in_all_access_paths(self, made):
        path, values = made
        with h5py.File(path, "r+") as f:
            np.testing.assert_array_equal(fast(f["d"])[...], values)
            fast(f["d"])[1:3, 4:7] = -1
            values[1:3, 4:7] = -1
            np.testing.assert_array_equal(f["d"][...], values)
            np.testing.assert_array_equal(fast(f["d"], access="whole")[...], values)
        with cq.open(path) as f:
            assert_direct(f["d"], values)


@pytest.mark.parametrize(
    "options", [GZIP, {"fletcher32": True}, {"chunks": True}], ids=["gzip", "check", "none"]
)
def test_a_chunk_that_was_read_before_it_was_written(path, options):
    """libhdf5 keeps its fill value in the cache, and says that it has no address."""
    with h5py.File(path, "w") as f:
        h5 = f.create_dataset("d", (40, 30), "i4", **{"chunks": (10, 10), **options})
        assert h5[15, 15] == 0
        ours = fast(h5)
        assert ours[15, 15] == 0
        ours[10:20, 10:20] = 5
        assert h5[15, 15] == 5
        assert h5[25, 25] == 0
        h5[20:30, 20:30] = 6
        assert ours[25, 25] == 6
        assert h5[5, 5] == 0
        ours[5, 5] = 7
        assert (h5[5, 5], h5[...].sum()) == (7, 500 + 600 + 7)


def _set_chunk_opts() -> ctypes._NamedFuncPointer | None:
    """Return a function of the libhdf5 that h5py uses, which h5py does not offer."""
    maps = Path("/proc/self/maps")
    names = {line.split()[-1] for line in maps.read_text().splitlines()} if maps.exists() else set()
    found = [name for name in names if "libhdf5-" in name or "libhdf5.so" in name]
    found = [name for name in found if "h5py" in name] or found
    return ctypes.CDLL(found[0]).H5Pset_chunk_opts if len(found) == 1 else None


@pytest.mark.parametrize("pipeline", ["gzip", "blosc2", "none"])
def test_chunks_at_the_edge_may_be_stored_as_they_are(path, pipeline):
    """They have mask 0 all the same."""
    set_chunk_opts = _set_chunk_opts()
    if set_chunk_opts is None:
        pytest.skip("h5py's libhdf5 was not found, or more than one")
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk((7, 11))
    if pipeline == "gzip":
        plist.set_shuffle()
        plist.set_deflate(4)
    elif pipeline == "blosc2":
        plist.set_filter(hdf5plugin.BLOSC2_ID, h5py.h5z.FLAG_OPTIONAL, (0, 0, 0, 0, 5, 1, 5))
    set_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    with h5py.File(path, "w", libver="latest") as f:
        assert set_chunk_opts(plist.id, 2) == 0
        tid, space = h5t.STD_I32LE, h5s.create_simple(DATA.shape)
        h5py.Dataset(h5d.create(f.id, b"d", tid, space, plist))[...] = DATA
    with cq.open(path) as f:
        assert_direct(f["d"], DATA)
        raw = [info for info in f["d"].chunk_iter() if info.size == 7 * 11 * 4]
        assert len(raw) >= 8
        assert {info.filter_mask for info in raw} == {0}
    with cq.open(path, "r+") as f:
        d = f["d"]
        np.testing.assert_array_equal(d[...], DATA)
        assert d.access == ("whole" if pipeline != "none" else "fetched")
        d[33:, 20:] = -DATA[33:, 20:]
        d[3, 3] = 0
    expected = DATA.copy()
    expected[33:, 20:] *= -1
    expected[3, 3] = 0
    with h5py.File(path) as f:
        np.testing.assert_array_equal(f["d"][...], expected)
    with cq.open(path) as f:
        assert_direct(f["d"], expected)


def test_fill_values_that_are_strings(path):
    """h5py's low level takes the bytes of one for an address."""
    with File(path, "w") as f:
        d = f.create_dataset("d", (5,), "S6", fillvalue=b"abc", chunks=(2,))
        d[1] = b"x"
        assert d.fillvalue == d.h5.fillvalue == b"abc"
        expected = np.array([b"abc", b"x", b"abc", b"abc", b"abc"], "S6")
        np.testing.assert_array_equal(d[...], expected)
        np.testing.assert_array_equal(d.h5[...], expected)


def test_who_reads_keeps_writers_out(path):
    """A file that we read past libhdf5 cannot be opened for writing by h5py."""
    with h5py.File(path, "w") as f:
        f.create_dataset("d", data=DATA, chunks=(7, 11), **GZIP)
    with cq.open(path) as f:
        assert f["d"].access == "direct"
        with pytest.raises(OSError, match=r"read-only|lock"):
            h5py.File(path, "r+")
        assert_direct(f["d"], DATA)
    with h5py.File(path, "r+") as f:
        f["d"][0] = 1
