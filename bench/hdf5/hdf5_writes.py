"""The cases of `hdf5.py` that write or count: a stack of images, the table of chunks, appending small pieces.

In: a plan. Out: a `Cell` for each comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import blosc2
import h5py
import hdf5plugin
import numpy as np
import tables

import coquina as cq
import coquina.hdf5
from bench.common.harness import Call
from bench.hdf5.hdf5_contest import (
    OURS,
    TABLES,
    TABLES_DIRECT,
    TABLES_FILTER,
    Case,
    Cell,
    Plan,
    Read,
    array_of,
    measured,
    megabytes,
    same,
    through_filter,
    under,
)

FILTERS = tables.Filters(complevel=5, complib="blosc2:zstd", shuffle=True)

# A stack of images, a chunk each, as in the post on direct chunking.


def direct(plan: Plan) -> Iterator[Cell]:
    """The whole stack written and read, image by image."""
    # More than the caches of PyTables (16 MiB) and h5py (8 MiB) hold, as in a pass over a real stack.
    sizes = [(160, 256, 256), (8, 1280, 960)]
    if not plan.quick:
        sizes = [(400, 256, 256), (20, 1280, 960), (6, 5120, 3840)]
    for shape in sizes:
        yield from stack_of(plan, shape)


def stack_of(plan: Plan, shape: tuple[int, int, int]) -> Iterator[Cell]:
    """A stack of one size of images."""
    count, height, width = shape
    image = np.arange(height * width, dtype=np.uint32).astype(np.uint16).reshape(height, width)
    images = [np.roll(image, 7 * k, axis=0) for k in range(count)]
    items = np.stack(images)
    label = f"{count} images of {height} x {width}, uint16, {megabytes(image.nbytes)} each"
    paths = {name: plan.folder / f"{name}.h5" for name in (OURS, TABLES_DIRECT, TABLES_FILTER, "h5py")}
    writers: dict[str, Callable[[Path, list[np.ndarray]], None]] = {
        OURS: write_ours,
        TABLES_DIRECT: write_direct,
        TABLES_FILTER: write_pipeline,
        "h5py": write_h5py,
    }
    for name, write in writers.items():
        write(paths[name], images)
        with h5py.File(paths[name]) as file:
            same(f"{name}, written", file["x"][...], items)
    calls = {
        name: lambda name=name, write=write: write(paths[name], images) for name, write in writers.items()
    }
    goals = {TABLES_FILTER: 3.0, TABLES_DIRECT: 1.2}
    yield measured(plan, Case("direct", "write", label, items.nbytes, goals), calls)
    yield read_stack(
        plan, paths, Case("direct", "read", label, items.nbytes, {**goals, TABLES_FILTER: 4.0}), items
    )


def write_ours(path: Path, images: list[np.ndarray]) -> None:
    """An image at a time, each a chunk that is encoded on all cores."""
    with cq.open(path, "w") as file:
        one = images[0].shape
        stack = file.create_dataset("x", (0, *one), "u2", chunks=(1, *one), maxshape=(None, *one))
        for image in images:
            stack.append(image[None])


def earray(file: Any, one: tuple[int, ...]) -> Any:
    """PyTables' array that grows, an image a chunk."""
    return file.create_earray("/", "x", tables.UInt16Atom(), (0, *one), filters=FILTERS, chunkshape=(1, *one))


def write_direct(path: Path, images: list[np.ndarray]) -> None:
    """As the post does it: grow, encode with python-blosc2, write the chunk."""
    options = {"codec": blosc2.Codec.ZSTD, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE], "nthreads": 2}
    with tables.open_file(str(path), "w") as file:
        stack = earray(file, images[0].shape)
        for k, image in enumerate(images):
            stack.truncate(k + 1)
            frame = blosc2.asarray(image[None], chunks=(1, *image.shape), cparams=options)
            stack.write_chunk((k, 0, 0), frame.to_cframe())


def write_pipeline(path: Path, images: list[np.ndarray]) -> None:
    """PyTables through the filter."""
    with tables.open_file(str(path), "w") as file:
        stack = earray(file, images[0].shape)
        put = under("BLOSC2_FILTER", "1", stack.append)
        for image in images:
            put(image[None])


