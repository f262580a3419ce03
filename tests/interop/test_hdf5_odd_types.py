"""Filters that know types (N-bit, scale-offset) on types that NumPy has not: our pipeline against libhdf5.

Such datasets are read by libhdf5; here its chunks go through our filters, and both must give the same bytes.
"""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import h5py
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t, h5z

from coquina._core import filter_decode
from coquina.hdf5 import fast

DATASETS, DATASETS_LONG = 120, 3000


def odd_integer(rng: Random) -> h5t.TypeID:
    """Return an integer of which some bits count, anywhere in it."""
    bits, sign, order = rng.choice((8, 16, 32, 64)), rng.choice("IU"), rng.choice(("LE", "BE"))
    tid = getattr(h5t, f"STD_{sign}{bits}{order}").copy()
    # libhdf5 2.0 makes no larger ones of which less than half is used.
    precision = rng.randint(1 if bits == 8 else bits // 2, bits)
    tid.set_precision(precision)
    tid.set_offset(rng.randint(0, bits - precision))
    return tid


def odd_type(rng: Random, depth: int = 2) -> h5t.TypeID:
    """Return an integer, a float, a string, an array, or a record with gaps of all these."""
    kind = rng.choice(("integer", "integer", "integer", "float", "string", "array", "record"))
    if kind == "float":
        return rng.choice((h5t.IEEE_F32LE, h5t.IEEE_F64BE)).copy()
    if kind == "string":
        tid = h5t.C_S1.copy()
        tid.set_size(rng.randint(1, 5))
        return tid
    if kind == "array" and depth:
        return h5t.array_create(
            odd_type(rng, depth - 1), tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 2)))
        )
    if kind == "record" and depth:
        members, size = [], 0
        for _ in range(rng.randint(1, 4)):
            size += rng.choice((0, 0, 1, 3))
            members.append((size, odd_type(rng, depth - 1)))
            size += members[-1][1].get_size()
        tid = h5t.create(h5t.COMPOUND, size + rng.choice((0, 2)))
        for number, (at, member) in enumerate(members):
            tid.insert(f"m{number}".encode(), at, member)
        return tid
    return odd_integer(rng)


def dataset(rng: Random, file: h5py.File, name: str) -> tuple[h5py.Dataset, bytes]:
    """Return a dataset of one chunk, and the bytes that libhdf5 was given for it."""
    plist = h5p.create(h5p.DATASET_CREATE)
    dims = tuple(
        rng.randint(1, {1: 90, 2: 12, 3: 6}[rank]) for rank in [rng.randint(1, 3)] for _ in range(rank)
    )
    plist.set_chunk(dims)
    if rng.random() < 0.3:
        tid = odd_integer(rng)
        plist.set_scaleoffset(h5z.SO_INT, rng.choice((0, 0, rng.randint(1, tid.get_precision()))))
    else:
        tid = odd_type(rng)
        plist.set_filter(h5z.FILTER_NBIT, h5z.FLAG_MANDATORY, ())
    for add in rng.choice(
        ((), (), (plist.set_deflate,), (plist.set_shuffle, plist.set_deflate), (plist.set_fletcher32,))
    ):
        add(*((4,) if add == plist.set_deflate else ()))
    made = h5py.Dataset(h5d.create(file.id, name.encode(), tid, h5s.create_simple(dims), plist))
    plain = rng.randbytes(math.prod(dims) * tid.get_size())
    # Of one type in memory and in the file: nothing is converted.
    made.id.write(h5s.ALL, h5s.ALL, np.frombuffer(plain, "u1"), mtype=tid)
    return made, plain


def check(seed: int, path) -> str:
    rng = Random(seed)
    with h5py.File(path, "w") as f:
        made, _ = dataset(rng, f, "d")
    with h5py.File(path) as f:
        made = f["d"]
        tid, plist = made.id.get_type(), made.id.get_create_plist()
        theirs = np.empty(math.prod(made.shape) * tid.get_size(), "u1")
        made.id.read(h5s.ALL, h5s.ALL, theirs, mtype=tid)
        mask, stored = made.id.read_direct_chunk((0,) * made.ndim)
        rows = [plist.get_filter(at) for at in range(plist.get_nfilters())]
        filters = [(code, bool(flags & h5z.FLAG_OPTIONAL), list(values)) for code, flags, values, _ in rows]
        ours = filter_decode(filters, made.shape, tid.get_size(), mask, stored)
        assert ours == theirs.tobytes(), (seed, filters)
        if made.dtype.kind in "iu":
            # As numbers, whichever way they come.
            np.testing.assert_array_equal(fast(made)[...], made[...])
    code, _, values = filters[0]
    return f"{code} packed" if code == 6 or not values[1] else f"{code} as it is"


def test_bytes_are_those_that_libhdf5_gives(tmp_path):
    kinds = Counter(check(seed, tmp_path / "x.h5") for seed in range(DATASETS))
    assert min(kinds[kind] for kind in ("5 packed", "5 as it is", "6 packed")) >= 5, kinds


@pytest.mark.long
def test_bytes_of_many_types_are_those_that_libhdf5_gives(tmp_path):
    for seed in range(DATASETS, DATASETS_LONG):
        check(seed, tmp_path / "x.h5")
