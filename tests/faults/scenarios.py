"""Changes to files: a table of scenarios, each a subject and steps, each of which is one commit.

In: a handle that the subject opened. Out: a change, committed when the step returns. To add a scenario is to
write its steps and a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

import coquina as cq
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT
from tests.faults.subjects import SESSIONS, SUBJECTS, Subject, column_rows, matrix, records

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Scenario:
    """Steps on a subject. durable: every commit waits for the disk."""

    name: str
    subject: Subject
    steps: tuple[Callable[[Any], None], ...]
    durable: bool = False

    def open(self, path: str) -> Any:
        """Open the file for writing."""
        return self.subject.open(path, durable=True) if self.durable else self.subject.open(path)


def _flushed(change: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a step: a change, and a flush."""

    def step(handle: Any) -> None:
        change(handle)
        handle.flush()

    return step


def _each_flushed(*changes: Callable[[Any], object]) -> tuple[Callable[[Any], None], ...]:
    return tuple([_flushed(change) for change in changes])


# Tables


def _appends(rows_of: Callable[[int, int], Any]) -> tuple[Callable[[Any], None], ...]:
    def append_30_rows(table: Any) -> None:
        table.append(rows_of(len(table), len(table) + 30))

    return _each_flushed(*[append_30_rows] * 3)


def _append_in_parts(table: Any) -> None:
    for _ in range(3):
        table.append(column_rows(len(table), len(table) + 50))


def _new_text(table: Any) -> list[str]:
    return [f"new {i}" for i in range(len(table))]


def _assign_rows(table: Any) -> None:
    rows = table[20:24]
    table[100:104] = rows


_CATEGORIES = ColumnSpec("cat", TEXT, categories=())

_COLUMNS: dict[str, tuple[Callable[[Any], None], ...]] = {
    "append": _appends(column_rows),
    "append_parts": _each_flushed(_append_in_parts, _append_in_parts),
    "modify_numbers": _each_flushed(
        lambda t: t.modify("n > 500000", {"x": -1.5, "n": 3}), lambda t: t.modify(slice(60, 70), {"x": 2.0})
    ),
    "modify_text": _each_flushed(
        lambda t: t.modify(slice(10, 80), {"text": "changed, and longer than it was", "maybe": None}),
        lambda t: t.modify("x < 3", {"fixed": "new", "kind": "a new kind", "int": 5}),
    ),
    "delete": _each_flushed(
        lambda t: t.delete(slice(50, 80)), lambda t: t.delete("x < 20"), lambda t: t.truncate(len(t) - 40)
    ),
    "assign": _each_flushed(
        lambda t: t.__setitem__("x", np.arange(len(t)) / 7),
        _assign_rows,
        lambda t: t.__setitem__("text", _new_text(t)),
    ),
    "columns": _each_flushed(
        lambda t: t.add_column("twice", t["n"][...] * 2),
        lambda t: t.add_column("text2", _new_text(t)),
        lambda t: t.add_column("cat", [f"c{i % 9}" for i in range(len(t))], _CATEGORIES),
        lambda t: t.rename_column("text2", "text3"),
        lambda t: t.drop_column("cat"),
    ),
    "create_index": _each_flushed(
        lambda t: t.create_index("n"),
        lambda t: t.create_index("x", kind="light"),
        lambda t: t.drop_index("n"),
    ),
    "refresh_index": _each_flushed(
        lambda t: t.create_index("n"),
        lambda t: t.append(column_rows(len(t), len(t) + 30)),
        lambda t: t.refresh_index("n"),
        lambda t: t.modify(slice(0, 20), {"n": 17}),
        lambda t: t.refresh_index(),
    ),
    "attributes": _each_flushed(
        lambda t: t.attrs.update({"a": 1, "long": "text" * 100}),
        lambda t: t.attrs.__setitem__("unit", "km"),
        lambda t: t.attrs.__delitem__("a"),
    ),
    "resize": _each_flushed(lambda t: t.resize(len(t) + 100), lambda t: t.resize(len(t) - 150)),
    # As `resize(10**14)` does before it adds rows, which nobody could compare one by one.
    "larger_chunks": _each_flushed(
        lambda t: t.layout.enlarge_chunks(10**14), lambda t: t.append(column_rows(len(t), len(t) + 30))
    ),
}

