"""The rows layout by itself: what goes in comes out, whatever the columns; what does not fit is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina._core import UnsupportedError
from coquina.hdf5 import File
from coquina.storage_options import Storage
from coquina.tables.layout import ColumnSpec
from coquina.tables.rows import RowsLayout, create_rows
from coquina.tables.rows_creation import cut_rows
from tests.tables.rows_cases import ENUM, EVERYTHING, NESTED, number, values

PLAIN = (number("a", "i4"), number("b", "f8", 2), number("c", "S3"))


def columns_of(layout: RowsLayout) -> dict[str, Any]:
    return {path: column.read(slice(None)) for path, column in layout.columns.items()}


def check(layout: RowsLayout, wanted: dict[str, Any]) -> None:
    found = columns_of(layout)
    assert list(found) == list(layout.columns)
    for path, column in found.items():
        np.testing.assert_array_equal(column, wanted[path], err_msg=path)


def batch_of(records: np.ndarray) -> dict[str, Any]:
    return {name: records[name] for name in records.dtype.names or ()}


@pytest.mark.parametrize(
    "storage",
    [
        {},
        {"codec": "lz4", "level": 9, "filters": "bitshuffle"},
        {"filter": "gzip", "level": 1},
        {"filter": "blosc", "codec": "blosclz"},
        {"filter": "none"},
        {"fletcher32": True, "chunks": (100,)},
    ],
    ids=lambda storage: "-".join(map(str, storage.values())) or "default",
)
def test_all_columns_come_back(tmp_path: Path, storage: dict[str, Any]) -> None:
    batch = values(1500)
    with File(tmp_path / "t.h5", "w") as file:
        layout = create_rows(file, "g/t", EVERYTHING, Storage(**storage), title="all of it")
        for start in range(0, 1500, 500):
            layout.append({path: column[start : start + 500] for path, column in batch.items()})
        layout.close()
    with File(tmp_path / "t.h5") as file:
        layout = RowsLayout.open(file.dataset("g/t"))
        assert (layout.nrows, layout.title, layout.is_writable) == (1500, "all of it", False)
        check(layout, batch)


def test_the_schema_comes_back(tmp_path: Path) -> None:
    with File(tmp_path / "t.h5", "w") as file:
        made = create_rows(file, "t", EVERYTHING)
        for found, wanted in zip(made.schema, EVERYTHING, strict=True):
            assert (found.name, found.shape, found.time) == (wanted.name, wanted.shape, wanted.time)
            assert found.dtype == wanted.dtype.newbyteorder("=")
            assert found.enum == wanted.enum
            if wanted.enum is None and not wanted.children:
                assert found.default == wanted.default
        # The default is the first of an enumeration; one without gets the first as its default.
        color, colors = (
            next(spec for spec in made.schema if spec.name == name) for name in ("color", "colors")
        )
        assert (color.default, colors.default) == ("green", "red")
        assert list(color.enum or ()) == ["green", "red", "blue"]


def test_defaults_of_all_kinds_come_back(tmp_path: Path) -> None:
    defaults: dict[str, Any] = {
        "i": -3,
        "f": 0.1,
        "b": True,
        "s": b"full!",
        "c": 1 + 2j,
        "w": np.datetime64("2020-02-02", "D"),
    }
    kinds = {"i": "i8", "f": "f8", "b": "?", "s": "S5", "c": "c16", "w": "M8[D]"}
    schema = (
        *(number(name, kinds[name], default=value) for name, value in defaults.items()),
        ColumnSpec("t", np.dtype("f8"), time="time64", default=-1.5),
        NESTED,
    )
    with File(tmp_path / "t.h5", "w") as file:
        layout = create_rows(file, "t", schema)
        found = {spec.name: spec.default for spec in layout.schema if not spec.children}
        assert found == {**defaults, "t": -1.5}
        assert [spec.default for spec in layout.schema[-1].leaves().values()] == [1, 9.5, None]
        # Rows that are added without values have them.
        layout.resize(3)
        rows = columns_of(layout)
        for name, value in {**defaults, "t": -1.5, "inner/p": 1, "inner/deep/z": 9.5, "inner/q": 0}.items():
            assert rows[name].tolist() == np.array([value] * 3, rows[name].dtype).tolist(), name


RECORD = np.dtype([("a", "i4"), ("b", "f8", (2,)), ("c", "S3")])


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Some appends, overwritten rows and columns, and truncations."""
    kinds = st.sampled_from(["append", "append", "write", "write_at", "resize", "flush", "reopen"])
    return [
        (draw(kinds), draw(st.integers(0, 2**31)), draw(st.integers(0, 40)))
        for _ in range(draw(st.integers(1, 9)))
    ]


