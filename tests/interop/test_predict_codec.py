"""Arrays of the codec `predict`, read by python-blosc2 with a decoder in Python that asks coquina."""

import subprocess
import sys

import numpy as np
import pytest

import coquina as cq
from tests.lossy_cases import smooth

SHAPES = [(5000,), (60, 80), (10, 30, 40), (4, 5, 20, 30)]

#: A program of its own with one thread from the beginning: python-blosc2 calls functions in Python from one.
READ = """
import struct, sys
import blosc2
import numpy as np
import coquina as cq

CODEC = 224
# Of a chunk with 32 bytes of header whose one stream is not split: its format is that of its codec byte.
FLAGS = 0xD5

def decode(stream, output, meta, schunk):
    # A stream says its own shape: its items are those of a chunk of one block.
    stream = stream.tobytes()
    nbytes, offset = output.nbytes, 36
    sizes = struct.pack("<iii", nbytes, nbytes, offset + 4 + len(stream))
    header = bytes([5, 1, FLAGS, schunk.typesize]) + sizes + bytes(6) + bytes([CODEC, meta]) + bytes(8)
    chunk = header + struct.pack("<ii", offset, len(stream)) + stream
    output.view(np.uint8)[:] = np.frombuffer(cq.decompress(chunk), np.uint8)
    return nbytes

def encode(items, output, meta, schunk):
    raise NotImplementedError

blosc2.set_nthreads(1)
blosc2.register_codec("predict", CODEC, encode, decode)
for path in sys.argv[1:]:
    np.save(path + ".npy", blosc2.open(path, dparams=blosc2.DParams(nthreads=1))[...])
"""


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
def test_blosc2_reads_predicted_items_with_a_decoder_in_python(dtype, tmp_path):
    paths = [str(tmp_path / f"{len(shape)}.b2nd") for shape in SHAPES]
    for path, shape in zip(paths, SHAPES, strict=True):
        cq.asarray(smooth(dtype, shape), path=path, codec=("predict", -2), filters=[]).close()
    done = subprocess.run([sys.executable, "-c", READ, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for path, shape in zip(paths, SHAPES, strict=True):
        with cq.open(path) as a:
            np.testing.assert_array_equal(np.load(path + ".npy"), a[...])
            assert np.abs(a[...] - smooth(dtype, shape)).max() <= 0.01
