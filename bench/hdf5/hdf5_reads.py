"""The reading cases of `hdf5.py`: all of a dataset, parts of an n-d array, small parts of big chunks.

In: a plan. Out: a `Cell` for each comparison.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import b2h5py
import h5py
import hdf5plugin
import numpy as np
import tables

import coquina as cq
from bench.common import synthetic
from bench.common.harness import Call
from bench.hdf5.hdf5_contest import (
    OURS,
    TABLES,
    TABLES_FILTER,
    TABLES_FRESH,
    Case,
    Cell,
    Key,
    Plan,
    Read,
    array_of,
    measured,
    megabytes,
    readings,
    same,
    through_filter,
    under,
)

# All of a dataset.

PIPELINES: dict[str, dict[str, Any]] = {
    "gzip 4 + shuffle": {"compression": "gzip", "compression_opts": 4, "shuffle": True},
    "gzip 4": {"compression": "gzip", "compression_opts": 4},
    "bitshuffle-LZ4": dict(hdf5plugin.Bitshuffle(cname="lz4")),
    "bitshuffle-Zstd 3": dict(hdf5plugin.Bitshuffle(cname="zstd", clevel=3)),
    "Blosc2-Zstd 5": dict(hdf5plugin.Blosc2(cname="zstd", clevel=5)),
    "Blosc2-LZ4 5": dict(hdf5plugin.Blosc2(cname="lz4", clevel=5)),
    "Blosc-LZ4 5": dict(hdf5plugin.Blosc(cname="lz4", clevel=5)),
    "LZ4": dict(hdf5plugin.LZ4()),
    "Zstd 3 + shuffle": {"shuffle": True, **hdf5plugin.Zstd(clevel=3)},
    "LZF + shuffle": {"compression": "lzf", "shuffle": True},
    "szip": {"compression": "szip", "compression_opts": ("nn", 16)},
    "bzip2 + shuffle": {"shuffle": True, **hdf5plugin.BZip2(blocksize=5)},
    "scale-offset": {"scaleoffset": 0},
    "fletcher32": {"fletcher32": True},
    "no filter": {},
}
WRITTEN: dict[str, dict[str, Any]] = {
    "gzip 4 + shuffle": {"filter": "gzip", "level": 4},
    "bitshuffle-LZ4": {"filter": "bitshuffle", "codec": "lz4"},
    "Blosc2-Zstd 5": {"filter": "blosc2", "codec": "zstd", "level": 5},
    "Blosc2-LZ4 5": {"filter": "blosc2", "codec": "lz4", "level": 5},
    "Blosc-LZ4 5": {"filter": "blosc", "codec": "lz4", "level": 5},
    "Zstd 3 + shuffle": {"filter": "zstd", "level": 3},
}
LONG = ("gzip 4", "szip", "bzip2 + shuffle", "Zstd 3 + shuffle")  # read in full runs alone
FULL_GOALS = {"gzip 4 + shuffle": 4.0, "bitshuffle-LZ4": 2.0, "Blosc2-Zstd 5": 3.0}


def full_sets(plan: Plan) -> Iterator[tuple[str, np.ndarray, tuple[int, ...]]]:
    """A weather field and a stack of images, with chunks of about 1 MB."""
    hours = 4 if plan.quick else 32
    yield "ERA5-like wind, float32", synthetic.era5("wind", (hours, 720, 1440)), (4, 180, 360)
    rng = np.random.default_rng(3)
    y, x = np.mgrid[-1:1:512j, -1:1:512j]
    disc = (x**2 + y**2 < 0.8) * 900 + ((x - 0.3) ** 2 + y**2 < 0.1) * 700 + 100
    count = 32 if plan.quick else 160  # more than HDF5's cache of 8 MiB holds
    stack = np.stack([rng.poisson(disc * (1 + 0.2 * np.sin(k / 9))) for k in range(count)])
    yield "CT-like stack, uint16", stack.astype("u2"), (4, 256, 512)


def full(plan: Plan) -> Iterator[Cell]:
    """All of a dataset read, and written, pipeline by pipeline."""
    for label, items, chunks in full_sets(plan):
        pipelines = dict(PIPELINES)
        if items.dtype.kind == "f":
            del pipelines["scale-offset"]  # which would lose bits
        if not plan.full:
            pipelines = {name: options for name, options in pipelines.items() if name not in LONG}
        path = plan.folder / "full.h5"
        with h5py.File(path, "w") as file:
            for name, options in pipelines.items():
                file.create_dataset(name, data=items, chunks=chunks, **options)
        with h5py.File(path) as file:
            for name in pipelines:
                goals = {"h5py": FULL_GOALS[name]} if name in FULL_GOALS else {}
                yield read_all(
                    plan, Case("full", f"read, {name}", label, items.nbytes, goals), file[name], items
                )
        path.unlink()
        for name, options in WRITTEN.items():
            if name not in pipelines:
                continue
            case = Case("full", f"write, {name}", label, items.nbytes)
            yield write_all(
                plan, case, items, {"chunks": chunks, **options}, {"chunks": chunks, **PIPELINES[name]}
            )


def read_all(plan: Plan, case: Case, dataset: h5py.Dataset, items: np.ndarray) -> Cell:
    """All of it, into new memory and, for h5py, also into memory that is there."""
    ours, out = array_of(dataset), np.empty_like(items)
    same(case.work, ours[...], items)
    return measured(
        plan,
        case,
        {
            OURS: lambda: ours[...],
            **threaded(case, lambda: dataset[...]),
            "h5py read_direct": under("BLOSC_NTHREADS", "1", lambda: dataset.read_direct(out)),
        },
    )


def threaded(case: Case, call: Call) -> dict[str, Call]:
    """What h5py does with its filters as they come, of one thread; where they can use more, also with two."""
    calls: dict[str, Call] = {"h5py": under("BLOSC_NTHREADS", "1", call)}
    if "Blosc" in case.work:
        calls["h5py, 2 threads"] = call
    return calls


def write_all(
    plan: Plan, case: Case, items: np.ndarray, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Cell:
    """A file with one dataset, from nothing to closed."""
    paths = {"coquina": plan.folder / "ours.h5", "h5py": plan.folder / "theirs.h5"}

    def write() -> None:
        with cq.open(paths["coquina"], "w") as file:
            file.create_dataset("x", data=items, **ours)

    def write_theirs() -> None:
        with h5py.File(paths["h5py"], "w") as file:
            file.create_dataset("x", data=items, **theirs)

    write()
    write_theirs()
    for path in paths.values():
        with h5py.File(path) as file:
            same(case.work, file["x"][...], items)
    cell = measured(plan, case, {OURS: write, **threaded(case, write_theirs)})
    for path in paths.values():
        path.unlink()
    return cell


# Parts of an n-d array, as in the post about Blosc2 NDim in PyTables.


def slices(plan: Plan) -> Iterator[Cell]:
    """Hyperplanes along each axis, boxes, elements, at two sizes of chunks."""
    shape = (20, 50, 60, 100) if plan.quick else (50, 100, 100, 100)
    items = np.random.default_rng(1).integers(0, 10000, shape)
    chunkings = {"small chunks": (10, 25, 50, 50), "big chunks": (min(25, shape[0]), 50, 50, 50)}
    for name, chunks in chunkings.items():
        with ExitStack() as stack:
            readers = sliced(plan.folder, items, chunks, stack)
            size = megabytes(8 * np.prod(chunks))
            for work, keys in parts(shape).items():
                goals = (
                    {TABLES: 1.5, TABLES_FRESH: 1.5, TABLES_FILTER: 5.0}
                    if work.startswith(("plane", "box")) and "step" not in work
                    else {}
                )
                case = Case("slices", work, f"int64, {name} of {size}", items[keys[0]].nbytes, goals)
                yield readings(plan, case, readers, keys, items)


def sliced(folder: Path, items: np.ndarray, chunks: tuple[int, ...], stack: ExitStack) -> dict[str, Read]:
    """The readers of a dataset that PyTables wrote: in a file opened again, and one that stayed open.

    What may go through the filter reads a copy: who opens the same file shares HDF5's cache of chunks.
    """
    filters = tables.Filters(complevel=8, complib="blosc2:lz4", shuffle=True)
    paths = [folder / "slices.h5", folder / "fresh.h5"]
    for path in paths:
        file = tables.open_file(str(path), "w")
        fresh = file.create_carray("/", "x", obj=items, chunkshape=chunks, filters=filters)
        file.flush()
        if path == paths[0]:
            file.close()
        else:
            stack.enter_context(file)
    other = Path(shutil.copy(paths[0], folder / "other.h5"))
    again, filtered = (stack.enter_context(tables.open_file(str(path))).root.x for path in (paths[0], other))
    dataset, sliced_fast = (stack.enter_context(h5py.File(path))["x"] for path in (paths[0], other))
    return {
        OURS: array_of(dataset).__getitem__,
        TABLES: again.__getitem__,
        TABLES_FRESH: fresh.__getitem__,
        TABLES_FILTER: through_filter(filtered),
        "b2h5py": sliced_by_b2h5py(sliced_fast),
        "h5py": dataset.__getitem__,
    }


def sliced_by_b2h5py(dataset: h5py.Dataset) -> Read:
    """b2h5py's reading of a dataset that it has its fast path for."""
    fast = b2h5py.B2Dataset(dataset)
    if not fast.is_b2_fast_slicing:
        raise AssertionError(f"{dataset.name}: b2h5py has no fast path")
    return fast.__getitem__


