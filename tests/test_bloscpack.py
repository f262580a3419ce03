"""Bloscpack files as Python users see them: arrays, files, partial reads, damage, and a full disk."""

import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import coquina as cq

ROWS = np.arange(30_000, dtype="i4").reshape(3000, 10)


@pytest.fixture
def packed(tmp_path):
    path = tmp_path / "rows.blp"
    cq.pack(ROWS, path, chunk_size=4000)
    return path


@settings(deadline=None)
@given(
    hnp.arrays(
        hnp.scalar_dtypes() | hnp.byte_string_dtypes() | hnp.unicode_string_dtypes(),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6),
    ),
    st.sampled_from("CF"),
    st.sampled_from(sorted(name for name, number in cq.codecs().items() if number < 32)),
)
def test_any_array_comes_back_with_dtype_shape_and_order(x, order, codec):
    x = np.asarray(x, order=order)
    y = cq.loads(cq.dumps(x, codec=codec, level=3))
    assert y.dtype == x.dtype
    assert y.shape == x.shape
    assert y.tobytes() == x.tobytes()
    assert x.size < 2 or y.flags.f_contiguous == x.flags.f_contiguous


def test_structured_arrays_with_nested_fields_come_back():
    dtype = np.dtype([("t", "<M8[ns]"), ("xy", "<f4", (2,)), ("in", [("a", "u1"), ("b", ">i2")])])
    x = np.zeros(100, dtype)
    x["xy"] = np.arange(200).reshape(100, 2)
    y = cq.loads(cq.dumps(x))
    assert y.dtype == x.dtype
    assert y.tobytes() == x.tobytes()


def test_objects_are_refused():
    with pytest.raises(ValueError, match="objects"):
        cq.dumps(np.array([{}, []], dtype=object))


def test_metadata_that_name_objects_are_refused(tmp_path):
    text = json.dumps({"dtype": "'|O'", "shape": [2], "order": "C", "container": "numpy"}).encode()
    cq.pack(b"0" * 16, tmp_path / "x.blp", metadata=text)
    with pytest.raises(cq.UnsupportedError, match="objects"):
        cq.open(tmp_path / "x.blp")


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [3]},
        {"shape": [-2]},
        {"order": "K"},
        {"dtype": "'nonsense'"},
        {"dtype": "__import__('os')"},
        {"dtype": "'<f8' + '<f8'"},
        {"dtype": None},
        {"shape": "12"},
        {"shape": [2, 2**62]},
    ],
)
def test_metadata_that_contradict_the_data_are_refused(changes, tmp_path):
    text = {"dtype": "'<f8'", "shape": [2], "order": "C", "container": "numpy"} | changes
    cq.pack(b"0" * 16, tmp_path / "x.blp", metadata=json.dumps(text).encode())
    with pytest.raises(cq.CorruptError, match="metadata"):
        cq.open(tmp_path / "x.blp")


def test_early_files_with_bare_dtypes_and_nested_lists_are_read(tmp_path):
    for dtype, size in [("<f8", 8), ([["a", "<i4"], ["b", "<f4", [3]]], 16)]:
        text = {"dtype": dtype, "shape": [2], "order": "C", "container": "numpy"}
        cq.pack(b"0" * 2 * size, tmp_path / "x.blp", metadata=json.dumps(text).encode())
        assert cq.unpack(tmp_path / "x.blp").dtype.itemsize == size


@settings(deadline=None)
@given(st.slices(3000), st.integers(-3000, 2999))
def test_slices_and_indices_are_numpys(rows, row):
    f = cq.open(io.BytesIO(PACKED))
    np.testing.assert_array_equal(f[rows], ROWS[rows])
    np.testing.assert_array_equal(f[rows, 3], ROWS[rows, 3])
    np.testing.assert_array_equal(f[row], ROWS[row])
    np.testing.assert_array_equal(f[row, ::2], ROWS[row, ::2])


PACKED = cq.dumps(ROWS, chunk_size=4000)


def test_other_keys_are_numpys_too(packed):
    f = cq.open(packed)
    for key in [..., (), [5, 1, 1], ROWS[:, 0] % 7 == 0, (..., 2), None, (slice(3, 5), None, 1)]:
        np.testing.assert_array_equal(f[key], ROWS[key])
    for wrong in [3000, -3001]:
        with pytest.raises(IndexError, match="out of bounds"):
            f[wrong]


def test_a_slice_reads_only_the_chunks_that_hold_it(packed):
    f = cq.open(packed)
    assert f.info()["nchunks"] == 30
    np.testing.assert_array_equal(f[950:1050], ROWS[950:1050])
    assert f.chunks_read == 2
    assert len(f[10:10]) == 0
    assert f.chunks_read == 2


def test_fortran_order_slices_are_right(tmp_path):
    x = np.asfortranarray(ROWS)
    cq.pack(x, tmp_path / "f.blp")
    np.testing.assert_array_equal(cq.open(tmp_path / "f.blp")[5:9, ::3], x[5:9, ::3])


def test_bytes_are_sliced_as_bytes(tmp_path):
    data = bytes(range(256)) * 100
    cq.pack(data, tmp_path / "b.blp", chunk_size=1000)
    f = cq.open(tmp_path / "b.blp")
    assert len(f) == len(data)
    assert f.dtype is None
    assert (f[5], f[-1], f[100:200], f[::-1]) == (data[5], data[-1], data[100:200], data[::-1])


