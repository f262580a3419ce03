"""The rows layout: a table as records in one 1-d dataset of HDF5, as PyTables keeps its tables.

In: batches of columns. Out: records; and columns, each a part of every record.
Source: docs/formats/tables-rows.md.
Invariant: PyTables reads and changes what is written here, and sees the same values.
"""

from __future__ import annotations

import posixpath
import secrets
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from coquina._core import UnsupportedError
from coquina.arrays.writes import changes_of
from coquina.hdf5 import fixed_attributes
from coquina.hdf5.appending import AppendGroup
from coquina.hdf5.copying import copy_stored
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5o, h5t
from coquina.hdf5.zones import zone_fields
from coquina.indexing import lower
from coquina.lazy_property import lazy_property
from coquina.storage_options import Storage
from coquina.tables import rows_attributes as attributes
from coquina.tables.larger_chunks import needs_larger_chunks
from coquina.tables.layout import Layout, RecordBatch
from coquina.tables.pytables_index_groups import group_of
from coquina.tables.record_columns import record_column
from coquina.tables.rows_creation import cut_rows, make_dataset
from coquina.tables.rows_datatypes import default_row
from coquina.tables.rows_types import read_schema, unreadable, with_defaults
from coquina.tuning_options import tuning_facts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from coquina.hdf5.files import File
    from coquina.hdf5.groups import Group
    from coquina.indexing import Selection
    from coquina.tables.layout import Batch, Schema
    from coquina.tables.rows_types import Field

    Records = npt.NDArray[Any]

#: What was appended is flushed when there are more bytes of it; see `AppendGroup`.
BUFFER_BYTES = 1 << 20
_READ_BYTES = 8 << 20


_DEFAULT = Storage()


def create_rows(
    group: Group,
    name: str,
    schema: Schema,
    storage: Storage = _DEFAULT,
    *,
    title: str = "",
    expected_rows: int | None = None,
) -> RowsLayout:
    """Make a table without rows, and return its layout. Groups on the way are made.

    storage: as in `Group.create_dataset`; the filters are those that PyTables has: "blosc2", "blosc", "gzip"
    (PyTables' zlib) and "none". chunks: rows; by default about 2 MiB of them, a power of two, or an eighth of
    `expected_rows`, from 64 KiB to 8 MiB.

    Raises ValueError if the name exists already, or for options and names that do not fit;
    UnsupportedError for columns that PyTables has nothing for.
    """
    make_dataset(group, name, schema, title, storage, expected_rows)
    made = RowsLayout.open(group.dataset(name))
    if storage.tuning is not None:
        # The file keeps the goal but not the profile.
        made.dataset.tune(storage.tuning)
    made.buffer_bytes = None
    return made