def records(random: np.random.Generator, count: int) -> np.ndarray:
    rows = np.zeros(count, RECORD)
    rows["a"] = random.integers(-9, 9, count)
    rows["b"] = random.random((count, 2))
    rows["c"] = random.integers(10, 999, count).astype("S3")
    return rows


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes())
def test_changes_are_those_of_a_numpy_array(tmp_path: Path, steps: list[tuple[Any, ...]]) -> None:
    path = tmp_path / "t.h5"
    judge = np.zeros(0, RECORD)
    file = File(path, "w")
    layout = create_rows(file, "t", PLAIN, Storage(chunks=(16,)))
    for kind, seed, count in steps:
        random = np.random.default_rng(seed)
        some = list(random.permutation(["a", "b", "c"])[: random.integers(1, 4)])
        if kind == "append":
            new = records(random, count)
            layout.append(batch_of(new))
            judge = np.concatenate([judge, new])
        elif kind == "write":
            new = records(random, min(count, len(judge)))
            start = int(random.integers(0, len(judge) - len(new) + 1))
            layout.write(start, {name: new[name] for name in some})
            judge[start : start + len(new)][some] = new[some]
        elif kind == "write_at" and len(judge):
            new = records(random, count)
            rows = random.integers(0, len(judge), count)
            layout.write_at(rows, {name: new[name] for name in some})
            for name in some:
                judge[name][rows] = new[name]
        elif kind == "resize":
            judge = np.concatenate([judge[:count], np.zeros(max(0, count - len(judge)), RECORD)])
            layout.resize(count)
        elif kind == "flush":
            layout.flush()
        elif kind == "reopen":
            layout.close()
            file.close()
            file = File(path, "r+")
            layout = RowsLayout.open(file.dataset("t"))
    layout.flush()
    assert layout.nrows == len(judge)
    check(layout, batch_of(judge))
    assert layout.attrs["NROWS"] == len(judge)
    layout.close()
    file.close()
    with h5py.File(path) as plain:
        assert plain["t"].attrs["NROWS"] == len(judge)


def test_rows_that_wait_do_not_count(tmp_path: Path) -> None:
    with File(tmp_path / "t.h5", "w") as file:
        layout = create_rows(file, "t", PLAIN, Storage(chunks=(64,)))
        layout.append({"a": [1], "b": [(1, 2)], "c": ["x"]})
        assert layout.nrows == 0
        layout.flush()
        assert layout.nrows == 1


def test_bytes_between_columns_stay(tmp_path: Path) -> None:
    dtype = np.dtype({"names": ["x", "y"], "formats": ["i2", "f4"], "offsets": [3, 8], "itemsize": 15})
    raw = np.arange(60, dtype="u1").view(dtype)
    with h5py.File(tmp_path / "t.h5", "w") as plain:
        plain.create_dataset("t", data=raw, chunks=(2,), maxshape=(None,))
        stored = np.empty(4, "V15")
        plain["t"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, stored, plain["t"].id.get_type())
    with File(tmp_path / "t.h5", "r+") as file:
        layout = RowsLayout.open(file.dataset("t"))
        layout.write(1, {"x": [7, 8], "y": [0.5, 1.5]})
        layout.close()
    with h5py.File(tmp_path / "t.h5") as plain:
        after = np.empty(4, "V15")
        plain["t"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, after, plain["t"].id.get_type())
    wanted = stored.copy().view("u1").reshape(4, 15)
    wanted[1:3, 3:5] = np.array([7, 8], "i2").view("u1").reshape(2, 2)
    wanted[1:3, 8:12] = np.array([0.5, 1.5], "f4").view("u1").reshape(2, 4)
    assert after.tobytes() == wanted.tobytes()


