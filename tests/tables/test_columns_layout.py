"""Laws of the columns layout: what is put in comes out, whatever the pieces, the changes and the kills."""

from __future__ import annotations

import contextlib
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina import UnsupportedError
from coquina.storage_options import Storage
from coquina.tables import stored_columns
from coquina.tables.columns_layout import ColumnsLayout, create_columns
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT, Coded

Model = dict[str, list[Any]]

SCHEMA = (
    ColumnSpec("number", np.dtype("i4")),
    ColumnSpec("big", np.dtype(">u8")),
    ColumnSpec("truth", np.dtype("?")),
    ColumnSpec("half", np.dtype("f2")),
    ColumnSpec("complex", np.dtype("c16")),
    ColumnSpec("fixed", np.dtype("S3")),
    ColumnSpec("enum", np.dtype("i2"), enum={"low": -1, "high": 7}),
    ColumnSpec("date", np.dtype("M8[ms]")),
    ColumnSpec("span", np.dtype("m8[ns]")),
    ColumnSpec("text", TEXT),
    ColumnSpec("maybe text", TEXT, nullable=True),
    ColumnSpec("maybe int", np.dtype("u1"), nullable=True),
    ColumnSpec("maybe truth", np.dtype("?"), nullable=True),
    ColumnSpec("maybe float", np.dtype("f4"), nullable=True),
    ColumnSpec("kind", TEXT, categories=()),
    ColumnSpec("größe", np.dtype("i8"), categories=(5,)),
)
TEXTS = st.text("aé€😀\n ", max_size=6)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.integers(-(2**31), 2**31 - 1),
    "big": st.integers(0, 2**64 - 1),
    "truth": st.booleans(),
    "half": st.sampled_from([0.5, -1.0, 65504.0]),
    "complex": st.sampled_from([1j, 2.5 - 1j]),
    "fixed": st.sampled_from([b"", b"a", b"abc"]),
    "enum": st.sampled_from([-1, 7]),
    "date": st.integers(-(10**12), 10**12).map(lambda n: np.datetime64(n, "ms")),
    "span": st.integers(-(10**12), 10**12).map(lambda n: np.timedelta64(n, "ns")),
    "text": TEXTS,
    "maybe text": st.none() | TEXTS,
    "maybe int": st.none() | st.integers(0, 255),
    "maybe truth": st.none() | st.booleans(),
    "maybe float": st.none() | st.sampled_from([1.5, -2.0]),
    "kind": st.none() | TEXTS,
    "größe": st.none() | st.integers(-3, 300),
}
DEFAULTS: dict[str, Any] = {
    **{
        "number": 0,
        "big": 0,
        "truth": False,
        "half": 0.0,
        "complex": 0j,
        "fixed": b"",
        "enum": -1,
        "text": "",
    },
    **{"date": np.datetime64(0, "ms"), "span": np.timedelta64(0, "ns")},
    **dict.fromkeys(["maybe text", "maybe int", "maybe truth", "maybe float", "kind", "größe"]),
}
ROWS = st.fixed_dictionaries(VALUES)
STORAGE = Storage(chunks=(8,), blocks=(4,))


def columns_of(rows: list[dict[str, Any]]) -> Model:
    return {name: [row[name] for row in rows] for name in VALUES}


def shown(layout: ColumnsLayout) -> Model:
    """Return what the columns of a layout show, as lists."""
    assert all(len(column) == layout.nrows for column in layout.columns.values())
    return {name: listed(column.read(slice(None))) for name, column in layout.columns.items()}


def listed(values: Any) -> list[Any]:
    return list(values) if values.dtype.kind in "mM" else values.tolist()


@contextlib.contextmanager
def scratch() -> Any:
    """A file in memory."""
    with h5py.File("scratch", "w", driver="core", backing_store=False) as h5:
        yield cq.hdf5.File.of(h5)


def reopened(layout: ColumnsLayout) -> ColumnsLayout:
    layout.close()
    return ColumnsLayout(type(layout.home)(layout.home._group))


@settings(deadline=None, max_examples=30, phases=[Phase.generate, Phase.explicit])
@given(st.lists(st.lists(ROWS, max_size=12), max_size=4))
def test_rows_come_out_as_they_were_put_in(batches: list[list[dict[str, Any]]]) -> None:
    with scratch() as file:
        layout = create_columns(file, "t", SCHEMA, STORAGE)
        for batch in batches:
            layout.append(columns_of(batch))
            if len(batch) % 2:
                layout.flush()
        wanted = columns_of([row for batch in batches for row in batch])
        layout.flush()
        assert shown(layout) == wanted
        again = reopened(layout)
        assert shown(again) == wanted
        assert [spec.dtype for spec in again.schema] == [
            spec.dtype.newbyteorder("=") if spec.dtype.kind != "T" else spec.dtype for spec in SCHEMA
        ]
        assert [spec.enum for spec in again.schema] == [spec.enum for spec in SCHEMA]
        for name, known in (("kind", ()), ("größe", (5,))):
            spec = next(one for one in again.schema if one.name == name)
            used = dict.fromkeys(one for one in wanted[name] if one is not None)
            assert set(spec.categories or ()) == {*known, *used}


