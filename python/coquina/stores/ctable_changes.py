"""Changes of a table of python-blosc2 that lies in a store: rows are appended, deleted, overwritten.

In: encoded values, and physical rows: those of the arrays, with the deleted ones. Out: changed leaves.
Source: docs/formats/blosc2-stores.md, "Tables".
Invariant: rows are there, or are not, once `_valid_rows` says so. Values are overwritten when a file takes
    the place of another, or an archive that of another. What a kill left behind the last row is cut off
    before anything is put there.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from coquina import _core
from coquina._core import ColumnArrays, CorruptError, UnsupportedError
from coquina.arrays.array import Array
from coquina.arrays.creation import filled
from coquina.arrays.opening import open as open_content
from coquina.disk import sync_path
from coquina.msgpack_values import pack
from coquina.storage_options import Storage
from coquina.stores.contents import META
from coquina.stores.metadata import variable
from coquina.stores.value_batches import ValueBatches, append_values, has_varied_sizes, with_varied_sizes

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from coquina.stores.contents import Contents
    from coquina.stores.ctable_encoding import Encoded
    from coquina.stores.ctable_schema import Described
    from coquina.stores.tree import Node

    Integers = npt.NDArray[np.int64]

VALID = "_valid_rows"
#: Text that is taken into memory at once where some of it is changed.
_TEXT_BYTES_MAX = 32 << 20
#: Values of any length that are put behind others at once.
_VALUES_AT_ONCE = 1 << 20
_SUFFIX, _VALUES_SUFFIX = ".b2nd", ".b2b"
#: Counts that readers compare with those of an index: what changes values raises the first, and what changes
#: which rows there are the second.
_VALUES, _ROWS = "value_epoch", "visibility_epoch"


class _Rewritten(NamedTuple):
    """A new file of values, which is to take the place of another."""

    path: str

    def close(self) -> None:
        """Do nothing: the file is complete."""


class TableChanges:
    """What changes the leaves of one table."""

    def __init__(self, contents: Contents, path: str) -> None:
        """Take a store that can be changed, and the path of the table in it."""
        self._contents = contents
        self._path = path.rstrip("/")
        #: While values are overwritten: copies of the arrays that are, by key.
        self._copies: dict[str, Array | _Rewritten] | None = None

    @property
    def is_overwriting(self) -> bool:
        """Whether values are overwritten now."""
        return self._copies is not None

    def locked(self) -> AbstractContextManager[object]:
        """Keep other threads from changing the store."""
        return self._contents.lock

    def append(
        self, columns: Iterable[Described], batches: Iterable[Mapping[str, Encoded]], end: int, nrows: int
    ) -> None:
        """Put rows behind the physical row `end`, at which the table ends; `_valid_rows` has them last.

        nrows: how many rows there are then.
        """
        columns, first = list(columns), end
        for parts in batches:
            for column in columns:
                self._append_to(column, parts[column.name], end)
            end += len(next(iter(parts.values())).items)
        self._put(VALID, first, np.ones(end - first, bool))
        self._note(nrows, _VALUES, _ROWS)

    def _append_to(self, column: Described, part: Encoded, end: int) -> None:
        if part.is_packed:
            append_values(self._place_of_values(column.key), end, part.items)
        elif part.text is None:
            self._put(column.key, end, part.items)
        else:
            ends = self._array(column.key)
            first = int(ends[end])
            self._put(f"{column.key}.utf8", first, part.text)
            self._put(column.key, end + 1, part.items + first)
        if (key := self._mask_of(column, part, end)) is not None:
            self._put(key, end, part.valid)

    def grow(
        self, columns: Iterable[Described], row: Mapping[str, Encoded], end: int, rows: int, nrows: int
    ) -> None:
        """Put the same row `rows` times behind the physical row `end`: a run of equal items is stored once.

        nrows: how many rows there are then. Texts must be empty.
        """
        for column in columns:
            part = row[column.name]
            if part.is_packed:
                for start in range(0, rows, _VALUES_AT_ONCE):
                    count = min(_VALUES_AT_ONCE, rows - start)
                    place = self._place_of_values(column.key)
                    append_values(place, end + start, np.repeat(part.items, count))
            elif part.text is None:
                self._repeat(column.key, end, part.items[0], rows)
            else:
                self._repeat(column.key, end + 1, self._array(column.key)[end], rows)
            if (key := self._mask_of(column, part, end)) is not None:
                self._repeat(key, end, part.valid[0], rows)
        self._repeat(VALID, end, True, rows)
        self._note(nrows, _VALUES, _ROWS)

    def delete(self, rows: Integers, nrows: int) -> None:
        """Delete physical rows: they stay, and are said to be none. nrows: how many rows there are then."""
        cast("Any", self._array(VALID))[rows] = False
        self._note(nrows, _ROWS)

    @contextmanager
    def overwriting(self) -> Generator[None]:
        """Have what is written in the block be there at once, or not at all after an exception.

        Raises UnsupportedError if that cannot be: where several files of a directory would change.
        """
        if self._copies is not None:
            yield
            return
        copies: dict[str, Array | _Rewritten] = {}
        self._copies = copies
        try:
            yield
            if len(copies) > 1 and not self._contents.home.is_archive:
                names = ", ".join(copies)
                raise UnsupportedError(
                    f"{self._contents.name}: {names}: several files of a directory do not change at once; "
                    "change one column at a time, or have the table in a .b2z, or in a directory of ours"
                )
            if copies:
                self._note(None, _VALUES)
            for key in list(copies):
                array = copies.pop(key)
                source = str(array.path)
                array.close()
                self._contents.replace(self._at(key), source, os.path.splitext(source)[1])
        finally:
            self._copies = None
            for array in copies.values():
                array.close()

    def write(self, column: Described, rows: Integers, part: Encoded, end: int) -> None:
        """Overwrite values of a column, in physical rows; while `overwriting`."""
        if part.is_packed:
            self._write_values(column, rows, part, end)
        elif part.text is None:
            cast("Any", self._copy(column.key))[rows] = part.items
        else:
            self._write_text(column.key, rows, part, end)
        if (key := self._mask_of(column, part, end)) is not None:
            cast("Any", self._copy(key))[rows] = part.valid

    def commit(self) -> None:
        """Have all changes be in the store."""
        self._contents.commit_files()

    def _write_text(self, key: str, rows: Integers, part: Encoded, end: int) -> None:
        """Write text of any length anew, with that of some rows in place of what was there."""
        ends, data = self._copy(key), self._copy(f"{key}.utf8")
        column = ColumnArrays([ends, data], [], _TEXT_BYTES_MAX)
        column.truncate(end)
        column.write_at(rows, [np.concatenate([np.zeros(1, np.int64), part.items]), cast("Any", part.text)])

    def _place_of_values(self, key: str) -> str:
        """Return the file of values that are appended to; one whose chunks are of one size is made anew."""
        place = self._changed_place(key)
        if has_varied_sizes(place):
            return place
        new = self._contents.home.new(_VALUES_SUFFIX)
        with_varied_sizes(place, new)
        self._contents.replace(self._at(key), new, _VALUES_SUFFIX)
        return self._changed_place(key)

    def _write_values(self, column: Described, rows: Integers, part: Encoded, end: int) -> None:
        """Write values of any length anew, with some in place of what was there."""
        assert self._copies is not None
        known = self._copies.get(column.key)
        found: Any = open_content(str(known.path) if known is not None else self._changed_place(column.key))
        with found:
            packed = [pack(one) for one in found[:end]]
            layers = [(name, pack(found.meta[name])) for name in found.meta]
        for row, value in zip(rows.tolist(), part.items, strict=True):
            packed[row] = value
        place = self._contents.home.new(_VALUES_SUFFIX)
        batches = ValueBatches.create(place, layers)
        batches.append(packed)
        batches.close()
        self._copies[column.key] = _Rewritten(place)

    def _mask_of(self, column: Described, part: Encoded, rows: int) -> str | None:
        """Return the key of the mask of a column, created if missing; None if all values are there."""
        key = f"{column.key}.notnull"
        is_made = self._node(key) is not None
        if not column.has_mask or not (is_made or part.has_missing):
            return None
        if not is_made:
            place = self._contents.home.new(_SUFFIX)
            filled((rows,), np.dtype(bool), Storage(path=place).for_engine(), b"\1").close()
            self._contents.put(self._at(key), place, _SUFFIX)
        return key

    def _put(self, key: str, end: int, items: npt.NDArray[Any]) -> None:
        """Put items at the end of an array, which is cut off there."""
        array = self._array(key)
        if array.shape[0] > end:
            array.resize((end, *array.shape[1:]))
        array.append(items)

    def _repeat(self, key: str, end: int, item: Any, rows: int) -> None:
        """Put an item so many times at the end of an array, which is cut off there."""
        array = self._array(key)
        for length in (min(end, array.shape[0]), end + rows):
            array.resize((length, *array.shape[1:]))
        cast("Any", array)[end:] = item

    def _note(self, nrows: int | None, *epochs: str) -> None:
        """Say how many rows there are, if that has changed, and that indexes know other ones."""
        place = self._changed_place(META)
        frame: Any = _core.open_content(place, writable=True)
        try:
            frame.begin()
            if nrows is not None:
                schema = json.loads(cast("str", variable(frame, "schema")))
                frame.set_layer("schema", pack(json.dumps(schema | {"n_rows": nrows})))
            for name in epochs:
                found = variable(frame, name)
                frame.set_layer(name, pack(found + 1 if isinstance(found, int) else 1))
            frame.commit()
        finally:
            frame.close()
        if self._contents.home.durable:
            sync_path(place)

    def _changed_place(self, key: str) -> str:
        """Return the file of a leaf that is to be changed."""
        node = self._node(key)
        if node is None:
            raise CorruptError(f"{self._contents.name}: {key}: there is no such leaf")
        return self._contents.changed_leaf(node).place

    def _copy(self, key: str) -> Array:
        """Return a copy of an array, which is to take its place."""
        assert self._copies is not None
        if key not in self._copies:
            source = self._changed_place(key)
            place = self._contents.home.new(_SUFFIX)
            shutil.copyfile(source, place)
            self._copies[key] = open_content(place, "r+")
        return cast("Array", self._copies[key])

    def _array(self, key: str) -> Array:
        node = self._node(key)
        found = None if node is None else self._contents.opened(self._at(key), node)
        if not isinstance(found, Array):
            raise CorruptError(f"{self._contents.name}: {key}: no array")
        return found

    def _node(self, key: str) -> Node | None:
        node = self._contents.top.at(self._at(key))
        return None if node is None or node.leaf is None else node

    def _at(self, key: str) -> str:
        return f"{self._path}/{key}"
