"""Stored chunks of tables: where they are, their bytes, and writing them as they are.

In: a table in an HDF5 file, and coordinates: one row, as PyTables has it. Out: the chunks of its records, or
    of one array of a column, by the dataset that has them.
Invariant: rows that wait in memory are written before, and indexes hear of what is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina._core import UnsupportedError
from coquina.hdf5.chunks import coordinates
from coquina.hdf5.datasets import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coquina._core import Buffer
    from coquina.tables.table import Table


def dataset_of(table: Table, column: str | None, part: int) -> Dataset:
    """Return the dataset whose chunks are meant; see `Table.chunk_info`."""
    table.ready()
    layout = table.layout
    found: Any = getattr(layout, "dataset", None)
    if found is None:
        if column is None:
            raise TypeError(
                f"{table.name}: columns are stored one by one; column= takes one of {_names(table)}"
            )
        if column not in layout.columns:
            raise KeyError(f"{table.name} has no column {column!r}; it has {_names(table)}")
        stored = layout.columns[column].stored
        if not 0 <= part < len(stored):
            raise IndexError(f"part {part} of column {column!r}: it is stored in {len(stored)}")
        found = stored[part].array
    elif column is not None or part:
        raise TypeError(
            f"{table.name}: rows are stored as records, in chunks of all columns; takes no column"
        )
    if not isinstance(found, Dataset):
        raise UnsupportedError(f"{table.path}: columns of a directory are frames, not chunks of HDF5")
    return found


def write_chunk(
    table: Table, coords: Iterable[int], data: Buffer, filter_mask: int, column: str | None, part: int
) -> None:
    """Store the bytes of a chunk; see `Table.write_chunk`."""
    dataset = dataset_of(table, column, part)
    coords = coordinates(coords)
    rows = (0, table.nrows)
    if len(dataset) == table.nrows and len(coords) == 1:
        rows = (coords[0], min(coords[0] + dataset.chunks[0], table.nrows))
    with table.notify_indexes(None if column is None else [column], [rows]):
        dataset.write_chunk(coords, data, filter_mask)


def _names(table: Table) -> str:
    return ", ".join(map(repr, table.layout.columns))