_ROWS: dict[str, tuple[Callable[[Any], None], ...]] = {
    "append": _appends(records),
    "modify": _each_flushed(
        lambda t: t.modify("n > 500000", {"x": -1.5}),
        lambda t: t.modify(slice(60, 70), {"s": b"new"}),
        _assign_rows,
    ),
    "delete": _COLUMNS["delete"],
    "create_index": _COLUMNS["create_index"],
    "pytables_index": _each_flushed(
        lambda t: t.create_index("n", kind="pytables"), lambda t: t.append(records(len(t), len(t) + 30))
    ),
    "refresh_index": _each_flushed(
        lambda t: t.create_index("n"),
        lambda t: t.append(records(len(t), len(t) + 30)),
        lambda t: t.refresh_index("n"),
    ),
    "attributes": _COLUMNS["attributes"],
    "resize": _COLUMNS["resize"],
    "larger_chunks": _each_flushed(
        lambda t: t.layout.enlarge_chunks(10**14), lambda t: t.append(records(len(t), len(t) + 30))
    ),
}


def _sorted_copy(table: Any) -> None:
    table.copy(table.file, "sorted", sort_by="n").close()


def _transaction_over_tables(file: Any) -> None:
    with file.transaction():
        one, two = file["one"], file["two"]
        one.append(column_rows(len(one), len(one) + 30))
        two.append(records(len(two), len(two) + 30))
        two.modify(slice(0, 10), {"x": -1.0})
        file.attrs["rows"] = len(one)
        one.attrs["rows"] = len(one)


def _transaction_that_fails(file: Any) -> None:
    """Undo everything, and then commit something."""
    try:
        with file.transaction():
            file["one"].append(column_rows(0, 30))
            file["two"].delete(slice(0, 100))
            file.attrs["never"] = 1
            raise KeyError("undo")
    except KeyError:
        pass
    file.attrs["undone"] = file.attrs.get("undone", 0) + 1
    file.flush()


def _rolled_back(file: Any) -> None:
    file["one"].append(column_rows(0, 30))
    file.attrs["never"] = 1
    file.rollback()
    file["two"].append(records(len(file["two"]), len(file["two"]) + 30))
    file.flush()


# Datasets


def _session(name: str, durable: bool = False) -> Callable[[Any], None]:
    def append_in_session(file: Any) -> None:
        dataset = file[name]
        with dataset.appending(durable=durable) as session:
            session.append(matrix(session.rows, session.rows + 44))

    return append_in_session


def _append_in_open_session(file: Any) -> None:
    """Flush a session that stays open until the file is closed: it is found by its file."""
    session = SESSIONS.get(id(file))
    if session is None:
        session = SESSIONS[id(file)] = file["grows"].appending()
    session.append(matrix(session.rows, session.rows + 30))
    session.flush()


def _make_and_remove(file: Any) -> None:
    file.create_dataset("new/deep/d", data=matrix(0, 50), chunks=(8, 12))
    file.create_dataset("new/text", data=["é", "b"], dtype=h5py.string_dtype())
    del file["g/plain"]


