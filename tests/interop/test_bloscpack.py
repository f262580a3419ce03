"""Bloscpack files go both ways between coquina and the bloscpack package."""

import json
import struct
import zlib

import blosc
import imagecodecs
import numpy as np
import pytest

import coquina as cq
from tests.interop.bloscpack_package import bloscpack, bloscpack_append, rewrite_metadata

# The package leaves files for the garbage collector to close.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CHECKSUMS = ["None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
ARRAYS = {
    "f8": np.linspace(0, 1, 50_000),
    "i2 3-d": np.arange(7 * 11 * 13, dtype="i2").reshape(7, 11, 13),
    "big-endian": np.arange(1000, dtype=">i4"),
    "fortran": np.asfortranarray(np.arange(600.0).reshape(20, 30)),
    "datetime": np.arange("2020-01-01", "2021-01-01", dtype="M8[D]"),
    "strings": np.array(["ab", "cdefg", ""]),
    "bytes": np.array([b"ab", b"cdefg", b""]),
    "structured": np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", "<f8")]),
    "complex": np.arange(10) * 1j,
    "bool": np.arange(100) % 3 == 0,
    "0-d": np.array(3.5),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_packed_here_are_read_there(name, tmp_path):
    cq.pack(ARRAYS[name], tmp_path / "x.blp")
    read = bloscpack.unpack_ndarray_from_file(str(tmp_path / "x.blp"))
    assert read.dtype == ARRAYS[name].dtype
    np.testing.assert_array_equal(read, ARRAYS[name])


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_packed_there_are_read_here(name, tmp_path):
    x = ARRAYS[name]
    size = max(1 << 20 // x.dtype.itemsize, 1) * x.dtype.itemsize
    bloscpack.pack_ndarray_to_file(x, str(tmp_path / "x.blp"), chunk_size=size)
    read = cq.unpack(tmp_path / "x.blp")
    assert read.dtype == x.dtype
    assert read.flags.f_contiguous == x.flags.f_contiguous
    np.testing.assert_array_equal(read, x)


@pytest.mark.parametrize("codec", CODECS)
def test_bytes_go_both_ways_with_every_checksum_codec_and_shuffle(codec, tmp_path):
    data = np.arange(40_000, dtype="i8").tobytes()[:-3]
    cells = 0
    for checksum in CHECKSUMS:
        for shuffle in (True, False):
            for offsets in (True, False):
                arguments = bloscpack.BloscArgs(typesize=8, clevel=3, shuffle=shuffle, cname=codec)
                options = bloscpack.BloscpackArgs(offsets=offsets, checksum=checksum)
                theirs = bloscpack.pack_bytes_to_bytes(
                    data, chunk_size=30_000, blosc_args=arguments, bloscpack_args=options
                )
                assert cq.loads(theirs) == data
                ours = cq.dumps(
                    data,
                    codec=codec,
                    level=3,
                    filters="shuffle" if shuffle else "nofilter",
                    checksum=checksum.lower(),
                    offsets=offsets,
                    chunk_size=30_000,
                )
                assert bloscpack.unpack_bytes_from_bytes(ours)[0] == data
                cells += 2
    assert cells == 72


def test_snappy_goes_both_ways_with_a_c_blosc_that_has_it(tmp_path, monkeypatch):
    """The package's own C-Blosc is built without Snappy: that of imagecodecs takes its place."""
    data = np.arange(40_000, dtype="i8").tobytes()
    monkeypatch.setattr(blosc, "decompress", lambda chunk: bytes(imagecodecs.blosc_decode(chunk)))
    monkeypatch.setattr(
        blosc,
        "compress",
        lambda chunk, typesize, clevel, shuffle, cname: bytes(
            imagecodecs.blosc_encode(
                chunk, level=clevel, compressor="snappy", shuffle=int(shuffle), typesize=typesize
            )
        ),
    )
    for offsets in (True, False):
        ours = cq.dumps(data, codec="snappy", offsets=offsets, chunk_size=30_000)
        assert len(ours) < len(data) / 2
        assert bloscpack.unpack_bytes_from_bytes(ours)[0] == data
        theirs = bloscpack.pack_bytes_to_bytes(
            data, chunk_size=30_000, bloscpack_args=bloscpack.BloscpackArgs(offsets=offsets)
        )
        assert cq.loads(theirs) == data


def test_metadata_goes_both_ways(tmp_path):
    text = {"name": "run 7", "values": list(range(100))}
    theirs = bloscpack.pack_bytes_to_bytes(b"data" * 100, metadata=text)
    (tmp_path / "theirs.blp").write_bytes(theirs)
    assert cq.open(tmp_path / "theirs.blp").metadata == text
    cq.pack(b"data" * 100, tmp_path / "ours.blp", metadata=json.dumps(text).encode())
    assert bloscpack.unpack_bytes_from_file(str(tmp_path / "ours.blp")) == (b"data" * 100, text)


@pytest.mark.parametrize(("first", "second"), [(10, 100_000), (50_000, 3), (120_000, 120_000)])
def test_what_is_appended_here_is_read_there(first, second, tmp_path):
    data = np.arange((first + second) // 8 + 1, dtype="i8").tobytes()[: first + second]
    path = tmp_path / "theirs.blp"
    bloscpack.pack_bytes_to_file(data[:first], str(path), chunk_size=20_000)
    cq.append(path, data[first:])
    assert bloscpack.unpack_bytes_from_file(str(path))[0] == data


def test_what_is_appended_there_is_read_here(tmp_path):
    data = np.arange(30_000, dtype="i8").tobytes()
    path, more = tmp_path / "ours.blp", tmp_path / "more"
    cq.pack(data[:120_000], path, chunk_size=20_000)
    more.write_bytes(data[120_000:])
    bloscpack_append(str(path), str(more))
    assert cq.unpack(path) == data
    assert cq.open(path)[119_990:120_010] == data[119_990:120_010]


def test_empty_data_go_both_ways():
    assert cq.loads(bloscpack.pack_bytes_to_bytes(b"")) == b""
    assert bloscpack.unpack_bytes_from_bytes(cq.dumps(b""))[0] == b""


def older(version, parts, offsets=False):
    """A file of version 1 or 2, as docs/formats/bloscpack.md has it: no program is left that writes one."""
    chunks = [blosc.compress(part, typesize=4, cname="lz4") for part in parts]
    if version == 1:
        return struct.pack("<4sB3xq", b"blpk", 1, len(chunks)) + b"".join(chunks)
    sizes = len(parts[0]), len(parts[-1])
    header = struct.pack("<4sBBBBiiqq", b"blpk", 2, offsets, 2, 4, *sizes, len(chunks), 0x7777)
    chunks = [chunk + struct.pack("<I", zlib.crc32(chunk)) for chunk in chunks]
    ends = np.cumsum([len(chunk) for chunk in chunks]).tolist()
    starts = [32 + 8 * len(chunks) + end - len(chunk) for end, chunk in zip(ends, chunks, strict=True)]
    return header + b"".join(struct.pack("<q", at) for at in starts if offsets) + b"".join(chunks)


@pytest.mark.parametrize(("version", "offsets"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("sizes", [(4000, 4000, 1000), (4000, 4000, 4003), (4000,), (0,)])
def test_files_of_older_versions_are_read(version, offsets, sizes, tmp_path):
    """The chunks are made by C-Blosc; in version 1 the last one may be the largest."""
    if version == 2 and sizes[-1] > sizes[0]:
        sizes = sizes[:2]
    data = np.arange(sum(sizes) // 4 + 1, dtype="<i4").tobytes()[: sum(sizes)]
    ends = np.cumsum(sizes).tolist()
    parts = [data[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    path = tmp_path / "old.blp"
    stored = older(version, parts, offsets)
    path.write_bytes(stored)
    assert cq.unpack(path) == data
    packed = cq.open(path)
    for start in range(0, len(data), 997):
        assert packed[start : start + 5000] == data[start : start + 5000]
    for end in range(1, len(stored), 97):
        path.write_bytes(stored[:end])
        with pytest.raises((cq.TruncatedError, cq.CorruptError)):
            cq.unpack(path)
    path.write_bytes(stored)
    cq.append(path, b"more")
    assert cq.unpack(path) == data + b"more"
    assert bloscpack.unpack_bytes_from_file(str(path))[0] == data + b"more"


def test_metadata_grow_in_their_room_by_both(tmp_path):
    path = tmp_path / "x.blp"
    data = np.arange(100_000).tobytes()
    cq.pack(data, path, metadata=b'{"run": 7}', metadata_room=5000, chunk_size=100_000)
    size = path.stat().st_size
    file = cq.open(path)
    assert file.info()["metadata_room"] == 5000
    longer = {"run": 7, "names": [f"sensor {i}" for i in range(300)]}
    assert file.set_metadata(longer)
    assert file.metadata == longer
    assert path.stat().st_size == size
    assert bloscpack.unpack_bytes_from_file(str(path)) == (data, longer)
    # By theirs in the room of ours, and by ours in theirs.
    other = {"by": "bloscpack", "n": list(range(50))}
    with open(path, "r+b") as f:
        f.seek(32)
        rewrite_metadata(f, other)
    assert cq.open(path).metadata == other
    assert cq.open(path)[:100] == data[:100]
    room = bloscpack.MetadataArgs(max_meta_size=4000)
    path.write_bytes(bloscpack.pack_bytes_to_bytes(data, metadata=other, metadata_args=room))
    assert cq.open(path).set_metadata(longer)
    assert bloscpack.unpack_bytes_from_file(str(path)) == (data, longer)


def test_metadata_that_do_not_fit_make_a_new_file_and_chunks_stay(tmp_path):
    path = tmp_path / "x.blp"
    data = np.arange(100_000).tobytes()
    for options in ({}, {"metadata": b'{"run": 7}'}, {"offsets": False, "checksum": "crc32"}):
        cq.pack(data, path, chunk_size=100_000, codec="zstd", **options)
        chunks = cq.open(path).cbytes
        noise = {"noise": np.random.default_rng(1).bytes(2000).hex()}
        assert not cq.open(path).set_metadata(noise)
        assert bloscpack.unpack_bytes_from_file(str(path)) == (data, noise)
        assert cq.open(path).cbytes == chunks
        assert cq.open(path).set_metadata({})
        assert not cq.open(path).set_metadata({}, room=7)
        assert cq.open(path).info()["metadata_room"] == 7
        with pytest.raises(cq.LimitError, match="a room of 3"):
            cq.open(path).set_metadata(noise, room=3)
        assert bloscpack.unpack_bytes_from_file(str(path)) == (data, {})
    assert [one.name for one in tmp_path.iterdir()] == ["x.blp"]


def test_metadata_of_arrays_and_of_bytes_in_memory_stay(tmp_path):
    cq.pack(np.arange(10), tmp_path / "x.blp")
    with pytest.raises(ValueError, match="describe it"):
        cq.open(tmp_path / "x.blp").set_metadata({})
    with open(tmp_path / "y.blp", "wb") as f:
        f.write(cq.dumps(b"abc"))
    with open(tmp_path / "y.blp", "rb") as f, pytest.raises(ValueError, match="by its path"):
        cq.open(f).set_metadata({})
