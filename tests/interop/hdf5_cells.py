"""HDF5 datasets of every pipeline, dtype, shape and state of chunks, made by h5py with hdf5plugin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from random import Random

import h5py
import hdf5plugin
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

from tests.array_cases import PADDED, random_items

# Ours must not be their own judge; see `tests/conftest.py`.
assert "hdf5plugin" in hdf5plugin.get_config().registered_filters["blosc2"]

OPTIONAL = h5z.FLAG_OPTIONAL
DTYPES = {
    "u1": np.dtype("u1"),
    "i2": np.dtype("<i2"),
    "i2 BE": np.dtype(">i2"),
    "i4": np.dtype("<i4"),
    "u8 BE": np.dtype(">u8"),
    "f2": np.dtype("<f2"),
    "f4": np.dtype("<f4"),
    "f4 BE": np.dtype(">f4"),
    "f8": np.dtype("<f8"),
    "f8 BE": np.dtype(">f8"),
    "c16": np.dtype("<c16"),
    "S5": np.dtype("S5"),
    "3 bytes": np.dtype([("r", "u1"), ("g", "u1"), ("b", "u1")]),
    "record": PADDED,
    "long record": np.dtype([("id", "<i4"), ("name", "S300"), ("xy", ">f8", (2,))]),
    "array": np.dtype(("<f4", (2, 3))),
    "bool": np.dtype("?"),
    "enum": h5py.enum_dtype({"off": 0, "on": 1, "broken": -7}, "<i2"),
}
#: What may be said of the chunks of a dataset besides how they are filtered.
STATES = ("written", "masked", "sparse", "filled", "never filled", "early")
#: Kinds of chunk index, by the version of the file and the axes that may grow.
LIBVERS = ("earliest", "v108", "v110", "v112", "latest")


@dataclass(frozen=True)
class Filter:
    """One filter. `add` appends it to a property list; `suits` says of which items it can be."""

    name: str
    add: Callable[[h5p.PropDCID, np.dtype], None]
    suits: Callable[[np.dtype], bool] = lambda _: True
    is_lossy: bool = False


def _given(code: int, *values: int) -> Callable[[h5p.PropDCID, np.dtype], None]:
    return lambda plist, _: plist.set_filter(code, OPTIONAL, values)


def _of_blosc(code: int, revision: int, size: int, *values: int) -> Callable[[h5p.PropDCID, np.dtype], None]:
    # Complete, since of two filters with one id libhdf5 lets a plugin complete the first only, twice.
    def add(plist: h5p.PropDCID, dtype: np.dtype) -> None:
        typesize = min(dtype.base.itemsize, 255)
        plist.set_filter(code, OPTIONAL, (revision, size, typesize, 0, 5, *values))

    return add


def _add_scaleoffset(digits: int) -> Callable[[h5p.PropDCID, np.dtype], None]:
    def add(plist: h5p.PropDCID, dtype: np.dtype) -> None:
        if dtype.kind == "f":
            plist.set_scaleoffset(h5z.SO_FLOAT_DSCALE, digits)
        else:
            # So many bits, or as many as are needed.
            plist.set_scaleoffset(h5z.SO_INT, 0 if digits else 6)

    return add


def _is_number(dtype: np.dtype) -> bool:
    return dtype.kind in "iuf" and not h5py.check_enum_dtype(dtype)


def _is_flat(dtype: np.dtype) -> bool:
    """Whether fields have none of their own: of others libhdf5's N-bit leaves out some, it knows which."""
    return all(dtype[name].subdtype is None for name in dtype.names or ())


def _is_scaled(dtype: np.dtype) -> bool:
    return _is_number(dtype) and dtype.itemsize > (2 if dtype.kind == "f" else 0)


