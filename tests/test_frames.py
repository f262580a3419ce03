"""`coquina.Frame`: plain chunks in a file, shared with python-blosc2's SChunk."""

import numpy as np
import pytest

import coquina as cq

blosc2 = pytest.importorskip("blosc2")

CHUNKS = [np.full(1000, n, "i4").tobytes() for n in range(5)]


@pytest.mark.parametrize("contiguous", [True, False])
def test_chunks_are_added_replaced_and_removed(tmp_path, contiguous):
    path = tmp_path / "f.b2frame"
    expected = list(CHUNKS)
    with cq.Frame.create(
        path, typesize=4, chunk_size=4000, contiguous=contiguous, meta={"unit": "m"}
    ) as frame:
        for chunk in CHUNKS:
            frame.append(chunk)
        frame[1] = CHUNKS[4]
        frame.insert(2, CHUNKS[0])
        del frame[-1]
        frame.attrs["x"] = [1]
        expected[1] = CHUNKS[4]
        expected.insert(2, CHUNKS[0])
        del expected[-1]
        assert list(frame) == expected
    frame = cq.open(path)
    assert isinstance(frame, cq.Frame)
    assert list(frame) == expected
    assert (len(frame), frame.nbytes, frame.meta["unit"], frame.attrs["x"]) == (5, 20_000, "m", [1])
    assert cq.decompress(frame.stored(3)) == frame[3]
    theirs = blosc2.open(str(path), mode="r")
    assert [theirs.decompress_chunk(n) for n in range(theirs.nchunks)] == expected
    assert theirs.vlmeta["x"] == [1]
    for wrong in (5, -6):
        with pytest.raises(IndexError):
            frame[wrong]
    with pytest.raises(ValueError, match="reading only"):
        frame.append(CHUNKS[0])
    assert "5 chunks" in repr(frame)


def test_a_transaction_is_one_commit_or_nothing(tmp_path):
    path = tmp_path / "f.b2frame"
    writer = cq.Frame.create(path, typesize=4, chunk_size=4000)
    reader = cq.open(path)
    with writer.transaction():
        writer.append(CHUNKS[0])
        writer.append(CHUNKS[1])
        assert not reader.refresh()
    assert reader.refresh()
    assert list(reader) == CHUNKS[:2]

    def fail():
        with writer.transaction():
            del writer[0]
            writer[0] = CHUNKS[3]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(writer) == CHUNKS[:2]
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        len(writer)


def test_frames_of_python_blosc2_are_read_and_changed(tmp_path):
    path = tmp_path / "s.b2frame"
    data = np.arange(100_000, dtype="i8")
    schunk = blosc2.SChunk(chunksize=80_000, data=data, urlpath=str(path), mode="w", cparams={"typesize": 8})
    schunk.append_data(np.zeros(10_000, "i8"))
    n = schunk.nchunks
    expected = [schunk.decompress_chunk(k) for k in range(n)]
    del schunk
    with cq.open(path, "a") as frame:
        assert list(frame) == expected
        assert (frame.info()["codec"], frame.info()["typesize"]) == ("zstd", 8)
        frame[0] = expected[1]
    theirs = blosc2.open(str(path), mode="r")
    assert theirs.decompress_chunk(0) == expected[1]
    assert cq.open(path).info()["checksums"] in ("absent", "fresh")


@pytest.mark.parametrize(
    ("head", "hint"),
    [
        (b"\x93NUMPY\x01\x00", "numpy.load"),
        (b"PK\x03\x04", "NPZ"),
        (b"CDF\x01", "NetCDF-4"),
        (b"PAR1", "read_parquet"),
    ],
)
def test_files_that_others_open_are_named(tmp_path, head, hint):
    (tmp_path / "other").write_bytes(head + bytes(100))
    with pytest.raises(cq.UnsupportedError, match=hint):
        cq.open(tmp_path / "other")


def test_folders_say_what_is_in_them(tmp_path):
    with pytest.raises(FileNotFoundError, match="a folder without an array"):
        cq.open(tmp_path)
    cq.create_table(tmp_path / "table", {"x": [1]}).close()
    with cq.open(tmp_path / "table") as table:
        assert table.nrows == 1


def test_an_hdf5_file_is_not_replaced_by_a_frame(tmp_path):
    with cq.open(tmp_path / "run.h5", "w") as file:
        file["x"] = np.arange(3)
    with pytest.raises(ValueError, match=r"run\.h5: arrays are written as Blosc2 frames"):
        cq.asarray(np.arange(3), path=tmp_path / "run.h5", overwrite=True)
    with cq.open(tmp_path / "run.h5") as file:
        assert file["x"][:].tolist() == [0, 1, 2]