def write_h5py(path: Path, images: list[np.ndarray]) -> None:
    """h5py with hdf5plugin."""
    with h5py.File(path, "w") as file:
        shape = (len(images), *images[0].shape)
        by_plugin = dict(hdf5plugin.Blosc2(cname="zstd", clevel=5))
        stack = file.create_dataset("x", shape, "u2", chunks=(1, *shape[1:]), **by_plugin)
        for k, image in enumerate(images):
            stack[k] = image


def read_stack(plan: Plan, paths: dict[str, Path], case: Case, items: np.ndarray) -> Cell:
    """Image by image; each reads the file that it wrote."""
    with ExitStack() as stack:
        file = stack.enter_context(h5py.File(paths["h5py"]))
        own = stack.enter_context(h5py.File(paths[OURS]))
        chunked = stack.enter_context(tables.open_file(str(paths[TABLES_DIRECT]))).root.x
        node = stack.enter_context(tables.open_file(str(paths[TABLES_FILTER]))).root.x

        def read_direct(k: int) -> np.ndarray:
            return blosc2.ndarray_from_cframe(chunked.read_chunk((k, 0, 0)))[0]

        readers: dict[str, Read] = {
            OURS: array_of(own["x"]).__getitem__,
            TABLES_DIRECT: read_direct,
            TABLES: node.__getitem__,
            TABLES_FILTER: through_filter(node),
            "h5py": file["x"].__getitem__,
        }
        for name, read in readers.items():
            for k in (0, len(items) - 1):
                same(f"{name}, image {k}", read(k), items[k])
        calls = {
            name: lambda read=read: [read(k) for k in range(len(items))] for name, read in readers.items()
        }
        return measured(plan, case, calls)


# The table of a million chunks.