BLOSC_CODECS = {"blosclz": 0, "lz4": 1, "lz4hc": 2, "snappy": 3, "zlib": 4, "zstd": 5}
BLOSC_FILTERS = {"none": 0, "shuffle": 1, "bitshuffle": 2, "delta": 3}
SZIPS = {"nn": (h5z.SZIP_NN_OPTION_MASK, 8), "ec": (h5z.SZIP_EC_OPTION_MASK, 4)}
_ALL = (
    Filter("gzip", lambda plist, _: plist.set_deflate(4)),
    Filter("gzip stored", lambda plist, _: plist.set_deflate(0)),
    Filter("shuffle", lambda plist, dtype: plist.set_filter(h5z.FILTER_SHUFFLE, OPTIONAL, (dtype.itemsize,))),
    Filter("fletcher32", lambda plist, _: plist.set_fletcher32()),
    *(Filter(f"szip {kind}", lambda p, _, o=o: p.set_szip(*o), _is_number) for kind, o in SZIPS.items()),
    Filter("nbit", lambda plist, _: plist.set_filter(h5z.FILTER_NBIT, OPTIONAL, ()), _is_flat),
    Filter("scaleoffset", _add_scaleoffset(2), _is_scaled, is_lossy=True),
    Filter("scaleoffset narrow", _add_scaleoffset(0), _is_scaled, is_lossy=True),
    Filter("lzf", lambda plist, _: plist.set_filter(h5z.FILTER_LZF, OPTIONAL, ())),
    Filter("bzip2", _given(hdf5plugin.BZIP2_ID, 3)),
    *(
        Filter(f"blosc {codec} {name}", _of_blosc(hdf5plugin.BLOSC_ID, 2, 2, at, BLOSC_CODECS[codec]))
        for codec, (name, at) in product(BLOSC_CODECS, list(BLOSC_FILTERS.items())[:3])
    ),
    *(
        Filter(
            f"blosc2 {codec} {name}" + (f" {size}" if size else ""),
            _of_blosc(hdf5plugin.BLOSC2_ID, 1, size, at, BLOSC_CODECS[codec]),
        )
        for codec, (name, at), size in product(BLOSC_CODECS, BLOSC_FILTERS.items(), (0, 512))
        if codec != "snappy"
    ),
    Filter("blosc2 zstd stored", _given(hdf5plugin.BLOSC2_ID, 0, 0, 0, 0, 0, 1, 5)),
    Filter("lz4", _given(hdf5plugin.LZ4_ID, 0)),
    Filter("lz4 in parts", _given(hdf5plugin.LZ4_ID, 100)),
    *(
        Filter(f"bitshuffle {codec}" + (f" {size}" if size else ""), _given(hdf5plugin.BSHUF_ID, size, at, 3))
        for (codec, at), size in product({"none": 0, "lz4": 2, "zstd": 3}.items(), (0, 16))
    ),
    Filter("zstd", _given(hdf5plugin.ZSTD_ID, 3)),
)
FILTERS = {each.name: each for each in _ALL}
#: One of each kind, for pipelines of several.
BYTE_FILTERS = (
    *("gzip", "shuffle", "fletcher32", "lzf", "bzip2", "blosc lz4 shuffle", "blosc2 zstd shuffle", "lz4"),
    *("bitshuffle none", "bitshuffle lz4", "bitshuffle zstd", "zstd"),
)
Pipeline = tuple[str, ...]


def pipelines() -> dict[str, list[Pipeline]]:
    """Return the pipelines, by how their filters stand."""
    packers = [name for name in FILTERS if name not in ("shuffle", "fletcher32")]
    # Szip loses the ends of 8-byte items behind a checksum, and then decodes what was in memory before.
    typed = ("nbit", "scaleoffset", "szip")
    return {
        "alone": [(name,) for name in FILTERS],
        "shuffled": [("shuffle", name) for name in packers if not name.startswith(("nbit", "scaleoffset"))],
        "checked": [(name, "fletcher32") for name in FILTERS],
        # As h5py puts all that it can, and as netCDF does.
        "of h5py": [("shuffle", name, "fletcher32") for name in ("gzip", "lzf", "szip nn", "bzip2", "zstd")]
        + [
            ("scaleoffset", "gzip", "fletcher32"),
            ("scaleoffset", "shuffle", "lzf"),
            ("shuffle", "fletcher32"),
        ],
        "of netCDF": [("fletcher32", "shuffle", name) for name in packers if not name.startswith(typed)]
        + [("fletcher32", "shuffle")],
        # Not bitshuffle: its plugin puts its parameters into the first of two.
        "twice": [(name, name) for name in BYTE_FILTERS if not name.startswith("bitshuffle")],
        "one after another": [
            (one, two)
            for one, two in product(BYTE_FILTERS, BYTE_FILTERS)
            if one.split()[0] != two.split()[0] and one != "shuffle"
        ],
        "typed, then others": list(product(("nbit", "scaleoffset", "szip nn"), BYTE_FILTERS)),
        "many": [
            ("fletcher32", "shuffle", "gzip", "fletcher32", "zstd", "fletcher32"),
            ("shuffle", "bitshuffle none", "shuffle", "lz4", "gzip", "bzip2", "blosc2 lz4 none"),
            ("gzip",) * 5 + ("shuffle",) * 4 + ("zstd",) * 3,
            ("fletcher32",) * 32,
        ],
    }


@dataclass(frozen=True)
class Cell:
    """One dataset."""

    number: int
    pipeline: Pipeline
    dtype: np.dtype
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    maxshape: tuple[int | None, ...]
    state: str

    @property
    def name(self) -> str:
        return str(self.number)

    @property
    def is_lossy(self) -> bool:
        return any(FILTERS[name].is_lossy for name in self.pipeline)

    def rng(self, what: str) -> Random:
        return Random(f"{what} {self}")

    def regions(self) -> list[tuple[slice, ...]]:
        """Return the box of each chunk, cut by the shape."""
        grid = product(*(range(0, n, c) for n, c in zip(self.shape, self.chunks, strict=True)))
        edges = list(zip(self.shape, self.chunks, strict=True))
        return [
            tuple(
                slice(at, min(at + chunk, length)) for at, (length, chunk) in zip(start, edges, strict=True)
            )
            for start in grid
        ]

    def fill(self) -> np.ndarray | None:
        """Return the fill value, an array without axes, in states that have one."""
        if self.state not in ("filled", "never filled") or self.dtype.subdtype is not None:
            return None
        if self.dtype.kind == "S":
            # h5py wants an object, of which it takes what stands before a zero.
            return np.array(b"fill", h5py.string_dtype("ascii"))
        return random_items(self.rng("fill"), (), self.dtype)

    def items(self) -> np.ndarray:
        """Return items for all of it. libhdf5 cannot read scaled infinities and the like."""
        made = random_items(self.rng("items"), (*self.shape, *self.dtype.shape), self.dtype.base)
        return (
            np.nan_to_num(made, posinf=77, neginf=-77) if self.is_lossy and made.dtype.kind == "f" else made
        )


