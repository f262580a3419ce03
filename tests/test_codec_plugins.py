"""Codecs and filters from outside: functions in Python, and libraries that packages offer by entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from coquina import codec_plugins

ROOT = Path(__file__).parents[1]
#: Ids of this file. What is registered stays until the tests end, so that each test has its own.
SHAPED, NOTED, SHORT, KEPT, AGAIN, BUSY, TOLD, SHARED = range(210, 218)
X = np.arange(60_000, dtype="i4").reshape(200, 300)


def packed(data, block):
    return zlib.compress(data, 1)


def unpacked(data, block):
    return zlib.decompress(data)


def plus(data, block):
    return np.frombuffer(data, "u1") + np.uint8(1)


def minus(data, block):
    return np.frombuffer(data, "u1") - np.uint8(1)


def flipped(data, block):
    return ~np.frombuffer(data, "u1")


def python(program, *arguments, **options):
    """Run a program of its own, which must end: a deadlock would not."""
    command = [sys.executable, "-X", "faulthandler", "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_functions_are_told_what_the_block_is():
    told = []

    def facts(block):
        return block.nbytes, block.typesize, block.shape, block.meta, block.level, block.options

    def encode(data, block):
        assert isinstance(data, memoryview)
        assert data.readonly
        assert len(data) == block.nbytes
        told.append(("encode", *facts(block), block.kind))
        return packed(data, block)

    def decode(data, block):
        told.append(("decode", *facts(block)))
        return unpacked(data, block)

    cq.register_codec(SHAPED, "shaped", encode, decode)
    a = cq.asarray(X, codec="shaped", level=7, filters=[], chunks=(100, 300), blocks=(50, 100))
    assert set(told) == {("encode", 20_000, 4, (50, 100), 0, 7, "", "i")}
    told.clear()
    assert np.array_equal(a[:], X)
    assert set(told) == {("decode", 20_000, 4, (50, 100), 0, 0, "")}
    told.clear()
    cq.compress(bytes(range(256)) * 10, codec="shaped", level=5, typesize=2, filters=[])
    assert told == [("encode", 2560, 2, None, 0, 5, "", None)]


def test_filters_work_among_others():
    cq.register_filter(SHAPED, "plus", plus, minus)
    for filters in (["plus"], ["plus", "shuffle"], ["delta", "plus", "bitshuffle"], [("plus", 7)]):
        chunk = cq.compress(X, filters=filters)
        assert np.array_equal(np.frombuffer(cq.decompress(chunk), "i4").reshape(X.shape), X)
        assert "plus" in dict(cq.chunk_info(chunk).filters)


@pytest.mark.parametrize("what", ["codec", "filter"])
def test_what_functions_raise_comes_as_it_is_with_a_note(what):
    class OwnError(Exception):
        pass

    def fail(data, block):
        raise OwnError("not today")

    def works(data, block):
        return plus(data, block) if what == "filter" else packed(data, block)

    def register(encode, decode):
        getattr(cq, f"register_{what}")(NOTED, "noted", encode, decode)

    options = {"codec": "noted", "filters": []} if what == "codec" else {"filters": ["noted"]}
    register(fail, fail)
    with pytest.raises(OwnError, match=r"^not today") as raised:
        cq.asarray(X, chunks=(100, 300), blocks=(50, 100), **options)
    assert f"{what} {NOTED} (noted)" in raised.value.__notes__[0]
    register(works, fail)
    a = cq.asarray(X, chunks=(100, 300), blocks=(50, 100), **options)
    with pytest.raises(OwnError, match=r"^not today") as raised:
        a[120:130]
    assert raised.value.__notes__ == [f"coquina: chunk 1: block 0: {what} {NOTED} (noted)"]


@pytest.mark.parametrize(
    ("returned", "error", "said"),
    [
        (b"12", cq.CorruptError, "returned 2 bytes for 40000"),
        (None, cq.CorruptError, "returned None for 40000 bytes"),
        ("text", TypeError, "bytes-like"),
        (np.zeros((100, 200), "u1")[:, ::2], BufferError, "contiguous"),
    ],
)
def test_what_is_not_the_block_is_an_error(returned, error, said):
    cq.register_codec(SHORT, "short", packed, lambda data, block: returned)
    cq.register_filter(SHORT, "shortened", plus, lambda data, block: returned)
    for options in ({"codec": "short", "filters": []}, {"filters": ["shortened"]}):
        chunk = cq.compress(X.ravel()[:10_000], blocksize=40_000, **options)
        with pytest.raises(error, match=said):
            cq.decompress(chunk)


def test_what_does_not_get_smaller_is_stored():
    cq.register_codec(SHORT, "short", lambda data, block: bytes(data) * 2, unpacked)
    noise = np.random.default_rng(0).bytes(10_000)
    chunk = cq.compress(noise, codec="short", filters=[])
    assert len(chunk) == len(noise) + 32
    assert cq.decompress(chunk) == noise


def test_memory_that_a_function_keeps_is_dead_or_its_own():
    kept = []

    def keep(data, block):
        kept.append(data)
        return packed(data, block)

    cq.register_codec(KEPT, "kept", keep, lambda data, block: (kept.append(data), unpacked(data, block))[1])
    assert cq.decompress(cq.compress(X, codec="kept", filters=[])) == X.tobytes()
    assert len(kept) >= 2
    for view in kept:
        with pytest.raises(ValueError, match="released"):
            view[0]

    def keep_array(data, block):
        kept.append(np.frombuffer(data, "u1"))
        return packed(data, block)

    kept.clear()
    cq.register_codec(KEPT, "kept", keep_array, unpacked)
    # Of one thread, which takes the blocks in their order.
    cq.compress(X, codec="kept", filters=[], threads=1)
    assert np.concatenate(kept).tobytes() == X.tobytes()


def test_a_function_may_return_what_it_got():
    cq.register_filter(KEPT, "same", lambda data, block: data, lambda data, block: data)
    assert cq.decompress(cq.compress(X, filters=["same"])) == X.tobytes()


def test_an_id_that_is_registered_again_gets_the_new_functions():
    cq.register_codec(AGAIN, "again", packed, lambda data, block: bytes(block.nbytes))
    chunk = cq.compress(X, codec="again", filters=[])
    assert cq.decompress(chunk) == bytes(X.nbytes)
    cq.register_codec(AGAIN, "again", packed, unpacked)
    assert cq.decompress(chunk) == X.tobytes()
    assert [p for p in cq.list_plugins() if p.id == AGAIN] == [
        cq.Plugin("codec", AGAIN, "again", "register_codec", is_loaded=True)
    ]


@pytest.mark.parametrize("register", [cq.register_codec, cq.register_filter])
def test_ids_names_and_functions_are_checked(register):
    for id in (-1, 0, 35, 159, 256, 1000):
        with pytest.raises(ValueError, match=r"160\.\.=255"):
            register(id, "mine", packed, unpacked)
    for name in ("", "a b", "zstd" if register is cq.register_codec else "shuffle", "x" * 65, "ä"):
        with pytest.raises(ValueError, match=r"name|engine's own"):
            register(255, name, packed, unpacked)
    with pytest.raises(TypeError, match="takes a function"):
        register(255, "mine", packed, b"")


@pytest.mark.parametrize(
    ("codec", "meta", "options"),
    [
        ("told", 0, ""),
        (("told", 7), 7, ""),
        (("told", -3), 253, ""),
        (("told", {"meta": 9, "rates": [1, 2], "a": None}), 9, '{"a": null, "rates": [1, 2]}'),
    ],
)
def test_parameter_and_options_reach_the_functions(codec, meta, options):
    told = []

    def encode(data, block):
        told.append((block.meta, block.options))
        return packed(data, block)

    def decode(data, block):
        told.append((block.meta, block.options))
        return unpacked(data, block)

    cq.register_codec(TOLD, "told", encode, decode)
    assert np.array_equal(cq.asarray(X, codec=codec)[:], X)
    # Options are for whoever writes: they are not stored.
    assert set(told) == {(meta, options), (meta, "")}


def test_a_codec_may_need_items_as_they_are():
    told = []

    def encode(data, block):
        told.append((block.shape, bytes(data)))
        return packed(data, block)

    cq.register_codec(TOLD, "told", encode, unpacked, needs_items=True)
    a = cq.asarray(X, codec="told", chunks=X.shape, blocks=X.shape)
    assert told == [(X.shape, X.tobytes())]
    assert a.info.filters == []
    with pytest.raises(ValueError, match="needs whole elements, and shuffle moves their bytes"):
        cq.asarray(X, codec="told", filters="shuffle")


def test_lossy_codecs_are_known_as_such():
    cq.register_codec(AGAIN, "again", packed, unpacked, lossy=True)
    assert cq.decompress(cq.compress(X, codec="again", filters=[])) == X.tobytes()


READERS = """
import threading, zlib
import numpy as np
import coquina as cq
from coquina import codec_plugins

