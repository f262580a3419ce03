"""What an HDF5 dataset is, and how its items may be fetched.

In: a dataset of h5py. Out: `Facts`: all that the engine is told about it, with the access path: "direct"
    (chunks are
read from a descriptor of ours, or by ranges of a remote file), "fetched" (chunks come from
libhdf5, in batches) or "whole" (libhdf5 runs its own filter pipeline), and the reason why it is not a faster
one.
Source: tests/hdf5/test_access_paths.py has a case for every rule, and each failed without its rule.
Invariant: nothing is decided by trying: an access path is legal by what is known before a byte is read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina import _core
from coquina._core import CorruptError
from coquina.dtypes import dtype_text
from coquina.hdf5 import checksums, chunk_encoding
from coquina.hdf5.file_facts import FileFacts
from coquina.hdf5.fill_values import fill_bytes
from coquina.hdf5.item_types import bare, stored_dtype
from coquina.hdf5.meanings import is_time64, is_truth, terminated_in
from coquina.hdf5.times import shown_seconds
from coquina.hdf5.untyped import h5d, h5g, h5i, h5s, h5t, h5z
from coquina.hdf5.zones import zone_fields

if TYPE_CHECKING:
    from coquina._core import ArrayHandle, DatasetVersion, Hdf5Library
    from coquina.hdf5.chunk_encoding import ChunkEncoding
    from coquina.remote import RangeReader

AccessPath = Literal["direct", "fetched", "whole"]
#: From the fastest to the one that is always legal.
ACCESS_PATHS: tuple[AccessPath, ...] = ("direct", "fetched", "whole")
#: The id of the filter of images.
HTJ2K = 32033
Filter = tuple[int, str, bool, tuple[int, ...]]
#: Numbers in an item: where each starts, and the name of its type.
Zones = Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a dataset when it is opened.

    shape, chunks: of the file's axes, then of those that an array datatype adds; `rank` counts the file's.
        No chunks for other layouts.
    maxshape: None along an unlimited axis; of the file's axes.
    dtype: of an item. is_exact: whether it has the bytes that are stored; else libhdf5 converts them.
    fill: the bytes of an item that was never written.
    filters: id, name, whether it may be skipped, and parameters of each, in the order of writing.
    layout: "chunked", "contiguous", "compact" or "virtual".
    access, reason: see the module; no reason for "direct".
    name, place: in the file, and with the file, for errors. path, device, inode: of the file, if it is simply
        one.
    remote: the reader of a remote file.
    checksums: whether chunks that are written get checksums, if Blosc2 is their only filter.
    header: where in the file the dataset is described. contiguous: where the items of one without chunks are.
    terminated: offset, size and number of strings in an item that end at their first NUL.
    is_time: whether the items are PyTables' times, stored as integers; `dtype` and `fill` are of seconds.
    own_encoding: how chunks that are written are encoded, where the filter's parameters do not say it.
    """

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    maxshape: tuple[int | None, ...]
    rank: int
    dtype: np.dtype[Any]
    is_exact: bool
    fill: bytes
    filters: list[Filter]
    layout: str
    access: AccessPath
    reason: str | None
    is_writable: bool
    name: str
    place: str
    path: str | None
    device: int | None
    inode: int | None
    header: int | None
    contiguous: int | None
    remote: RangeReader | None
    checksums: bool
    terminated: Sequence[tuple[int, int, int]]
    is_time: bool = False
    own_encoding: ChunkEncoding | None = None

    @property
    def encoding(self) -> chunk_encoding.Terms | None:
        """How chunks that are written are encoded, as the engine takes it; None for as the filter says."""
        return None if self.own_encoding is None else self.own_encoding.terms

    @property
    def dtype_text(self) -> str:
        """The text that the engine keeps of the dtype."""
        return dtype_text(self.dtype)

    @property
    def itemsize(self) -> int:
        """Bytes of an item."""
        return self.dtype.itemsize

    @property
    def seconds(self) -> str | None:
        """The byte order of items that are PyTables' times, "little" or "big"; None for others."""
        if not self.is_time:
            return None
        return "big" if self.dtype.str[0] == ">" else "little"

    def library_of(
        self, dataset: Any, attributes: Any = None, version: DatasetVersion | None = None
    ) -> Hdf5Library:
        """Lend the dataset to the engine. Items whose bytes NumPy does not know are converted by libhdf5.

        attributes: what reads and writes those that say how chunks are encoded; None for nobody. version:
        counts the changes of the dataset, by all of its handles.
        """
        memory_type = None if self.is_exact else h5t.py_create(self.dtype)
        return _core.Hdf5Library(
            dataset, memory_type=memory_type, attributes=attributes, version=version, name=self.name
        )

    def with_edges_of(self, library: Hdf5Library) -> Facts:
        """Return them for a dataset of which chunks at the edge may be stored as they are.

        Such chunks have filter mask 0 as others have: who writes one must leave it to libhdf5.
        """
        if self.access != "fetched" or not self.is_writable or not self.filters:
            return self
        # Beside the axes of the file, chunks have those of an array datatype.
        pairs = zip(self.maxshape, self.chunks, strict=False)
        if not [most for most, chunk in pairs if most is None or most % chunk]:
            return self
        if library.filters_partial_edges is not False:
            return self
        return replace(self, access="whole", reason="chunks at the edge have no filters: libhdf5 writes them")

    def open(
        self,
        library: Hdf5Library,
        access: AccessPath | None = None,
        blocks: tuple[int, ...] | None = None,
        zones: Zones = (),
    ) -> ArrayHandle:
        """Return the engine's array of the dataset.

        access: a slower one than the legal one. blocks: of chunks to come, where there is none yet. zones:
            what
        chunks that are written get a zone map of, if they can have one; see `docs/formats/hdf5-filters.md`.
        Raises ValueError for zones that are not numbers of the dtype: bounds of others would not be theirs.
        """
        numbers = zone_fields(self.dtype) if zones and not self.is_time else []
        for zone in zones:
            if tuple(zone) not in numbers:
                raise ValueError(f"zones: {zone} is not a number or text in items of {self.dtype}")
        return _core.open_dataset(library, self, access=access or self.access, blocks=blocks, zones=zones)


