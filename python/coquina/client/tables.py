"""Tables behind a server, and selections of their rows, with the words of local ones.

In: requests. Out: columns as NumPy arrays, Arrow tables, DataFrames; conditions run on the server.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.client.objects import RemoteObject, dtype_of, npy
from coquina.client.requests import of_one_state
from coquina.client.selections import lowered
from coquina.tables.arrow_module import pyarrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from coquina.client.requests import Answer


#: Rows of one answer in JSON.
_ROWS = 50_000


@dataclass(frozen=True, slots=True)
class _Rows:
    """Which rows. limit: only the first so many."""

    where: str | None = None
    sort: str | None = None
    columns: tuple[str, ...] | None = None
    limit: int | None = None


class Queries(RemoteObject):
    """What can be asked of the rows of a table, or of some of them."""

    def _rows(self) -> _Rows:
        raise NotImplementedError

    def _table(self) -> RemoteTable:
        raise NotImplementedError

    def _with(self, **changes: Any) -> RemoteSelection:
        return RemoteSelection(self._table(), replace(self._rows(), **changes))

    def where(self, condition: str) -> RemoteSelection:
        """Return the rows that meet a condition, lazily; text as `Table.where` takes it."""
        known = self._rows()
        if known.limit is not None:
            raise ValueError("where: comes before head")
        return self._with(where=condition if known.where is None else f"({known.where}) & ({condition})")

    def select(self, columns: str | Sequence[str]) -> RemoteSelection:
        """Return the same rows with these columns only."""
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        self._table().check(names)
        return self._with(columns=names)

    def order_by(self, column: str, descending: bool = False) -> RemoteSelection:
        """Return the rows in the order of a column; rows that are equal keep their order."""
        self._table().check((column,))
        if self._rows().limit is not None:
            raise ValueError("order_by: comes before head")
        return self._with(sort=f"-{column}" if descending else column)

    def head(self, n: int = 5) -> RemoteSelection:
        """Return the first `n` of the rows."""
        known = self._rows().limit
        return self._with(limit=n if known is None else min(n, known))

    def count(self) -> int:
        """Return how many rows there are."""
        rows = self._rows()
        total = int(self._ask(rows, 0, 0, "json").json()["total"])
        return total if rows.limit is None else min(total, rows.limit)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self.count()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return self._rows().columns or self._table().all_columns

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return the values of columns by their names; some rows are fetched at a time.

        Where values are missing, columns of integers and text are objects, with None.
        """
        rows = self._rows()
        lists: dict[str, list[Any]] = {name: [] for name in self.columns}
        for answer in of_one_state(lambda: self._windows(rows)):
            for name, values in answer.json()["values"].items():
                lists[name].extend(values)
        kinds = self._table().kinds
        return {name: _column(values, *kinds[name]) for name, values in lists.items()}

    def _windows(self, rows: _Rows) -> list[Answer]:
        """Return all rows, some in each answer."""
        found: list[Answer] = []
        at, end = 0, rows.limit
        while True:
            stop = at + _ROWS if end is None else min(at + _ROWS, end)
            found.append(self._ask(rows, at, stop, "json"))
            total = int(found[-1].json()["total"])
            at = stop
            if at >= (total if end is None else min(total, end)):
                return found

    def to_numpy(self, column: str | None = None) -> npt.NDArray[Any]:
        """Return the rows as a structured array, or the values of one column."""
        if column is not None:
            return self.select(column).to_dict()[column]
        found = self.to_dict()
        count = len(next(iter(found.values()))) if found else 0
        made = np.empty(count, [(name, values.dtype) for name, values in found.items()])
        for name, values in found.items():
            made[name] = values
        return made

    def to_arrow(self) -> Any:
        """Return the rows as a `pyarrow.Table`, in one answer. Raises ImportError, LimitError."""
        rows = self._rows()
        ipc = pyarrow("ipc")
        answer = self._ask(rows, 0, rows.limit, "arrow")
        with ipc.open_stream(io.BytesIO(answer.content)) as stream:
            return stream.read_all()

    def to_pandas(self) -> Any:
        """Return the rows as a `pandas.DataFrame`; see `to_arrow`."""
        return self.to_arrow().to_pandas()

    async def count_async(self) -> int:
        """Return how many rows there are, as `count`, without holding up other tasks."""
        return await self.requests.in_thread(self.count)

    async def to_dict_async(self) -> dict[str, npt.NDArray[Any]]:
        """Return the values of columns, as `to_dict`, without holding up other tasks."""
        return await self.requests.in_thread(self.to_dict)

    async def to_numpy_async(self, column: str | None = None) -> npt.NDArray[Any]:
        """Return the rows, as `to_numpy`, without holding up other tasks."""
        return await self.requests.in_thread(self.to_numpy, column)

    async def to_arrow_async(self) -> Any:
        """Return the rows, as `to_arrow`, without holding up other tasks."""
        return await self.requests.in_thread(self.to_arrow)

    async def to_pandas_async(self) -> Any:
        """Return the rows, as `to_pandas`, without holding up other tasks."""
        return await self.requests.in_thread(self.to_pandas)

    def window(self, columns: tuple[str, ...], start: int, stop: int) -> Answer:
        """Return a window of all rows as the server sends it; for columns."""
        return self._ask(_Rows(columns=columns), start, stop, "json")

    def _ask(self, rows: _Rows, start: int, stop: int | None, kind: str) -> Answer:
        return self.requests.get(
            "rows",
            file=self.file,
            path=self.path,
            start=start,
            stop=stop,
            where=rows.where,
            sort=rows.sort,
            columns=None if rows.columns is None else ",".join(rows.columns),
            format=kind,
        )


