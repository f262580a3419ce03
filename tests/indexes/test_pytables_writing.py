"""Indexes that we write, in PyTables: used, sorted by, copied, and kept up to date."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tables

from coquina._core import UnsupportedError
from coquina.hdf5 import File
from coquina.tables import pytables_index_making as making
from coquina.tables import pytables_index_writing as writing
from coquina.tables.layout import ColumnSpec
from coquina.tables.pytables_index_shape import SIZES as SIZE_NAMES
from coquina.tables.pytables_indexes import indexes_of
from coquina.tables.rows import create_rows
from tests.indexes.pytables_cases import (
    COLUMNS,
    SIZES,
    check_all,
    check_index,
    column_of,
    create,
    fill,
    records,
)


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    """PyTables warns where it finds what it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices, windows and memory that few rows are too many for."""
    sizes = dict(zip(SIZE_NAMES, (4096, 2048, 512, 64, 1, 9), strict=True))
    monkeypatch.setattr(making, "pytables_sizes", lambda rows, item_bytes: sizes)
    monkeypatch.setattr(making, "_WINDOW_ROWS", 200)


def agree(table: Any, rows: Any, columns: list[str] = COLUMNS, seed: int = 0) -> None:
    """PyTables finds by the indexes what is in the rows."""
    random = np.random.default_rng(seed)
    for path in columns:
        column, values = table.cols._f_col(path), column_of(rows, path)
        assert not column.index.dirty
        assert column.index.nelements == len(rows)
        # Those that PyTables finds: strings without NUL, and numbers.
        known = values[values == values]
        if known.dtype.kind == "S":
            known = np.array([one for one in known.tolist() if b"\0" not in one])
        low, high = np.sort(random.choice(known, 2))
        # PyTables keeps rows by the text of a condition, whichever column a name in it stands for.
        name = path.replace("/", "_")
        conditions = {
            f"{name} == low": values == low,
            f"({name} >= low) & ({name} <= high)": (values >= low) & (values <= high),
        }
        if values.dtype.kind == "b":
            conditions = {name: values}
        for text, wanted in conditions.items():
            # PyTables takes out of the mapping what the condition does not need.
            params = {name: column, "low": low, "high": high}
            assert table.will_query_use_indexing(text, dict(params))
            found = np.sort(table.get_where_list(text, params))
            np.testing.assert_array_equal(found, np.flatnonzero(wanted))


def in_order(rows: Any, path: str) -> Any:
    return rows[np.argsort(column_of(rows, path), kind="stable")]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("memory_limit", [1 << 30, 8000])
def test_pytables_uses_sorts_by_and_goes_on_with_an_index(tmp_path: Path, memory_limit: int) -> None:
    path = tmp_path / "t.h5"
    is_odd = memory_limit == 8000
    rows = create(path, 2000, 1, odd=is_odd)
    steps: list[tuple[int, int]] = []
    with File(path, "r+") as file:
        table = file.table("g/t")
        for name in COLUMNS:
            made = writing.write_index(
                table, name, memory_limit=memory_limit, progress=lambda *step: steps.append(step)
            )
            assert made.is_usable, made.reason
            assert made.level == "full"
    assert steps[-1] == (4000, 4000)
    assert {path.name for path in tmp_path.iterdir()} == {"t.h5"}
    check_all(path, rows, COLUMNS, "full")
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        assert all(column.index.is_csi for column in map(table.cols._f_col, COLUMNS))
        agree(table, rows)
        for name in ("i4", "f8", "text"):
            assert table.read_sorted(name, checkCSI=True).tobytes() == in_order(rows, name).tobytes()
            found = [row.nrow for row in table.itersorted(name, checkCSI=True)]
            np.testing.assert_array_equal(found, np.argsort(column_of(rows, name), kind="stable"))
        table.copy(newname="u", sortby="i4", checkCSI=True, propindexes=True)
        assert file.root.g.u[:].tobytes() == in_order(rows, "i4").tobytes()
        agree(file.root.g.u, in_order(rows, "i4"), ["i4", "flag"])
        if not is_odd:
            fill(table, records(table.dtype, 700, 2, odd=False))
            agree(table, table[:])
        table.remove_rows(3, 50)
        table.modify_column(0, 100, column=np.arange(100, dtype="i4"), colname="i4")
        agree(table, table[:])
        rows = table[:]
    check_all(path, rows, COLUMNS, "full")


@pytest.mark.parametrize("count", [0, 1, 63, 64, 511, 512, 513, 1024, 1100])
@pytest.mark.usefixtures("small")
def test_any_number_of_rows(tmp_path: Path, count: int) -> None:
    path = tmp_path / "t.h5"
    with tables.open_file(str(path), "w") as file:
        file.create_table("/", "t", obj=np.zeros(count, [("a", "i4"), ("b", "f8")]))
    values = np.random.default_rng(0).integers(0, 99, count).astype("i4")
    with File(path, "r+") as file:
        table = file.table("t")
        if count:
            table["a"] = values
        made = writing.write_index(table, "a")
        assert made.is_usable, made.reason
        assert made.rows == count
        if count:
            check_index(made, values)
    with tables.open_file(str(path), "a") as file:
        table = file.root.t
        for _ in range(2):
            found = table.get_where_list("a == 7")
            np.testing.assert_array_equal(np.sort(found), np.flatnonzero(values == 7))
            more = np.zeros(600, table.dtype)
            more["a"] = np.arange(600) % 99
            table.append(more)
            table.flush()
            values = np.concatenate([values, more["a"]])


@pytest.mark.usefixtures("small")
def test_rows_that_we_append_make_it_stale_until_it_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    create(path, 900, 4, odd=False)
    with File(path, "r+") as file:
        table = file.table("g/t")
        writing.write_index(table, "i4")
        writing.write_index(table, "f8")
        table.append(table[:50])
        assert not indexes_of(table)["i4"].is_usable
    with tables.open_file(str(path)) as file:
        table = file.root.g.t
        assert not table.will_query_use_indexing("i4 > 3")
        wanted = np.flatnonzero(table.col("i4") > 3)
        np.testing.assert_array_equal(table.get_where_list("i4 > 3"), wanted)
    with File(path, "r+") as file:
        table = file.table("g/t")
        assert writing.write_index(table, "i4").is_usable
        assert not indexes_of(table)["f8"].is_usable
        # And again: a second change is told as the first was.
        table.modify(0, {"i4": 77})
        assert not indexes_of(table)["i4"].is_usable
        writing.write_index(table, "i4")
        table.delete(slice(500, None))
        writing.write_index(table, "i4")
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        assert table.cols.f8.index.dirty
        # The stale index was of more rows; new ones go into the other nevertheless.
        fill(table, records(table.dtype, 300, 5, odd=False))
        agree(table, table[:], ["i4"])
        table.reindex_dirty()
        agree(table, table[:], ["i4", "f8"])


@pytest.mark.usefixtures("small")
def test_an_index_of_pytables_is_replaced_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    rows = create(path, 900, 6)
    with tables.open_file(str(path), "a") as file:
        file.root.g.t.cols.inner.deep.z.create_index(kind="light", _blocksizes=SIZES)
        file.root.g.t.cols.i8.create_index(kind="light", _blocksizes=SIZES)
    with File(path, "r+") as file:
        table = file.table("g/t")
        assert writing.write_index(table, "inner/deep/z").level == "full"
        held = indexes_of(table)["i8"]
        writing.drop_index(table, "i8")
        assert not held.is_usable
        assert list(indexes_of(table)) == ["inner/deep/z"]
        with pytest.raises(KeyError, match="no index of PyTables of 'i8'"):
            writing.drop_index(table, "i8")
    with tables.open_file(str(path)) as file:
        agree(file.root.g.t, rows, ["inner/deep/z"])
        assert not file.root.g.t.cols.i8.is_indexed
    with File(path, "r+") as file:
        writing.drop_index(file.table("g/t"), "inner/deep/z")
    with h5py.File(path) as file:
        assert list(file["g"]) == ["t"]


@pytest.mark.usefixtures("small")
def test_a_table_of_ours_in_other_byte_orders(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    schema = (
        ColumnSpec("a", np.dtype(">i4")),
        ColumnSpec("b", np.dtype(">f8")),
        ColumnSpec("t64", np.dtype("f8"), time="time64"),
        ColumnSpec("d", np.dtype("M8[us]")),
    )
    random = np.random.default_rng(0)
    values: Any = {
        "a": random.integers(-9, 9, 1300),
        "b": random.normal(size=1300),
        "t64": random.integers(0, 10**6, 1300) / 4,
        "d": random.integers(0, 10**6, 1300).astype("M8[us]"),
    }
    values["d"][::7] = "NaT"
    with File(path, "w") as file:
        layout = create_rows(file, "t", schema)
        layout.append(values)
        layout.close()
    with File(path, "r+") as file:
        table = file.table("t")
        for name in values:
            check_index(writing.write_index(table, name), table[name][:])
        assert table.where("a == 3").count() == np.count_nonzero(values["a"] == 3)
    with tables.open_file(str(path), "a") as file:
        rows = file.root.t[:]
        agree(file.root.t, rows, ["a", "b", "t64", "d"])


def test_what_pytables_cannot_index_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    rows = np.zeros(5, [("u", "u8"), ("h", "f2"), ("c", "c16"), ("m", "f4", 3), ("a", "i4")])
    with tables.open_file(str(path), "w") as file:
        file.create_table("/", "t", obj=rows)
    with File(path, "r+") as file:
        table = file.table("t")
        for name in "uhcm":
            with pytest.raises(UnsupportedError, match=f"column '{name}'"):
                writing.write_index(table, name)
        with pytest.raises(KeyError, match="no column 'x'"):
            writing.write_index(table, "x")
        assert list(file) == ["t"]
    with File(path) as file, pytest.raises(ValueError, match="reading only"):
        writing.write_index(file.table("t"), "a")


def test_a_failure_leaves_the_index_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None
) -> None:
    path = tmp_path / "t.h5"
    rows = create(path, 900)
    with File(path, "r+") as file:
        writing.write_index(file.table("g/t"), "i4")

    def fail(done: int, total: int) -> None:
        if done > 1200:
            raise KeyboardInterrupt

    with File(path, "r+") as file:
        with pytest.raises(KeyboardInterrupt):
            writing.write_index(file.table("g/t"), "i4", progress=fail)
        assert sorted(file["g"].h5) == ["_i_t", "t"]
    check_all(path, rows, ["i4"], "full")
