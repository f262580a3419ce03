"""The ways of `fields.py`: float fields kept within a bound of every item's error, by coquina and by others.

In: a field, its grid, a bound that is a power of ten. Out: `Way`s, and the reason for each that is absent.
Invariant: every way is told the same greatest error, in the words it has for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.arrays.array_peers import h5py, hdf5plugin
from bench.common.inputs import Grid
from bench.common.peers import blosc2, filter_of
from bench.images.quality_contest import Way
from bench.images.quality_ways import BLOSC2, blosc2_way, coquina_way, h5py_way

PACKAGES = ("blosc2", "h5py", "hdf5plugin")
MEANS = ("round", "trunc", "zfp", "predict")
FILTERS = ("shuffle", "bytedelta")  # of what is rounded or truncated; the others have none
MANTISSA = 23  # bits of a float32


def absent() -> dict[str, str]:
    """The libraries that cannot take part here, and why."""
    missing = {
        BLOSC2: (blosc2, "pip install blosc2"),
        "h5py": (h5py and hdf5plugin, "pip install h5py hdf5plugin"),
    }
    return {name: hint for name, (found, hint) in missing.items() if not found}


def coquina_ways(grid: Grid, exponent: int) -> Iterator[Way]:
    """The contract with the means it chooses, and with each of them."""
    bound = 10.0**exponent
    setting = f"error {bound:g}"
    yield coquina_way("chosen", setting, bound, grid, filters=FILTERS, lossy={"max_error": bound})
    for means in MEANS:
        lossy = {"max_error": bound, "method": means}
        yield coquina_way(means, setting, bound, grid, filters=FILTERS, lossy=lossy)


def kept_bits(x: np.ndarray, bound: float) -> int:
    """The fewest bits of the mantissa that truncation must keep for the bound, in the whole field."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    wide = x.astype(np.float64)
    for kept in range(MANTISSA):
        mask = np.uint32((0xFFFFFFFF << (MANTISSA - kept)) & 0xFFFFFFFF)
        cut = (bits & mask).view(np.float32)
        if np.abs(cut - wide).max() <= bound:
            return kept
    return MANTISSA


def blosc2_ways(x: np.ndarray, grid: Grid, exponent: int) -> Iterator[Way]:
    """python-blosc2: truncated, then filters and Zstandard; ZFP, whose parameter byte is the exponent."""
    if not blosc2:
        return
    bound = 10.0**exponent
    setting = f"error {bound:g}"
    filters = [blosc2.Filter.TRUNC_PREC, *map(filter_of, FILTERS)]
    general = {"codec": blosc2.Codec.ZSTD, "clevel": 5, "filters": filters}
    kept = kept_bits(x, bound)
    yield blosc2_way("trunc", setting, bound, grid, **general, filters_meta=[kept, 0, 0])
    alone = {"codec": blosc2.Codec.ZFP_ACC, "codec_meta": exponent % 256, "filters": []}
    yield blosc2_way("zfp", setting, bound, grid, **alone, splitmode=blosc2.SplitMode.NEVER_SPLIT)


def h5py_ways(grid: Grid, exponent: int) -> Iterator[Way]:
    """HDF5's filters that promise a bound."""
    bound = 10.0**exponent
    pipelines = {
        "zfp": lambda: hdf5plugin.Zfp(accuracy=bound),
        "sz3": lambda: hdf5plugin.SZ3(absolute=bound),
        "sperr": lambda: hdf5plugin.Sperr(absolute=bound),
    }
    for codec, pipeline in pipelines.items():
        yield h5py_way(codec, f"error {bound:g}", bound, grid, pipeline())


def ways(x: np.ndarray, grid: Grid, exponent: int) -> list[Way]:
    """All that take part: ours first."""
    found = [*coquina_ways(grid, exponent), *blosc2_ways(x, grid, exponent)]
    return found if "h5py" in absent() else [*found, *h5py_ways(grid, exponent)]
