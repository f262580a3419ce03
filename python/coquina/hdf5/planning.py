"""How a dataset is to be stored in a copy of its file.

In: a dataset of h5py and what was asked for. Out: a `Plan`, which says what is done and why. Nothing is read.
Invariant: chunks that keep their encoding are copied verbatim.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from coquina import _core, tuning_options
from coquina._core import CorruptError, UnsupportedError
from coquina.arrays.similar_bounds import rounded_bound
from coquina.hdf5 import checksums, chunk_encoding, tuning_attribute
from coquina.hdf5 import filters as slots
from coquina.hdf5.chunk_growth import grown
from coquina.hdf5.describing import default_cut, filters_of, item_dtype
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.protection import is_protected
from coquina.hdf5.storing import itemsize_of, slots_of, stored_rows
from coquina.hdf5.untyped import h5d, h5t, h5z
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from coquina.hdf5.chunk_encoding import ChunkEncoding
    from coquina.hdf5.filters import Slot
    from coquina.lossy import Lossy
    from coquina.tuning_options import Terms

#: Datasets without chunks get some if they have so many bytes and are to be compressed.
_CHUNKED_FROM = 64 << 10
_ANY_SHAPE = slots.ChunkShape((1,), 1, 1, 1)
_FLETCHER32 = (slots.FLETCHER32, False, ())

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """How the datasets of a copy are to be stored; fields of a `Storage` that are None stay as they are.

    storage: of datasets, as in `Group.create_dataset`; chunks are for datasets with so many axes. only: paths
    of datasets and groups that it is for, from the top of what is copied on; all if empty. A bound is for
    floating-point numbers that are no dimension scales, and for all numbers that `only` names themselves.
    may_be_plain: whether small chunks that are tuned for size may get a plain filter in place of Blosc2.
    """

    storage: Storage = field(default_factory=Storage)
    only: tuple[str, ...] = ()
    may_be_plain: bool = False

    def storage_of(self, path: str) -> Storage | None:
        """Return how the dataset at `path` is to be stored; None for one that the request is not for."""
        if self._has_own(path):
            return self.storage.part(path)
        tops = ["/" + top.strip("/") for top in self.only]
        is_for = not tops or any(top in ("/", path) or path.startswith(f"{top}/") for top in tops)
        return self.storage if is_for else None

    def is_named(self, path: str) -> bool:
        """Whether `only` names what stands at `path` itself, and not just what it is in."""
        return not self._has_own(path) and any("/" + top.strip("/") == path for top in self.only)

    def check(self) -> None:
        """Raise ValueError for names and levels that no dataset could be stored with."""
        for one in (self.storage, *(self.storage.each or {}).values()):
            _check(one)

    @property
    def loses(self) -> ChunkEncoding | None:
        """What is asked for that does not keep all, and has no bound to compare with; None for nothing."""
        for one in (self.storage, *(self.storage.each or {}).values()):
            encoding = None if one.filter is None else slots.encoding_of(one, _ANY_SHAPE)
            if encoding is not None and encoding.is_lossy:
                return encoding
        return None

    def _has_own(self, path: str) -> bool:
        return path in (self.storage.each or {})


def _check(storage: Storage) -> None:
    if storage.tuning is not None and storage.filter != "blosc2":
        raise ValueError(f"filter {storage.filter!r}: codec='auto' is for the filter 'blosc2'")
    if storage.filter is not None:
        slots.check_is_used(storage)
        slots.pipeline(storage, _ANY_SHAPE)
    elif (ignored := _ignored(storage)) is not None:
        raise ValueError(f"{ignored}: says how a filter works; name one too, such as filter='blosc2'")
    if isinstance(storage.chunks, tuple) and (not storage.chunks or min(storage.chunks) < 1):
        raise ValueError(f"chunks {storage.chunks}: takes numbers of items, at least 1")


def _ignored(storage: Storage) -> str | None:
    """Return an option that means nothing where chunks keep their filters; None for none."""
    if storage.dictionary:
        return "dictionary"
    if storage.level is not None:
        return f"level {storage.level}"
    if storage.filters is not None:
        return f"filters {storage.filters!r}"
    return None if storage.blocks is None or storage.chunks is not None else f"blocks {storage.blocks}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with a dataset.

    how: "copied" whole by libhdf5, chunks as they are stored; "chunks", one by one, since some have filters
    that were skipped; "encoded" anew. reason: why it is not as it was asked for. chunks, filters, blocks: the
    new ones. lossy: the bound on what is lost, None for nothing. tuning: what chunks that are encoded again
    are tuned for, None for not at all. checksums: whether they get some, None for as the dataset says.
    encoding: how chunks are encoded again, None for as the parameters of the filters say.
    """

    how: Literal["copied", "chunks", "encoded"]
    reason: str | None = None
    chunks: Shape = ()
    filters: tuple[Slot, ...] = ()
    blocks: Shape | None = None
    lossy: Lossy | None = None
    tuning: Terms | None = None
    checksums: bool | None = None
    encoding: ChunkEncoding | None = None


