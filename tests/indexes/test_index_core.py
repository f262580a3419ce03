"""Indexes by themselves: their answers are those of a filter, whatever happens to rows and files."""

import json
import os
from types import SimpleNamespace
from unittest import mock

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina import _core
from coquina.indexes import store, units
from coquina.indexes.memory_home import MemoryHome
from coquina.indexes.source import IndexSource
from coquina.indexes.store import IndexStore
from coquina.indexes.units import SPAN_ROWS
from tests.indexes.index_cases import KINDS, PLACES, case_of, check, check_range, columns_of, make

ROWS = SPAN_ROWS + 5000
METADATA = (
    *(
        "version",
        "name",
        "column",
        "is_expression",
        "kind",
        "key_kind",
        "dtype",
        "bucket_rows",
        "block_entries",
    ),
    *("rows", "spans", "zones", "next", "runs", "stamp"),
)
places = pytest.mark.parametrize("place", PLACES)
kinds = pytest.mark.parametrize("kind", KINDS)

# Answers


def _check_all(tmp_path, place, kind, data, names):
    with make(tmp_path, place, data) as table:
        for name in names:
            check(table, table.create_index(name, kind=kind), times=4)
        path = table.path
    with cq.open_table(path) as table:
        assert set(table.indexes) == set(names)
        for name in names:
            index = table.indexes[name]
            assert index.is_usable
            assert (index.kind, index.rows, index.unindexed_rows) == (kind, table.nrows, 0)
            check(table, index, seed=1, times=4)


@places
@kinds
def test_answers_are_those_of_a_filter(tmp_path, place, kind):
    data = columns_of(ROWS, 1, layout="rows")
    _check_all(tmp_path, place, kind, {name: data[name] for name in ("i2", "f8", "S")}, ["i2", "f8", "S"])


@kinds
def test_columns_and_expressions_of_every_type(tmp_path, kind):
    data = columns_of(20_000, 2, layout="columns")
    _check_all(tmp_path, "columns", kind, data, [*data, "i2 * 3 + f8", "i2 > 3"])