CHANGES = st.lists(
    st.tuples(st.sampled_from(["append", "write", "write_at", "resize", "delete"]), st.randoms()), max_size=6
)


@settings(deadline=None, max_examples=40, phases=[Phase.generate, Phase.explicit])
@given(
    st.lists(ROWS, min_size=1, max_size=30), st.lists(ROWS, min_size=1, max_size=9), CHANGES, st.booleans()
)
def test_changes_are_those_of_lists(
    rows: list[dict[str, Any]], others: list[dict[str, Any]], changes: list[Any], is_anew: bool
) -> None:
    """Also where text is written anew instead of in place."""
    before = stored_columns._TEXT_BYTES_MAX
    stored_columns._TEXT_BYTES_MAX = 8 if is_anew else before
    try:
        with scratch() as file:
            layout = create_columns(file, "t", SCHEMA, STORAGE)
            layout.append(columns_of(rows))
            layout.flush()
            model = list(rows)
            for change, random in changes:
                model = changed(layout, model, change, others, random)
                layout.flush()
                assert layout.nrows == len(model)
            assert shown(layout) == columns_of(model)
            assert shown(reopened(layout)) == columns_of(model)
    finally:
        stored_columns._TEXT_BYTES_MAX = before


def changed(layout: ColumnsLayout, model: Any, change: str, others: Any, random: Any) -> Any:
    """Make a change of a table, and of a list of rows."""
    count = len(model)
    start = random.randrange(count + 1)
    if change == "append":
        layout.append(columns_of(others))
        return [*model, *others]
    if change == "resize":
        rows = 2 * start
        layout.resize(rows)
        return [*model[:rows], *[DEFAULTS] * (rows - count)]
    picked = [random.randrange(count) for _ in range(min(count, 4))]
    if change == "delete":
        layout.delete(np.array(picked, np.intp))
        return [row for at, row in enumerate(model) if at not in picked]
    names = random.sample(sorted(VALUES), 5)
    if change == "write":
        picked = list(range(start, min(start + len(others), count)))
    new = [others[at % len(others)] for at in range(len(picked))]
    batch = {name: [row[name] for row in new] for name in names}
    if change == "write":
        layout.write(start, batch)
    else:
        layout.write_at(np.array(picked, np.intp), batch)
    model = [dict(row) for row in model]
    for at, row in zip(picked, new, strict=True):
        model[at].update({name: row[name] for name in names})
    return model


def rows_of(count: int) -> Model:
    return {
        "n": list(range(count)),
        "text": [f"text {n}" * (n % 3) for n in range(count)],
        "maybe": [None if n % 4 == 0 else f"m{n}" for n in range(count)],
        "kind": [None if n % 5 == 0 else f"k{n % 3}" for n in range(count)],
        "int": [None if n % 2 == 0 else n for n in range(count)],
    }


SMALL = (
    ColumnSpec("n", np.dtype("i8")),
    ColumnSpec("text", TEXT),
    ColumnSpec("maybe", TEXT, nullable=True),
    ColumnSpec("kind", TEXT, categories=()),
    ColumnSpec("int", np.dtype("i4"), nullable=True),
)


def small(file: Any, count: int = 20) -> ColumnsLayout:
    layout = create_columns(file, "t", SMALL, Storage(chunks=(8,)))
    layout.append(rows_of(count))
    layout.flush()
    return layout


def test_columns_are_added_dropped_and_renamed() -> None:
    with scratch() as file:
        layout = small(file)
        layout.add_column(ColumnSpec("x", np.dtype("f8")), np.arange(20.0))
        layout.add_column(ColumnSpec("missing", np.dtype("f8")))
        layout.add_column(ColumnSpec("same", TEXT), "hé")
        layout.add_column(ColumnSpec("many", TEXT, categories=()), [f"c{n}" for n in range(20)])
        layout.columns["x"].stored[0].array.attrs["unit"] = "m"
        layout.rename_column("x", "y")
        layout.rename_column("n", "first")
        layout.drop_column("text")
        again = reopened(layout)
        order = ["first", "maybe", "kind", "int", "y", "missing", "same", "many"]
        assert list(again.columns) == order == list(layout.columns)
        found = shown(again)
        assert found["y"] == list(range(20))
        assert found["first"] == list(range(20))
        assert np.isnan(found["missing"]).all()
        assert found["same"] == ["hé"] * 20
        assert found["many"] == [f"c{n}" for n in range(20)]
        assert again.columns["y"].stored[0].array.attrs["unit"] == "m"
        assert again.attrs["_index"] == "first"
        again.drop_column("first")
        assert again.attrs["_index"] == "maybe"