class _ImpossibleError(Exception):
    """A dataset cannot be stored as it was asked for; the message tells why."""


def plan(dataset: Any, path: str, request: CopyRequest) -> Plan:
    """Decide what is done with a dataset."""
    storage = request.storage_of(path)
    try:
        planned = None if storage is None else _planned(dataset, storage, is_named=request.is_named(path))
    except _ImpossibleError as error:
        return Plan("copied", str(error))
    if planned is not None:
        return planned
    chunks, filters = dataset.chunks, slots_of(dataset)
    if chunks is not None and is_fixed(dataset.id.get_type()) and _has_skipped_filters(dataset, filters):
        if not _all_encode(filters):
            return Plan("copied", "some chunks skip filters, which cannot be run here")
        return Plan("chunks", None, chunks, filters)
    return Plan("copied")


def _planned(dataset: Any, storage: Storage, *, is_named: bool) -> Plan | None:
    """Return the plan of storing otherwise; None where all is already as it was asked for."""
    lossy = storage.lossy if storage.lossy is not None and _is_rounded(dataset, is_named) else None
    asked = (storage.filter, storage.chunks, storage.fletcher32, storage.checksums, lossy)
    if all(one is None for one in asked):
        return None
    layout = dataset.id.get_create_plist().get_layout()
    if dataset.shape is None or not dataset.shape or 0 in dataset.maxshape:
        raise _ImpossibleError("it has no axes, or never any items")
    if layout not in (h5d.CHUNKED, h5d.CONTIGUOUS) or dataset.external:
        raise _ImpossibleError("its items are not stored in the file by themselves")
    if not is_fixed(dataset.id.get_type()):
        raise _ImpossibleError("items of variable length, and references, stay as they are")
    if layout == h5d.CONTIGUOUS:
        if storage.filter in (None, "none") and storage.chunks is None:
            raise _ImpossibleError("it has no chunks, and none were asked for")
        if dataset.attrs.get("CLASS") == b"ARRAY":
            raise _ImpossibleError("PyTables needs arrays of class ARRAY to be contiguous")
        if storage.chunks is None and dataset.size * itemsize_of(dataset) < _CHUNKED_FROM:
            raise _ImpossibleError("it has no chunks, and is too small for some")
    if 0 in dataset.shape and dataset.chunks is None:
        raise _ImpossibleError("it has no items")
    _check_readable(dataset)
    chunks, blocks = _cut(dataset, storage)
    filters = _filters(dataset, storage, chunks, blocks)
    goal = _tuning(dataset, storage, filters)
    sums = _checksums(dataset, storage, filters)
    encoding = _encoding(dataset, storage, filters, is_named=is_named)
    if (
        lossy is None
        and sums is None
        and chunks == dataset.chunks
        and filters == slots_of(dataset)
        and _is_tuned(dataset, goal)
        and (storage.filter is None or encoding == _known_encoding(dataset))
    ):
        return None
    if lossy is not None and not _all_encode(filters):
        raise _ImpossibleError("its filters are not available here; name another one")
    if encoding is not None:
        _check_encoding(dataset, encoding, chunks, filters)
    if lossy is not None:
        lossy = _searched_bound(dataset, lossy, chunks, is_named=is_named)
    return Plan("encoded", None, chunks, filters, blocks, lossy, goal, sums, encoding)