def test_npy_files_are_packed_as_arrays_and_others_as_bytes(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    (tmp_path / "x.raw").write_bytes(ROWS.tobytes())
    cq.pack(tmp_path / "x.npy", tmp_path / "a.blp")
    cq.pack(str(tmp_path / "x.raw"), tmp_path / "b.blp")
    np.testing.assert_array_equal(cq.unpack(tmp_path / "a.blp"), ROWS)
    assert cq.unpack(tmp_path / "b.blp") == ROWS.tobytes()


def test_file_objects_are_written_and_read(tmp_path):
    with open(tmp_path / "x", "wb") as out:
        out.write(b"front")
        cq.pack(ROWS, out)
    packed = (tmp_path / "x").read_bytes()[5:]
    with open(tmp_path / "y", "wb") as out:
        out.write(packed)
    with open(tmp_path / "y", "rb") as file:
        np.testing.assert_array_equal(cq.unpack(file), ROWS)


def test_what_a_file_object_raises_comes_through():
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space left") as error:
        cq.pack(ROWS, Full())
    assert error.value.errno == 28


def test_appended_arrays_are_concatenated(packed):
    cq.append(packed, ROWS[:7] * 2)
    np.testing.assert_array_equal(cq.unpack(packed), np.concatenate([ROWS, ROWS[:7] * 2]))
    cq.append(packed, ROWS[:0])
    assert cq.open(packed).shape == (3007, 10)


def test_fortran_arrays_grow_along_the_last_axis(tmp_path):
    x = np.asfortranarray(ROWS)
    cq.pack(x, tmp_path / "f.blp")
    cq.append(tmp_path / "f.blp", ROWS[:, :2])
    np.testing.assert_array_equal(cq.unpack(tmp_path / "f.blp"), np.concatenate([ROWS, ROWS[:, :2]], axis=1))


@pytest.mark.parametrize("wrong", [ROWS.astype("f4"), ROWS[:, :3], ROWS[0], b"bytes"])
def test_appending_what_does_not_fit_changes_nothing(wrong, packed):
    before = packed.read_bytes()
    with pytest.raises(ValueError, match="append"):
        cq.append(packed, wrong)
    assert packed.read_bytes() == before


def test_existing_files_are_kept_or_replaced_as_asked(packed):
    before = packed.read_bytes()
    with pytest.raises(FileExistsError):
        cq.pack(b"new", packed, overwrite=False)
    assert packed.read_bytes() == before
    cq.pack(b"new", packed)
    assert cq.unpack(packed) == b"new"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codec": "lzma"}, "takes one of blosclz"),
        ({"level": 10}, "takes 0..=9"),
        ({"filters": "delta"}, "none, shuffle or bitshuffle"),
        ({"checksum": "crc64"}, "takes one of none, adler32"),
        ({"chunk_size": 0}, "chunk size 0: takes 1"),
        ({"chunk_size": 2**31}, "takes 1..="),
        ({"typesize": 0}, "typesize 0"),
    ],
)
def test_wrong_options_leave_no_file(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        cq.pack(ROWS, tmp_path / "x.blp", **options)
    assert list(tmp_path.iterdir()) == []


def test_errors_name_file_chunk_and_cause(packed):
    damaged = bytearray(packed.read_bytes())
    damaged[-50] ^= 4
    packed.write_bytes(damaged)
    with pytest.raises(cq.CorruptError, match="chunk 29: adler32 checksum"):
        cq.unpack(packed)
    packed.write_bytes(damaged[:100])
    with pytest.raises(cq.TruncatedError, match=r"rows\.blp"):
        cq.open(packed)
    packed.write_bytes(b"not packed at all, but long enough to be a header")
    with pytest.raises(cq.CorruptError, match="neither a Bloscpack file"):
        cq.open(packed)
    with pytest.raises(FileNotFoundError, match=r"missing\.blp"):
        cq.open(packed.parent / "missing.blp")


def test_progress_is_told_and_an_exception_in_it_leaves_no_file(tmp_path):
    data, seen = np.random.default_rng(0).integers(0, 16, 40 << 20, dtype="u1"), []
    cq.pack(data, tmp_path / "x.blp", codec="zlib", level=9, progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert seen[-1] == data.nbytes

    def stop(done):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        cq.pack(data, tmp_path / "y.blp", codec="zlib", level=9, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["x.blp"]


def test_a_kill_while_replacing_leaves_the_old_file(tmp_path):
    target = tmp_path / "x.blp"
    cq.pack(ROWS, target)
    script = textwrap.dedent(f"""
        import numpy as np, coquina as cq
        data = np.random.default_rng(0).integers(0, 16, 100 << 20, dtype="u1")  # which takes many seconds
        print("ready", flush=True)
        cq.pack(data, {str(target)!r}, codec="zlib", level=9)
    """)
    for delay in (0.02, 0.2):
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(delay)
            writer.send_signal(signal.SIGKILL)
        assert writer.returncode == -signal.SIGKILL
        np.testing.assert_array_equal(cq.unpack(target), ROWS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
def test_a_full_disk_is_an_error():
    with pytest.raises(OSError, match="space"), open("/dev/full", "wb", buffering=0) as full:
        cq.pack(ROWS, full)


@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="Linux tells the peak of one program only"
)
def test_memory_stays_at_a_few_chunks(tmp_path):
    source = tmp_path / "big.raw"
    with open(source, "wb") as out:
        for i in range(200):
            out.write(np.arange(i, i + 131072, dtype="i8").tobytes())
    script = textwrap.dedent(f"""
        import coquina as cq
        cq.pack({str(source)!r}, {str(tmp_path / "x.blp")!r})
        cq.open({str(tmp_path / "x.blp")!r}).save({str(tmp_path / "y.raw")!r})
        print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
    """)
    peak = int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout)
    assert peak < 120 << 10, f"{peak} KiB for a file of 200 MiB"
    assert (tmp_path / "y.raw").read_bytes() == source.read_bytes()
