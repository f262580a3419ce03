"""Codecs and filters that are Python functions here and in python-blosc2: each reads what the other wrote.

blosc2 calls such functions with one thread only, and never forgets an id: it works in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

import coquina as cq

CODEC, FILTER = 230, 231
X = (np.arange(24_000, dtype="i4") ** 2 % 1000).reshape(120, 200)
CHUNKS, BLOCKS = (60, 200), (20, 100)

TWIN = f"""
import sys, zlib
import blosc2
import numpy as np

def encoder(input, output, meta, schunk):
    coded = np.frombuffer(zlib.compress(input.tobytes()), "u1")
    if len(coded) >= len(output):
        return 0
    output[: len(coded)] = coded
    return len(coded)

def decoder(input, output, meta, schunk):
    output[:] = np.frombuffer(zlib.decompress(input.tobytes()), "u1")
    return len(output)

def forward(input, output, meta, schunk):
    output[:] = input.view("u1") + np.uint8(meta + 1)

def backward(input, output, meta, schunk):
    output[:] = input.view("u1") - np.uint8(meta + 1)

blosc2.register_codec("twin", {CODEC}, encoder, decoder)
blosc2.register_filter({FILTER}, forward, backward)
one = blosc2.DParams(nthreads=1)
blosc2.set_nthreads(1)
blosc2.cparams_dflts["nthreads"] = 1
x = (np.arange(24_000, dtype="i4") ** 2 % 1000).reshape(120, 200)
"""

READ = """
a = blosc2.open(sys.argv[1], dparams=one)
assert np.array_equal(a[:], x)
assert np.array_equal(a[30:70, 5:9], x[30:70, 5:9])
"""

WRITE = """
codec = CODEC if int(sys.argv[2]) else blosc2.Codec.LZ4
filters = [int(id) for id in sys.argv[4:]]
metas = [int(sys.argv[3])] * len(filters)
cparams = blosc2.CParams(codec=codec, codec_meta=9, filters=filters, filters_meta=metas, nthreads=1)
place = {"urlpath": sys.argv[1], "mode": "w", "chunks": (60, 200), "blocks": (20, 100)}
blosc2.asarray(x, cparams=cparams, dparams=one, **place)
""".replace("CODEC", str(CODEC), 1)


@pytest.fixture(autouse=True)
def functions():
    """The functions on our side."""
    cq.register_codec(CODEC, "twin", lambda d, b: zlib.compress(d), lambda d, b: zlib.decompress(d))
    cq.register_filter(
        FILTER,
        "twin",
        lambda d, b: np.frombuffer(d, "u1") + np.uint8(b.meta + 1),
        lambda d, b: np.frombuffer(d, "u1") - np.uint8(b.meta + 1),
    )


def blosc2(program, *arguments):
    command = [sys.executable, "-c", TWIN + program, *map(str, arguments)]
    one_thread = {**os.environ, "BLOSC_NTHREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=one_thread)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "options",
    [
        {"codec": "twin", "filters": []},
        {"codec": "twin"},
        {"codec": "lz4", "filters": [("twin", 3)]},
        {"codec": "twin", "filters": ["twin", "shuffle"]},
    ],
    ids=str,
)
def test_blosc2_reads_what_we_write(options, tmp_path):
    path = tmp_path / "ours.b2nd"
    cq.asarray(X, path=path, chunks=CHUNKS, blocks=BLOCKS, **options)
    blosc2(READ, path)


@pytest.mark.parametrize(
    ("is_ours", "meta", "filters"), [(1, 0, []), (1, 0, [1]), (0, 3, [FILTER]), (1, 0, [FILTER, 1])], ids=str
)
def test_we_read_what_blosc2_writes(is_ours, meta, filters, tmp_path):
    path = tmp_path / "theirs.b2nd"
    blosc2(WRITE, path, is_ours, meta, *filters)
    a = cq.open(path)
    assert a.info.codec == ("twin" if is_ours else "lz4")
    assert np.array_equal(a[:], X)
    assert np.array_equal(a[30:70, 5:9], X[30:70, 5:9])
