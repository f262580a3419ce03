"""Random conditions on random rows, as PyTables writes them: the rows that match are those of NumPy, in every
layout, and those that PyTables reads of the same file. And where PyTables is known to go wrong, we do not.
"""

import os
import warnings
from random import Random

import numpy as np
import pytest
import tables

import coquina as cq
from coquina.tables.layout import ColumnSpec
from coquina.tables.rows import create_rows
from tests.tables.condition_cases import REFUSED, condition, records, span
from tests.tables.table_cases import LAYOUTS, both_layouts, same

COUNTS = {"one": 1, "few": 40, "some": 1500, "many": 9000}


@pytest.fixture(scope="module", params=COUNTS)
def stored(request, tmp_path_factory):
    """The same rows in each layout, and as PyTables has them; and where they are."""
    folder, count = tmp_path_factory.mktemp("d"), COUNTS[request.param]
    data = records(count, count)
    for layout in LAYOUTS:
        cq.create_table(folder / f"{layout}.h5", data, layout=layout, chunk_rows=1024).close()
    cq.create_table(folder / "frames", data).close()
    opened = {name: cq.open_table(folder / name) for name in ("rows.h5", "columns.h5", "frames")}
    with warnings.catch_warnings(), tables.open_file(str(folder / "rows.h5")) as file:
        warnings.simplefilter("error")
        yield data, opened, file.root.table
    for table in opened.values():
        table.close()


def is_beyond_pytables(text):
    """Whether PyTables is known to answer wrongly: numexpr finds any text to be less than the empty one."""
    return "b''" in text


def compare(stored, seeds):
    """Check what matches; return how many rows that were, of all conditions."""
    data, opened, theirs = stored
    matched = 0
    for seed in seeds:
        pick = Random(seed)
        text, judge = condition(pick)
        chosen = span(pick, len(data))
        looked_at = data[slice(*chosen)]
        wanted = looked_at[np.broadcast_to(judge(looked_at), len(looked_at))]
        what = f"seed {seed}: {text}, rows {chosen}"
        for name, table in opened.items():
            found = table.where(text, None, *chosen)
            np.testing.assert_array_equal(found.row_numbers(), wanted["id"], f"{name}: {what}")
            if seed % 5 == 0:
                same(found.to_numpy(), wanted)
        if not is_beyond_pytables(text):
            # PyTables refuses a start beyond the rows, if it comes alone.
            start, stop, step = slice(*chosen).indices(len(data))
            found = theirs.read_where(text, start=start, stop=stop, step=step)
            np.testing.assert_array_equal(found["id"], wanted["id"], f"PyTables: {what}")
        matched += len(wanted)
    return matched


def test_random_conditions(stored):
    assert compare(stored, range(120)) > 20


@pytest.mark.long
def test_very_many_random_conditions(stored):
    assert compare(stored, range(1000, 5000)) > 500


# PyTables' defects, in version 3.11.1.

SIMPLE = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "<i2"), ("d", "<i8")])


def simple(count=4000):
    rng = np.random.default_rng(4)
    rows = np.zeros(count, SIMPLE)
    for name in SIMPLE.names:
        rows[name] = rng.integers(0, 6, count)
    return rows


@both_layouts
def test_rows_of_another_byte_order_are_stored_as_the_numbers_that_they_are(layout, tmp_path):
    rows = simple(100)
    swapped = rows.astype([(name, SIMPLE[name].newbyteorder(">")) for name in SIMPLE.names])
    with cq.create_table(tmp_path / "x.h5", swapped, layout=layout) as table:
        table.append(rows)
        table.append(swapped)
        table[3] = swapped[50]
        expected = np.concatenate([rows, rows, rows])
        expected[3] = rows[50]
        same(table[:], expected)
    if layout == "rows":
        with tables.open_file(str(tmp_path / "x.h5")) as file:
            same(file.root.table[:], expected)


@both_layouts
def test_fields_in_another_order_are_appended_by_their_names(layout, tmp_path):
    rows = simple(100)
    with cq.create_table(tmp_path / "x.h5", rows, layout=layout) as table:
        table.append(rows[["d", "b", "a", "c"]])
        table.append(rows[["d", "b", "a", "c"]][7])
        same(table[:], np.concatenate([rows, rows, rows[7:8]]))


@both_layouts
def test_a_column_is_compared_with_itself(layout, tmp_path):
    rows = simple(100)
    rows["b"][::3] = np.nan
    with cq.create_table(tmp_path / "x.h5", rows, layout=layout) as table:
        assert table.where("b == b").count() == 66
        assert table.where("b != b").row_numbers().tolist() == list(range(0, 100, 3))
        assert table.where("(a == a) & (c <= c)").count() == 100


@both_layouts
@pytest.mark.parametrize("terms", [31, 32, 100, 300])
def test_conditions_of_many_terms(layout, terms, tmp_path):
    rows = simple(500)
    rows["d"] = np.arange(500)
    text = " | ".join([f"(d == {7 * n})" for n in range(terms)])
    with cq.create_table(tmp_path / "x.h5", rows, layout=layout) as table:
        wanted = np.nonzero((rows["d"] % 7 == 0) & (rows["d"] < 7 * terms))[0]
        np.testing.assert_array_equal(table.where(text).row_numbers(), wanted)
        both = " & ".join([f"(d != {7 * n})" for n in range(terms)])
        assert table.where(both).count() == 500 - len(wanted)


