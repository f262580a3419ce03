"""A column that has columns: what `table["info"]` is for one that is nested.

In: a table and a path. Out: the columns below, and records of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.quoting import quoted
from coquina.tables.pandas_callers import refuse_constructor
from coquina.tables.rows_by_key import read_key

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from coquina.tables.layout import ColumnSpec
    from coquina.tables.table import Table


class Nest:
    """Columns below a column: `nest["x"]` is one of them, `nest[5:9]` are records."""

    def __init__(self, table: Table, path: str, spec: ColumnSpec) -> None:
        """Made by a table."""
        self._table = table
        self._path = path
        self._spec = spec

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns below."""
        return tuple([child.name for child in self._spec.children])

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (self._table.nrows,)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a record."""
        return self._table.dtype[self._path] if "/" not in self._path else self[:0].dtype

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._table.nrows

    def __getitem__(self, key: Any) -> Any:
        """Return a column below, or records of rows."""
        if isinstance(key, str):
            return self._table[f"{self._path}/{key}"]
        return read_key(self._table, key, [self._path])[self._path]

    def __getattr__(self, name: str) -> Any:
        """Return the column of this name."""
        if not name.startswith("_") and name in self.columns:
            return self[name]
        raise AttributeError(f"{self._path!r} has no {name!r}", name=name, obj=self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return all records."""
        refuse_constructor()
        found = self[...]
        return found if dtype is None else found.astype(dtype)

    def __repr__(self) -> str:
        """Name the columns."""
        if self._table.is_closed:
            return "<Nest, closed>"
        return f"<Nest {self._path!r} of {self._table.name!r}: {quoted(', '.join(self.columns))}>"