def test_datasets_of_others_are_tables(tmp_path: Path) -> None:
    """H5py's truth values and enumerations, strings padded with spaces, columns out of order, no chunks."""
    color = h5py.enum_dtype(ENUM, "i2")
    dtype = np.dtype(
        {"names": ["b", "a", "e"], "formats": ["?", ">i4", color], "offsets": [4, 0, 5], "itemsize": 7}
    )
    raw = np.zeros(3, dtype)
    raw["a"], raw["b"], raw["e"] = [1, 2, 3], [True, False, True], [4, 1, -2]
    with h5py.File(tmp_path / "t.h5", "w") as plain:
        plain["t"] = raw
        padded = h5py.h5t.C_S1.copy()
        padded.set_size(4)
        padded.set_strpad(h5py.h5t.STR_SPACEPAD)
        tid = h5py.h5t.create(h5py.h5t.COMPOUND, 8)
        tid.insert(b"s", 0, padded)
        tid.insert(b"i", 4, h5py.h5t.STD_I32BE)
        made = h5py.h5d.create(plain.id, b"padded", tid, h5py.h5s.create_simple((2,)))
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([(b"ab", 1), (b"c", 2)], [("s", "S4"), ("i", "i4")]))
    with File(tmp_path / "t.h5", "r+") as file:
        layout = RowsLayout.open(file.dataset("t"))
        assert [(path, column.kind) for path, column in layout.columns.items()] == [
            ("b", "number"),
            ("a", "number"),
            ("e", "enum"),
        ]
        layout.write(0, {"e": ["blue"]})
        check(layout, {"a": [1, 2, 3], "b": [True, False, True], "e": [-2, 1, -2]})
        with pytest.raises(ValueError, match="cannot grow"):
            layout.append({"a": [1], "b": [True], "e": ["red"]})
        other = RowsLayout.open(file.dataset("padded"))
        other.write(1, {"i": [5]})
        check(other, {"s": [b"ab", b"c"], "i": [1, 5]})


@pytest.mark.parametrize(
    "make",
    [
        lambda file: file.create_dataset("t", data=np.zeros(3)),
        lambda file: file.create_dataset("t", data=np.zeros((2, 2), [("a", "i4"), ("b", "i4")])),
        lambda file: file.create_dataset("t", data=np.zeros(3, "c16")),
        lambda file: file.create_dataset("t", (3,), [("a", "i4"), ("s", h5py.string_dtype())]),
        lambda file: file.create_dataset("t", (3,), [("a", [("b", "i4")], (2,))]),
        lambda file: file.create_dataset("t", (), [("a", "i4"), ("b", "i4")]),
    ],
    ids=["numbers", "two axes", "complex", "strings", "records with axes", "no axis"],
)
def test_what_is_no_table_is_refused(tmp_path: Path, make: Any) -> None:
    with h5py.File(tmp_path / "t.h5", "w") as plain:
        make(plain)
    with File(tmp_path / "t.h5") as file, pytest.raises(UnsupportedError, match=r"table"):
        RowsLayout.open(file.dataset("t"))


TEXT = ColumnSpec("x", np.dtypes.StringDType())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        (TEXT, "'S20'"),
        (ColumnSpec("x", np.dtype("i4"), nullable=True), "missing"),
        (ColumnSpec("x", np.dtype("i4"), categories=("a", "b")), "enum="),
        (ColumnSpec("x", np.dtype("O")), "columns layout"),
        (ColumnSpec("x", np.dtype("M8")), "unit"),
        (ColumnSpec("x", np.dtype("i4"), (2, 0)), "no values"),
        (ColumnSpec("x", np.dtype("V1"), (2,), children=(number("y", "i4"),)), "axes"),
    ],
)
def test_columns_that_records_do_not_have(tmp_path: Path, spec: ColumnSpec, hint: str) -> None:
    with File(tmp_path / "t.h5", "w") as file:
        with pytest.raises(UnsupportedError, match=hint):
            create_rows(file, "g/t", (number("a", "i4"), spec))
        assert list(file) == []


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        ((), {}),
        ((number("a/b", "i4"),), {}),
        ((number("", "i4"),), {}),
        ((number("_v_a", "i4"),), {}),
        ((number("a", "i4"), number("a", "i4")), {}),
        ((number("a", "u1", default=256),), {}),
        ((ColumnSpec("a", np.dtype("u1"), enum={"x": 256}),), {}),
        ((ColumnSpec("a", np.dtype("u1"), enum={"x": 1}, default="y"),), {}),
        ((ColumnSpec("a", np.dtype("f8"), time="time16"),), {}),
        ((ColumnSpec("a", np.dtype("f8"), time="time64", default=2.0**31),), {}),
        ((ColumnSpec("a", np.dtype("f8"), time="time64", default=np.nan),), {}),
        (PLAIN, {"filter": "lz4"}),
        (PLAIN, {"level": 10}),
        (PLAIN, {"chunks": (0,)}),
    ],
)
def test_what_cannot_be_made(tmp_path: Path, schema: Any, options: dict[str, Any]) -> None:
    with File(tmp_path / "t.h5", "w") as file:
        with pytest.raises(ValueError, match=r"\w"):
            create_rows(file, "g/t", schema, Storage(**options))
        assert list(file) == []