cq.set_num_threads(4)
cq.register_codec(200, "py", lambda d, b: zlib.compress(d, 1), lambda d, b: zlib.decompress(d))
cq.register_filter(200, "pf", lambda d, b: d, lambda d, b: d)
x = np.arange(400_000, dtype="i4").reshape(400, 1000)
how = dict(chunks=(100, 1000), blocks=(10, 1000))
file = cq.asarray(x, codec="py", filters=["delta", "pf"], path=PATH, overwrite=True, **how)
memory = cq.asarray(x, codec="py", filters=["pf", "shuffle"], **how)
chunk = cq.compress(x, codec="py", filters=["delta", "pf"])
frame = cq.Frame.create(PATH + ".b2frame", codec="py", filters=["pf"])
frame.append(x)

def reads(work):
    for _ in range(8):
        work()

def check(found):
    assert np.array_equal(np.asarray(found), x)

def write():
    memory[:50] = x[:50]

works = [
    lambda: check(cq.open(PATH)[:]), lambda: check(memory[:]), lambda: cq.decompress(chunk), lambda: frame[0],
    lambda: cq.asarray(x, codec="py", filters=["pf"], **how), write, lambda: file.verify(), lambda: file.info,
    lambda: (memory + 1).sum(), lambda: [memory[at, at] for at in range(0, 400, 40)],
    lambda: cq.decompress_items(chunk, 5, 9), lambda: cq.list_plugins(),
]
threads = [threading.Thread(target=reads, args=(work,)) for work in works]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