def _searched_bound(dataset: Any, lossy: Lossy, chunks: tuple[int, ...], *, is_named: bool) -> Lossy:
    """Return the bound for a dataset; what has no images to be similar stays as it is, unless it is named."""
    try:
        return rounded_bound(dataset, lossy, chunks)
    except ValueError as error:
        if is_named:
            raise
        raise _ImpossibleError(str(error)) from None


def _encoding(
    dataset: Any, storage: Storage, filters: tuple[Slot, ...], *, is_named: bool
) -> ChunkEncoding | None:
    """Return how chunks are encoded: as it is asked for, or as they are if nothing is lost by it again."""
    if not slots.is_blosc2_alone(code for code, _, _ in filters):
        return None
    if storage.filter is None:
        known = _known_encoding(dataset)
        return None if known is None or known.is_lossy else known
    tid = dataset.id.get_type()
    shape = slots.ChunkShape((), tid.get_size(), _innermost(tid), 0, _dtype(dataset))
    encoding = slots.encoding_of(storage, shape)
    is_scale = dataset.attrs.get("CLASS") == b"DIMENSION_SCALE"
    if encoding is not None and encoding.is_lossy and is_scale and not is_named:
        raise _ImpossibleError(f"{encoding}: dimension scales are kept exactly unless they are named")
    return encoding


def _known_encoding(dataset: Any) -> ChunkEncoding | None:
    """Return what the attribute of a dataset says; None where it is damaged."""
    with suppress(CorruptError):
        return chunk_encoding.of_dataset(dataset)
    return None


def _check_encoding(dataset: Any, encoding: ChunkEncoding, chunks: Shape, filters: tuple[Slot, ...]) -> None:
    itemsize = itemsize_of(dataset)
    rows = [(code, may_skip, list(values)) for code, may_skip, values in filters]
    try:
        _core.filter_encode(
            rows, chunks, itemsize, bytearray(prod(chunks) * itemsize), encoding=encoding.terms
        )
    except (ValueError, UnsupportedError) as error:
        raise _ImpossibleError(str(error)) from error


def _tuning(dataset: Any, storage: Storage, filters: tuple[Slot, ...]) -> Terms | None:
    """Return what chunks are to be tuned for: as it is asked for, or as they are where no filter is."""
    if not slots.is_blosc2_alone(code for code, _, _ in filters):
        if storage.tuning is not None:
            raise _ImpossibleError("it has checksums, and tuning needs Blosc2 as the only filter")
        return None
    return storage.tuning if storage.filter is not None else _known_tuning(dataset)


def _checksums(dataset: Any, storage: Storage, filters: tuple[Slot, ...]) -> bool | None:
    """Return whether chunks are to have checksums; None where they are to stay as they are in this."""
    if storage.checksums is None:
        return None
    if not slots.is_blosc2_alone(code for code, _, _ in filters):
        if storage.checksums:
            raise _ImpossibleError("checksums need blosc2 as the only filter; or use fletcher32")
        return None
    are_so = checksums.are_wanted(dataset.id) == storage.checksums == is_protected(dataset)
    return None if are_so else storage.checksums


def _known_tuning(dataset: Any) -> Terms | None:
    """Return what the attribute of a dataset says; None where it is damaged."""
    with suppress(CorruptError):
        return tuning_attribute.read(dataset)
    return None


def _is_tuned(dataset: Any, goal: Terms | None) -> bool:
    """Whether the chunks of a dataset with the same filters are as those that are tuned for a goal."""
    return (goal is None and not tuning_attribute.is_stated(dataset)) or goal == _known_tuning(dataset)


def _dtype(dataset: Any) -> Any:
    """Return the dtype; None for items that NumPy has not, as PyTables' times."""
    try:
        return dataset.dtype
    except TypeError:
        return None