def test_a_column_that_does_not_fit_leaves_the_table_as_it_was() -> None:
    with scratch() as file:
        layout = small(file)
        for spec, values in (
            (ColumnSpec("x", np.dtype("i1")), [1] * 19),
            (ColumnSpec("x", np.dtype("i1")), [1] * 19 + [1000]),
            (ColumnSpec("n", np.dtype("i1")), [1] * 20),
            (ColumnSpec("a/b", np.dtype("i1")), [1] * 20),
            (ColumnSpec("_index", np.dtype("i1")), [1] * 20),
        ):
            with pytest.raises(ValueError, match=r"'x'|'n'|cannot be called"):
                layout.add_column(spec, values)
        for spec in (
            ColumnSpec("x", np.dtype("i1"), (2,)),
            ColumnSpec("x", np.dtype("S2"), nullable=True),
            ColumnSpec("x", np.dtype("V2")),
        ):
            with pytest.raises(UnsupportedError, match="'x'"):
                layout.add_column(spec, [0] * 20)
        for batch in ({"n": [1]}, {**rows_of(2), "n": [1]}, {**rows_of(1), "n": [2**70]}):
            with pytest.raises(ValueError, match=r"no values for|unequal|column 'n'"):
                layout.append(batch)
        with pytest.raises(KeyError):
            layout.drop_column("nothing")
        assert list(layout.columns) == [spec.name for spec in SMALL]
        assert shown(reopened(layout)) == rows_of(20)


def test_columns_of_unequal_lengths_show_what_is_there_of_all() -> None:
    """As a kill within a flush leaves them; the next append cuts off what is too long."""
    cuts = {
        "n": ("n", 13),
        "text/node0-offsets": ("text", 12),
        "text/node1-data": ("text", 30),
        "maybe/node0-mask": ("maybe", 3),
        "kind/codes": ("kind", 0),
    }
    for path, (_, length) in cuts.items():
        with scratch() as file:
            home = small(file).home
            h5 = home._group.h5
            h5[path].resize((length,))
            offsets = h5["text/node0-offsets"][()]
            rows = min(len(offsets) - 1, int((offsets <= len(h5["text/node1-data"])).sum()) - 1)
            rows = min(rows, len(h5["n"]), len(h5["maybe/node0-mask"]), len(h5["kind/codes"]))
            layout = ColumnsLayout(type(home)(home._group))
            assert layout.nrows == rows < 20
            assert shown(layout) == {name: one[:rows] for name, one in rows_of(20).items()}
            layout.append(rows_of(15))
            layout.flush()
            wanted = {name: one[:rows] + rows_of(15)[name] for name, one in rows_of(20).items()}
            assert shown(layout) == wanted == shown(reopened(layout))


@pytest.mark.parametrize(
    ("path", "other", "skipped"),
    [("t/s", "t/x", ["s"]), ("t/n/mask", "t/flag", ["n"]), ("t/u/node1-data", "t/text/node1-data", ["u"])],
)
def test_columns_with_an_array_in_common_are_not_changed(tmp_path, path, other, skipped):
    """Two columns of one dataset: deleting rows took them from it twice, and then failed."""
    columns = {"x": np.arange(9), "s": np.arange(9.0), "flag": np.zeros(9, bool)}
    columns |= {
        "n": np.ma.masked_array(np.arange(9), np.arange(9) % 3 == 0),
        "text": ["a"] * 9,
        "u": ["b"] * 9,
    }
    with cq.open(tmp_path / "t.h5", "w") as file:
        file.create_table("t", columns)
    with h5py.File(tmp_path / "t.h5", "a") as file:
        del file[path]
        file[path] = file[other]
    with cq.open_table(tmp_path / "t.h5", mode="r+") as table:
        assert list(table.layout.skipped) == skipped
        before = {name: table[name][:] for name in table.columns}
        with pytest.raises(UnsupportedError, match="is an array of column"):
            table.delete(slice(0, 4, 2))
        with pytest.raises((UnsupportedError, ValueError)):
            table.append(columns)
        assert list(before) == [name for name in columns if name not in skipped]
        for name, values in before.items():
            np.testing.assert_array_equal(table[name][:], values)