_DATASETS: dict[str, tuple[Callable[[Any], None], ...]] = {
    "appending": (_session("grows"), _session("g/gzip"), _session("grows")),
    "session": (_append_in_open_session,) * 3,
    "append": _each_flushed(
        lambda f: f["grows"].append(matrix(100, 130)), lambda f: f["g/gzip"].append(matrix(100, 130))
    ),
    "assign": _each_flushed(
        lambda f: f["grows"].__setitem__(slice(10, 60), matrix(500, 550)),
        lambda f: f["g/plain"].__setitem__((slice(None, None, 3), 5), 77),
        lambda f: f["g/gzip"].__setitem__(np.array([3, 50, 99]), -matrix(3, 6)),
    ),
    "resize": _each_flushed(
        lambda f: f["g/both"].resize((120, 20)),
        lambda f: f["g/both"].resize((40, 4)),
        lambda f: f["grows"].resize((33, 12)),
    ),
    "attributes": _each_flushed(
        lambda f: f["grows"].attrs.update({"a": np.arange(50), "long": "text" * 100}),
        lambda f: f.attrs.__setitem__("rows", 7),
        lambda f: f["grows"].attrs.__delitem__("unit"),
    ),
    "groups": _each_flushed(
        _make_and_remove,
        lambda f: f.move("g/gzip", "moved"),
        lambda f: f.create_group("another").attrs.update({"a": "é"}),
    ),
}


# Whole files


def _replace(path: str) -> None:
    with cq.open(path, "w") as file:
        file.create_dataset("grows", data=matrix(0, 60), chunks=(16, 12), maxshape=(None, 12))


def _replace_table(path: str) -> None:
    # One that is at another commit than the table of before, so that no file of it can pass for the other's.
    cq.create_table(path, column_rows(50, 110), overwrite=True).close()


def _repack(path: str) -> None:
    cq.hdf5.repack(path, in_place=True, filter="blosc2", codec="lz4", chunks="auto")


def _repack_by_command(path: str) -> None:
    from coquina.cli import main

    if main(["repack", "--filter", "gzip", "--in-place", "--quiet", path]):
        raise OSError("coquina repack failed")


def _recover(path: str) -> None:
    cq.hdf5.recover(path, path.replace("x.h5", "out.h5"), overwrite=True)


_PATHS: dict[str, tuple[Callable[[str], None], ...]] = {
    "replace": (_replace,),
    "repack_in_place": (_repack, _repack_by_command),
    "recover": (_recover,),
}


# Frames: every change is a commit.


def _frame_transaction(array: Any) -> None:
    with array.transaction():
        array[3:40, ::5] = 9
        array.append(np.resize(matrix(100, 120), (20, array.shape[1])))
        array.attrs["step"] = len(array)


def _undone_frame_transaction(array: Any) -> None:
    try:
        with array.transaction():
            array[...] = 0
            array.attrs["never"] = 1
            raise KeyError("undo")
    except KeyError:
        array.attrs["undone"] = 1


_FRAMES: dict[str, tuple[Callable[[Any], None], ...]] = {
    "append": tuple([lambda a: a.append(matrix(len(a), len(a) + 30))] * 3),
    "assign": (lambda a: a.__setitem__(slice(5, 70), 3), lambda a: a.__setitem__((slice(None), 4), 5)),
    "resize": (lambda a: a.resize((150, 20)), lambda a: a.resize((30, 7))),
    "attributes": (
        lambda a: a.attrs.__setitem__("long", "text" * 300),
        lambda a: a.attrs.__setitem__("unit", "km"),
        lambda a: a.attrs.__delitem__("long"),
    ),
    "transaction": (_frame_transaction, _undone_frame_transaction, _frame_transaction),
    "compact": (lambda a: a.__setitem__(slice(5, 70), 3), lambda a: a.compact()),
}


# Stores of python-blosc2: in a directory every change is a commit, in an archive every flush.


def _store_rows(start: int, count: int) -> dict[str, Any]:
    rows = np.arange(start, start + count)
    masked = np.ma.masked_array(-rows, rows % 4 == 1)
    return {"n": rows, "text": [f"é{i}" * (i % 3) for i in rows], "null": masked}