def test_threads_that_read_and_write_with_functions_do_not_wait_for_each_other_for_ever(tmp_path):
    done = python(READERS.replace("PATH", repr(str(tmp_path / "x.b2nd"))))
    assert (done.stdout, done.stderr) == ("done\n", "")


WHILE_ANOTHER_THREAD_DECODES = """
import itertools, os, sys, threading, zlib
import h5py
import numpy as np
import coquina as cq
from h5py._objects import phil

calls, is_decoding, goes_on = itertools.count(), threading.Event(), threading.Event()

def decode(data, block):
    if next(calls) == 0:
        is_decoding.set()
        goes_on.wait()
        with phil:
            pass
    return zlib.decompress(data)

cq.register_codec(200, "py", lambda data, block: zlib.compress(data, 1), decode)
x = np.arange(1000)
a = cq.asarray(x, codec="py", filters=[], chunks=x.shape, blocks=(100,))
with cq.open(sys.argv[1], "w") as file:
    file["x"] = x
with cq.open(sys.argv[1]) as file:
    assert np.array_equal(file["x"][:], x)
reader = threading.Thread(target=lambda: a[:150])
reader.start()
is_decoding.wait()
READS
goes_on.set()
reader.join()
print("done")
"""


@pytest.mark.parametrize(
    "reads",
    [
        "assert a[7] == 7",
        "with phil: assert np.array_equal(a[:150], x[:150])",
        pytest.param(
            """child = os.fork()
if not child:
    os._exit(0 if np.array_equal(a[:150], x[:150]) else 1)
assert os.waitpid(child, 0)[1] == 0""",
            marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
        ),
    ],
    ids=["one element", "with the lock of h5py", "in a forked child"],
)
def test_who_holds_a_lock_that_a_decoder_needs_does_not_wait_for_it(tmp_path, reads):
    program = WHILE_ANOTHER_THREAD_DECODES.replace("READS", reads)
    done = python(program, tmp_path / "x.h5")
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_threads_that_read_the_same_blocks_share_one_decode():
    decoded, all_read = [], threading.Barrier(8)

    def decode(data, block):
        time.sleep(0.05)
        decoded.append(block.nbytes)
        return unpacked(data, block)

    def read():
        all_read.wait()
        assert np.array_equal(a[:150], x[:150])

    cq.register_codec(SHARED, "shared", packed, decode)
    x = np.arange(1000)
    a = cq.asarray(x, codec="shared", filters=[], chunks=x.shape, blocks=(100,))
    with ThreadPoolExecutor(8) as pool:
        for reading in [pool.submit(read) for _ in range(8)]:
            reading.result()
    assert len(decoded) == 2


def test_a_thread_that_holds_the_interpreter_only_delays():
    cq.register_codec(BUSY, "busy", packed, unpacked)
    a = cq.asarray(X, codec="busy", filters=[], chunks=(50, 300), blocks=(5, 300))
    stop = threading.Event()

    def spin():
        while not stop.is_set():
            sum(range(1000))

    spinner = threading.Thread(target=spin)
    spinner.start()
    try:
        assert np.array_equal(a[:], X)
    finally:
        stop.set()
        spinner.join()


