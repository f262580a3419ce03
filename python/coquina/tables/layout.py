"""What both layouts of tables have in common: how columns are described, and what a layout does.

In: batches, that is values by the path of their column. Out: columns to read from, and rows that are stored.
Invariant: all columns have `nrows` items that can be read; appended ones count after `flush`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from coquina._core import UnsupportedError
from coquina.keyword_hints import near_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

    import numpy as np
    import numpy.typing as npt

    from coquina.tables.columns import Column
    from coquina.tables.conditions import TextReader

#: Values by the path of their column, all of one length: arrays, masked arrays, lists of str and None.
Batch = dict[str, Any]


class RecordBatch(dict[str, Any]):
    """A batch whose values are the fields of `records`, for layouts that can take these as they are."""

    def __init__(self, values: Batch, records: npt.NDArray[Any]) -> None:
        """The values, and the records that they are views of."""
        super().__init__(values)
        self.records = records


@dataclass(frozen=True)
class ColumnSpec:
    """How a column is described, whichever layout stores it.

    dtype: of one value without `shape`; `numpy.dtypes.StringDType()` for text of any length. categories: the
    values of a column of codes. enum: numbers by name. time: "time32" or "time64", PyTables' kinds of times.
    zone: the time zone of dates, which are stored in UTC, as Arrow spells it: "Europe/Berlin", "+02:00".
    children: of a column that is nested; its dtype follows from them.
    values: of a column of objects, lists or others of any length: what they are, in the words of
        python-blosc2's schemas; None for other columns.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...] = ()
    nullable: bool = False
    categories: tuple[Any, ...] | None = None
    ordered: bool = False
    enum: dict[str, int] | None = None
    time: str | None = None
    zone: str | None = None
    default: Any = None
    children: tuple[ColumnSpec, ...] = ()
    values: dict[str, Any] | None = None

    def __repr__(self) -> str:
        """Return the call that makes it, without what is as it is by default."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        said = ", ".join(f"{name}={value!r}" for name, (value, usual) in values.items() if value is not usual)
        return f"{type(self).__name__}({said})"

    @property
    def enum_default(self) -> int | None:
        """The number that columns of an enumeration have in rows without a value; None if it is none.

        The default, or without one 0, or the least number where that has no name: files do not keep the order
        of the names. Raises ValueError for a default that is neither a name nor the number of one.
        """
        if not self.enum:
            return None
        numbers = self.enum.values()
        if self.default is None:
            return 0 if 0 in numbers else min(numbers)
        number: Any = self.enum.get(self.default, self.default)
        if number not in numbers:
            raise ValueError(
                f"column {self.name!r}: the default {self.default!r} is not one of {', '.join(self.enum)}"
            )
        return int(number)

    @property
    def values_kind(self) -> str | None:
        """What values of any length are, in short: "struct", "list of int64"; None for other columns."""
        if self.values is None:
            return None
        kind, item = self.values["kind"], self.values.get("item")
        return f"{kind} of {item['kind']}" if kind == "list" and isinstance(item, dict) else kind

    def leaves(self, above: str = "") -> dict[str, ColumnSpec]:
        """Return the columns without children below, itself if it has none, by path."""
        path = f"{above}/{self.name}" if above else self.name
        if not self.children:
            return {path: self}
        return {key: leaf for child in self.children for key, leaf in child.leaves(path).items()}


Schema = tuple[ColumnSpec, ...]


def refuse_values(spec: ColumnSpec) -> None:
    """Raise TypeError for a column of lists or other values of any length, where there are none."""
    if spec.values is not None:
        raise TypeError(
            f"column {spec.name!r}: a {spec.values['kind']} is not stored in such tables, but in those of "
            "python-blosc2 (.b2z, .b2d); cast the values to numbers, times or text"
        )


def no_column(name: str, known: Iterable[str], place: str = "") -> KeyError:
    """Return the error for a name that no column has: which may be meant, or else those that there are.

    known: paths of columns. place: what the text begins with, such as "group_by: ".
    """
    names = list(known)
    # Conditions write a column within a column with a point.
    path = name.replace(".", "/")
    near = path if path in names else near_word(name, names)
    hint = f"; did you mean {near!r}?" if near else ""
    return KeyError(f"{place}there is no column {name!r} (there are {', '.join(names)}){hint}")


def leaves_of(schema: Schema) -> dict[str, ColumnSpec]:
    """Return the columns without children, by their paths, in order."""
    return {path: leaf for spec in schema for path, leaf in spec.leaves().items()}


class Layout(ABC):
    """How a table's columns are stored: as records in one dataset, or each in its own.

    kind: "rows" or "columns". columns: those without children, by path, in order.
    """

    kind: str
    columns: dict[str, Column]
    schema: Schema
    #: What reads texts about the columns, once it was wanted; see `conditions.reader_of`.
    text_reader: TextReader | None = None
    #: PyTables' indexes by column; None if they are to be looked for.
    their_indexes: Mapping[str, Any] | None = MappingProxyType({})

    def why_hidden(self, name: str) -> str | None:
        """Return why a column that there is is not shown; None if there is none of this name."""
        del name
        return None

    @property
    def stored_schema(self) -> Schema:
        """The columns that rows are given for."""
        return self.schema

    @property
    @abstractmethod
    def nrows(self) -> int:
        """How many rows can be read: without those that wait in memory."""

    @property
    def nrows_appended(self) -> int:
        """How many rows there are with those that were appended and wait in memory."""
        return self.nrows

    @property
    @abstractmethod
    def is_writable(self) -> bool:
        """Whether rows can be changed."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """Its name in the file."""

    @property
    @abstractmethod
    def file(self) -> Any:
        """The `File` that it is in; None for a directory."""

    @property
    @abstractmethod
    def attrs(self) -> Any:
        """The user's attributes: h5py's mapping."""

    def changing(self) -> AbstractContextManager[None]:
        """Return a context in which all changes are one commit, where the layout has commits."""
        return nullcontext()

    def refresh(self) -> bool:
        """Go to the newest commit of another writer; return whether there is one."""
        return False

    def watched_by(self, table: Any) -> None:
        """Have a table told of transactions that others begin and undo, where there can be some.

        It is asked to `flush` before, and after one that failed to `show` what `undone` has left.
        """
        del table

    def undone(self) -> None:
        """Show the last commit again, after others have undone a change."""
        self.refresh()

    @abstractmethod
    def append(self, batch: Batch) -> None:
        """Put rows behind the last. They are written chunk by chunk, the rest at the latest by `flush`."""

    @abstractmethod
    def flush(self) -> None:
        """Write what waits in memory."""

    @abstractmethod
    def close(self) -> None:
        """Flush, and let go of the file's nodes."""

    @abstractmethod
    def write(self, start: int, batch: Batch) -> None:
        """Overwrite rows from `start` on, in the columns that `batch` has."""

    @abstractmethod
    def write_at(self, rows: npt.NDArray[Any], batch: Batch) -> None:
        """Overwrite these rows, in the columns that `batch` has."""

    @abstractmethod
    def resize(self, nrows: int) -> None:
        """Keep the first `nrows` rows; new ones, if it is more, have the defaults."""

    def enlarge_chunks(self, nrows: int) -> None:  # noqa: B027 (what is only read has no need)
        """Make chunks larger where so many rows would have too many of them, if that is cheap."""

    def add_column(self, spec: ColumnSpec, values: Any) -> None:
        """Put a column behind the last, with a value for each row."""
        del values
        self._keep_columns(f"a column {spec.name!r} cannot be added")

    def drop_column(self, name: str) -> None:
        """Remove a column."""
        self._keep_columns(f"column {name!r} cannot be removed")

    def rename_column(self, old: str, new: str) -> None:
        """Give a column another name."""
        self._keep_columns(f"column {old!r} cannot be called {new!r}")

    def _keep_columns(self, what: str) -> NoReturn:
        """Raise UnsupportedError, where a table has the columns that it was made with."""
        raise UnsupportedError(f"{self.name}: {what}")

    @abstractmethod
    def info(self) -> dict[str, Any]:
        """How it is stored: chunks, codec, sizes."""