@pytest.mark.parametrize("count", [0, 1, 5, SPAN_ROWS, SPAN_ROWS + 1])
@kinds
def test_tables_of_any_length(tmp_path, kind, count):
    rng = np.random.default_rng(count)
    values = np.ma.MaskedArray(rng.integers(0, 50, count), rng.random(count) < 0.5)
    with make(tmp_path, "columns", {"x": values, "nan": np.full(count, np.nan)}) as table:
        for name in ("x", "nan"):
            index = table.create_index(name, kind=kind)
            assert index.unindexed_rows == 0
            check(table, index)


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_rows_come_and_change_and_go(tmp_path_factory, data):
    place = data.draw(st.sampled_from(PLACES))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))

    def values(count):
        return {"x": rng.integers(0, 1000, count), "y": rng.normal(size=count)}

    with make(tmp_path_factory.mktemp("table"), place, values(ROWS)) as table:
        for kind in KINDS:
            table.create_index("x", kind=kind, name=kind)
        for _ in range(data.draw(st.integers(1, 6))):
            index = table.indexes[data.draw(st.sampled_from(KINDS))]
            what = data.draw(
                st.sampled_from(["append", "modify", "delete", "truncate", "refresh", "compact"])
            )
            rows = table.nrows
            match what:
                case "append":
                    more = values(data.draw(st.sampled_from([1, 3000, SPAN_ROWS])))
                    table.append(more)
                case "modify" if rows:
                    start = int(rng.integers(rows))
                    table.modify(slice(start, start + 3000), {"x": 500})
                case "delete" if rows > 10:
                    table.delete(np.unique(rng.integers(0, rows, 5)))
                case "truncate":
                    table.truncate(int(rng.integers(rows // 2, rows + 1)))
                case "refresh":
                    table.refresh_index()
                    assert all(one.unindexed_rows == 0 for one in table.indexes.values())
                case "compact":
                    index.compact()
                    assert index.unindexed_rows == 0
                    assert len(index.runs) <= 1 or index.kind == "partial"
            table.flush()
            for one in table.indexes.values():
                assert one.is_usable, one.reason
                assert one.rows + one.unindexed_rows == table.nrows
                check(table, one, times=2)
        path = table.path
    with cq.open_table(path) as table:
        for one in table.indexes.values():
            assert one.is_usable
            check(table, one, times=2)


def test_runs_of_one_length_are_sorted_anew(tmp_path):
    rng = np.random.default_rng(0)
    with make(tmp_path, "columns", {"x": rng.integers(0, 99, SPAN_ROWS)}) as table:
        index = table.create_index("x")
        counts = []
        for _ in range(12):
            table.append({"x": rng.integers(0, 99, SPAN_ROWS)})
            table.refresh_index("x")
            counts.append(len(index.runs))
        assert max(counts) < 2 * units.TIER_RUNS
        assert min(counts[6:]) < units.TIER_RUNS - 1
        check(table, index)
        orders = index.in_order()
        assert sorted(np.concatenate([part for one in orders for part in one])) == list(range(table.nrows))
        index.compact()
        (only,) = index.in_order(window=1000)
        np.testing.assert_array_equal(np.concatenate(list(only)), np.argsort(table["x"][...], kind="stable"))


def test_rows_in_order_are_those_that_are_owned(tmp_path):
    rng = np.random.default_rng(3)
    values = rng.normal(size=3 * SPAN_ROWS)
    values[::1000] = np.nan
    with make(tmp_path, "columns", {"x": values}) as table:
        index = table.create_index("x")
        table.modify(slice(SPAN_ROWS, SPAN_ROWS + 1), {"x": 5.0})
        known = np.concatenate([np.arange(SPAN_ROWS), np.arange(2 * SPAN_ROWS, 3 * SPAN_ROWS)])
        order = known[np.argsort(values[known], kind="stable")]
        order = order[~np.isnan(values[order])]
        (up,), (down,) = index.in_order(), index.in_order(descending=True, window=777)
        np.testing.assert_array_equal(np.concatenate(list(up)), order)
        np.testing.assert_array_equal(np.concatenate(list(down)), order[::-1])
        np.testing.assert_array_equal(index.missing_rows(), known[np.isnan(values[known])])
        assert [one.tolist() for one in index.open_ranges()] == [[SPAN_ROWS, 2 * SPAN_ROWS]]


@pytest.mark.parametrize("where", ["flush", "close"])
def test_many_new_rows_are_indexed_in_passing(tmp_path, where):
    rng = np.random.default_rng(4)
    with mock.patch.object(store, "FLUSH_ROWS", SPAN_ROWS if where == "flush" else 1 << 40):
        table = make(tmp_path, "columns", {"x": rng.integers(0, 99, 1000)})
        table.create_index("x")
        table.append({"x": rng.integers(0, 99, SPAN_ROWS)})
        table.flush()
        if where == "flush":
            assert table.indexes["x"].unindexed_rows == 0
        path = table.path
        table.close()
    with cq.open_table(path) as table:
        assert table.indexes["x"].unindexed_rows == 0
        check(table, table.indexes["x"])


# Damage


def _arrays(path):
    """Return where the bytes of each array of an index are: file, offset, length."""
    if path.is_dir():
        for one in sorted((path / "index").glob("*.b2nd")):
            yield one, 0, one.stat().st_size
        return
    with h5py.File(path) as file:
        found = []
        file.visititems(lambda name, one: found.append(one) if isinstance(one, h5py.Dataset) else None)
        for one in found:
            if "_p_coquina" in one.name and "/x/" in one.name:
                chunk = one.id.get_chunk_info(0)
                yield path, chunk.byte_offset, chunk.size


@places
@pytest.mark.parametrize("at", range(5))
def test_damage_is_told_and_never_a_wrong_answer(tmp_path, place, at):
    rng = np.random.default_rng(5)
    data = {"x": rng.integers(0, 99, ROWS), "y": rng.normal(size=ROWS)}
    with make(tmp_path, place, data) as table:
        table.create_index("x")
        path = table.path
    file, start, size = list(_arrays(tmp_path / os.path.basename(path)))[at]
    with open(file, "r+b") as raw:
        for place_ in rng.integers(size // 3, size, 3):
            raw.seek(start + int(place_))
            raw.write(b"\xa5\x5a\x12")
    with cq.open_table(path, mode="r+") as table:
        index = table.indexes["x"]
        for value in range(0, 99, 7):
            check_range(case_of(table, index), index, value, value, False)
        if not index.is_usable:
            assert "damaged" in index.reason
            assert index.unindexed_rows == ROWS
        table.refresh_index()
        assert index.is_usable or "changes" in index.reason
        check(table, index)


@pytest.mark.parametrize("key", METADATA)
@pytest.mark.parametrize("value", [None, -1, "x", [], [[1, 2]], [[1, -2, 0, 0]], 1 << 70, {"token": "x"}])
def test_metadata_of_any_kind_are_survived(tmp_path, key, value):
    with make(tmp_path, "columns", {"x": np.arange(1000)}) as table:
        table.create_index("x")
        path = table.path
    with h5py.File(path, "r+") as file:
        attrs = file["table/_p_coquina"].attrs
        (name,) = attrs
        attrs[name] = json.dumps({**json.loads(attrs[name]), key: value})
    with cq.open_table(path, mode="r+") as table:
        for index in table.indexes.values():
            check(table, index, times=2)
        made = table.create_index("x", name="another")
        check(table, made, times=2)


def test_an_index_of_a_column_of_another_type_is_not_used(tmp_path):
    with make(tmp_path, "columns", {"x": np.arange(1000)}) as table:
        table.create_index("x")
        path = table.path
    with h5py.File(path, "r+") as file:
        attrs = dict(file["table/x"].attrs)
        del file["table/x"]
        file["table/x"] = np.arange(1000.0)
        file["table/x"].attrs.update(attrs)
    with cq.open_table(path) as table:
        assert "float64" in table.indexes["x"].reason
        assert table.indexes["x"].unindexed_rows == 1000


# Making


@places
def test_a_build_that_fails_leaves_what_was(tmp_path, place):
    with make(tmp_path, place, {"x": np.arange(ROWS) % 77}) as table:

        def fail(done, total):
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            table.create_index("x", progress=fail)
        assert not table.indexes
        index = table.create_index("x")
        table.modify(slice(0, 5), {"x": 3})
        with pytest.raises(RuntimeError, match="enough"):
            index.refresh(progress=fail)
        check(table, index)
        with pytest.raises(RuntimeError, match="enough"):
            index.build(progress=fail)
        check(table, index)
        table.refresh_index()
        assert index.unindexed_rows == 0
        check(table, index)


def test_what_cannot_be_indexed(tmp_path):
    dtype = [("c", "c16"), ("v", "f8", 3), ("n", [("x", "i4"), ("y", "i4")]), ("g", "f16")]
    with cq.create_table(tmp_path / "t.h5", np.zeros(10, dtype), layout="rows") as table:
        for name, error, words in [
            ("c", TypeError, "complex"),
            ("v", TypeError, r"v\[0\] is one"),
            ("n", TypeError, "n/x"),
            ("g", TypeError, "8 bytes"),
            ("nothing", KeyError, "nothing"),
            ("c +", cq.ExpressionError, "c +"),
        ]:
            with pytest.raises(error, match=words):
                table.create_index(name)
        with pytest.raises(ValueError, match="kind"):
            table.create_index("n/x", kind="btree")
        for name in ("n/x", "v[1]"):
            check(table, table.create_index(name))
        with pytest.raises(ValueError, match="drop_index"):
            table.create_index("n/x")
        with pytest.raises(KeyError, match="there is no index"):
            table.drop_index("y")
        table.drop_index("n/x")
        assert list(table.indexes) == ["v[1]"]
    with cq.open_table(tmp_path / "t.h5") as table:
        assert list(table.indexes) == ["v[1]"]
        for call in (table.create_index, table.drop_index, table.refresh_index):
            with pytest.raises(ValueError, match="reading"):
                call("v[1]")


@pytest.mark.parametrize("place", ["columns", "folder"])
def test_columns_that_are_renamed_and_dropped(tmp_path, place):
    with make(tmp_path, place, {"x": np.arange(1000), "y": np.arange(1000)}) as table:
        for name in ("x", "y", "x + y"):
            table.create_index(name)
        table.rename_column("x", "z")
        assert set(table.indexes) == {"z", "y"}
        check(table, table.indexes["z"])
        path = table.path
    with cq.open_table(path, mode="r+") as table:
        assert set(table.indexes) == {"z", "y"}
        check(table, table.indexes["z"])
        table.drop_column("z")
        assert set(table.indexes) == {"y"}
        table.rename_column("y", "z")
        check(table, table.indexes["z"])


def test_indexes_of_new_tables(tmp_path):
    data = {"x": np.arange(100), "y": np.arange(100.0)}
    with cq.create_table(tmp_path / "t.h5", data, index=["x", "y * 2"]) as table:
        assert set(table.indexes) == {"x", "y * 2"}
        assert isinstance(table.indexes["x"], cq.Index)
        table.file.create_table("/group/other", data, index=["y"])
    with cq.hdf5.File(tmp_path / "t.h5", "r+") as file:
        assert list(file["/group/other"].indexes) == ["y"]
        del file["/group/other"]
        made = file.create_table("/group/other", {"y": np.arange(100.0)[::-1]})
        assert not made.indexes


def test_an_array_in_memory_has_indexes():
    values = np.random.default_rng(0).integers(0, 99, ROWS)
    array = cq.asarray(values)
    source = IndexSource(
        name="",
        kind="int64",
        dtype=values.dtype,
        count=lambda: array.shape[0],
        lazies=lambda: _core.lazy_array(array, 0, 8),
        missing=lambda: None,
        fingerprinted=lambda: [_core.lazy_array(array, 0, 8)],
        arrays=lambda: [array],
    )
    home = MemoryHome()
    indexes = IndexStore(lambda is_made: home, lambda author, text: source)
    for kind in KINDS:
        check(SimpleNamespace(), indexes.create(source, kind=kind, name=kind))
    again = IndexStore(lambda is_made: home, lambda author, text: source)
    assert set(again.indexes) == set(KINDS)
    array[500:600] = 7
    again.changed(None, 500, 600)
    for index in again.indexes.values():
        assert index.unindexed_rows == SPAN_ROWS
        check(SimpleNamespace(), index)
