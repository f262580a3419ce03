"""Stored chunks: the direct chunk API, with PyTables' checks, and against h5py and PyTables."""

from __future__ import annotations

import h5py
import hdf5plugin  # noqa: F401
import numpy as np
import pytest
import tables

import coquina as cq
from coquina.hdf5 import ChunkInfo, fast

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
        assert array.gear == "direct"
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
        with pytest.raises(cq.UnsupportedError, match="not stored in chunks"):
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