def parts(shape: tuple[int, ...]) -> dict[str, list[Key]]:
    """Twenty places of each kind."""
    rng = np.random.default_rng(2)
    keys: dict[str, list[Key]] = {
        f"plane along axis {axis}": [(slice(None),) * axis + (int(i),) for i in rng.integers(0, n, 20)]
        for axis, n in enumerate(shape)
    }
    lengths = [max(1, round(n * 0.01 ** (1 / len(shape)))) for n in shape]  # 1 % of the items
    keys["box of 1 %"] = boxes(rng, shape, lengths, 20)
    keys["box of 1 %, step 2"] = [
        tuple(slice(one.start, one.stop, 2) for one in key) for key in keys["box of 1 %"]
    ]
    keys["one element"] = [tuple(one.start for one in key) for key in boxes(rng, shape, [1] * len(shape), 20)]
    return keys


def boxes(
    rng: np.random.Generator, shape: Sequence[int], lengths: Sequence[int], count: int
) -> list[tuple[slice, ...]]:
    """Boxes anywhere."""
    starts = [
        [int(rng.integers(0, n - m + 1)) for n, m in zip(shape, lengths, strict=True)] for _ in range(count)
    ]
    return [tuple(slice(a, a + m) for a, m in zip(start, lengths, strict=True)) for start in starts]


