"""The compression functions of the Python API: buffers, options, errors, threads, signals, forks."""

from __future__ import annotations

import array
import dataclasses
import mmap
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

FIELD = (np.arange(200_000) % 1000).astype("f4")
CHUNK = cq.compress(FIELD[:1000], codec="lz4")
#: Codecs that take any bytes.
GENERAL = sorted(name for name, number in cq.codecs().items() if number < 32)


def changed(chunk: bytes, **fields: int) -> bytes:
    """The chunk with bytes of its header changed."""
    places = {
        "version": 0,
        "flags": 2,
        "typesize": 3,
        "filter": 16,
        "codec": 22,
        "flags2": 30,
        "blosc2_flags": 31,
    }
    made = bytearray(chunk)
    for name, value in fields.items():
        made[places[name]] = value
    return bytes(made)


# Buffers


def mapped(raw: bytes) -> mmap.mmap:
    memory = mmap.mmap(-1, len(raw))
    memory.write(raw)
    return memory


ANY_ARRAY = np.arange(24, dtype="<f8").reshape(2, 3, 4)
BUFFERS = {
    "bytes": bytes(range(200)),
    "bytearray": bytearray(range(200)),
    "memoryview": memoryview(bytes(range(200)))[10:150],
    "memoryview of a column of two": memoryview(bytes(range(200))).cast("B", (20, 10)),
    "array.array": array.array("d", range(100)),
    "mmap": mapped(bytes(range(200))),
    "C order": ANY_ARRAY,
    "Fortran order": np.asfortranarray(ANY_ARRAY),
    "transposed": ANY_ARRAY.T,
    "read-only": np.frombuffer(bytes(range(200)), "u2"),
    "big endian": ANY_ARRAY.astype(">f8"),
    "bool": np.ones(100, bool),
    "half": np.ones(100, "f2"),
    "complex": np.ones(100, "c16"),
    "datetime64": np.arange("2020-01-01", "2020-06-01", dtype="M8[D]"),
    "timedelta64": np.arange(100).astype("m8[us]"),
    "datetime64, Fortran order": np.zeros((5, 6), "M8[s]", order="F"),
    "structured": np.ones(50, [("a", "i4"), ("b", "f8"), ("c", "S3")]),
    "structured with datetimes": np.zeros(50, [("a", "M8[s]"), ("b", "f4")]),
    "text": np.array(["one", "two", "three"] * 20),
    "bytes strings": np.array([b"one", b"two", b"three"] * 20),
    "empty array": np.empty((0, 5), "i4"),
    "empty bytes": b"",
    "0-d": np.array(5.0),
    "0-d datetime64": np.array("2020-01-01", "M8[D]"),
    "NumPy scalar": np.float64(5.0),
}


def bytes_of(buffer: object) -> bytes:
    """The bytes in the order of memory."""
    if isinstance(buffer, (np.ndarray, np.generic)):
        return np.asarray(buffer).tobytes("A")
    return bytes(buffer)


@pytest.mark.parametrize("name", BUFFERS)
def test_any_contiguous_buffer_is_compressed_as_its_bytes_in_memory(name):
    buffer = BUFFERS[name]
    raw = bytes_of(buffer)
    chunk = cq.compress(buffer)
    assert type(chunk) is bytes
    assert cq.decompress(chunk) == raw
    item = getattr(buffer, "itemsize", 1)
    assert cq.chunk_info(chunk).typesize == item


@pytest.mark.parametrize("name", ["bytearray", "memoryview", "array.array", "mmap"])
def test_chunks_are_read_from_any_buffer(name):
    chunk = CHUNK + bytes(-len(CHUNK) % 8)
    lent = {
        "bytearray": bytearray(chunk),
        "memoryview": memoryview(chunk),
        "array.array": array.array("d", chunk),
        "mmap": mapped(chunk),
    }[name]
    assert cq.decompress(lent) == FIELD[:1000].tobytes()
    assert cq.chunk_info(lent).cbytes == len(CHUNK)


def test_buffers_are_given_back_after_a_call():
    memory, grown = mapped(bytes(5000)), bytearray(CHUNK)
    cq.compress(memory)
    memory.close()
    cq.decompress(grown)
    grown.append(0)
    out = bytearray(4000)
    cq.decompress_into(grown, out)
    out.append(0)
    with pytest.raises(cq.CorruptError):
        cq.decompress_into(grown[:40], out)
    out.append(0)