def test_codes_get_wider_when_they_run_out() -> None:
    with scratch() as file:
        layout = create_columns(file, "t", (ColumnSpec("c", TEXT, categories=()),), Storage(chunks=(64,)))
        wanted: list[str] = []
        for count in (100, 30, 40_000):
            names = [f"{len(wanted) + n}" for n in range(count)]
            layout.append({"c": names})
            wanted += names
        layout.flush()
        assert layout.columns["c"].stored[0].dtype == np.int32
        assert shown(layout)["c"] == wanted == shown(reopened(layout))["c"]


def test_ordered_categories_keep_their_order() -> None:
    spec = ColumnSpec("c", TEXT, categories=(), ordered=True)
    with scratch() as file:
        layout = create_columns(file, "t", (spec,))
        layout.append({"c": Coded(np.array([1, 0, -1]), np.array(["low", "high"], TEXT))})
        layout.append({"c": Coded(np.array([2, 0]), np.array(["low", "high", "top"], TEXT))})
        for wrong in (["other"], Coded(np.array([0]), np.array(["new", "low"], TEXT))):
            with pytest.raises(ValueError, match="order"):
                layout.append({"c": wrong})
        again = reopened(layout)
        assert again.schema[0].categories == ("low", "high", "top")
        assert again.schema[0].ordered
        assert shown(again)["c"] == ["high", "low", None, "top", "low"]


def test_all_columns_are_cut_into_the_same_rows() -> None:
    with scratch() as file:
        layout = create_columns(file, "t", SMALL, expected_rows=3_000_000)
        layout.append(rows_of(40_000))
        layout = reopened(layout)
        for name, one in layout._all.items():
            for array in one.arrays:
                if array.dtype != np.uint8:
                    assert (array.chunks, array.blocks) == ((1 << 19,), (1 << 14,)), name
        assert layout.info()["chunk_rows"] == 1 << 19
        assert layout.storage.filter == "blosc2"


def test_nothing_is_changed_in_a_file_that_is_open_for_reading(tmp_path: Any) -> None:
    with cq.open(tmp_path / "t.h5", "w") as file:
        small(file).close()
    with h5py.File(tmp_path / "t.h5") as h5:
        layout = ColumnsLayout.open(cq.hdf5.File.of(h5).table("t").layout.home)
        for change in (
            lambda: layout.append(rows_of(1)),
            lambda: layout.write(0, {"n": [1]}),
            lambda: layout.resize(0),
            lambda: layout.delete(np.array([0])),
            lambda: layout.drop_column("n"),
            lambda: layout.rename_column("n", "m"),
            lambda: layout.add_column(ColumnSpec("x", np.dtype("i1"))),
        ):
            with pytest.raises(ValueError, match="reading"):
                change()
        assert shown(layout) == rows_of(20)


@pytest.mark.parametrize("home", ["file", "directory"])
@pytest.mark.parametrize(
    ("members", "default", "wanted"),
    [
        ({"red": 1, "blue": 5}, None, 1),
        ({"blue": 5, "red": 1}, None, 1),
        ({"low": -1, "high": 7}, None, -1),
        ({"a": 3, "none": 0}, None, 0),
        ({"red": 1, "blue": 5}, 5, 5),
        ({"red": 1, "blue": 5}, "blue", 5),
        ({"red": 1, "blue": 5, "none": 0}, "red", 1),
    ],
)
def test_rows_without_a_value_have_one_member_of_an_enumeration(tmp_path, home, members, default, wanted):
    # A new column had 0 in rows that were there, which is no number of an enumeration without 0: an error.
    spec = ColumnSpec("e", np.dtype("i2"), enum=members, default=default)
    path = tmp_path / ("t" if home == "directory" else "t.h5")
    with cq.create_table(path, {"k": [1, 2]}, layout="columns") as table:
        table.layout.add_column(spec)
        assert table["e"][:].tolist() == [wanted] * 2
        # Fill values are HDF5's: a directory keeps no default for rows to come.
        count = 4 if home == "file" or default is None else 2
        table.resize(count)
        assert table["e"][:].tolist() == [wanted] * count
        assert table.where("e == v", {"v": wanted}).count() == count
    with cq.open_table(path) as again:
        assert again["e"][:].tolist() == [wanted] * count


@pytest.mark.parametrize("home", ["file", "directory"])
def test_a_default_that_is_no_member_is_refused(tmp_path, home):
    path = tmp_path / ("t" if home == "directory" else "t.h5")
    with cq.create_table(path, {"k": [1, 2]}, layout="columns") as table:
        for default in (7, "green"):
            spec = ColumnSpec("e", np.dtype("i2"), enum={"red": 1, "blue": 5}, default=default)
            with pytest.raises(ValueError, match="is not one of red, blue"):
                table.layout.add_column(spec)
        assert table.columns == ("k",)
