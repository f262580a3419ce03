"""What can be read of one dataset of a damaged file, and how that is copied.

In: a dataset of h5py in a file that nobody writes. Out: `Recovered`: the chunks that decode, and why others
do not. Invariant: a chunk that is good decodes to as many bytes as it must, and no other chunk claims bytes
of it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, product
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any

from coquina import _core
from coquina._core import CoquinaError, Hdf5Library, UnsupportedError
from coquina.hdf5.chunks import may_be_mixed_up
from coquina.hdf5.describing import can_decode, filters_of, missing_filters
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.storing import bytes_array, read
from coquina.hdf5.untyped import h5d, h5py, h5z
from coquina.indexing import lower
from coquina.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Start = tuple[int, ...]
Region = tuple[slice, ...]

#: What h5py and the engine raise where a file is damaged.
DAMAGE = (
    CoquinaError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    TypeError,
    ArithmeticError,
    MemoryError,
)

_BATCH = 32
_PLACES_MAX = 4_000_000  # where the list of chunks is damaged, every place of the grid is asked for
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Lost:
    """A part of a dataset that could not be read. region: which items; the copy has the fill value there."""

    region: Region
    reason: str

    def __str__(self) -> str:
        """Say which part, and why."""
        box = ", ".join(f"{part.start}:{part.stop}" for part in self.region)
        return f"[{box}]: {quoted(self.reason)}"


@dataclass
class Recovered:
    """What there is of a dataset.

    nchunks: chunks (or pieces) that were read. missing: chunks within the shape that are not stored, and
    read as the fill value: nothing may ever have been written there, or the index has forgotten them.
    empty_rows: so many rows at the end have no chunk. beyond: chunks that are stored outside of the shape.
    unchecked: chunks with a filter that nobody here can undo; they are copied as they are.
    """

    name: str
    shape: tuple[int, ...] | None
    nchunks: int = 0
    missing: int = 0
    empty_rows: int = 0
    beyond: int = 0
    unchecked: int = 0
    lost: list[Lost] = field(default_factory=list[Lost])
    good: list[Start] = field(default_factory=list[Start])

    @property
    def is_whole(self) -> bool:
        """Whether all that the dataset refers to was read."""
        return not self.lost

    @property
    def rows_lost(self) -> list[tuple[int, int]]:
        """Ranges of rows in which something is lost: start and stop, in order."""
        ranges: list[tuple[int, int]] = []
        for one in sorted((lost.region[0].start, lost.region[0].stop) for lost in self.lost if lost.region):
            if ranges and one[0] <= ranges[-1][1]:
                ranges[-1] = ranges[-1][0], max(one[1], ranges[-1][1])
            else:
                ranges.append(one)
        return ranges


@dataclass(frozen=True)
class _Row:
    start: Start
    address: int
    size: int
    mask: int


def check(dataset: Any, name: str, claims: Claims) -> Recovered:
    """Read all of a dataset, and tell what is good."""
    recovered = Recovered(name, dataset.shape)
    if dataset.shape is None:
        return recovered
    if dataset.chunks is not None:
        _check_chunks(dataset, recovered, claims)
    elif not dataset.is_virtual:
        _check_pieces(dataset, recovered)
    return recovered


class Claims:
    """Which bytes the chunks of all datasets claim: what two claim is right in one of them at most."""

    def __init__(self) -> None:
        """Begin without any."""
        self._rows: list[tuple[int, int, str, Start]] = []
        self.contested: set[tuple[str, Start]] = set()

    def add(self, name: str, rows: Iterable[_Row]) -> None:
        """Add the chunks of a dataset."""
        self._rows.extend((row.address, row.address + row.size, name, row.start) for row in rows if row.size)

    def settle(self) -> None:
        """Find out which are contested."""
        self._rows.sort()
        last: tuple[int, int, str, Start] | None = None
        for row in self._rows:
            if last is not None and row[0] < last[1]:
                self.contested |= {last[2:], row[2:]}
            if last is None or row[1] > last[1]:
                last = row
        self._rows.clear()


def list_chunks(dataset: Any) -> tuple[list[_Row], str | None]:
    """Return the stored chunks, and what is wrong with the list of them."""
    rows: list[_Row] = []

    def note(info: Any) -> None:
        rows.append(_Row(tuple(info.chunk_offset), info.byte_offset, info.size, info.filter_mask))

    try:
        if may_be_mixed_up(dataset.maxshape):
            return [_Row(*row) for row in Hdf5Library(dataset).chunk_table()], None
        dataset.id.chunk_iter(note)
    except DAMAGE as error:
        return rows, str(error)
    return rows, None


def region_of(dataset: Any, start: Start) -> Region:
    """Return the items of the chunk that begins at `start`."""
    ends = (
        min(at + length, end) for at, length, end in zip(start, dataset.chunks, dataset.shape, strict=True)
    )
    return tuple(slice(at, end) for at, end in zip(start, ends, strict=True))


def _check_chunks(dataset: Any, recovered: Recovered, claims: Claims) -> None:
    rows, trouble = list_chunks(dataset)
    inside = {row.start: row for row in rows if _is_inside(dataset, row.start)}
    recovered.beyond = len(rows) - len(inside)
    counts = [-(-length // cut) for length, cut in zip(dataset.shape, dataset.chunks, strict=True)]
    if trouble is not None:
        _ask_everywhere(dataset, recovered, inside, counts, trouble)
    recovered.nchunks = len(inside) + len(recovered.lost)
    recovered.missing = max(prod(counts) - recovered.nchunks, 0)
    stored_to = max((start[0] + dataset.chunks[0] for start in inside), default=0)
    recovered.empty_rows = max(dataset.shape[0] - stored_to, 0)
    checker = _Checker(dataset, recovered)
    sound: list[Start] = []
    for row in inside.values():
        if (recovered.name, row.start) in claims.contested:
            reason = "another chunk is stored over it, or it is over another one"
            recovered.lost.append(Lost(region_of(dataset, row.start), reason))
        else:
            sound.append(row.start)
    for start, reason in checker.run(sound):
        if reason is None:
            recovered.good.append(start)
        else:
            recovered.lost.append(Lost(region_of(dataset, start), reason))
    recovered.lost.sort(key=lambda lost: [part.start for part in lost.region])


def _is_inside(dataset: Any, start: Start) -> bool:
    return all(at < end for at, end in zip(start, dataset.shape, strict=True))


def _ask_everywhere(
    dataset: Any, recovered: Recovered, found: dict[Start, _Row], counts: list[int], trouble: str
) -> None:
    """Look for chunks one by one, where the list of them is damaged."""
    places = prod(counts)
    if places > _PLACES_MAX:
        everything = tuple(slice(0, length) for length in dataset.shape)
        recovered.lost.append(Lost(everything, f"index: {trouble}; what was not listed is lost"))
        return
    for start in product(*(range(0, n * cut, cut) for n, cut in zip(counts, dataset.chunks, strict=True))):
        if start in found:
            continue
        try:
            mask, stored = dataset.id.read_direct_chunk(start)
        except DAMAGE:
            # Nothing tells a chunk that the index has lost from one that was never written.
            recovered.lost.append(Lost(region_of(dataset, start), f"index: {trouble}"))
        else:
            found[start] = _Row(start, 0, len(stored), mask)


class _Checker:
    """Decodes chunks, some at a time."""

    def __init__(self, dataset: Any, recovered: Recovered) -> None:
        self.dataset = dataset
        self.recovered = recovered
        self.itemsize: int = dataset.id.get_type().get_size()
        self.nbytes = prod(dataset.chunks) * self.itemsize
        self.filters = [
            (code, may_skip, list(values))
            for code, _, may_skip, values in filters_of(dataset.id.get_create_plist())
        ]
        self.known = {code for code, *_ in self.filters if can_decode(code)}
        self._lock = Lock()
        # Items that stand elsewhere in the file are good only if they can be followed.
        self.is_indirect = points_elsewhere(dataset)

    def run(self, starts: list[Start]) -> Iterator[tuple[Start, str | None]]:
        """Yield each chunk with what is wrong with it."""
        left = iter(starts)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            while batch := list(islice(left, _BATCH)):
                yield from zip(batch, pool.map(self.trouble, batch), strict=True)

    def trouble(self, start: Start) -> str | None:
        """Return why a chunk cannot be read, None if it can."""
        try:
            mask, stored = self.dataset.id.read_direct_chunk(start)
            region = region_of(self.dataset, start)
            unknown = [
                code for bit, (code, _, _) in enumerate(self.filters)
                if code not in self.known and not mask >> bit & 1
            ]  # fmt: skip
            if self.is_indirect:
                self._follow(region)
            elif unknown:
                self._ask_h5py(region, unknown)
            else:
                self._decode(stored, mask, region)
        except DAMAGE as error:
            return str(error) or type(error).__name__
        return None

    def _follow(self, region: Region) -> None:
        try:
            self.dataset[region]
        except TypeError:
            # Of a type that h5py has not: libhdf5 copies what it can follow.
            self._leave()

    def _decode(self, stored: bytes, mask: int, region: Region) -> None:
        is_edge = prod(part.stop - part.start for part in region) < prod(self.dataset.chunks)
        try:
            _core.filter_decode(self.filters, list(self.dataset.chunks), self.itemsize, mask, stored)
        except UnsupportedError:
            # Ours does not know this kind of it; libhdf5 may. Else it may be right, and is kept as it is.
            try:
                self.dataset[region]
            except DAMAGE:
                self._leave()
        except CoquinaError:
            # A dataset may say that filters leave the chunks at its edges alone; h5py does not tell.
            if not is_edge or len(stored) != self.nbytes:
                raise

    def _ask_h5py(self, region: Region, unknown: list[int]) -> None:
        if all(h5py.h5z.filter_avail(code) for code in unknown):
            self.dataset[region]
        else:
            self._leave()

    def _leave(self) -> None:
        """Count a chunk that nobody here can check."""
        with self._lock:
            self.recovered.unchecked += 1


def points_elsewhere(dataset: Any) -> bool:
    """Whether items are addresses of what they hold: strings and lists of any length, references."""
    return not is_fixed(dataset.id.get_type())


def pieces(dataset: Any) -> Iterator[Region]:
    """Cut a dataset without chunks into runs of rows."""
    if not dataset.shape:
        yield ()
        return
    row_bytes = prod(dataset.shape[1:]) * dataset.id.get_type().get_size()
    step = max(_PIECE_BYTES // max(row_bytes, 1), 1)
    rest = tuple(slice(0, length) for length in dataset.shape[1:])
    for start in range(0, dataset.shape[0], step):
        yield slice(start, min(start + step, dataset.shape[0])), *rest


def _is_plain(dataset: Any) -> bool:
    """Whether items are of a type that NumPy has not, as PyTables' times are: they go as bytes."""
    try:
        return dataset.dtype is None
    except TypeError:
        return is_fixed(dataset.id.get_type())