def test_ors_of_ands_are_right_where_pytables_has_made_indexes(tmp_path):
    rows = simple()
    cq.create_table(tmp_path / "x.h5", rows, layout="rows").close()
    with tables.open_file(str(tmp_path / "x.h5"), "a") as file:
        for name, kind in zip(SIMPLE.names, ("full", "medium", "light", "ultralight"), strict=True):
            getattr(file.root.table.cols, name).create_index(kind=kind)
    wanted = ((rows["a"] == 1) & (rows["b"] == 2)) | ((rows["c"] == 3) & (rows["d"] == 4))
    assert wanted.sum() > 100
    text = "((a == 1) & (b == 2)) | ((c == 3) & (d == 4))"
    with cq.open_table(tmp_path / "x.h5", "/table", "r+") as table:
        np.testing.assert_array_equal(table.where(text).row_numbers(), np.nonzero(wanted)[0])
        # Indexes that were made before rows came do not hide these.
        table.append(rows)
        assert table.where(text).count() == 2 * wanted.sum()
    with cq.open_table(tmp_path / "x.h5") as table:
        assert table.nrows == 2 * len(rows)


@both_layouts
def test_a_name_in_a_condition_is_what_it_is_given_for(layout, tmp_path):
    rows = simple(500)
    with cq.create_table(tmp_path / "x.h5", rows, layout=layout) as table:
        for name in (*SIMPLE.names, *SIMPLE.names):
            found = table.where("value == limit", {"value": table[name], "limit": 3}).row_numbers()
            np.testing.assert_array_equal(found, np.nonzero(rows[name] == 3)[0])


@both_layouts
@pytest.mark.parametrize(
    ("text", "judge"),
    [
        ("wu8 > 2**63", lambda v: v > 2**63),
        ("wu8 == 18446744073709551615", lambda v: v == 2**64 - 1),
        ("(wu8 < 1) | (wu8 >= 18446744073709551614)", lambda v: (v < 1) | (v >= 2**64 - 2)),
        ("wu8 >= -1", lambda v: v >= 0),
        ("wu8 > 2**64", lambda v: v < 0),
        ("wu8 != wi8", None),
    ],
)
def test_unsigned_numbers_of_64_bits(layout, text, judge, tmp_path):
    rows = records(3000, 8)
    if judge is None:
        wanted = np.array([x != y for x, y in zip(rows["wu8"].tolist(), rows["wi8"].tolist(), strict=True)])
    else:
        wanted = judge(rows[REFUSED])
    with cq.create_table(tmp_path / "x.h5", rows, layout=layout, chunk_rows=512) as table:
        np.testing.assert_array_equal(table.where(text).row_numbers(), np.nonzero(wanted)[0])


@pytest.mark.parametrize("late", [2.0**31, 4e9, -(2.0**31) - 1, np.nan, np.inf])
def test_times_that_do_not_fit_are_refused_and_the_array_is_as_it_was(late, tmp_path):
    with cq.open(tmp_path / "x.h5", "w") as file:
        create_rows(
            file, "t", (ColumnSpec("when", np.dtype("f8"), time="time64"), ColumnSpec("n", np.dtype("i4")))
        )
        table = file.table("t")
        rows = np.zeros(3, [("when", "f8"), ("n", "i4")])
        rows["when"] = 0.5, -0.25, 2.0**31 - 1
        before = rows.copy()
        table.append(rows)
        table.flush()
        same(rows, before)
        rows["when"][1] = late
        before = rows.copy()
        with pytest.raises((ValueError, OverflowError), match="when"):
            table.append(rows)
        same(rows, before)
        assert table.nrows == 3
        assert table["when"][:].tolist() == [0.5, -0.25, 2.0**31 - 1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_open_table_stays_the_one_that_was_opened(layout, tmp_path):
    # PyTables opens the file again by its relative name, to read chunks itself.
    folders = [tmp_path / "one", tmp_path / "two"]
    for at, folder in enumerate(folders):
        folder.mkdir()
        cq.create_table(folder / "x.h5", np.full(5000, at, [("n", "i4")]), layout=layout).close()
    before = os.getcwd()
    try:
        os.chdir(folders[0])
        with cq.open_table("x.h5") as table:
            os.chdir(folders[1])
            assert table.where("n == 0").count() == 5000
            assert not table["n"][:].any()
    finally:
        os.chdir(before)


@both_layouts
def test_rows_of_more_than_255_bytes(layout, tmp_path):
    rows = np.zeros(700, [("n", "<i4"), ("text", "S300"), ("x", "<f8")])
    rows["n"] = rows["x"] = np.arange(700)
    rows["text"] = [b"%d" % n * 50 for n in range(700)]
    with cq.create_table(tmp_path / "x.h5", rows, layout=layout, chunk_rows=100) as table:
        same(table.where("(n > 650) & (text != b'')").to_numpy(), rows[651:])
    if layout == "rows":
        with tables.open_file(str(tmp_path / "x.h5")) as file:
            same(file.root.table[:], rows)