@pytest.mark.parametrize(
    "buffer",
    [
        FIELD[::2],
        np.zeros((5, 6))[:, ::2],
        np.zeros((5, 6, 7)).transpose(1, 0, 2),
        np.zeros(20, "M8[s]")[::-1],
        memoryview(bytes(100))[::3],
    ],
    ids=["step", "columns", "axes", "reversed dates", "memoryview"],
)
def test_a_buffer_that_is_not_contiguous_is_refused_with_a_hint(buffer):
    with pytest.raises(BufferError, match=r"not contiguous; numpy\.ascontiguousarray makes a copy that is"):
        cq.compress(buffer)
    with pytest.raises(BufferError, match="not contiguous"):
        cq.decompress_into(CHUNK, buffer)


@pytest.mark.parametrize("thing", ["text", 5, None, [1, 2], object()], ids=lambda one: type(one).__name__)
def test_what_is_no_buffer_is_a_type_error(thing):
    with pytest.raises(TypeError, match="bytes-like"):
        cq.compress(thing)
    with pytest.raises(TypeError, match="bytes-like"):
        cq.decompress(thing)


@pytest.mark.parametrize("dtype", ["O", [("a", "i4"), ("b", "O")]], ids=["objects", "a field of objects"])
def test_arrays_of_python_objects_are_refused(dtype):
    # Their bytes are addresses. Writing into them would make the interpreter follow any number as one.
    objects = np.zeros(500, dtype)
    with pytest.raises((TypeError, ValueError, BufferError)):
        cq.compress(objects)
    with pytest.raises((TypeError, ValueError, BufferError)):
        cq.decompress_into(CHUNK, objects)


# Decompressing into


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytearray(4000),
        lambda: np.empty(1000, "f4"),
        lambda: np.empty((10, 100), "f4", order="F"),
        lambda: array.array("f", bytes(4000)),
        lambda: mapped(bytes(4000)),
        lambda: memoryview(bytearray(5000))[500:4500],
        lambda: np.empty(500, "M8[s]"),
    ],
    ids=["bytearray", "ndarray", "Fortran order", "array.array", "mmap", "memoryview", "datetime64"],
)
def test_a_chunk_is_decompressed_into_any_writable_buffer(make):
    out = make()
    assert cq.decompress_into(CHUNK, out) == 4000
    assert bytes_of(out) == FIELD[:1000].tobytes()


def test_a_longer_buffer_keeps_what_is_behind_the_data():
    out = bytearray(b"\xaa" * 4100)
    assert cq.decompress_into(CHUNK, out) == 4000
    assert out[:4000] == FIELD[:1000].tobytes()
    assert out[4000:] == b"\xaa" * 100


def test_a_shorter_buffer_is_a_value_error_that_names_both_sizes():
    with pytest.raises(ValueError, match="output: 3999 bytes for a chunk of 4000"):
        cq.decompress_into(CHUNK, bytearray(3999))


def test_a_read_only_buffer_is_a_buffer_error():
    for out in (bytes(4000), np.frombuffer(bytes(4000), "f4"), memoryview(bytes(4000))):
        with pytest.raises(BufferError, match="read-only"):
            cq.decompress_into(CHUNK, out)


def test_an_output_that_overlaps_the_chunk_is_refused():
    memory = memoryview(bytearray(CHUNK + bytes(4000)))
    for out in (memory, memory[len(CHUNK) - 1 :]):
        with pytest.raises((ValueError, BufferError), match="overlap"):
            cq.decompress_into(memory[: len(CHUNK)], out)
    behind = memory[len(CHUNK) :]
    assert cq.decompress_into(memory[: len(CHUNK)], behind) == 4000
    assert behind == FIELD[:1000].tobytes()


# Options


@settings(max_examples=200, deadline=None)
@given(
    raw=st.binary(max_size=3000),
    repeats=st.integers(1, 40),
    typesize=st.integers(1, 400),
    codec=st.sampled_from(GENERAL),
    level=st.integers(0, 9),
    filters=st.lists(st.sampled_from(["nofilter", "shuffle", "bitshuffle", "bytedelta"]), max_size=5),
    delta=st.booleans(),
    blocksize=st.none() | st.integers(1, 5000),
    split=st.sampled_from(["auto", "always", "never"]),
    dictionary=st.booleans(),
)
def test_decompressing_gives_back_what_was_compressed(
    raw, repeats, typesize, codec, level, filters, delta, blocksize, split, dictionary
):
    raw = raw * repeats
    chunk = cq.compress(
        raw,
        typesize=typesize,
        codec=codec,
        level=level,
        filters=[*filters, "delta"] if delta else filters,
        blocksize=blocksize,
        split=split,
        dictionary=dictionary and codec in ("lz4", "lz4hc", "zstd"),
    )
    assert len(chunk) <= len(raw) + 32
    assert cq.decompress(chunk) == raw