def table(plan: Plan) -> Iterator[Cell]:
    """The chunks of a file listed, and a first element read, from the closed file on; by kind of index."""
    count = 10**5 if plan.quick else 10**6
    kinds: dict[str, tuple[str, tuple[int, ...], tuple[int | None, ...]]] = {
        "btree1": ("earliest", (count,), (count,)),
        "fixed array": ("latest", (count,), (count,)),
        "extensible array": ("latest", (count,), (None,)),
        "btree2": ("latest", (1000, count // 1000), (None, None)),
    }
    if not plan.full:
        kinds = {kind: kinds[kind] for kind in ("btree1", "extensible array")}
    for kind, (libver, shape, maxshape) in kinds.items():
        path = plan.folder / "table.h5"
        with cq.hdf5.File(path, "w", libver=libver) as file:
            items = np.arange(count, dtype="u4").reshape(shape)
            options = {"chunks": (1,) * len(shape), "maxshape": maxshape, "filter": "gzip", "level": 1}
            file.create_dataset("x", shape, items.dtype, **options)[...] = items
        with h5py.File(path) as file:
            header = h5py.h5o.get_info(file["x"].id).addr
            rows = [info.byte_offset for info in chunk_list(file["x"])]
        found, parsed = cq._core.read_index(str(path), header)
        if found != kind or sorted(row[1] for row in parsed) != sorted(rows):
            raise AssertionError(f"{kind}: {found} with another table than h5py's")
        del parsed, rows
        yield from listings(plan, path, header, f"{count:,} chunks, {kind}", items.flat[-1])
        path.unlink()


def listings(plan: Plan, path: Path, header: int, label: str, last: int) -> Iterator[Cell]:
    """All chunks; and the last element, for which libhdf5 reads a path of its tree."""

    def by_libhdf5() -> int:
        with h5py.File(path) as file:
            return file["x"].id.get_num_chunks()

    def by_callback() -> list[Any]:
        with h5py.File(path) as file:
            return chunk_list(file["x"])

    def last_of_ours() -> Any:
        with cq.open(path) as file:
            dataset = file["x"]
            return dataset[(-1,) * dataset.ndim]

    def last_of_h5py() -> Any:
        with h5py.File(path) as file:
            dataset = file["x"]
            return dataset[(-1,) * dataset.ndim]

    calls: dict[str, Call] = {
        OURS: lambda: cq._core.count_index(str(path), header),
        "libhdf5's iteration": by_libhdf5,
        "h5py chunk_iter": by_callback,
    }
    yield measured(plan, Case("table", "all chunks", label, 0, limit=0.1), calls)
    same(label, [last_of_ours(), last_of_h5py()], np.array([last, last]))
    calls = {OURS: last_of_ours, "h5py": last_of_h5py}
    yield measured(plan, Case("table", "opened, an element read", label, 0), calls)


def chunk_list(dataset: h5py.Dataset) -> list[Any]:
    """All chunks as h5py tells them."""
    infos: list[Any] = []
    dataset.id.chunk_iter(infos.append)
    return infos


# Appending.

PIECES = 100  # of a call, so that each call encodes as many chunks


def append(plan: Plan) -> Iterator[Cell]:
    """Small pieces at the end of a dataset, where a piece is a tenth of a chunk, and a whole one."""
    for rows in (100, 1000):
        with ExitStack() as stack:
            piece = np.random.default_rng(7).normal(size=rows).round(2)
            case = Case(
                "append",
                f"{PIECES} pieces of {rows}",
                "float64, chunks of 1000, Blosc2-Zstd 5",
                PIECES * piece.nbytes,
                limit=PIECES * 25e-6,
                beyond="encoding alone",
            )
            yield appended(plan, case, piece, stack)


def appended(plan: Plan, case: Case, piece: np.ndarray, stack: ExitStack) -> Cell:
    """Each call makes the datasets longer; at the end all of them are read back."""
    options: dict[str, Any] = {"chunks": (1000,), "maxshape": (None,)}
    files = {name: plan.folder / f"append-{name}.h5" for name in ("session", "append", "h5py", "tables")}

    def empty_of_ours(name: str) -> Any:
        file = stack.enter_context(cq.hdf5.File(files[name], "w", libver="latest"))
        return file.create_dataset("x", (0,), "f8", **options)

    session_of, plain = empty_of_ours("session"), empty_of_ours("append")
    session = stack.enter_context(session_of.appending())
    # Full chunks leave HDF5's caches encoded, as in a long run; by default thousands would stay there.
    cache = 8 * 8000
    file = stack.enter_context(h5py.File(files["h5py"], "w", libver="latest", rdcc_nbytes=cache))
    by_plugin = dict(hdf5plugin.Blosc2(cname="zstd", clevel=5))
    theirs = file.create_dataset("x", (0,), "f8", **options, **by_plugin)
    tabled = stack.enter_context(tables.open_file(str(files["tables"]), "w", CHUNK_CACHE_SIZE=cache))
    node = tabled.create_earray("/", "x", tables.Float64Atom(), (0,), filters=FILTERS, chunkshape=(1000,))
    slots = [(code, True, list(values)) for code, _, values in plain.filters]
    chunk = np.resize(piece, 1000)

    def by_h5py(values: np.ndarray) -> None:
        rows = theirs.shape[0]
        theirs.resize(rows + len(values), axis=0)
        theirs[rows:] = values

    def encode(values: np.ndarray) -> None:
        for _ in range(PIECES * len(values) // 1000):
            cq._core.filter_encode(slots, (1000,), 8, chunk)

    def pieces(put: Callable[[np.ndarray], object]) -> Call:
        def run() -> None:
            for _ in range(PIECES):
                put(piece)

        return run

    calls = {
        OURS: pieces(session.append),
        "coquina, no session": pieces(plain.append),
        # Chunks of 8 KB are not worth a second thread, which their filters would start for each.
        "h5py": under("BLOSC_NTHREADS", "1", pieces(by_h5py)),
        TABLES: under("BLOSC_NTHREADS", "1", pieces(node.append)),
        "encoding alone": lambda: encode(piece),
    }
    cell = measured(plan, case, calls)
    session.flush()
    for name, dataset in {"session": session_of, "append": plain, "h5py": theirs, TABLES: node}.items():
        if len(dataset) % (PIECES * len(piece)) or not len(dataset):
            raise AssertionError(f"{name}: {len(dataset)} rows")
        same(f"{name}, appended", dataset[:], np.resize(piece, len(dataset)))
    return cell