def _read(dataset: Any, region: Region) -> Any:
    return read(bytes_array(dataset), region, None) if _is_plain(dataset) else dataset[region]


def _copy(source: Any, made: Any, region: Region) -> None:
    if not _is_plain(source):
        made[region] = source[region]
        return
    target = bytes_array(made)
    target.write_selection(list(lower(region, target.shape).axes), None, 0, _read(source, region))


def _check_pieces(dataset: Any, recovered: Recovered) -> None:
    is_stored = (
        dataset.id.get_create_plist().get_layout() != h5d.CONTIGUOUS or dataset.id.get_offset() is not None
    )
    if not is_stored and not dataset.external:
        return
    for region in pieces(dataset):
        recovered.nchunks += 1
        try:
            _read(dataset, region)
        except DAMAGE as error:
            recovered.lost.append(Lost(region, str(error)))


def good_regions(dataset: Any, recovered: Recovered) -> Iterator[Region]:
    """Yield the parts of a dataset that can be read, and are stored."""
    if dataset.chunks is not None:
        yield from (region_of(dataset, start) for start in recovered.good)
    elif recovered.nchunks:
        lost = [one.region for one in recovered.lost]
        yield from (region for region in pieces(dataset) if region not in lost)


def copy_good(source: Any, parent: Any, name: str, recovered: Recovered) -> None:
    """Make a dataset like `source` that holds what is good; chunks stay as they are stored."""
    space, plist = source.id.get_space(), source.id.get_create_plist()
    if missing := missing_filters(source):
        # libhdf5 makes no dataset of a filter that it has not, unless a chunk might skip it. None does.
        rows = filters_of(plist)
        plist.remove_filter(h5z.FILTER_ALL)
        for code, _, may_skip, values in rows:
            is_optional = may_skip or code in missing
            plist.set_filter(code, h5z.FLAG_OPTIONAL if is_optional else h5z.FLAG_MANDATORY, tuple(values))
    made = h5py.Dataset(h5d.create(parent.id, name.encode(), source.id.get_type(), space, plist))
    if source.chunks is None or points_elsewhere(source):
        for region in good_regions(source, recovered):
            _copy(source, made, region)
    else:
        for start in recovered.good:
            mask, stored = source.id.read_direct_chunk(start)
            made.id.write_direct_chunk(start, stored, mask)
