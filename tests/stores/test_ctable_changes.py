"""Tables of python-blosc2 that coquina changes: rows appended, deleted, overwritten; read back by both."""

import os

import blosc2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq

KINDS = ["whole.b2d", "whole.b2z", "in.b2d", "in.b2z"]
START = 40


def columns(start, count):
    """Return columns of all kinds that are written: rows `start` and the `count` from there on."""
    rows = np.arange(start, start + count)
    return {
        "n": rows,
        "x": np.where(rows % 11 == 3, np.nan, rows / 4),
        "flag": rows % 3 == 0,
        "fixed": np.array([f"é{i}" for i in rows], "U8"),
        "raw": np.array([b"%d" % i for i in rows], "S8"),
        "text": np.array([f"é{i}" * (i % 4) for i in rows], np.dtypes.StringDType()),
        "when": (rows + 10**12).astype("M8[ms]"),
        "place": np.stack([rows, -rows], axis=1).astype("f4"),
        "null": np.ma.masked_array(-rows, rows % 5 == 1),
        "text_null": [None if i % 7 == 2 else f"t{i}" for i in rows],
    }


def made(path, kind, data=None):
    """Make a table; return where it is, as `open_table` takes it."""
    data = columns(0, START) if data is None else data
    whole, suffix = os.path.splitext(kind)
    place = path / f"x{suffix}"
    name = "/table" if whole == "whole" else "g/t"
    cq.create_table(place, data, name=name).close()
    return (place,) if whole == "whole" else (place, name)


def peer_of(place):
    found = blosc2.open(str(place[0]), mode="r")
    return found if len(place) == 1 else found["/g/t"]


def listed(values):
    """Return values as a list that compares: of NaN its name."""
    found = np.asanyarray(values).tolist()
    return ["NaN" if isinstance(value, float) and value != value else value for value in found]


def check(place, wanted):
    """Check a table against columns, by both."""
    with cq.open_table(*place) as table:
        for name, values in wanted.items():
            assert listed(table[name][...]) == listed(values), name
        assert table.verify() == {}
    peer = peer_of(place)
    rows = len(next(iter(wanted.values())))
    assert len(peer) == rows
    for name, values in wanted.items():
        theirs, ours = np.asarray(peer[name][:]), listed(values)
        if name == "x":
            theirs = np.asarray(listed(theirs), object)
        if name == "when":
            assert theirs.astype("M8[ms]").tolist() == np.asarray(values).tolist()
            continue
        there = [value for value in ours if value is not None]
        assert [one for one, ok in zip(theirs.tolist(), ours, strict=True) if ok is not None] == there, name


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_appended_to_columns_of_all_kinds(tmp_path, kind):
    place = made(tmp_path, kind)
    with cq.open_table(*place, mode="r+") as table:
        assert table.append(columns(START, 7)) == 7
        assert table.nrows == START + 7
        assert table["n"][-1] == START + 6
        table.append(columns(START + 7, 3))
    check(place, columns(0, START + 10))
    assert sorted(os.listdir(tmp_path)) == [place[0].name]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_deleted_and_others_follow_them(tmp_path, kind):
    place = made(tmp_path, kind)
    with cq.open_table(*place, mode="r+") as table:
        assert table.where("n % 3 == 0").delete() == 14
        table.append(columns(START, 5))
        table.truncate(table.nrows - 1)
        kept = [n for n in range(START) if n % 3] + [*range(START, START + 4)]
        assert table["n"][...].tolist() == kept
        assert table.where("n > 38")["n"][...].tolist() == [n for n in kept if n > 38]
    every = columns(0, START + 5)
    check(place, picked(every, kept))