def describe(
    dataset: Any, place: tuple[int, int] | None = None, file: FileFacts | None = None, plist: Any = None
) -> Facts | None:
    """Return the facts of a dataset of h5py; None if no `Array` can have its items.

    These are variable-length strings and sequences, references, opaque bytes, and datasets without a shape.
    place: what `place_of` told. file: what is known of the file. plist: the dataset's properties.
    """
    tid = dataset.id.get_type()
    items = item_dtype(dataset, tid)
    if items is None:
        return None
    space = dataset.id.get_space()
    if space.get_simple_extent_type() == h5s.NULL:
        return None
    number, header = place or place_of(dataset.id)
    file = file or FileFacts.of(dataset.id, number)
    facts = _facts(dataset, space, items, header, file, plist)
    if isinstance(tid, h5t.TypeIntegerID | h5t.TypeFloatID):
        # They mean what they are, as most do.
        return facts
    if facts.dtype == np.uint8 and is_truth(dataset.id):
        return replace(facts, dtype=np.dtype(np.bool_))
    if facts.dtype.kind == "i" and is_time64(dataset.id):
        seconds = facts.dtype.str.replace("i", "f")
        fill = shown_seconds(np.frombuffer(facts.fill, facts.dtype)).astype(seconds).tobytes()
        return replace(facts, dtype=np.dtype(seconds), fill=fill, is_time=True)
    return _with_strings(facts, dataset)


def describe_new(dataset: Any, stored: np.dtype[Any], header: int, file: FileFacts) -> Facts:
    """Return the facts of a dataset of h5py that was just made: PyTables has not marked it as anything.

    stored: the dtype of its bytes. header: where it is described. file: what is known of the file.
    """
    return _with_strings(_facts(dataset, dataset.id.get_space(), (stored, True), header, file), dataset)


def _with_strings(facts: Facts, dataset: Any) -> Facts:
    return replace(facts, terminated=terminated_in(dataset.id)) if facts.dtype.kind in "SV" else facts


