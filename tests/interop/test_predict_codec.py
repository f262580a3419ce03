"""Arrays of the codec `predict`, read by python-blosc2 with a decoder in Python that asks coquina."""

import struct

import blosc2
import numpy as np
import pytest

import coquina as cq
from tests.lossy_cases import smooth

CODEC = 224
#: Of a chunk with 32 bytes of header whose one stream is not split: its format is that of its codec byte.
FLAGS = 0xD5


def decode(stream, output, meta, schunk):
    """Fill `output` with the items of a stream, as a chunk of one block: a stream says its own shape."""
    stream = stream.tobytes()
    nbytes, offset = output.nbytes, 36
    sizes = struct.pack("<iii", nbytes, nbytes, offset + 4 + len(stream))
    header = bytes([5, 1, FLAGS, schunk.typesize]) + sizes + bytes(6) + bytes([CODEC, meta]) + bytes(8)
    chunk = header + struct.pack("<ii", offset, len(stream)) + stream
    output.view(np.uint8)[:] = np.frombuffer(cq.decompress(chunk), np.uint8)
    return nbytes


def encode(items, output, meta, schunk):
    """Refuse: coquina writes such arrays."""
    raise NotImplementedError


@pytest.fixture(scope="module")
def known():
    """Let python-blosc2 decode the codec, on one thread, as it calls functions in Python from one only."""
    blosc2.register_codec("predict", CODEC, encode, decode)
    threads, default = blosc2.set_nthreads(1), blosc2.dparams_dflts["nthreads"]
    blosc2.dparams_dflts["nthreads"] = 1
    yield
    blosc2.set_nthreads(threads)
    blosc2.dparams_dflts["nthreads"] = default


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
@pytest.mark.parametrize("shape", [(5000,), (60, 80), (10, 30, 40), (4, 5, 20, 30)], ids=len)
def test_blosc2_reads_predicted_items_with_a_decoder_in_python(known, dtype, shape, tmp_path):
    x = smooth(dtype, shape)
    path = tmp_path / "a.b2nd"
    a = cq.asarray(x, path=path, codec=("predict", -2), filters=[])
    np.testing.assert_array_equal(blosc2.open(str(path))[...], a[...])
    assert np.abs(a[...] - x).max() <= 0.01