def test_values_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    with File(tmp_path / "t.h5", "w") as file:
        layout = create_rows(file, "t", (*PLAIN, ColumnSpec("t", np.dtype("f8"), time="time64")))
        good = {"a": [1], "b": [(1, 2)], "c": ["x"], "t": [0.5]}
        layout.append(good)
        for bad in ({"a": [2**31]}, {"b": [1.0]}, {"c": ["four"]}, {"t": [2.0**31]}, {"a": [1, 2]}):
            with pytest.raises(ValueError, match=r"\w"):
                layout.append({**good, **bad})
        with pytest.raises(ValueError, match="'b'"):
            layout.append({"a": [1], "c": ["x"], "t": [0]})
        with pytest.raises(KeyError, match="zz"):
            layout.write(0, {"zz": [1]})
        with pytest.raises(IndexError):
            layout.write(0, {"a": [1, 2]})
        with pytest.raises(IndexError):
            layout.write_at(np.array([1]), {"a": [1]})
        with pytest.raises(ValueError, match="exists already"):
            create_rows(file, "t", PLAIN)
        for change in (
            lambda: layout.add_column(number("z", "i4"), [1]),
            lambda: layout.drop_column("a"),
            lambda: layout.rename_column("a", "z"),
        ):
            with pytest.raises(UnsupportedError, match="columns"):
                change()
        layout.flush()
        check(layout, {**good, "c": [b"x"]})
    with File(tmp_path / "t.h5") as file:
        layout = RowsLayout.open(file.dataset("t"))
        for change in (
            lambda: layout.append(good),
            lambda: layout.write(0, good),
            lambda: layout.resize(0),
        ):
            with pytest.raises(ValueError, match="reading only"):
                change()


@given(st.integers(1, 1 << 24), st.none() | st.integers(1, 1 << 20))
def test_chunks_are_whole_blocks_unless_they_are_given(row_bytes: int, wanted: int | None) -> None:
    chunk, block = cut_rows(row_bytes, wanted)
    assert block <= chunk
    if wanted is None:
        assert chunk % block == 0
        assert chunk & (chunk - 1) == 0
        assert chunk == 1 or (1 << 20) < chunk * row_bytes <= 2 << 20
        assert block == 1 or (1 << 15) < block * row_bytes <= 1 << 16


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_expected_rows_are_obeyed_by_both_layouts(tmp_path, layout):
    """The rows layout did not look at them. A chunk has about an eighth of the rows, within bounds."""
    row = np.dtype([("a", "i4"), ("b", "f8"), ("c", "S4")])

    def chunk_rows(data, **options):
        path = tmp_path / "x.h5"
        with cq.create_table(path, data, layout=layout, mode="w", **options) as t:
            return (t.dataset if layout == "rows" else t["a"]).chunks[0]

    usual = chunk_rows(row)
    assert usual == (1 << 17 if layout == "rows" else 1 << 16)
    sizes = [chunk_rows(row, expected_rows=rows) for rows in (0, 10, 100_000, 1_000_000, 3_000_000, 10**12)]
    assert sizes == sorted(sizes)
    assert sizes[0] == sizes[1] == (4096 if layout == "columns" else (64 << 10) // row.itemsize)
    assert sizes[2:4] == [1 << 14, 1 << 17]
    assert sizes[-1] == 1 << 19
    assert chunk_rows(row, expected_rows=10, chunk_rows=777) == 777
    if layout == "rows":
        # The first rows of a table do not say how many it will have.
        assert chunk_rows(np.zeros(10, row)) == usual
