"""Compares a copy of an HDF5 file with the file: names, links, attributes, datatypes, shapes and all items.

In: walks over both. Raises CorruptError that says what differs first. Chunks that are stored in the same way
are compared as they are stored, all else by items, as bytes: NaNs and the sign of zero count.
"""

from __future__ import annotations

from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import _core
from coquina._core import CorruptError
from coquina.hdf5 import exact_attributes as attributes
from coquina.hdf5.describing import describe_bytes
from coquina.hdf5.item_types import is_fixed
from coquina.hdf5.quantization import holds
from coquina.hdf5.storing import bytes_array, numbers_array, read, regions, slots_of, stored_rows
from coquina.hdf5.targets import Targets, selection
from coquina.hdf5.trees import Entry
from coquina.hdf5.untyped import h5d, h5s
from coquina.hdf5.variable_items import read_items, row_regions

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from coquina.hdf5.trees import Walk
    from coquina.lossy import Lossy, LossyInfo

_NONE = Entry(b"", "again")


def compare(
    old: Walk,
    new: Walk,
    threads: int | None,
    done: Callable[[int], object],
    bounds: Mapping[str, LossyInfo] | None = None,
    anew: Container[str] = (),
) -> None:
    """Raise CorruptError if the new tree is not equal to the old one; datasets of `bounds` within these.

    anew: datasets that were encoded anew, perhaps by the same filters, whose chunks may still differ.
    """
    for one, other in zip_longest(old, new, fillvalue=_NONE):
        if (one.path, one.kind, one.to, one.is_utf8) != (other.path, other.kind, other.to, other.is_utf8):
            raise CorruptError(f"{one.name} ({one.kind}) is {other.name} ({other.kind}) in the copy")
    # References can be compared now that both sides are known.
    comparison = _Comparison(Targets(old, new), threads, done, bounds or {}, anew)
    attributes.compare(old.top, new.top, comparison.targets)
    for one, other in zip(old, new, strict=True):
        if one.kind in ("group", "dataset", "type"):
            attributes.compare(one.object, other.object, comparison.targets)
        if one.kind == "dataset":
            comparison.dataset(one, one.object, other.object)
        elif one.kind == "type" and not one.object.id.equal(other.object.id):
            raise CorruptError(f"{one.name}: the copy has another datatype")


class _Comparison:
    def __init__(
        self,
        targets: Targets,
        threads: int | None,
        done: Callable[[int], object],
        bounds: Mapping[str, LossyInfo],
        anew: Container[str],
    ) -> None:
        self.bounds = bounds
        self.anew = anew
        self.targets = targets
        self.threads = threads
        self.done = done

    def dataset(self, entry: Entry, old: Any, new: Any) -> None:
        name, path = entry.name, entry.path.decode(errors="surrogateescape")
        known = self.bounds.get(path)
        tid = old.id.get_type()
        if not tid.equal(new.id.get_type()) or not attributes.same_space(
            old.id.get_space(), new.id.get_space()
        ):
            raise CorruptError(f"{name}: the copy has another datatype or shape")
        if old.id.get_space().get_simple_extent_type() == h5s.NULL:
            return
        is_of_fixed_size = is_fixed(tid)
        if is_of_fixed_size and describe_bytes(old).fill != describe_bytes(new).fill:
            raise CorruptError(f"{name}: the copy has another fill value")
        # What other files hold is not looked at, only where.
        if old.id.get_create_plist().get_layout() == h5d.VIRTUAL:
            is_same = _virtual_sources(old) == _virtual_sources(new)
        elif old.external:
            is_same = old.external == new.external
        elif not is_of_fixed_size:
            is_same = self._same_variable(old, new)
        elif known is not None:
            is_same = self._is_within(old, new, known.error_bound)
        elif path not in self.anew and _is_stored_alike(old, new):
            is_same = self._same_chunks(old, new)
        else:
            is_same = self._same_items(old, new)
        if not is_same:
            raise CorruptError(f"{name}: the copy has other values")

    def _same_variable(self, old: Any, new: Any) -> bool:
        is_reference = attributes.refers(old.id.get_type())
        for region in row_regions(old):
            one, other = read_items(old, region), read_items(new, region)
            if is_reference:
                one, other = self.targets.told(one), self.targets.told_of_copy(other)
            if not attributes.is_same(one, other):
                return False
        return True

    def _same_chunks(self, old: Any, new: Any) -> bool:
        rows, others = stored_rows(old), stored_rows(new)
        if [row[0] for row in rows] != [row[0] for row in others]:
            return False
        libraries = _core.Hdf5Library(old), _core.Hdf5Library(new)
        itemsize = old.id.get_type().get_size()
        filters = [(code, may_skip, list(values)) for code, may_skip, values in slots_of(old)]
        for row, other in zip(rows, others, strict=True):
            found = [library.read_chunk(row[0]) for library in libraries]
            stored = [b"" if one is None else one[0] for one in found]
            if row[3] != other[3]:
                masks = row[3], other[3]
                stored = [
                    _core.filter_decode(filters, old.chunks, itemsize, mask, content)
                    for mask, content in zip(masks, stored, strict=True)
                ]
            if stored[0] != stored[1]:
                return False
            self.done(prod(old.chunks) * itemsize)
        return True

    def _is_within(self, old: Any, new: Any, lossy: Lossy) -> bool:
        arrays = numbers_array(old), numbers_array(new)
        for region in regions(old, new):
            one, other = (read(array, region, self.threads) for array in arrays)
            if not holds(lossy, one, other):
                return False
            self.done(one.nbytes)
        return True

    def _same_items(self, old: Any, new: Any) -> bool:
        arrays = bytes_array(old), bytes_array(new)
        for region in regions(old, new):
            one, other = (read(array, region, self.threads) for array in arrays)
            if not np.array_equal(one.reshape(-1).view("u1"), other.reshape(-1).view("u1")):
                return False
            self.done(one.nbytes)
        return True


def _is_stored_alike(old: Any, new: Any) -> bool:
    """Whether chunks that hold the same items are the same bytes, where one was copied from the other."""
    return old.chunks is not None and old.chunks == new.chunks and slots_of(old) == slots_of(new)


def _virtual_sources(dataset: Any) -> list[tuple[str, str, str, str]]:
    return [
        (one.file_name, one.dset_name, selection(one.vspace), selection(one.src_space))
        for one in dataset.virtual_sources()
    ]