def describe_bytes(dataset: Any) -> Facts:
    """Return the facts of a dataset of h5py as one whose items are bytes without meaning.

    They must be of fixed size: neither of variable length nor references.
    """
    items = np.dtype(f"V{dataset.id.get_type().get_size()}"), True
    number, header = place_of(dataset.id)
    return _facts(dataset, dataset.id.get_space(), items, header, FileFacts.of(dataset.id, number))


def _facts(
    dataset: Any,
    space: Any,
    items: tuple[np.dtype[Any], bool],
    header: int,
    file: FileFacts,
    plist: Any = None,
) -> Facts:
    whole, is_exact = items
    did = dataset.id
    dtype, axes = whole if whole.subdtype is None else whole.base, whole.shape
    plist = plist or did.get_create_plist()
    layout = _LAYOUTS.get(plist.get_layout(), "unknown")
    shape = space.get_simple_extent_dims()
    offset = did.get_offset() if layout == "contiguous" else None
    fill = fill_bytes(dataset, plist, whole, is_exact)
    item_fill = fill[: dtype.itemsize]
    filters = filters_of(plist)
    is_uniform = fill == item_fill * (len(fill) // max(len(item_fill), 1))
    reason = _why_whole(layout, is_exact, is_uniform, filters) or _why_not_decoded(whole, filters)
    access: AccessPath = "whole"
    if reason is None or (layout == "contiguous" and is_exact):
        direct = _why_not_direct(plist, file, layout, offset)
        access = "direct" if direct is None else "fetched" if reason is None else "whole"
        reason = direct
    name = h5i.get_name(did)
    name = name.decode(errors="replace") if name else "a dataset without a name"
    return Facts(
        shape=(*shape, *axes),
        chunks=(*plist.get_chunk(), *axes) if layout == "chunked" else (),
        maxshape=tuple([None if n == h5s.UNLIMITED else n for n in space.get_simple_extent_dims(True)]),
        rank=len(shape),
        dtype=dtype,
        is_exact=is_exact,
        fill=item_fill,
        filters=filters,
        layout=layout,
        access=access,
        reason=reason,
        is_writable=file.is_writable,
        name=name,
        place=f"{file.name}: {name}",
        path=file.path,
        device=file.device,
        inode=file.inode,
        header=header,
        contiguous=offset,
        remote=file.remote,
        # Readers need not ask: chunks say themselves whether they have some.
        checksums=not file.is_writable or checksums.are_wanted(did),
        terminated=(),
        own_encoding=_own_encoding(did, filters) if file.is_writable else None,
    )


def _own_encoding(did: Any, filters: list[Filter]) -> ChunkEncoding | None:
    """Return what an attribute says of chunks to come; nothing if it is damaged, which writes will tell."""
    with suppress(CorruptError):
        return chunk_encoding.read(did, [(code, values) for code, _, _, values in filters])
    return None


def place_of(node: Any) -> tuple[int, int]:
    """Return which file a low-level object of h5py is in, and where in it its header stands."""
    # `h5o.get_info` counts the bytes of the index of chunks too, which takes long where there are many.
    info = h5g.get_objinfo(node, b".")
    low, high = info.objno
    return info.fileno[0], low | high << 32


_LAYOUTS = {
    h5d.COMPACT: "compact",
    h5d.CONTIGUOUS: "contiguous",
    h5d.CHUNKED: "chunked",
    h5d.VIRTUAL: "virtual",
}


def item_dtype(dataset: Any, tid: Any = None) -> tuple[np.dtype[Any], bool] | None:
    """Return the dtype of the items of a dataset, and whether it has the bytes that are stored.

    This is the one place that decides which datasets are arrays; None for others. tid: its datatype.
    """
    tid = tid or dataset.id.get_type()
    exact = stored_dtype(tid)
    if exact is not None:
        return (exact, True) if exact.itemsize else None
    try:
        converted = bare(dataset.dtype)
    except TypeError:
        return None
    except ValueError:
        # Numbers that are more exact than all that NumPy has here; libhdf5 rounds them.
        return (np.dtype(np.longdouble), False) if isinstance(tid, h5t.TypeFloatID) else None
    is_opaque = converted.kind == "V" and converted.base.names is None
    return None if converted.hasobject or is_opaque or not converted.itemsize else (converted, False)


def filters_of(plist: Any) -> list[Filter]:
    """Return the filters that a creation property list names."""
    found: list[Filter] = []
    for code, flags, values, name in map(plist.get_filter, range(plist.get_nfilters())):
        shown = filter_name(code) or name.decode(errors="replace")
        found.append((code, shown, bool(flags & h5z.FLAG_OPTIONAL), values))
    return found


def filter_name(code: int) -> str | None:
    """Return how we call an HDF5 filter, None if we do not know it."""
    row = _known_filters().get(code)
    return None if row is None else row[0]


def can_decode(code: int) -> bool:
    """Whether chunks with this filter can be read here; the plugin that a filter needs is looked for."""
    row = _known_filters().get(code)
    return row is not None and (row[1] or _core.hdf5_filter_is_there(code))


def missing_filters(dataset: Any) -> list[int]:
    """Return the filters of a dataset that neither coquina nor libhdf5 can undo here."""
    codes = [code for code, *_ in filters_of(dataset.id.get_create_plist())]
    return [code for code in codes if not can_decode(code) and not h5z.filter_avail(code)]


@cache
def _known_filters() -> dict[int, tuple[str, bool, bool]]:
    return {code: (name, decodes, encodes) for code, name, decodes, encodes in _core.hdf5_filters()}


@lru_cache(maxsize=64)
def default_cut(
    shape: tuple[int, ...],
    itemsize: int,
    chunks: tuple[int, ...] | None = None,
    blocks: tuple[int, ...] | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return chunks and blocks by the rule that all new arrays are cut by; what is given stays."""
    given: dict[str, Any] = {"chunks": chunks, "blocks": blocks}
    wanted = {name: lengths for name, lengths in given.items() if lengths is not None}
    made = _core.create_array(shape, f"V{itemsize}", itemsize, fill="zeros", codec="lz4", **wanted)
    array = _core.ArrayBase(made, np.dtype(f"V{itemsize}"))
    return array.chunks, array.blocks


def _why_whole(layout: str, is_exact: bool, is_uniform: bool, filters: list[Filter]) -> str | None:
    """Return why chunks cannot be decoded here; None if they can."""
    if layout != "chunked":
        return f"{layout} layout: there are no chunks to fetch"
    if not is_exact:
        return "datatype: its bytes are not those of a NumPy dtype, so libhdf5 converts them"
    if not is_uniform:
        return "fill value of an array datatype: its parts differ"
    for code, name, _, _ in filters:
        if not can_decode(code):
            return f"filter {code} ({name or 'without a name'}): only libhdf5 can undo it"
    if os.environ.get("HDF5_VOL_CONNECTOR"):
        return "HDF5_VOL_CONNECTOR is set: chunks may be anywhere"
    return None


def _why_not_decoded(dtype: np.dtype[Any], filters: list[Filter]) -> str | None:
    """Return why a filter that we have is left to libhdf5: what it does depends on more than its parameters.

    N-bit packs records with arrays in them in a way of its own; HTJ2K without parameters knows no byte order.
    """
    for code, _, _, values in filters:
        if code == HTJ2K and not values and dtype.base.str[0] == ">":
            return "filter 32033 (htj2k): without parameters nothing says in which order bytes are"
        if code == h5z.FILTER_NBIT:
            fields = [dtype[name] for name in dtype.names or ()]
            if any(field.subdtype is not None or field.names is not None for field in fields):
                return "filter 5 (nbit): libhdf5 leaves out members of such records, which only it can tell"
    return None


def _why_not_direct(plist: Any, file: FileFacts, layout: str, offset: int | None) -> str | None:
    """Return why our own descriptor may not be read; None if it may. offset: of items in one piece."""
    reason = file.why_not_direct()
    if reason is not None:
        return reason
    # Chunks were asked for it already.
    if layout != "chunked" and os.environ.get("HDF5_VOL_CONNECTOR"):
        return "HDF5_VOL_CONNECTOR is set: chunks may be anywhere"
    if plist.get_external_count():
        return "external storage: the items are in other files"
    if layout == "contiguous" and offset is None:
        return "contiguous layout: nothing was written yet"
    return file.why_elsewhere()