class RemoteTable(Queries):
    """A table of a server: `t["x"][5:9]`, `t.where("x > 5").to_arrow()`, `len(t)`."""

    def _rows(self) -> _Rows:
        return _Rows()

    def _table(self) -> RemoteTable:
        return self

    @property
    def schema(self) -> list[dict[str, Any]]:
        """The columns, as the server describes them: name, dtype, kind, sizes, and whether it is indexed."""
        return self.requests.get("schema", file=self.file, path=self.path).json()["columns"]

    @property
    def kinds(self) -> dict[str, tuple[str, np.dtype[Any]]]:
        """Kind and dtype of each column."""
        found = self.__dict__.get("kinds_known")
        if found is None:
            found = {one["name"]: (one["kind"], dtype_of(one["dtype"])) for one in self.schema}
            self.__dict__["kinds_known"] = found
        return found

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The names of all columns."""
        return tuple(self.info["columns"])

    @property
    def nrows(self) -> int:
        """How many rows there are."""
        return self.count()

    def check(self, names: Sequence[str]) -> None:
        """Raise KeyError for a column that there is not."""
        for name in names:
            if name not in self.all_columns:
                raise KeyError(f"there is no column {name!r}; there are {', '.join(self.all_columns)}")

    def __getitem__(self, name: str) -> RemoteColumn:
        """Return a column. Raises KeyError."""
        self.check((name,))
        return RemoteColumn(self, name)

    def append(self, data: Any) -> int:
        """Append rows, in one commit; return how many there are now.

        data: an Arrow table or what makes one (a mapping of columns, a DataFrame), or a structured array.
        Raises PermissionError without the right to write, BlockingIOError while another writer has the file.
        """
        is_array = isinstance(data, np.ndarray)
        body = npy(cast("Any", data)) if is_array else _arrow_stream(data)
        answer = self.requests.send("POST", "append/", body, file=self.file, path=self.path)
        self.refresh()
        return int(answer.json()["length"])

    def __repr__(self) -> str:
        """Say columns, and where it is."""
        return f"<RemoteTable {', '.join(self.all_columns)}, {self.file}:{self.path}, {self.requests.url}>"


class RemoteSelection(Queries):
    """Rows of a table of a server that meet a condition, in an order, perhaps only the first of them."""

    def __init__(self, table: RemoteTable, rows: _Rows) -> None:
        """Made by the queries of a table."""
        super().__init__(table.requests, table.file, table.path)
        self._of, self._what = table, rows

    def _rows(self) -> _Rows:
        return self._what

    def _table(self) -> RemoteTable:
        return self._of

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        """Return the values of a column in these rows."""
        return self.to_numpy(column)

    def __repr__(self) -> str:
        """Say what is asked for."""
        return f"<RemoteSelection {self._what.where or 'all rows'!r} of {self.file}:{self.path}>"


class RemoteColumn:
    """A column of a table of a server: `t["x"][5:9]` fetches these values."""

    def __init__(self, table: RemoteTable, name: str) -> None:
        """Made by a table."""
        self.table = table
        self.file = table.file
        self.name = name
        self.path = f"{table.path.rstrip('/')}/{name}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; object for text."""
        return self.table.kinds[self.name][1]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.table)

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (len(self),)

    def __getitem__(self, key: Any) -> Any:
        """Return the values of a row number or a slice."""
        (part,) = lowered(key, self.shape).parts
        numbers = range(part, part + 1) if isinstance(part, int) else part
        if not numbers:
            return np.empty(0, self.dtype)
        low, high = min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1]) + 1
        starts = range(low, high, _ROWS)
        answers = of_one_state(
            lambda: [self.table.window((self.name,), at, min(at + _ROWS, high)) for at in starts]
        )
        lists = [one for answer in answers for one in answer.json()["values"][self.name]]
        values = _column(lists, *self.table.kinds[self.name])
        if isinstance(part, int):
            return values[0]
        return values[:: numbers.step] if numbers.step > 0 else values[::-1][:: -numbers.step]

    async def read_async(self, key: Any = slice(None)) -> Any:
        """Return the values of a key, as `t["x"][key]`, without holding up other tasks."""
        return await self.table.requests.in_thread(self.__getitem__, key)


def _column(values: list[Any], kind: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return values of JSON as NumPy has them."""
    is_whole = all(one is not None for one in values)
    if kind == "float":
        return np.array([np.nan if one is None else one for one in values], dtype)
    if kind == "integer" and is_whole:
        return np.array([int(one) for one in values], dtype)
    if kind == "bool" and is_whole:
        return np.array(values, dtype)
    if kind == "time" and dtype.kind == "M":
        return np.array([np.datetime64("NaT") if one is None else one for one in values], dtype)
    if kind == "time" and dtype.kind == "m" and is_whole:
        return np.array([int(one) for one in values], "i8").view(dtype)
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _arrow_stream(data: Any) -> bytes:
    """Return an Arrow stream of rows."""
    pa = pyarrow()
    rows: Any = data if isinstance(data, pa.Table) else pa.table(data)
    with io.BytesIO() as file:
        with pyarrow("ipc").new_stream(file, rows.schema) as stream:
            stream.write_table(rows)
        return file.getvalue()