class RowsLayout(Layout):
    """A table whose rows are the items of a dataset. Made by `open` and `create_rows`.

    buffer_bytes: as `AppendGroup` has it: how many bytes are appended until a flush comes by itself. None,
    until the first flush of a new table: it is filled at once.
    """

    kind = "rows"

    def __init__(self, dataset: Dataset, schema: Schema, fields: list[Field]) -> None:
        """The table of a dataset, whose records have these fields."""
        self._dataset = dataset
        self._fields = {field.path: field for field in fields}
        self._appends: AppendGroup | None = None
        self.buffer_bytes: int | None = BUFFER_BYTES
        # The rows that the attribute tells, of those that were appended.
        self._told: int | None = None
        #: The indexes of PyTables that are open, by column; see `pytables_indexes`.
        self.their_indexes: Mapping[str, Any] | None = None
        #: How often the dataset had been written to when they were made, of those that were since it is open.
        self.their_changes: dict[str, int] = {}
        self.schema = schema
        self.columns = self._columns_of(dataset)

    @classmethod
    def open(cls, dataset: Any) -> RowsLayout:
        """Open a dataset of records as a table, whoever made it.

        dataset: a `Dataset`, or h5py's where no array can have its items. Raises UnsupportedError, which says
        why, if it is not a table.
        """
        h5 = inside(dataset)
        tid, place = h5.id.get_type(), str(h5.name)
        if not isinstance(tid, h5t.TypeCompoundID) or len(h5.shape or ()) != 1:
            kind = type(tid).__name__.removeprefix("Type").removesuffix("ID").lower()
            raise UnsupportedError(
                f"{place}: a table of rows is one axis of records, not {h5.shape} of {kind}"
            )
        if not isinstance(dataset, Dataset) or dataset.dtype.names is None:
            columns = ", ".join(unreadable(tid)) or "complex numbers alone"
            raise UnsupportedError(f"{place}: no table has such columns: {columns}; h5py reads them")
        schema, fields = read_schema(tid, dataset.dtype, attributes.times_of(h5), place)
        if dataset.handle.is_writable and not dataset.zones:
            dataset = dataset.with_zones(zone_fields(dataset.dtype))
        return cls(dataset, with_defaults(schema, attributes.defaults_of(h5, schema)), fields)

    @property
    def nrows(self) -> int:
        """How many rows can be read: without those that wait in memory."""
        return self._dataset.shape[0] if self._appends is None else self._appends.flushed[0]

    @property
    def nrows_appended(self) -> int:
        """How many rows there are with those that wait in memory."""
        return self.nrows if self._appends is None else self._appends.lengths[0]

    @property
    def is_writable(self) -> bool:
        """Whether rows can be changed."""
        return self._dataset.handle.is_writable

    @property
    def name(self) -> str | None:
        """Its name in the file."""
        return self._dataset.name

    @property
    def file(self) -> File:
        """The file that it is in."""
        return self._dataset.file

    @property
    def attrs(self) -> Any:
        """The attributes: h5py's mapping. Those in capitals that PyTables keeps are among them."""
        return attributes.RowsAttributes(inside(self._dataset))

    @property
    def title(self) -> str:
        """What the table is about; empty if nothing says it."""
        return fixed_attributes.text_of(inside(self._dataset), "TITLE") or ""

    @property
    def dataset(self) -> Dataset:
        """The records as an array."""
        return self._dataset

    def indexes_changed(self) -> None:
        """Look anew for PyTables' indexes, and mark them again before rows change."""
        self.their_indexes, changes_of(self._dataset).is_told = None, False

    def field(self, path: str) -> Field:
        """Return where in a record a column stands, and as what."""
        return self._fields[path]

    def append(self, batch: Batch) -> None:
        """Put rows behind the last: values for every column. Raises ValueError if some are missing.

        Whole chunks are written and flushed when more than `buffer_bytes` have gathered. Rows of the last
        chunk, which is partly filled, are flushed by `flush`, or when they alone are more than that and
        than half a chunk.
        """
        self._check_writable()
        missing = [path for path in self._fields if path not in batch]
        if missing:
            raise ValueError(f"append to {self.name}: no values for {', '.join(map(repr, missing))}")
        records = self._records(batch)
        if self._appends is None:
            self._changing()
            self._appends, self._told = AppendGroup([self._dataset], self.buffer_bytes), None
        before = self._appends.lengths
        try:
            self._appends.append([records])
        except BaseException:
            # Where a flush failed, the rows were taken: whoever appends them again would have them twice.
            if self._appends.lengths != before:
                self._appends.give_up()
                self._appends = None
            raise

    def flush(self) -> None:
        """Write what waits in memory."""
        appends = self._appends
        if self.buffer_bytes is None:
            self.buffer_bytes = BUFFER_BYTES
            if appends is not None:
                appends.buffer_bytes = BUFFER_BYTES
        if appends is None:
            return
        rows = appends.lengths[0]
        # Appends flush now and then by themselves, and do not tell.
        if rows != self._told:
            attributes.put_rows(inside(self._dataset), rows)
            self._told = rows
        appends.flush()

    def close(self) -> None:
        """Flush, and let go of the dataset."""
        self._settle()
        self._dataset.close()

    def write(self, start: int, batch: Batch) -> None:
        """Overwrite rows from `start` on, in the columns that `batch` has."""
        encoded = self._encoded(batch)
        count = _length(encoded)
        self._settle()
        if not 0 <= start <= start + count <= self.nrows:
            raise IndexError(f"rows {start}:{start + count} of {self.nrows}")
        self._put(encoded, np.arange(0), start, count)

    def write_at(self, rows: npt.NDArray[Any], batch: Batch) -> None:
        """Overwrite these rows, in the columns that `batch` has; of several values for one the last stays."""
        encoded = self._encoded(batch)
        rows = np.asarray(rows, np.int64)
        if rows.ndim != 1 or len(rows) != _length(encoded):
            raise ValueError(f"{_length(encoded)} values for rows of shape {rows.shape}")
        self._settle()
        self._put(encoded, rows, None, len(rows))

    def resize(self, nrows: int) -> None:
        """Keep the first `nrows` rows; new ones, if it is more, have the defaults."""
        if nrows < 0:
            raise ValueError(f"resize: {nrows} rows")
        self._settle()
        before = self.nrows
        self._changing()
        self._dataset.resize((nrows,))
        attributes.put_rows(inside(self._dataset), nrows)
        if nrows > before:
            self._fill(before, nrows)

    def enlarge_chunks(self, nrows: int) -> None:
        """Make chunks larger where so many rows would have too many of them, by a copy of the dataset.

        They stay as they are where more than some rows would be written again, and where the dataset has
        another name too, or indexes of PyTables.
        """
        old = self._dataset
        if old.layout != "chunked":
            return
        wanted, _ = cut_rows(old.typesize, None, nrows)
        h5 = inside(old)
        if (
            not needs_larger_chunks(nrows, old.chunks[0], wanted, self.nrows_appended)
            or h5o.get_info(h5.id).rc > 1
            or group_of(self) is not None
        ):
            return
        self._settle()
        self._changing()
        group, parent, name = old.parent, h5.parent, posixpath.basename(h5.name)
        beside, goal = f"{name}.{secrets.token_hex(4)}", old.handle.tuning()
        copy_stored(h5, parent, beside, Storage(chunks=(wanted,)))
        del parent[name]
        parent.move(beside, name)
        self._dataset = group.dataset(name).with_zones(old.zones)
        if goal is not None:
            self._dataset.tune(goal)
        self.columns = self._columns_of(self._dataset)

    def info(self) -> dict[str, Any]:
        """How it is stored."""
        dataset = self._dataset
        return {
            "layout": self.kind,
            "rows": self.nrows,
            "row_bytes": dataset.typesize,
            "chunk_rows": dataset.chunks[0] if dataset.layout == "chunked" else None,
            "filters": dataset.filters,
            "nbytes": self.nrows * dataset.typesize,
            "cbytes": dataset.cbytes,
            "access": dataset.access,
            "access_reason": dataset.access_reason,
            **tuning_facts_of([dataset]),
        }

    def _columns_of(self, dataset: Dataset) -> dict[str, Any]:
        return {path: field.column(dataset) for path, field in self._fields.items()}

    def _encoded(self, batch: Batch) -> dict[str, Records]:
        """Return values as they are stored, each with its length checked. Raises KeyError for no column."""
        unknown = [path for path in batch if path not in self.columns]
        if unknown:
            names = ", ".join(self.columns)
            raise KeyError(f"{self.name} has no column {', '.join(map(repr, unknown))}; it has {names}")
        encoded: dict[str, Any] = {path: self.columns[path].encode(batch[path])[0] for path in batch}
        lengths = {path: len(part) for path, part in encoded.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of unequal lengths: {lengths}")
        return encoded

    def _records(self, batch: Batch) -> Records:
        if isinstance(batch, RecordBatch):
            shown = self._shown
            if shown is not None and batch.records.dtype == shown and len(batch) == len(self._fields):
                return batch.records.view(self._dataset.dtype)
        encoded = self._encoded(batch)
        records = np.zeros(_length(encoded), self._dataset.dtype)
        self._set(records, encoded)
        return records

    @lazy_property
    def _shown(self) -> np.dtype[Any] | None:
        """The dtype of rows as users see them, if their bytes are those of the records."""
        column = record_column(self)
        return None if column is None else column.dtype

    def _set(self, records: Records, encoded: dict[str, Records]) -> None:
        for path, part in encoded.items():
            field = self._fields[path]
            items = field.of(records)
            items[...] = part if items.dtype.kind not in "mM" else part.view(items.dtype.newbyteorder("="))

    def _put(
        self, encoded: dict[str, Records], rows: npt.NDArray[Any], start: int | None, count: int
    ) -> None:
        """Write encoded values to `rows`, or from `start` on, some megabytes of rows at a time."""
        self._check_writable()
        if not encoded or not count:
            return
        self._changing()
        step = max(1, _READ_BYTES // self._dataset.typesize)
        for first in range(0, count, step):
            last = min(first + step, count)
            if start is None:
                where = lower(rows[first:last], self._dataset.shape)
            else:
                where = lower(slice(start + first, start + last), self._dataset.shape)
            self._put_part({path: part[first:last] for path, part in encoded.items()}, where)

    def _put_part(self, encoded: dict[str, Records], where: Selection) -> None:
        if len(encoded) == len(self._fields) and not self._has_gaps:
            records = np.zeros(where.shape, self._dataset.dtype)
        else:
            records = self._dataset.get_selection(where)
        self._set(records, encoded)
        self._dataset.set_selection(where, records)

    @property
    def _has_gaps(self) -> bool:
        """Whether records have bytes that belong to no column, and are kept."""
        return sum(field.dtype.itemsize for field in self._fields.values()) < self._dataset.typesize

    def _fill(self, start: int, stop: int) -> None:
        """Give new rows the defaults, where the dataset's own fill value is another."""
        fields = list(self._fields.values())
        row = default_row(self.schema, fields, self._dataset.dtype)
        if row.tobytes() != np.asarray(self._dataset.fillvalue).tobytes():
            where = lower(slice(start, stop), self._dataset.shape)
            self._dataset.set_selection(where, row)

    def _settle(self) -> None:
        """Flush, and end the appends: what waits at the end would not see other changes."""
        if self._appends is not None:
            self.flush()
            self._appends.close()
            self._appends = None

    def _changing(self) -> None:
        """Tell PyTables, before rows change, that its indexes are out of date."""
        self._check_writable()
        changes = changes_of(self._dataset)
        if not changes.is_told:
            fixed_attributes.mark_indexes_stale(inside(self._dataset))
            changes.is_told = True

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise ValueError(f"{self.name}: the file is open for reading only; open it with mode 'r+'")

    def _keep_columns(self, what: str) -> NoReturn:
        raise UnsupportedError(
            f"{self.name}: {what}: the rows of this layout are records; copy the table with layout='columns'"
        )


def _length(encoded: dict[str, Records]) -> int:
    return next((len(part) for part in encoded.values()), 0)