def picked(data, rows):
    return {
        name: [values[i] for i in rows] if isinstance(values, list) else values[rows]
        for name, values in data.items()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_overwritten(tmp_path, kind):
    place = made(tmp_path, kind)
    wanted = columns(0, START)
    with cq.open_table(*place, mode="r+") as table:
        table.modify(slice(3, 9), {"x": -1.0})
        wanted["x"][3:9] = -1.0
        table.where("n > 30").modify({"x": 7.5})
        wanted["x"][31:] = 7.5
        table.modify(5, {"n": 99})
        wanted["n"][5] = 99
        assert table["n"][5] == 99
    check(place, wanted)


@pytest.mark.parametrize("kind", ["whole.b2z", "in.b2z"])
def test_rows_of_an_archive_are_overwritten_at_once(tmp_path, kind):
    place = made(tmp_path, kind)
    wanted, other = columns(0, START), columns(100, 3)
    with cq.open_table(*place, mode="r+") as table:
        table.where("n < 2").delete()
        table[3:6] = dict(other.items())
    rows = list(range(2, START))
    expected = picked(wanted, rows)
    for name, values in other.items():
        if isinstance(values, list):
            expected[name][3:6] = values
        else:
            expected[name] = (
                np.ma.asanyarray(expected[name]).copy() if name == "null" else expected[name].copy()
            )
            expected[name][3:6] = values
    check(place, expected)


@pytest.mark.parametrize("kind", ["whole.b2z", "in.b2z"])
def test_a_row_that_is_written_twice_has_what_came_last(tmp_path, kind):
    place = made(tmp_path, kind)
    wanted = columns(0, START)
    with cq.open_table(*place, mode="r+") as table:
        table.modify(np.array([7, 7, 30, 0]), {"text": ["much longer than others", "", "é", "new"]})
    for row, text in ((7, ""), (30, "é"), (0, "new")):
        wanted["text"][row] = text
    check(place, wanted)


@pytest.mark.parametrize("kind", ["whole.b2d", "in.b2d"])
def test_several_files_of_a_directory_do_not_change_at_once(tmp_path, kind):
    place = made(tmp_path, kind)
    with cq.open_table(*place, mode="r+") as table:
        for change in ({"n": 1, "x": 2.0}, {"text": "new"}):
            with pytest.raises(cq.UnsupportedError, match="do not change at once"):
                table.where("n > 3").modify(change)
        assert table["n"][...].tolist() == list(range(START))
    check(place, columns(0, START))


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_does_not_fit_leaves_the_table_as_it_was(tmp_path, kind):
    place = made(tmp_path, kind)
    with cq.open_table(*place, mode="r+") as table:
        for name, bad in (
            ("n", ["no number"]),
            ("n", [1.5]),
            ("n", [2**70]),
            ("text", [None]),
            ("place", [1.0]),
            ("fixed", ["longer than eight"]),
            ("raw", [b"longer than eight"]),
            ("when", np.array([1], "M8[us]")),
            ("flag", [None]),
            ("x", [1.0, 2.0]),
        ):
            with pytest.raises((TypeError, ValueError, OverflowError)):
                table.append(columns(START, 1) | {name: bad})
        with pytest.raises((TypeError, ValueError)):
            table.append({"n": [1]})
        assert table.nrows == START
    check(place, columns(0, START))


def test_attributes_of_a_table_are_changed(tmp_path):
    for number, kind in enumerate(KINDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        place = made(folder, kind)
        with cq.open_table(*place, mode="r+") as table:
            table.attrs["unit"] = "km"
        assert cq.open_table(*place).attrs["unit"] == "km"
        assert peer_of(place).vlmeta["unit"] == "km"


def test_an_exception_leaves_an_archive_as_it_was(tmp_path):
    place = made(tmp_path, "in.b2z")
    with pytest.raises(KeyError), cq.open(place[0], "r+") as store:
        assert store["g/t"].append(columns(START, 5)) == 5 == len(store["no such table"])
    check(place, columns(0, START))
    cq.create_table(tmp_path / "few.b2z", {"n": np.arange(4)}, name="t").close()
    with pytest.raises(KeyError, match="no such table"), cq.open(tmp_path / "few.b2z", "r+") as store:
        # A few records wait in the table, above what writes them.
        assert store["t"].append(np.zeros(2, store["t"].dtype)) == 2 == len(store["no such table"])
    assert cq.open_table(tmp_path / "few.b2z", "t").nrows == 4
    with cq.open(place[0], "r+") as store:
        table = store["g/t"]
        assert store["g/t"] is table
        table.append(columns(START, 5))
    assert table.is_closed
    check(place, columns(0, START + 5))


def test_names_that_are_no_table(tmp_path):
    place = made(tmp_path, "in.b2z")
    cq.create_table(tmp_path / "y.b2z", {"n": [1]}).close()
    for mode in ("r", "r+"):
        with pytest.raises(KeyError):
            cq.open_table(place[0], "g/none", mode=mode)
        with pytest.raises(cq.UnsupportedError, match="is not a table"):
            cq.open_table(place[0], "g", mode=mode)
        with pytest.raises(cq.UnsupportedError, match="is not a table"):
            cq.open_table(tmp_path / "y.b2z", "n", mode=mode)
    # None of them keeps the file.
    cq.open_table(*place, mode="r+").close()


def test_one_writer_at_a_time(tmp_path):
    for number, kind in enumerate(KINDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        place = made(folder, kind)
        with cq.open_table(*place, mode="r+"), pytest.raises(BlockingIOError):
            cq.open_table(*place, mode="r+")


def test_tables_of_the_peer_with_rows_that_it_deleted(tmp_path):
    path = tmp_path / "x.b2d"
    cq.create_table(path, columns(0, START)).close()
    peer = blosc2.open(str(path), mode="a")
    peer.create_index("n")
    peer.delete([0, 5])
    peer.close()
    with cq.open(path, "r+") as table:
        table.append(columns(START, 2))
        table.modify(0, {"n": 1000})
        for name in ("n", "null"):
            with pytest.raises(ValueError, match="modify"):
                table[name][1] = 5
    kept = [n for n in range(START + 2) if n not in (0, 5)]
    wanted = picked(columns(0, START + 2), kept)
    wanted["n"][0] = 1000
    check((path,), wanted)
    found = blosc2.open(str(path), mode="r")
    assert found.where("n == 1000")["x"][:].tolist() == [0.25]
    assert found.where("n == 1")["x"][:].tolist() == []
    peer = blosc2.open(str(path), mode="a")
    peer.delete([0])
    peer.close()
    check((path,), picked(wanted, list(range(1, len(kept)))))


def test_what_a_killed_writer_left_behind_the_rows_is_cut_off(tmp_path):
    path = tmp_path / "x.b2d"
    cq.create_table(path, columns(0, START)).close()
    for key in ("n", "x", "text.utf8", "when"):
        with cq.open(path / "_cols" / f"{key}.b2nd", "r+") as array:
            array.append(np.asarray(array[:3]))
    with cq.open(path, "r+") as table:
        assert table.nrows == START
        table.append(columns(START, 4))
    check((path,), columns(0, START + 4))


def test_limits_of_a_schema_hold(tmp_path):
    from dataclasses import make_dataclass

    row = make_dataclass("Row", [("n", int, blosc2.field(blosc2.int64(ge=0, le=9)))])
    table = blosc2.CTable(row, urlpath=str(tmp_path / "x.b2d"), mode="w")
    table.extend([(3,), (4,)])
    table.close()
    with cq.open(tmp_path / "x.b2d", "r+") as table:
        with pytest.raises(ValueError, match="le 9"):
            table.append({"n": [10]})
        table.append({"n": [9]})
        assert table["n"][...].tolist() == [3, 4, 9]


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(2, 5)),
        st.tuples(st.just("write"), st.integers(0, 60)),
        st.tuples(st.just("truncate"), st.integers(0, 60)),
        st.tuples(st.just("reopen"), st.none()),
    ),
    max_size=8,
)