_STORES: dict[str, tuple[Callable[[Any], None], ...]] = {
    "make": _each_flushed(
        lambda s: s.create_dataset("new", data=matrix(0, 50), chunks=(8, 12)),
        lambda s: s.create_dataset("h/i/j", data=matrix(0, 5)),
        lambda s: s.create_group("k/l"),
        lambda s: s.create_dataset("zeros", (30, 40), "f8"),
    ),
    "remove": _each_flushed(
        lambda s: s.__delitem__("g/two"),
        lambda s: s.__delitem__("g/deep/one"),
        lambda s: s.__delitem__("g"),
        lambda s: s.__delitem__("grows"),
    ),
    "move": _each_flushed(
        lambda s: s.move("grows", "g/grown"), lambda s: s.move("g", "h/i"), lambda s: s.move("h/i/two", "two")
    ),
    "tables": _each_flushed(
        lambda s: s.create_table("new/table", {"n": np.arange(50), "t": ["é"] * 50}),
        lambda s: s.move("new/table", "h/moved"),
        lambda s: s.move("h", "i"),
        lambda s: s.__delitem__("i/moved"),
    ),
    "rows": _each_flushed(
        lambda s: s.create_table("t", _store_rows(0, 50)),
        lambda s: s["t"].append(_store_rows(50, 7)),
        lambda s: s["t"].delete(slice(3, 30, 2)),
        lambda s: s["t"].modify(slice(0, 4), {"n": -1}),
        lambda s: s["t"].append(_store_rows(57, 3)),
        lambda s: s["t"].resize(len(s["t"]) + 20),
        lambda s: s["t"].attrs.__setitem__("unit", "km"),
    ),
    "attributes": _each_flushed(
        lambda s: s.attrs.__setitem__("long", "text" * 300),
        lambda s: s["g/deep"].attrs.__setitem__("unit", "km"),
        lambda s: s["grows"].attrs.__delitem__("unit"),
        lambda s: s["g"].attrs.__delitem__("rows"),
    ),
    "assign": _each_flushed(
        lambda s: s["grows"].append(matrix(100, 130)),
        lambda s: s["g/two"].__setitem__(slice(3, 20), 5),
        lambda s: s["g/deep/one"].resize((60, 12)),
    ),
}


def _rows() -> list[Scenario]:
    """Return the table: every change on every subject that takes it, waiting for the disk or not."""
    found: list[tuple[str, str, tuple[Callable[[Any], None], ...]]] = []
    for suffix in ("", "_latest"):
        for size in ("", "_long"):
            found += [(f"columns{size}{suffix}", name, steps) for name, steps in _COLUMNS.items()]
            found += [(f"rows{size}{suffix}", name, steps) for name, steps in _ROWS.items()]
            sort = _each_flushed(_sorted_copy)
            found += [(f"{layout}{size}{suffix}", "sorted_copy", sort) for layout in ("columns", "rows")]
        for whose in ("", "h5py_"):
            found += [(f"{whose}datasets{suffix}", name, steps) for name, steps in _DATASETS.items()]
        found += [
            (f"tables{suffix}", "transaction", (_transaction_over_tables,) * 2),
            (f"tables{suffix}", "undone_transaction", (_transaction_that_fails,) * 2),
            (f"tables{suffix}", "rollback", (_rolled_back,) * 2),
        ]
        found += [(f"path{suffix}", name, steps) for name, steps in _PATHS.items()]
    found += [("directory_path", "replace", (_replace_table,) * 2)]
    found += [("pytables_rows", name, steps) for name, steps in _ROWS.items()]
    found += [("directory", name, steps) for name, steps in _COLUMNS.items()]
    found += [(f"store_{kind}", name, steps) for kind in ("b2d", "b2z") for name, steps in _STORES.items()]
    found += [(kind, name, steps) for kind in ("frame", "sparse") for name, steps in _FRAMES.items()]
    rows = []
    for subject, name, steps in found:
        rows.append(Scenario(f"{name}_{subject}", SUBJECTS[subject], steps))
        if "path" not in subject:
            rows.append(Scenario(f"{name}_{subject}_durable", SUBJECTS[subject], steps, durable=True))
    return rows


SCENARIOS: dict[str, Scenario] = {one.name: one for one in _rows()}