# Small parts of big chunks.


def small(plan: Plan) -> Iterator[Cell]:
    """Small parts, one block, one element of chunks of 28.8 MB: arrays in chunks (b2nd), and flat ones."""
    chunks = (40, 300, 300)
    shape = chunks if plan.quick else (160, 300, 600)
    items = np.random.default_rng(5).normal(size=shape).round(3)
    path = plan.folder / "small.h5"
    options = {"codec": "zstd", "level": 5, "chunks": chunks}
    with h5py.File(path, "w") as file:
        by_plugin = dict(hdf5plugin.Blosc2(cname="zstd", clevel=5))
        file.create_dataset("plugin", data=items, chunks=chunks, **by_plugin)
        file.create_dataset("flat", data=items.ravel(), chunks=(3_600_000,), **by_plugin)
        cq.hdf5.fast(file).create_dataset("ours", data=items, **options)
    with h5py.File(path) as file, tables.open_file(str(path)) as theirs:
        for name, values in {"plugin": items, "ours": items, "flat": items.ravel()}.items():
            dataset, ours, node = file[name], array_of(file[name]), theirs.get_node(f"/{name}")
            readers: dict[str, Read] = {
                OURS: ours.__getitem__,
                TABLES: node.__getitem__,
                TABLES_FILTER: through_filter(node),
                "b2h5py": sliced_by_b2h5py(dataset),
                "h5py": dataset.__getitem__,
            }
            blocks = ours.blocks
            label = f"float64, {name}, blocks of {megabytes(8 * np.prod(blocks))}"
            for work, keys in small_parts(values.shape, ours.chunks, blocks).items():
                limit = 150e-6 if (name, work) == ("ours", "one block") else None
                case = Case("small", work, label, values[keys[0]].nbytes, {"h5py": 20.0}, limit)
                yield readings(plan, case, readers, keys, values)


def small_parts(
    shape: tuple[int, ...], chunks: tuple[int, ...], blocks: tuple[int, ...]
) -> dict[str, list[Key]]:
    """Fifty places of each kind; of blocks, whole ones at their place in the first chunk."""
    rng = np.random.default_rng(6)
    box = (10, 20, 30) if len(shape) == 3 else (6000,)
    corners = boxes(rng, [n // b for n, b in zip(chunks, blocks, strict=True)], [1] * len(shape), 50)
    whole = [
        tuple(slice(one.start * b, (one.start + 1) * b) for one, b in zip(key, blocks, strict=True))
        for key in corners
    ]
    elements = [tuple(one.start for one in key) for key in boxes(rng, shape, [1] * len(shape), 50)]
    return {
        "box of 48 KB": boxes(rng, shape, box, 50),
        "row of 64": boxes(rng, shape, [1] * (len(shape) - 1) + [64], 50),
        "one block": whole,
        "one element": elements,
    }