def test_the_tables_hold_the_ids_of_the_format():
    assert cq.codecs() == {
        "blosclz": 0,
        "lz4": 1,
        "lz4hc": 2,
        "zlib": 4,
        "zstd": 5,
        "ndlz": 32,
        "zfp_accuracy": 33,
        "zfp_precision": 34,
        "zfp_rate": 35,
        "predict": 224,
    }
    assert cq.filters() == {
        "nofilter": 0,
        "shuffle": 1,
        "bitshuffle": 2,
        "delta": 3,
        "trunc_prec": 4,
        "ndcell": 32,
        "ndmean": 33,
        "bytedelta": 35,
        "int_trunc": 36,
    }


def test_filters_are_one_name_one_pair_or_a_list_of_them():
    def filters(given):
        return cq.chunk_info(cq.compress(FIELD, filters=given)).filters

    assert filters(None) == [("shuffle", 0)]
    assert filters([]) == filters("nofilter") == filters(["nofilter"]) == []
    assert filters("bitshuffle") == filters(["bitshuffle"]) == [("bitshuffle", 0)]
    assert filters(("trunc_prec", 10)) == filters([("trunc_prec", 10)]) == [("trunc_prec", 10)]
    assert filters([("trunc_prec", -3), "shuffle", "bytedelta"]) == [
        ("trunc_prec", 253),
        ("shuffle", 0),
        ("bytedelta", 4),
    ]
    assert filters(("shuffle", "bytedelta")) == [("shuffle", 0), ("bytedelta", 4)]


def test_the_typesize_is_that_of_the_buffer_unless_given():
    assert cq.chunk_info(cq.compress(FIELD)).typesize == 4
    assert cq.chunk_info(cq.compress(FIELD, typesize=8)).typesize == 8
    assert cq.chunk_info(cq.compress(FIELD.tobytes())).typesize == 1
    # A header has one byte for it: larger items are written as bytes.
    assert cq.chunk_info(cq.compress(FIELD, typesize=300)).typesize == 1


def test_chunk_info_tells_what_the_header_holds():
    info = cq.chunk_info(
        cq.compress(FIELD, codec="lz4", level=3, filters=["bitshuffle"], blocksize=40_000, split="always")
    )
    assert dataclasses.asdict(info) == {
        "version": 5,
        "nbytes": 800_000,
        "cbytes": info.cbytes,
        "typesize": 4,
        "blocksize": 40_000,
        "nblocks": 20,
        "codec": "lz4",
        "codec_parameter": None,
        "filters": [("bitshuffle", 0)],
        "kind": "blocks",
        "is_split": True,
        "has_dictionary": False,
    }
    assert info.cratio == 800_000 / info.cbytes
    with pytest.raises(dataclasses.FrozenInstanceError):
        info.nbytes = 5


def test_chunk_info_needs_the_header_only():
    assert cq.chunk_info(CHUNK[:32]) == cq.chunk_info(CHUNK)


@pytest.mark.parametrize(
    ("raw", "kind"), [(b"", "stored"), (b"abc", "stored"), (bytes(100), "zeros"), (b"ab" * 99, "blocks")]
)
def test_chunk_info_names_the_kind(raw, kind):
    assert cq.chunk_info(cq.compress(raw)).kind == kind


