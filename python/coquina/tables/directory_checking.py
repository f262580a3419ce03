"""Tables in directories that are checked, and what is good of damaged ones.

In: the path of a directory. Out: what is wrong with which file; a new table with all that can be read.
Invariant: what is not in a repaired table is told.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import CoquinaError, CorruptError
from coquina.storage_options import Storage
from coquina.tables.columns_filling import missing_values
from coquina.tables.columns_layout import ColumnsLayout
from coquina.tables.directory_names import FOLDER, is_directory
from coquina.tables.frames_home import FramesHome
from coquina.tables.making import NewTable, create_at
from coquina.tables.table import Table
from coquina.tables.user_attributes import user_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coquina._core import Path
    from coquina.tables.layout import Batch, ColumnSpec

#: Rows that are given up together, where some of them cannot be read.
_ROWS = 1 << 14


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something that is wrong: the array's path in the table, its file, a chunk of it if it is one."""

    array: str
    file: str
    chunk: int | None
    error: Exception


@dataclass(slots=True)
class Checked:
    """What was looked at, and what is wrong."""

    narrays: int = 0
    nchunks: int = 0
    bad: list[Wrong] = field(default_factory=list[Wrong])


@dataclass(frozen=True, slots=True)
class Lost:
    """Rows of a column that could not be read; all of them if it is not known which there were."""

    column: str
    rows: range | None
    error: Exception


def check_directory(path: Path, *, threads: int | None = None) -> Checked:
    """Read everything. Raises CorruptError if not even the manifest can be read."""
    checked = Checked()
    _check(FramesHome.open(path), "", checked, threads)
    below = os.path.join(os.fsdecode(path), FOLDER)
    if is_directory(below):
        _check(FramesHome.open(below), f"{FOLDER}/", checked, threads)
    return checked


def _check(home: FramesHome, above: str, checked: Checked, threads: int | None) -> None:
    for path, file in home.files().items():
        checked.narrays += 1
        try:
            array = home.array(path)
            checked.nchunks += array.info.nchunks
            damage = array.verify(threads=threads)
        except CoquinaError as error:
            checked.bad.append(Wrong(above + path, file, None, error))
        else:
            checked.bad += [Wrong(above + path, file, one.chunk, one.error) for one in damage]
    home.close()


def repair_directory(path: Path, target: Path, *, overwrite: bool = False) -> list[Lost]:
    """Write all that can be read to a new table, without indexes; return what cannot.

    Rows that cannot be read have no value there, or the column's default; columns of which nothing can be
    read are left out. Raises CorruptError if that are all, or if the manifest is damaged.
    """
    layout = ColumnsLayout.open(FramesHome.open(path, damaged=True))
    table = Table(layout)
    lost = [Lost(name, None, CorruptError(reason)) for name, reason in layout.skipped.items()]
    if not table.schema:
        raise CorruptError(f"{os.fspath(path)}: no column is left")

    def parts() -> Iterator[Batch]:
        for start in range(0, table.nrows, _ROWS):
            rows = range(start, min(start + _ROWS, table.nrows))
            yield {spec.name: _values(layout, spec, rows, lost) for spec in table.schema}

    new = NewTable(
        storage=Storage(chunks=layout.storage.chunks),
        title=layout.title,
        expected_rows=table.nrows,
        attrs=user_attributes(table),
    )
    with table:
        create_at(target, "w" if overwrite else "x", "/table", (table.schema, parts()), new).close()
    return lost


def _values(layout: ColumnsLayout, spec: ColumnSpec, rows: range, lost: list[Lost]) -> Any:
    try:
        return layout.columns[spec.name].read(slice(rows.start, rows.stop))
    except (CoquinaError, ValueError) as error:
        # Text whose places are damaged is no text.
        lost.append(Lost(spec.name, rows, error))
    value = missing_values(spec)
    if value is None or spec.dtype.kind in "TOSU":
        return [value] * len(rows)
    return np.full(len(rows), value, spec.dtype)