def cells(pipeline: Pipeline, count: int) -> Iterator[Cell]:
    """Yield so many datasets of a pipeline, always the same ones."""
    rng = Random(" ".join(pipeline))
    dtypes = [dtype for dtype in DTYPES.values() if all(FILTERS[name].suits(dtype) for name in pipeline)]
    rng.shuffle(dtypes)
    first = rng.randrange(4)
    for number in range(count):
        rank = (first + number) % 4 + 1
        lengths = {1: (40, 127), 2: (6, 22), 3: (4, 9), 4: (3, 6)}[rank]
        shape = tuple(rng.randint(*lengths) for _ in range(rank))
        chunks = tuple(rng.randint(-(-n // 3), n - 1) for n in shape)
        if math.prod(chunks) < 32:
            # For fewer items than this szip has no block.
            chunks = (*shape[:-1], max(1, shape[-1] - 1))
        maxshape = rng.choice((shape, tuple(None for _ in shape), (None, *shape[1:])))
        state = STATES[(number + 1) % len(STATES)]
        yield Cell(number, pipeline, dtypes[number % len(dtypes)], shape, chunks, maxshape, state)


def property_list(cell: Cell, without: int | None = None) -> h5p.PropDCID:
    """Return how a cell is stored, or how it would be without one of its filters."""
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(cell.chunks)
    for at, name in enumerate(cell.pipeline):
        if at != without:
            FILTERS[name].add(plist, cell.dtype)
    return plist


def stored_without(cell: Cell, plain: np.ndarray, at: int) -> tuple[int, bytes]:
    """Return a chunk, and its mask, as it is stored if filter number `at` is skipped."""
    with h5py.File("scratch", "w", driver="core", backing_store=False) as scratch:
        space = h5s.create_simple(cell.chunks)
        tid = h5t.py_create(cell.dtype, logical=True)
        made = h5py.Dataset(h5d.create(scratch.id, b"x", tid, space, property_list(cell, at)))
        made[...] = plain
        scratch.flush()
        mask, stored = made.id.read_direct_chunk((0,) * len(cell.chunks))
    low = (1 << at) - 1
    return mask & low | (mask & ~low) << 1 | 1 << at, stored


def make(cell: Cell, file: h5py.File) -> np.ndarray:
    """Write a cell; return the items that it should have, as far as filters keep them."""
    plist = property_list(cell)
    fill = cell.fill()
    if fill is not None:
        plist.set_fill_value(fill)
    if cell.state == "never filled":
        plist.set_fill_time(h5d.FILL_TIME_NEVER)
    if cell.state == "early":
        plist.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    limits = tuple(h5s.UNLIMITED if most is None else most for most in cell.maxshape)
    tid = h5t.py_create(cell.dtype, logical=True)
    space = h5s.create_simple(cell.shape, limits)
    made = h5py.Dataset(h5d.create(file.id, cell.name.encode(), tid, space, plist))
    values = cell.items()
    expected = np.zeros_like(values)
    if fill is not None and cell.state == "filled":
        expected[...] = fill[()]
    rng = cell.rng("chunks")
    for number, region in enumerate(cell.regions()):
        if cell.state in ("sparse", "filled", "never filled", "early") and rng.random() < 0.4:
            continue
        expected[region] = values[region]
        # Where this is the number of the filter, it ran.
        skipped = number % (len(cell.pipeline) + 2) - 1
        if cell.state == "masked" and skipped >= 0:
            _write_masked(cell, made, region, values[region], skipped)
        elif cell.state == "filled" and rng.random() < 0.3:
            # Only a part of the chunk: the rest is filled.
            expected[region][1:] = 0 if fill is None else fill[()]
            part = (slice(region[0].start, region[0].start + 1), *region[1:])
            made[part] = values[part]
        else:
            made[region] = values[region]
    return expected


def _write_masked(
    cell: Cell, made: h5py.Dataset, region: tuple[slice, ...], values: np.ndarray, skipped: int
) -> None:
    """Store a chunk without one of its filters, or without any, if `skipped` is how many there are."""
    plain = np.full((*cell.chunks, *cell.dtype.shape), values.flat[0], values.dtype)
    plain[tuple(slice(0, part.stop - part.start) for part in region)] = values
    if skipped == len(cell.pipeline):
        mask, stored = (1 << skipped) - 1, plain.tobytes()
    else:
        mask, stored = stored_without(cell, plain, skipped)
    made.id.write_direct_chunk(tuple(part.start for part in region), stored, mask)