def _is_rounded(dataset: Any, is_named: bool) -> bool:
    """Whether a bound is for this dataset: floating-point numbers that are no dimension of others.

    One that is named itself may be such a dimension, or of integers.
    """
    items = item_dtype(dataset)
    if items is None or not items[1]:
        return False
    dtype = items[0].base
    if dtype.kind in "iu" or dataset.attrs.get("CLASS") == b"DIMENSION_SCALE":
        return is_named and dtype.kind in "iufc"
    return dtype.kind in "fc" and dtype.itemsize <= (8 if dtype.kind == "f" else 16)


def _check_readable(dataset: Any) -> None:
    known = {code for code, _, decodes, _ in _core.hdf5_filters() if decodes}
    for code, name, _, _ in filters_of(dataset.id.get_create_plist()):
        if code not in known and not h5z.filter_avail(code):
            raise _ImpossibleError(f"filter {code} ({name}) is not available here")


def _cut(dataset: Any, storage: Storage) -> tuple[Shape, Shape]:
    """Return new chunks, and the blocks that go with them."""
    given, is_grown = storage.chunk_lengths, False
    if storage.chunks is None or (given is not None and len(given) != len(dataset.shape)):
        given = dataset.chunks
        if given is not None and storage.tuning not in (None, _known_tuning(dataset)):
            given = grown(dataset.shape, given, itemsize_of(dataset))
            is_grown = given != dataset.chunks
    if given is not None:
        given = tuple(
            chunk if most is None else min(chunk, most)
            for chunk, most in zip(given, dataset.maxshape, strict=True)
        )
    blocks = None
    if (wanted := storage.block_lengths) is not None and len(wanted) == len(dataset.shape):
        most = given or tuple(length or 1 for length in dataset.shape)
        blocks = tuple(map(min, wanted, most))
    elif is_grown and tuning_options.only_bytes_count(storage.tuning):
        # One stream for all of a chunk: several are a few percent larger.
        blocks = given
    try:
        chunks, blocks = default_cut(dataset.shape, itemsize_of(dataset), given, blocks)
    except ValueError as error:
        raise _ImpossibleError(str(error)) from error
    most = tuple(length or chunk for length, chunk in zip(dataset.maxshape, chunks, strict=True))
    chunks = tuple(map(min, chunks, most))
    return chunks, tuple(map(min, blocks, chunks))


def _filters(dataset: Any, storage: Storage, chunks: Shape, blocks: Shape) -> tuple[Slot, ...]:
    old = slots_of(dataset)
    had_sum = any(slot[0] == slots.FLETCHER32 for slot in old)
    has_sum = had_sum if storage.fletcher32 is None else storage.fletcher32
    tid = dataset.id.get_type()
    itemsize = tid.get_size()
    shape = slots.ChunkShape(chunks, itemsize, _innermost(tid), prod(blocks) * itemsize, _dtype(dataset))
    if storage.filter is not None:
        try:
            return tuple(slots.pipeline(replace(storage, fletcher32=has_sum), shape))
        except ValueError as error:
            raise _ImpossibleError(str(error)) from error
    if chunks == dataset.chunks and has_sum == had_sum:
        return old
    if not _all_encode(old):
        raise _ImpossibleError("its filters are not available here; name another one")
    kept = tuple(slot for slot in old if slot[0] != slots.FLETCHER32)
    if chunks != dataset.chunks:
        kept = tuple(_refitted(slot, shape) for slot in kept)
    return (*kept, _FLETCHER32) if has_sum else kept


def _refitted(slot: Slot, shape: slots.ChunkShape) -> Slot:
    try:
        return slots.refitted(slot, shape)
    except ValueError as error:
        raise _ImpossibleError(f"its filters do not fit new chunks: {error}") from error


def _all_encode(filters: tuple[Slot, ...]) -> bool:
    encoders = {code for code, _, _, encodes in _core.hdf5_filters() if encodes}
    return all(code in encoders for code, _, _ in filters)


def _innermost(tid: Any) -> int:
    """Return the bytes of the numbers that an item consists of, if these are of one kind."""
    while isinstance(tid, h5t.TypeArrayID):
        tid = tid.get_super()
    return tid.get_size()


def _has_skipped_filters(dataset: Any, filters: tuple[Slot, ...]) -> bool:
    return bool(filters) and any(mask for _, _, _, mask in stored_rows(dataset))