WRITE = """
import sys, zlib
import numpy as np
import coquina as cq
from coquina import codec_plugins

x = np.arange(60_000, dtype="i4").reshape(200, 300)
cq.register_codec(220, "far", lambda d, b: zlib.compress(d), lambda d, b: zlib.decompress(d))
cq.register_filter(221, "away", lambda d, b: bytes(d)[::-1], lambda d, b: bytes(d)[::-1])
for name, options in (("c", {"codec": "far"}), ("f", {"filters": ["away"]})):
    a = cq.asarray(x, path=f"{name}.b2nd", chunks=(100, 300), **options)
    a.attrs["unit"] = "m"
    a[100:] = 5
open("c.blosc", "wb").write(cq.compress(x, codec="far"))
"""


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """Files of a program that has a codec and a filter which this one has not."""
    folder = tmp_path_factory.mktemp("foreign")
    done = python(WRITE, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(("name", "what"), [("c", "codec 220"), ("f", "filter 221")])
def test_a_file_that_needs_what_is_not_here_says_what(foreign, name, what):
    a = cq.open(foreign / f"{name}.b2nd")
    shown = a.info.to_dict()
    assert what.split()[1] in (shown["codec"], shown["filters"][0][0])
    assert dict(a.attrs) == {"unit": "m"}
    # A chunk of one value needs nothing.
    assert (a[150] == 5).all()
    hint = f"{what} is not known here: it needs a plugin that has it, or register_{what.replace(' ', '.')}"
    for work in (lambda: a[:], a.verify, lambda: a.repair(foreign / "repaired.b2nd")):
        with pytest.raises(cq.UnsupportedError, match=hint):
            work()
    assert not (foreign / "repaired.b2nd").exists()


def test_a_copy_of_such_a_file_still_says_it(foreign, tmp_path):
    cq.open(foreign / "c.b2nd").save(tmp_path / "copy.b2nd")
    assert cq.open(tmp_path / "copy.b2nd").info.codec == "220"


def test_a_chunk_that_needs_what_is_not_here_tells_its_id(foreign):
    chunk = (foreign / "c.blosc").read_bytes()
    assert cq.chunk_info(chunk).codec == "220"
    with pytest.raises(cq.UnsupportedError, match="codec 220"):
        cq.decompress(chunk)


def test_ids_of_blosc2_are_named_with_how_to_get_them():
    with pytest.raises(cq.UnsupportedError, match=r"codec 38 \(openzl\) is not known here"):
        cq.compress(b"", codec="openzl")


def offer(folder, entries, module=""):
    """Make a package that offers plugins; returns the folder for the path of modules."""
    package = folder / "offering-1.2.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.2\n")
    lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
    (package / "entry_points.txt").write_text(f"[coquina.plugins]\n{lines}\n")
    (folder / "offering.py").write_text(module)
    return folder