@settings(max_examples=25, deadline=None)
@given(steps=_STEPS, kind=st.sampled_from(KINDS))
def test_random_changes_give_what_a_list_of_rows_gives(tmp_path_factory, steps, kind):
    place = made(tmp_path_factory.mktemp("t"), kind)
    names = ("n", "text", "null")
    data = columns(0, START)
    rows = list(zip(*(listed(data[name]) for name in names), strict=True))
    table, after = cq.open_table(*place, mode="r+"), START
    for step, by in steps:
        if step == "append":
            new = columns(after, by)
            table.append(new)
            rows += zip(*(listed(new[name]) for name in names), strict=True)
            after += by
        elif step == "delete":
            table.where(f"n % {by} == 0").delete()
            rows = [row for row in rows if row[0] % by]
        elif step == "truncate":
            rows = rows[: min(by, len(rows))]
            table.truncate(len(rows))
        elif step == "write" and rows:
            at = by % len(rows)
            table.modify(at, {"n": by + 1000})
            rows[at] = (by + 1000, *rows[at][1:])
        elif step == "reopen":
            table.close()
            table = cq.open_table(*place, mode="r+")
        assert table.nrows == len(rows)
    table.close()
    check(place, {name: [row[i] for row in rows] for i, name in enumerate(names)})
