"""PyTables' indexes, of all kinds, as it makes and changes them: no row with a value in a range is missed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coquina._core import KeyRanges
from coquina.hdf5 import File
from coquina.indexes.access import disabled, forced
from coquina.tables.pytables_indexes import indexes_of
from tests.indexes.pytables_cases import (
    COLUMNS,
    KINDS,
    SIZES,
    check_all,
    check_index,
    column_of,
    create,
    fill,
    index_columns,
    records,
)


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    """PyTables warns where it finds what it does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("optlevel", [0, 3, 6, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_effort_gives_all_rows(tmp_path: Path, kind: str, optlevel: int) -> None:
    path = tmp_path / "t.h5"
    rows = create(path, 2600 + 7 * optlevel, optlevel)
    columns = COLUMNS[optlevel // 3 % 3 :: 3]
    with tables.open_file(str(path), "a") as file:
        index_columns(file.root.g.t, columns, kind, optlevel)
    check_all(path, rows, columns, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_big_endian_table(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t.h5"
    with tables.open_file(str(path), "w") as file:
        table = file.create_table(
            "/", "t", {"a": tables.Int32Col(), "b": tables.Float64Col()}, byteorder="big"
        )
        random = np.random.default_rng(0)
        row = table.row
        for a, b in zip(random.integers(-99, 99, 1500), random.normal(size=1500), strict=True):
            row["a"], row["b"] = a, b
            row.append()
        table.flush()
        for name in ("a", "b"):
            table.cols._f_col(name).create_index(kind=kind, _blocksizes=SIZES)
        rows = table[:]
    with File(path) as file:
        for name, one in indexes_of(file.table("t")).items():
            check_index(one, rows[name].astype(rows.dtype[name].newbyteorder("=")))


@pytest.mark.parametrize("kind", KINDS)
def test_indexes_that_pytables_kept_up_to_date(tmp_path: Path, kind: str) -> None:
    path, columns = tmp_path / "t.h5", ["i4", "f8", "long", "inner/p"]
    create(path, 700, 3)
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        index_columns(table, columns, kind)
        for count in (1, 400, 900, 3):
            fill(table, records(table.dtype, count, count))
        rows = table[:]
    check_all(path, rows, columns, kind)
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        table.remove_rows(100, 777)
        table.modify_column(3, 900, 2, column=table.read(5, 904, 2, field="i4")[:449], colname="i4")
        rows = table[:]
    check_all(path, rows, columns, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sizes", "chunk"),
    [((1500, 750, 250, 50), 37), ((900, 300, 150, 30), 1000), ((20000, 10000, 5000, 10), 7)],
)
def test_a_table_that_outgrew_what_was_expected(
    tmp_path: Path, kind: str, sizes: tuple[int, ...], chunk: int
) -> None:
    """Buckets that do not divide blocks: there PyTables takes some for the one before, and misses rows."""
    path = tmp_path / "t.h5"
    create(path, 500, 1, chunk=chunk)
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        for name in ("i4", "f8", "text"):
            table.cols._f_col(name).create_index(kind=kind, optlevel=9, _blocksizes=sizes)
        for seed in range(3):
            fill(table, records(table.dtype, 1700, seed))
        rows = table[:]
    with File(path) as file:
        found = indexes_of(file.table("g/t"))
        for seed in range(2):
            for name, one in found.items():
                check_index(one, column_of(rows, name), seed)


def test_sizes_of_pytables_itself(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    random = np.random.default_rng(5)
    rows = np.zeros(200_000, [("a", "i4"), ("b", "f8")])
    rows["a"], rows["b"] = random.integers(0, 10**6, len(rows)), random.normal(size=len(rows))
    with tables.open_file(str(path), "w") as file:
        table = file.create_table("/", "t", obj=rows)
        table.cols.a.create_index(kind="light", optlevel=3)
        table.cols.b.create_index(kind="medium", optlevel=0)
    with File(path) as file:
        found = indexes_of(file.table("t"))
        for name, one in found.items():
            check_index(one, rows[name])
            # A single value: few buckets may have it.
            key = np.array([1 << 31 if name == "a" else 1 << 63], np.uint64)
            assert one.lookup(KeyRanges(key, key)).open_rows < len(rows) // 4


def test_indexes_that_are_not_up_to_date_know_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    create(path, 900)
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        table.autoindex = False
        table.cols.i4.create_index(kind="full", _blocksizes=SIZES)
        table.cols.i8.create_index(kind="full", _blocksizes=SIZES)
        table.modify_column(0, 1, column=[5], colname="i4")
    with File(path) as file:
        found = indexes_of(file.table("g/t"))
        assert found["i4"].reason == "rows changed after it was made"
        assert found["i4"].open_rows == 900
        assert found["i8"].is_usable
    with h5py.File(path, "r+") as file:
        file["g/t"].resize(910, axis=0)
    with File(path) as file:
        found = indexes_of(file.table("g/t"))["i8"]
        assert "900 rows" in found.reason
        assert found.lookup(KeyRanges.of((0, 0))).open.tolist() == [[0, 910]]


def test_changes_by_coquina_end_the_use_of_an_index(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    create(path, 900)
    with tables.open_file(str(path), "a") as file:
        file.root.g.t.cols.i4.create_index(kind="full", _blocksizes=SIZES)
        file.root.g.t.autoindex = False
    with File(path, "r+") as file:
        table = file.table("g/t")
        found = indexes_of(table)["i4"]
        assert found.is_usable
        table.modify(5, {"i4": 123456})
        assert not found.is_usable
        assert table.where("i4 == 123456").row_numbers().tolist() == [5]
    with tables.open_file(str(path)) as file:
        assert file.root.g.t.cols.i4.index.dirty
        assert [row.nrow for row in file.root.g.t.where("i4 == 123456")] == [5]


def test_writes_past_the_table_end_the_use_of_an_index(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    create(path, 900)
    with tables.open_file(str(path), "a") as file:
        file.root.g.t.cols.i4.create_index(kind="full", _blocksizes=SIZES)
    with File(path, "r+") as file:
        table = file.table("g/t")
        assert indexes_of(table)["i4"].is_usable
        records_there = file.dataset("g/t")
        rows = records_there[7:8]
        rows["i4"] = 654321
        records_there[7:8] = rows
        assert not indexes_of(table)["i4"].is_usable
        with forced():
            assert table.where("i4 == 654321").row_numbers().tolist() == [7]
    with File(path) as file:
        assert not indexes_of(file.table("g/t"))["i4"].is_usable
    with tables.open_file(str(path)) as file:
        assert file.root.g.t.cols.i4.index.dirty


CONDITIONS = [
    ("i4 == x", "i4"),
    ("i4 < x", "i4"),
    ("(f8 >= x) & (f8 < y)", "f8"),
    ("(i1 == 3) | (u2 > 700)", "i4"),
    ("((i4 == x) & (i1 > 0)) | ((u2 < 9) & (i8 == 4))", "i4"),
    ("flag & (text >= b'3')", "i4"),
    ("long == b'prefix-12'", "i4"),
    ("(t64 > x) & (t64 <= y)", "t64"),
    ("f4 != x", "f4"),
    ("t32 <= x", "t32"),
]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS),
    optlevel=st.integers(0, 9),
    seed=st.integers(0, 1 << 16),
    chunk=st.integers(1, 300),
    more=st.integers(1, 900),
)
def test_conditions_have_the_rows_of_a_scan(
    tmp_path: Path, kind: str, optlevel: int, seed: int, chunk: int, more: int
) -> None:
    path = tmp_path / "t.h5"
    create(path, 1 + seed % 1700, seed, chunk=chunk)
    columns = COLUMNS if seed % 2 else ["i1", "i4", "u2", "f8", "text", "t64"]
    with tables.open_file(str(path), "a") as file:
        table = file.root.g.t
        index_columns(table, columns, kind, optlevel)
        fill(table, records(table.dtype, more, seed + 1))
        rows = table[:]
    random = np.random.default_rng(seed)
    with File(path) as file:
        table = file.table("g/t")
        assert len(indexes_of(table)) == len(columns)
        for text, name in CONDITIONS:
            params = dict(zip("xy", np.sort(random.choice(column_of(rows, name), 2)), strict=True))
            given: Any = table.where(text, {key: params[key] for key in "xy" if f" {key}" in text})
            with disabled():
                wanted = given.row_numbers()
            with forced():
                np.testing.assert_array_equal(given.row_numbers(), wanted)
                assert given.count() == len(wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_condition_that_no_value_meets_leaves_an_index_usable(tmp_path: Path, kind: str) -> None:
    # No ranges were an array of one axis, where two were expected: that passed for damage, and the index was
    # not asked again before the file was opened anew.
    path = tmp_path / "t.h5"
    create(path, 900)
    columns = ["i4", "f8", "text"]
    with tables.open_file(str(path), "a") as file:
        index_columns(file.root.g.t, columns, kind, 6)
    with File(path) as file, forced():
        table = file.table("g/t")
        for text in ("i4 > 5 and i4 < 5", "f8 == nan", "i4 in ()", "text in ()", "i4 == 0.5"):
            assert table.where(text).count() == 0
            assert table.where(text).row_numbers().tolist() == []
        assert {name: indexes_of(table)[name].reason for name in columns} == dict.fromkeys(columns, "")


def test_columns_of_which_pytables_makes_no_right_index(tmp_path: Path) -> None:
    path = tmp_path / "t.h5"
    rows = np.zeros(500, [("half", "f2"), ("long", "g"), ("matrix", "f4", 3), ("a", "i4")])
    rows["half"] = np.random.default_rng(0).normal(size=500)
    with tables.open_file(str(path), "w") as file:
        table = file.create_table("/", "t", obj=rows)
        for name in ("half", "long", "a"):
            table.cols._f_col(name).create_index(kind="medium")
    with h5py.File(path, "r+") as file:
        # What PyTables leaves behind when it fails, if it does not crash.
        file.create_group("_i_t/matrix").attrs["CLASS"] = np.bytes_(b"INDEX")
    with File(path) as file:
        table = file.table("t")
        found = indexes_of(table)
        assert set(found) == {"half", "a"}
        assert "by its bits" in found["half"].reason
        assert found["a"].is_usable
        with forced():
            assert table.where("half > 0.5").count() == np.count_nonzero(rows["half"] > 0.5)