def used(folder, program, *arguments):
    done = python(f"import sys; sys.path.append({str(folder)!r})\n{program}", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A plugin that a C compiler has made: codec 170, filter 171."""
    path = tmp_path_factory.mktemp("library") / "plugin.so"
    crates = ROOT / "crates"
    source = crates / "coquina-plugin-host" / "tests" / "plugins" / "plugin.c"
    headers = crates / "coquina-plugin" / "include"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", headers, source, "-o", path], check=True)
    return path


READ = """
import json, sys, threading
import coquina as cq
from coquina import codec_plugins

chunk = bytes.fromhex(sys.argv[1])
early = "offering" in sys.modules
found = []
threads = [threading.Thread(target=lambda: found.append(cq.decompress(chunk))) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert {bytes(one) for one in found} == {bytes(range(250)) * 40}, found
print(json.dumps([early, [[p.kind, p.id, p.name, p.source, p.is_loaded] for p in cq.list_plugins()]]))
"""


def test_a_chunk_loads_the_library_that_a_package_offers(library, tmp_path):
    folder = offer(
        tmp_path,
        {"codec-170": "offering:path", "filter-171": "offering:path", "codec-99": "offering:none", "x": "y"},
        f"def path():\n    return {str(library)!r}\n",
    )
    # A chunk with that filter, from a program that has the same filter as a function.
    cq.register_filter(171, "c_flip", flipped, flipped)
    chunk = cq.compress(bytes(range(250)) * 40, filters=["c_flip"])
    early, listed = used(folder, READ, chunk.hex())
    assert not early, "the package is imported when its id is needed, and not before"
    title = "the entry point {} of offering 1.2"
    assert [one for one in listed if "offering" in one[3]] == [
        ["codec", 99, None, title.format("codec-99 = offering:none"), False],
        ["codec", 170, "c_runs", title.format("filter-171 = offering:path"), True],
        ["filter", 171, "c_flip", title.format("filter-171 = offering:path"), True],
    ]


NAMED = """
import json, sys
import coquina as cq
from coquina import codec_plugins

def tried(**options):
    try:
        return len(cq.compress(bytes(1000), typesize=1, **options)) > 0
    except Exception as error:
        return f"{type(error).__name__}: {error}"

options = [{"codec": "c_runs"}, {"filters": "c_flip"}, {"codec": "other"}, {"filters": "other"}]
print(json.dumps([tried(**one) for one in options]))
"""


def test_a_name_that_nobody_knows_loads_what_is_offered(library, tmp_path):
    entries = {"codec-170": "offering:path", "filter-171": "offering:path", "codec-172": "offering:missing"}
    module = f"path = lambda: {str(library)!r}\ndef missing():\n    raise RuntimeError('no licence')\n"
    runs, flip, codec, filter = used(offer(tmp_path, entries, module), NAMED)
    assert (runs, flip) == (True, True)
    assert codec.startswith("UnsupportedError: codec 'other' is not known here, but codec 172: the entry")
    assert filter.startswith('ValueError: filter "other": takes nofilter, ')


BROKEN = """
def missing():
    return "/no/such/library.so"

def fails():
    raise RuntimeError("no licence")

def other():
    return LIBRARY

def number():
    return 5
"""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("offering:missing", "OSError|NotFound|No such file"),
        ("offering:fails", "RuntimeError: no licence"),
        ("offering:nothing", "AttributeError"),
        ("no_such_module:path", "ModuleNotFoundError"),
        ("offering:other", "gives a library that does not have it"),
        ("offering:number", "TypeError"),
    ],
)
def test_an_entry_point_that_fails_is_named(library, tmp_path, value, said):
    folder = offer(tmp_path, {"filter-199": value}, BROKEN.replace("LIBRARY", repr(str(library))))
    program = """
import json, sys
import coquina as cq
from coquina import codec_plugins

chunk = bytes.fromhex(sys.argv[1])
texts = []
for work in (lambda: cq.decompress(chunk), lambda: cq.chunk_info(chunk).filters):
    try:
        texts.append(str(work()))
    except cq.UnsupportedError as error:
        texts.append(str(error))
print(json.dumps(texts))
"""
    cq.register_filter(199, "mine", plus, minus)
    chunk = cq.compress(b"abc" * 1000, filters=["mine"])
    failed, facts = used(folder, program, chunk.hex())
    assert f"filter 199: the entry point filter-199 = {value} of offering 1.2" in failed
    assert any(one in failed for one in said.split("|")), failed
    assert facts == "[('199', 0)]"


def test_the_command_lists_plugins(library, tmp_path):
    folder = offer(tmp_path, {"codec-170": "offering:path"}, "")
    program = "from coquina.cli import main\nsys.exit(main(sys.argv[1:]))"
    start = f"import sys; sys.path.append({str(folder)!r})\n"
    listed = json.loads(python(start + program, "plugins", "--json").stdout)["plugins"]
    assert {"kind": "codec", "id": 170, "name": None, "is_loaded": False}.items() <= next(
        one.items() for one in listed if one["id"] == 170
    )
    assert "codec   170  the entry point codec-170 = offering:path of offering 1.2" in (
        python(start + program, "plugins").stdout.splitlines()
    )


def test_nobody_looks_for_plugins_where_all_is_known(monkeypatch, tmp_path):
    """Empty places of a pipeline were looked for as filters of id 0, some times for each array and chunk."""
    asked = []
    monkeypatch.setattr(codec_plugins, "find", lambda kind, id: asked.append((kind, id)))
    monkeypatch.setattr(codec_plugins, "find_named", lambda kind, name: asked.append((kind, name)))
    x = np.arange(3000.0).reshape(30, 100)
    for options in ({}, {"codec": "auto"}, {"filters": ["nofilter"]}, {"lossy": {"max_error": 0.1}}):
        array = cq.asarray(x, path=tmp_path / "x.b2nd", overwrite=True, chunks=(10, 50), **options)
        array[3:20] = 7
        array.encodings()
        array.close()
        assert cq.open(tmp_path / "x.b2nd")[...].shape == x.shape
    assert asked == []
