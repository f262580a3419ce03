"""Writes HDF5 files with every kind of chunk index, and the table of their chunks as libhdf5 has it.

The golden files are `hdf5/index-*.h5`, never rewritten; `hdf5/index-tables.txt` has a line for each
dataset and one for each of its chunks:

    FILE SHA256 DATASET HEADER LAYOUT      header: address of the object header; layout: see `layout_of`
     START ADDRESS SIZE MASK               start: coordinates of the first item, with commas

Addresses come from `H5Dchunk_iter`. Coordinates come from reading every chunk: for extensible arrays whose
unlimited axis is not the first one, those of `H5Dchunk_iter` are wrong in HDF5 2.0.0.

Run: python tests/golden/make_hdf5_index.py
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
from h5py import h5d, h5f, h5o, h5p, h5s, h5t

FOLDER = Path(__file__).parent / "hdf5"
LIBVERS = {
    "earliest": h5f.LIBVER_EARLIEST,
    "v108": h5f.LIBVER_V18,
    "v110": h5f.LIBVER_V110,
    "v114": h5f.LIBVER_V114,
    "v200": h5f.LIBVER_V200,
}
LIBRARY = ctypes.CDLL(str(next((Path(h5py.__file__).parent.parent / "h5py.libs").glob("libhdf5-*"))))
LIBRARY.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
LIBRARY.H5Pset_istore_k.argtypes = [ctypes.c_int64, ctypes.c_uint]

Shape = tuple[int, ...]
Chunk = tuple[Shape, int, int, int]


def new_file(
    path: Path, low: str, userblock: int = 0, sizes: tuple[int, int] = (8, 8), k: int = 0
) -> h5py.File:
    fcpl, fapl = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    if userblock:
        fcpl.set_userblock(userblock)
    fcpl.set_sizes(*sizes)
    if k:
        assert LIBRARY.H5Pset_istore_k(fcpl.id, k) >= 0
    high = h5f.LIBVER_LATEST if low == "earliest" else LIBVERS[low]
    fapl.set_libver_bounds(LIBVERS[low], high)
    return h5py.File(h5f.create(str(path).encode(), h5f.ACC_TRUNC, fcpl, fapl))


def new(
    file: h5py.File,
    name: str,
    shape: Shape,
    chunks: Shape,
    *,
    most: tuple[int | None, ...] | None = None,
    filters: str = "",
    early: bool = False,
    whole_edges: bool = False,
    dtype: str = "<u2",
) -> h5py.Dataset:
    """Filters: `s`huffle, `g`zip, `f`letcher32. With `whole_edges`, cut chunks are not filtered."""
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk(chunks)
    for letter in filters:
        {"s": dcpl.set_shuffle, "g": dcpl.set_deflate, "f": dcpl.set_fletcher32}[letter]()
    if early:
        dcpl.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    if whole_edges:
        assert LIBRARY.H5Pset_chunk_opts(dcpl.id, 2) >= 0
    limits = tuple(h5s.UNLIMITED if n is None else n for n in most or shape)
    space = h5s.create_simple(shape, limits)
    return h5py.Dataset(h5d.create(file.id, name.encode(), h5t.py_create(np.dtype(dtype)), space, dcpl))


def fill(dataset: h5py.Dataset, first: int = 1) -> None:
    """Numbers that make every chunk another one."""
    dataset[...] = (np.arange(dataset.size) + first).astype(dataset.dtype).reshape(dataset.shape)


def scatter(dataset: h5py.Dataset, places: list[Shape]) -> None:
    for number, place in enumerate(places):
        dataset[place] = number + 1


def masked(dataset: h5py.Dataset) -> None:
    """Some chunks that a filter skipped, stored in bytes of other lengths."""
    for number, start in enumerate(origins_of(dataset)):
        if number % 3 != 1:
            data = np.arange(200 + number * 7, dtype="u1")[: 3 + number % 5].tobytes() + bytes([number])
            dataset.id.write_direct_chunk(start, data, number % 3)


def of_all_kinds(file: h5py.File) -> None:
    """Each index that this version of the format has, in its forms."""
    fill(new(file, "one", (5, 7), (5, 7)))
    fill(new(file, "one-filtered", (5, 7), (5, 7), filters="sg"))
    masked(new(file, "one-masked", (5, 7), (5, 7), filters="sg"))
    new(file, "one-nowhere", (5, 7), (5, 7), filters="sg")
    fill(new(file, "early", (5, 7), (2, 3), early=True))
    grown = new(file, "early-grown", (3, 4), (2, 3), most=(6, 8), early=True)
    fill(grown)
    grown.resize((6, 5))
    fill(new(file, "fixed", (7, 8, 3), (2, 3, 2)))
    scatter(new(file, "fixed-sparse", (7, 8), (2, 3), most=(9, 11)), [(0, 0), (6, 2), (3, 7)])
    masked(new(file, "fixed-masked", (7, 8), (2, 3), filters="sgf"))
    new(file, "fixed-nowhere", (7, 8), (2, 3))
    fill(new(file, "fixed-whole-edges", (7, 8), (2, 3), filters="g", whole_edges=True))
    fill(new(file, "growing", (50,), (1,), most=(None,)))
    second = new(file, "growing-second", (5, 9, 4), (2, 1, 3), most=(6, None, 7), filters="f")
    fill(second)
    second.resize((6, 11, 7))
    scatter(second, [(5, 10, 6), (0, 10, 3)])
    shrunk = new(file, "growing-shrunk", (70, 2), (1, 1), most=(None, 2), filters="g")
    fill(shrunk)
    shrunk.resize((31, 2))
    masked(new(file, "growing-masked", (40, 3), (1, 3), most=(None, 3), filters="sg"))
    new(file, "growing-nowhere", (0, 3), (1, 3), most=(None, 3))
    fill(new(file, "tree", (9, 10), (1, 1), most=(None, None)))
    masked(new(file, "tree-masked", (9, 8), (2, 2), most=(None, None), filters="sg"))
    fill(new(file, "tree-whole-edges", (5, 5), (2, 2), most=(None, None), filters="g", whole_edges=True))
    file.create_dataset("contiguous", data=np.arange(10))


def newest_kinds(file: h5py.File) -> None:
    """Those whose bytes a newer version of the layout changes."""
    masked(new(file, "one-masked", (5, 7), (5, 7), filters="sg"))
    fill(new(file, "early", (5, 7), (2, 3), early=True))
    masked(new(file, "fixed-masked", (7, 8), (2, 3), filters="sgf"))
    fill(new(file, "fixed", (7, 8), (2, 3)))
    masked(new(file, "growing-masked", (40, 3), (1, 3), most=(None, 3), filters="sg"))
    fill(new(file, "growing", (50,), (1,), most=(None,)))
    masked(new(file, "tree-masked", (9, 8), (2, 2), most=(None, None), filters="sg"))


def old_kinds(file: h5py.File) -> None:
    fill(new(file, "tree", (12, 13), (1, 2)))
    scatter(
        new(file, "sparse", (70, 80, 3), (2, 3, 2), most=(None, 90, 3)), [(0, 0, 0), (69, 2, 1), (33, 79, 2)]
    )
    masked(new(file, "masked", (7, 8), (2, 3), filters="sgf"))
    shrunk = new(file, "shrunk", (40, 3), (1, 3), most=(None, None), filters="g")
    fill(shrunk)
    shrunk.resize((31, 9))
    scatter(shrunk, [(30, 8), (2, 4)])
    new(file, "nowhere", (7, 8), (2, 3))
    named = new(file, "named", (5,), (2,), dtype="<f8")
    fill(named)
    for number in range(12):
        named.attrs[f"attribute {number}"] = np.arange(number)
    file.create_dataset("contiguous", data=np.arange(10))
    file.create_dataset("contiguous-nowhere", shape=(4, 2), dtype="<i4")
    compact = h5p.create(h5p.DATASET_CREATE)
    compact.set_layout(h5d.COMPACT)
    h5d.create(file.id, b"compact", h5t.STD_I32LE, h5s.create_simple((4,)), compact)


def deep_old(file: h5py.File) -> None:
    fill(new(file, "deep", (50,), (1,)))
    deep = new(file, "shuffled", (12, 12), (1, 1))
    scatter(deep, [(n * 5 % 12, n * 7 // 12 % 12) for n in range(40)])


def deep_new(file: h5py.File) -> None:
    shape = (2,) * 7 + (1,) * 25
    deep = new(file, "deep", shape, (1,) * 32, most=(None,) * 32, dtype="u1")
    scatter(deep, list(itertools.islice(np.ndindex(*shape), 60)))


def pages(file: h5py.File) -> None:
    fixed = new(file, "fixed", (2100,), (1,), dtype="u1")
    scatter(fixed, [(3,), (2,), (1023,), (2048,), (2099,)])
    fixed = new(file, "fixed-filtered", (1025, 1), (1, 1), filters="f", dtype="u1")
    scatter(fixed, [(1024, 0), (0, 0), (77, 0)])
    # The first long data block that is in pages is number 0 of group 13; this is in page 1 of number 1.
    growing = new(file, "growing", (1, 135_000), (1, 1), most=(1, None), dtype="u1")
    scatter(growing, [(0, 134_134), (0, 2), (0, 400)])


def narrow(file: h5py.File) -> None:
    fill(new(file, "tree", (5, 7), (2, 2)))
    masked(new(file, "masked", (7, 8), (2, 3), filters="sgf"))


def narrow_new(file: h5py.File) -> None:
    fill(new(file, "fixed", (5, 7), (2, 2)))
    masked(new(file, "growing-masked", (7, 8), (2, 3), most=(None, 8), filters="sgf"))
    masked(new(file, "tree-masked", (7, 8), (2, 3), most=(None, None), filters="sgf"))


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout((4,), "i4")
    layout[:2] = h5py.VirtualSource("elsewhere.h5", "x", (2,))
    file.create_virtual_dataset("virtual", layout)


FILES: dict[str, tuple[Callable[[h5py.File], None], dict[str, object]]] = {
    "earliest": (old_kinds, {"low": "earliest", "k": 4}),
    "earliest-userblock": (narrow, {"low": "earliest", "userblock": 1024}),
    "earliest-narrow": (narrow, {"low": "earliest", "sizes": (4, 4)}),
    "earliest-deep": (deep_old, {"low": "earliest", "k": 2}),
    "v108-userblock": (old_kinds, {"low": "v108", "userblock": 512, "k": 4}),
    "v110": (of_all_kinds, {"low": "v110"}),
    "v110-virtual": (virtual, {"low": "v110"}),
    "v110-pages": (pages, {"low": "v110"}),
    "v114-narrow-userblock": (narrow_new, {"low": "v114", "sizes": (4, 8), "userblock": 512}),
    "v114-deep": (deep_new, {"low": "v114"}),
    "v200": (newest_kinds, {"low": "v200"}),
}


def origins_of(dataset: h5py.Dataset) -> Iterator[Shape]:
    return itertools.product(*(range(0, n, c) for n, c in zip(dataset.shape, dataset.chunks, strict=True)))


def chunks_of(dataset: h5py.Dataset, content: bytes) -> Iterator[Chunk]:
    found: list[Chunk] = []
    dataset.id.chunk_iter(lambda c: found.append((c.chunk_offset, c.byte_offset, c.size, c.filter_mask)))
    limits = dataset.maxshape
    has_true_starts = limits.count(None) != 1 or limits[0] is None
    # Their bytes say which chunk is which: each chunk has other ones.
    named = {
        start if has_true_starts else content[at : at + size]: (at, size, mask)
        for start, at, size, mask in found
    }
    assert len(named) == len(found), dataset.name
    if has_true_starts:
        starts = sorted(start for start, *_ in found)
    else:
        starts = sorted(
            {
                tuple(n // c * c for n, c in zip(place, dataset.chunks, strict=True))
                for place in np.argwhere(dataset[...]).tolist()
            }
        )
    for start in starts:
        mask, read = dataset.id.read_direct_chunk(start)
        at, size, known_mask = named[start if has_true_starts else read]
        assert (content[at : at + size], known_mask) == (read, mask), (dataset.name, start)
        yield start, at, size, mask


def layout_of(dataset: h5py.Dataset, version: str) -> str:
    """What the reader is to say, in its words."""
    dcpl = dataset.id.get_create_plist()
    if dataset.is_virtual:
        return "virtual"
    if dcpl.get_layout() == h5d.COMPACT:
        return "compact"
    if dcpl.get_layout() == h5d.CONTIGUOUS:
        # Where there is a user block, `get_offset` says an address for what is nowhere.
        is_somewhere = dataset.id.get_space_status() != h5d.SPACE_STATUS_NOT_ALLOCATED
        return f"contiguous {dataset.id.get_offset() if is_somewhere else None} {dataset.nbytes}"
    name = dataset.name.strip("/").split("-")[0]
    kinds = {"one": "SingleChunk", "early": "Implicit", "fixed": "FixedArray", "growing": "ExtensibleArray"}
    kind = "BTree1" if version in ("earliest", "v108") else kinds.get(name, "BTree2")
    dims = ",".join(map(str, dataset.chunks))
    edges = "whole" if dataset.name.endswith("whole-edges") else "filtered"
    return f"{kind} {dims} {dataset.dtype.itemsize} {edges}"


def lines_of(path: Path, version: str) -> Iterator[str]:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    with h5py.File(path, "r") as file:
        for name, dataset in sorted(file.items()):
            header = h5o.get_info(dataset.id).addr
            yield f"{path.name} {digest} {name} {header} {layout_of(dataset, version)}"
            if dataset.chunks:
                for start, place, size, mask in chunks_of(dataset, content):
                    yield f" {','.join(map(str, start))} {place} {size} {mask}"


def main() -> None:
    tables = FOLDER / "index-tables.txt"
    if tables.exists():
        raise SystemExit(f"{tables} exists: golden files are never rewritten")
    with tables.open("w") as out:
        for name, (write, options) in FILES.items():
            path = FOLDER / f"index-{name}.h5"
            with new_file(path, **options) as file:  # type: ignore[arg-type]
                write(file)
            out.writelines(f"{line}\n" for line in lines_of(path, name.split("-")[0]))


if __name__ == "__main__":
    main()