# Errors of options: the value and what is allowed


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"level": 10}, "level 10: takes 0..=9"),
        ({"level": -1}, "level -1: takes 0..=9"),
        ({"level": 1000}, "level 1000: takes 0..=9"),
        ({"typesize": 0}, "typesize 0: takes 1 and more"),
        ({"typesize": -4}, "typesize -4: takes 1 and more"),
        ({"typesize": 2**31}, "typesize 2147483648: takes 1..=536866816"),
        ({"blocksize": 0}, "blocksize 0: takes 1 and more"),
        ({"blocksize": -1}, "blocksize -1: takes 1 and more"),
        ({"threads": 0}, "threads 0: takes 1 and more"),
        ({"blocksize": 2**30}, "blocksize 1073741824: takes 1..=536866816"),
        ({"codec": "lzma"}, 'codec "lzma": takes one of blosclz, lz4, lz4hc, zlib, zstd'),
        ({"filters": "sort"}, 'filter "sort": takes nofilter, shuffle, bitshuffle, delta, trunc_prec, '),
        ({"filters": ["shuffle"] * 7}, "filters: 7 given, a pipeline holds 6"),
        ({"filters": ["delta", "delta"]}, "filters: delta can stand in a pipeline once"),
        ({"filters": ("trunc_prec", 5)}, "trunc_prec: typesize 1: takes float32 (4) or float64 (8)"),
        (
            {"filters": ("trunc_prec", 24), "typesize": 4},
            "trunc_prec: parameter 24: takes 1..=23 bits to keep",
        ),
        ({"filters": ("int_trunc", 300)}, "filter int_trunc: parameter 300: takes -128..=255"),
        ({"split": "maybe"}, 'split "maybe": takes auto, always or never'),
        ({"format": "blosc3"}, 'format "blosc3": takes blosc1 or blosc2'),
        ({"codec": "zlib", "dictionary": True}, "zlib: takes no dictionary"),
        ({"format": "blosc1", "dictionary": True}, "dictionary: a Blosc1 chunk has none"),
        (
            {"format": "blosc1", "filters": "delta"},
            "filters: a Blosc1 chunk takes none, shuffle or bitshuffle",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_option_out_of_range_is_a_value_error_that_names_value_and_range(options, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        cq.compress(b"abc" * 100, **options)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    "options", [{"filters": 5}, {"filters": [5]}, {"level": "9"}, {"codec": 5}, {"colour": 1}]
)
def test_an_option_of_another_type_is_a_type_error(options):
    with pytest.raises(TypeError):
        cq.compress(b"abc", **options)


def test_options_are_keywords():
    with pytest.raises(TypeError):
        cq.compress(b"abc", 4)


@pytest.mark.parametrize(
    ("threads", "allowed"), [(0, "takes 1 and more"), (-2, "takes 1 and more"), (1025, r"takes 1\.\.=1024")]
)
def test_a_pool_of_no_or_too_many_threads_is_refused(threads, allowed):
    with pytest.raises(ValueError, match=f"threads {threads}: {allowed}"):
        cq.set_num_threads(threads)


def test_set_num_threads_returns_the_number_before():
    before = cq.num_threads()
    assert cq.set_num_threads(3) == before
    assert cq.num_threads() == 3
    assert cq.set_num_threads(before) == 3


# Errors of chunks


@pytest.mark.parametrize(
    ("chunk", "error", "sentence"),
    [
        (b"", cq.TruncatedError, "chunk header: version: needs 1 bytes, 0 left"),
        (CHUNK[:10], cq.TruncatedError, "chunk header: blocksize: needs 4 bytes, 2 left"),
        (CHUNK[:20], cq.TruncatedError, "chunk header: filters: needs 6 bytes, 4 left"),
        (CHUNK[:-1], cq.TruncatedError, f"chunk: {len(CHUNK)} bytes announced, {len(CHUNK) - 1} there"),
        (b"PK\x03\x04" + bytes(100), cq.UnsupportedError, "version 80: takes 2..=6 (not a Blosc chunk?)"),
        (changed(CHUNK, version=7), cq.UnsupportedError, "version 7: takes 2..=6"),
        (changed(CHUNK, typesize=0), cq.CorruptError, "typesize: 0 is not a size"),
        (changed(CHUNK, flags=0xC5, codec=99), cq.UnsupportedError, "codec 99 is not known here"),
        (changed(CHUNK, flags=0xC5, codec=33), cq.UnsupportedError, "through its array only"),
        (changed(CHUNK, flags=0xE5), cq.CorruptError, "7 is not a stream format"),
        (changed(CHUNK, filter=99), cq.UnsupportedError, "filter 99 is not known here"),
        (changed(CHUNK, filter=32), cq.CorruptError, "ndcell: parameter 0"),
        (changed(CHUNK, flags2=2), cq.UnsupportedError, "flags2: 0x02 has unknown bits"),
        (changed(CHUNK, blosc2_flags=8), cq.CorruptError, "lazy chunks exist in memory only"),
        (changed(CHUNK, blosc2_flags=0x80), cq.UnsupportedError, "instrumented"),
        (changed(CHUNK, blosc2_flags=0x50), cq.CorruptError, "5 is not a special value"),
        (CHUNK[:8] + bytes(4) + CHUNK[12:], cq.CorruptError, "blocksize: 0"),
        (CHUNK[:4] + b"\xff\xff\xff\xff" + CHUNK[8:], cq.CorruptError, "nbytes: -1 is not a size"),
        (CHUNK[:12] + bytes(4) + CHUNK[16:], cq.CorruptError, "cbytes: 0 is less than the header's 32"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bytes_that_are_no_chunk_raise_an_error_that_says_what_is_wrong(chunk, error, sentence):
    for read in (
        cq.decompress,
        lambda c: cq.decompress_into(c, bytearray(4000)),
        lambda c: cq.decompress_items(c, 0, 1),
    ):
        with pytest.raises(error) as caught:
            read(chunk)
        assert sentence in str(caught.value)
        assert type(caught.value) is error


def test_errors_have_one_base():
    assert issubclass(cq.TruncatedError, cq.CorruptError)
    for error in (cq.CorruptError, cq.UnsupportedError, cq.LimitError):
        assert issubclass(error, cq.CoquinaError)
        assert error.__module__ == "coquina"
        assert error.__doc__


def test_max_bytes_bounds_what_a_chunk_may_become():
    assert len(cq.decompress(CHUNK, max_bytes=4000)) == 4000
    with pytest.raises(cq.LimitError, match="a chunk of 4000 bytes, the limit is 3999"):
        cq.decompress(CHUNK, max_bytes=3999)
    huge = cq.compress(bytes(1 << 27))
    assert len(huge) == 32
    with pytest.raises(cq.LimitError):
        cq.decompress(huge, max_bytes=1 << 20)


def test_a_damaged_block_is_named():
    chunk = bytearray(cq.compress(FIELD, codec="zlib", filters=[], blocksize=40_000))
    start = int.from_bytes(chunk[32 + 4 * 7 : 36 + 4 * 7], "little")
    chunk[start + 4 : start + 40] = bytes(36)
    with pytest.raises(cq.CorruptError, match="block 7: zlib"):
        cq.decompress(chunk)


# Threads


def test_concurrent_python_threads_get_right_answers():
    inputs = [(FIELD * k).tobytes() for k in range(1, 9)]

    def there_and_back(number: int) -> bool:
        raw = inputs[number % 8]
        codec = GENERAL[number % 5]
        chunk = cq.compress(raw, typesize=4, codec=codec, level=2, filters=["delta", "shuffle"])
        middle = cq.decompress_items(chunk, 1000, 150_000)
        return cq.decompress(chunk) == raw and middle == raw[4000:600_000]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(there_and_back, range(80)))


def test_other_python_threads_run_during_a_call():
    count, stop, started = 0, threading.Event(), threading.Event()

    def work():
        nonlocal count
        while not stop.is_set():
            count += 1
            started.set()

    counter = threading.Thread(target=work)
    counter.start()
    started.wait()
    before = count
    cq.compress(np.random.default_rng(0).integers(0, 50, 3_000_000, "u1"), codec="zstd", level=7, threads=1)
    advanced = count - before
    stop.set()
    counter.join()
    assert advanced > 1000


def test_threads_of_a_call_may_exceed_the_pool():
    assert cq.decompress(cq.compress(FIELD, threads=100_000), threads=100_000) == FIELD.tobytes()


# Progress


SLOW = np.random.default_rng(0).integers(0, 50, 6_000_000, "u1")


def test_progress_is_told_and_rises():
    for threads in (1, 2):
        seen = []
        chunk = cq.compress(SLOW, codec="zstd", level=9, threads=threads, progress=seen.append)
        assert seen
        assert seen == sorted(seen)
        assert seen[-1] <= SLOW.nbytes
        assert cq.decompress(chunk, progress=seen.append) == SLOW.tobytes()


def test_an_exception_in_the_progress_callback_ends_the_call_and_is_raised():
    def stop(done):
        raise RuntimeError(f"enough after {done}")

    for threads in (1, 2):
        with pytest.raises(RuntimeError, match="enough after"):
            cq.compress(SLOW, codec="zstd", level=9, threads=threads, progress=stop)
        # The pool is as good as before.
        assert cq.decompress(cq.compress(FIELD)) == FIELD.tobytes()


def run_script(script: str, seconds: float = 100) -> str:
    """What a fresh interpreter prints; it fails if that one fails or hangs."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_long_call_with_keyboard_interrupt(threads):
    # The signal is sent from the first report of progress, so no time has to be guessed.
    out = run_script(f"""
        import os, signal, sys
        import numpy as np, coquina as cq
        data = np.random.default_rng(0).integers(0, 50, 50_000_000, "u1")
        told = []
        def progress(done):
            told.append(done)
            if len(told) == 1:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            cq.compress(data, codec="zstd", level=9, threads={threads}, progress=progress)
        except KeyboardInterrupt:
            print("interrupted", told[-1] < data.nbytes // 2)
        small = cq.compress(data[:1_000_000])
        print(cq.decompress(small) == data[:1_000_000].tobytes())
    """)
    assert out.split() == ["interrupted", "True", "True"]


def test_ctrl_c_ends_a_long_call_that_has_no_callback():
    out = run_script(
        """
        import os, signal, threading
        import numpy as np, coquina as cq
        # Uninterrupted this takes minutes, longer than the watchdog of this test.
        data = np.tile(np.random.default_rng(0).integers(0, 50, 3_000_000, "u1"), 150)
        entered = threading.Event()
        def interrupt():
            entered.wait()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            entered.set()
            cq.compress(data, codec="zstd", level=9, threads=1)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted")
    """,
        seconds=30,
    )
    assert out.split() == ["interrupted"]


# Forks

FORK = """
    import os, signal, sys, threading
    import numpy as np, coquina as cq
    signal.alarm(90)
    cq.set_num_threads(4)
    data = (np.arange(300_000) % 1000).astype("f4")
    raw = data.tobytes()
    chunk = cq.compress(data, codec="lz4", blocksize=50_000)

    def in_child(depth):
        signal.alarm(30)
        ok = cq.compress(data, codec="lz4", blocksize=50_000) == chunk and cq.decompress(chunk) == raw
        if depth:
            ok = ok and wait(fork(depth - 1))
        os._exit(0 if ok else 1)

    def fork(depth):
        child = os.fork()
        if child == 0:
            in_child(depth)
        return child

    def wait(child):
        return os.waitpid(child, 0)[1] == 0
"""


def test_forked_children_compress_in_parallel():
    # C-Blosc2 hangs here: its pool of threads does not exist in the child.
    out = run_script(
        textwrap.dedent(FORK)
        + textwrap.dedent("""
        for round in range(40):
            assert cq.decompress(chunk) == raw
            children = [fork(depth=round % 3) for _ in range(3)]
            assert cq.compress(data, codec="lz4", blocksize=50_000) == chunk
            assert all([wait(child) for child in children]), round
        print("done")
    """)
    )
    assert out.split() == ["done"]


def test_a_fork_while_other_threads_compress_is_safe():
    out = run_script(
        textwrap.dedent(FORK)
        + textwrap.dedent("""
        stop = threading.Event()
        def busy(threads):
            while not stop.is_set():
                assert cq.decompress(cq.compress(data, codec="lz4", blocksize=50_000, threads=threads)) == raw
        workers = [threading.Thread(target=busy, args=(n,)) for n in (None, 1, 2)]
        for worker in workers:
            worker.start()
        for round in range(60):
            assert wait(fork(depth=round % 2)), round
        stop.set()
        for worker in workers:
            worker.join()
        print("done")
    """)
    )
    assert out.split() == ["done"]


# Import


def test_importing_coquina_loads_no_heavy_module():
    out = run_script("""
        import sys
        import numpy
        before = set(sys.modules)
        import coquina
        print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
    """)
    loaded = set(out.split())
    heavy = """argparse asyncio blosc blosc2 bloscpack concurrent email h5py http importlib_metadata logging
        matplotlib multiprocessing pandas pydantic rich sqlite3 ssl subprocess tables tempfile unittest urllib
        typing_extensions xml"""
    assert "coquina" in loaded
    assert not loaded & set(heavy.split())
    assert len(loaded) < 20, loaded


def test_the_number_of_threads_comes_from_the_environment_or_the_cpus():
    script = "import coquina, os; print(coquina.num_threads(), len(os.sched_getaffinity(0)))"
    alone = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={})
    threads, cpus = map(int, alone.stdout.split())
    assert 1 <= threads <= cpus
    for text, expected in (("5", 5), ("0", threads), ("many", threads)):
        env = {"COQUINA_NUM_THREADS": text}
        told = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
        )
        assert int(told.stdout.split()[0]) == expected
