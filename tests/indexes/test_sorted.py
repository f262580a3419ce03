"""Orders by an index, sorted reading and sorted copies: NumPy's stable sort is the judge."""

from __future__ import annotations

import os
from functools import cache, partial
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.indexes import access
from coquina.tables import index_order, ordering, sorted_reading, sorting

KEYS = ("i", "f", "b", "S", "t", "U", "text", "null", "r")
CONDITIONS = (None, "b", "i > 3", "(f > 0.2) & (f < 0.5)", "f > 5", "(null < 3) | b", "text > 'b'", "r < 40")


def columns(count: int, seed: int) -> dict[str, Any]:
    """Return columns of all kinds that have an order, with many equal values and what is missing."""
    rng = np.random.default_rng(seed)
    floats = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, *rng.normal(size=300)], count)
    times = rng.integers(0, 5000, count).astype("M8[s]")
    times[rng.random(count) < 0.01] = "NaT"
    texts = np.array(["", "a", "prefix-a", "prefix-b", "prefix-bb", "zebra", "été", None], object)
    return {
        "i": rng.integers(-40, 40, count).astype("i2"),
        "f": floats,
        "b": rng.random(count) < 0.3,
        "S": rng.choice([b"", b"A", b"long enough", b"long enougi"], count),
        "t": times,
        "U": rng.choice(["", "a", "prefix-one", "prefix-two"], count),
        "text": np.array([*texts[rng.integers(0, len(texts), count)], None], object)[:-1],
        "null": np.ma.MaskedArray(rng.integers(-5, 500, count), rng.random(count) < 0.1),
        "r": rng.permutation(count),
    }


def judged(values: Any, descending: bool) -> np.ndarray:
    """Return the stable order of values; what is missing comes last."""
    missing = np.ma.getmaskarray(values).copy()
    data = np.ma.getdata(values)
    if data.dtype.kind in "OT":
        missing |= np.array([one is None for one in data.tolist()], bool)
        data = np.unique(["" if one is None else one for one in data.tolist()], return_inverse=True)[1]
    elif data.dtype.kind in "fmM":
        missing |= np.isnan(data) if data.dtype.kind == "f" else np.isnat(data)
    ranks = np.unique(data, return_inverse=True)[1].reshape(-1)
    if data.dtype.kind == "f":
        ranks = np.where(missing, 0, ranks)
    there = np.flatnonzero(~missing)
    order = np.argsort(-ranks[there] if descending else ranks[there], kind="stable")
    return np.concatenate([there[order], np.flatnonzero(missing)])


def judged_by(table: cq.Table, keys: list[str], flags: list[bool], rows: np.ndarray) -> np.ndarray:
    """Return rows in the order of columns."""
    for key, flag in zip(reversed(keys), reversed(flags), strict=True):
        values = table.layout.columns[key].read(slice(None))[rows]
        rows = rows[judged(values, flag)]
    return rows


@cache
def indexed(folder: str, kind: str, state: str) -> cq.Table:
    """Return a table whose indexes have one run, open rows, or runs some of whose rows others own."""
    table = cq.create_table(f"{folder}/{kind}-{state}.h5", columns(68_000, 1), chunk_rows=8192)
    for name in KEYS[:-1]:
        table.create_index(name, kind=kind)
    if state != "whole":
        table.append(columns(3000, 2))
        table.modify(slice(10, 400), {"i": 39, "f": -0.0, "null": -5, "text": "prefix-b"})
        table.flush()
    if state == "runs":
        table.refresh_index()
        table.modify(slice(67_000, 67_100), {"i": -40, "f": 0.3})
        table.refresh_index("i")
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("sorted"))


@pytest.mark.parametrize("state", ["whole", "open", "runs"])
@pytest.mark.parametrize("kind", ["full", "partial"])
@settings(deadline=None, max_examples=25)
@given(
    keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True),
    flags=st.lists(st.booleans(), min_size=2, max_size=2),
    condition=st.sampled_from(CONDITIONS),
    limit=st.sampled_from([0, 1, 10, 700, 10**6]),
    span=st.sampled_from([(None, None, None), (100, 66_000, 7), (65_000, None, None), (5, 5, 1)]),
    is_forced=st.booleans(),
)
def test_orders_are_those_of_numpy(folder, kind, state, keys, flags, condition, limit, span, is_forced):
    table = indexed(folder, kind, state)
    start, stop, step = span
    chosen = table.where("True" if condition is None else condition, None, start, stop, step)
    with access.disabled():
        rows = chosen.row_numbers()
    wanted = judged_by(table, keys, flags[: len(keys)], rows)[:limit]
    ordered = chosen if condition is not None or start is not None else table
    ordered = ordered.order_by(keys, flags[: len(keys)]).head(limit)
    with access.forced() if is_forced else access.disabled() if limit == 700 else _as_it_likes():
        assert np.array_equal(ordered.row_numbers(), wanted)


def _as_it_likes() -> Any:
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.parametrize("name", ["i", "f", "b", "t", "null", "text"])
@pytest.mark.parametrize("descending", [False, True])
def test_the_first_rows_come_from_the_index(folder, name, descending, monkeypatch):
    table = indexed(folder, "full", "whole")
    wanted = judged_by(table, [name], [descending], np.arange(len(table)))
    monkeypatch.setattr(ordering, "ordered_rows", _refused)
    assert np.array_equal(table.order_by(name, descending).head(10).row_numbers(), wanted[:10])
    assert table.order_by(name, descending).head(10).explain().ordered == f"index {name}"
    if name != "text":
        assert np.array_equal(table.order_by(name, descending).row_numbers(), wanted)
        found = table.where("r < 1000000").where("i > -100").order_by(name, descending).head(3)
        assert np.array_equal(found.row_numbers(), wanted[:3])


def _refused(*_: Any) -> Any:
    raise AssertionError("sorted without the index")


def test_a_range_of_the_order_is_walked_from_its_end(folder, monkeypatch):
    table = indexed(folder, "full", "whole")
    rows = np.flatnonzero(table["f"][:] > 0.5)
    wanted = judged_by(table, ["f"], [False], rows)[:5]
    monkeypatch.setattr(ordering, "ordered_rows", _refused)
    monkeypatch.setattr(index_order, "_of_few", _refused)
    assert np.array_equal(table.where("f > 0.5").order_by("f").head(5).row_numbers(), wanted)


@pytest.mark.parametrize("state", ["whole", "open", "runs"])
@pytest.mark.parametrize("name", KEYS)
def test_extremes_are_those_of_a_scan(folder, name, state):
    table = indexed(folder, "full", state)
    for kind in ("min", "max"):
        found = getattr(table, kind)(name)
        with access.disabled():
            wanted = getattr(table, kind)(name)
        assert type(found) is type(wanted)
        assert found == wanted or (found != found and wanted != wanted)
    if state == "whole" and name in ("i", "b", "S", "U", "null", "text"):
        assert index_order.extreme(table.plan, "max", name) is not None


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("is_indexed", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_sorted_reading_takes_places_of_the_order(tmp_path, layout, is_indexed, descending, monkeypatch):
    data = np.zeros(5000, [("x", "f8"), ("n", "i4")])
    data["x"] = columns(5000, 3)["f"]
    data["n"] = np.arange(5000)
    wanted = data[judged(data["x"], descending)]
    places = [slice(None), slice(10), slice(5, 3000, 7), slice(4000, 4010), slice(-3, None), slice(60, 70)]
    with cq.create_table(tmp_path / "t.h5", data, layout=layout, chunk_rows=512) as table:
        if is_indexed:
            table.create_index("x")
        for limit in (1, 1 << 30):
            monkeypatch.setattr(
                sorted_reading, "sorted_pieces", partial(sorting.sorted_pieces, memory_limit=limit)
            )
            backwards = [slice(None, None, -1), slice(3000, 5, -7), slice(9, None, -1), slice(5, 3000, -1)]
            for one in [*places, *backwards, slice(7, 7), slice(1020, 4999, 1000), slice(3, None)]:
                ends = {"start": one.start, "stop": one.stop, "step": one.step}
                found = table.read_sorted("x", descending=descending, **ends)
                assert found.dtype == data.dtype
                assert np.array_equal(found["n"], wanted[one]["n"])
                assert np.array_equal(table.read_sorted("x", "n", descending=descending, **ends), found["n"])
                assert [row["n"] for row in table.itersorted("x", descending, **ends)] == found["n"].tolist()
        assert [row["n"] for row in islice(table.itersorted("x"), 0)] == []
        with pytest.raises(ValueError, match="zero"):
            table.read_sorted("x", step=0)


@pytest.mark.parametrize("key", ["i", "f", "text", "null"])
@pytest.mark.parametrize("descending", [False, True])
def test_a_loop_has_its_first_rows_before_all_are_sorted(tmp_path, key, descending, monkeypatch):
    some = columns(1 << 16, 5)
    with cq.create_table(tmp_path / "t.h5", some) as table:
        wanted = judged(table.layout.columns[key].read(slice(None)), descending)
        loop = table.itersorted(key, descending, step=3)
        with monkeypatch.context() as patch:
            patch.setattr(sorted_reading, "sorted_pieces", None)
            first = [row["r"] for row in islice(loop, 342)]
        assert first + [row["r"] for row in loop] == some["r"][wanted[::3]].tolist()


@pytest.mark.parametrize("fields", [["i8", "f8", "S5"], [">i8", "f8", "S5"], ["i8", "f8", "S5", "(2,)f4"]])
def test_sorted_reading_decodes_records_once_for_all_columns(tmp_path, fields):
    rng = np.random.default_rng(1)
    data = np.zeros(4000, [(f"c{at}", kind) for at, kind in enumerate(fields)])
    for name in data.dtype.names or ():
        data[name] = rng.integers(1, 1000, data[name].shape)
    order = np.argsort(data["c0"], kind="stable")
    with cq.create_table(tmp_path / "t.h5", data, layout="rows", chunk_rows=1000) as table:
        records = table.dataset
        records.cache_bytes = 0
        table.create_index("c0")
        blocks = records.blocks_touched(order)
        for wanted in (None, ["c2", "c0", "c1"]):
            before = records.info.blocks_decoded
            found = table.read_sorted("c0", wanted)
            assert 0 < records.info.blocks_decoded - before <= blocks
            for name in wanted or data.dtype.names or ():
                assert found.dtype[name] == table.dtype[name]
                assert np.array_equal(found[name], data[name][order])


@settings(deadline=None, max_examples=20)
@given(
    count=st.integers(0, 2500),
    seed=st.integers(0, 99),
    keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True),
    flags=st.lists(st.booleans(), min_size=3, max_size=3),
    condition=st.sampled_from(CONDITIONS),
)
def test_rows_sorted_on_disk_are_those_sorted_in_memory(
    tmp_path_factory, count, seed, keys, flags, condition
):
    folder = tmp_path_factory.mktemp("spilled")
    with cq.create_table(folder / "t.h5", columns(count, seed), chunk_rows=256) as table:
        chosen = table if condition is None else table.where(condition)
        rows = chosen.row_numbers()
        plan = chosen.order_by(keys, flags[: len(keys)]).plan
        read = dict(table.layout.columns)
        found = list(sorting.sorted_pieces(plan, read, numbers=True, memory_limit=1))
        numbers = np.concatenate([np.empty(0, np.int64), *[one.numbers for one in found]])
        assert np.array_equal(numbers, judged_by(table, keys, flags[: len(keys)], rows))
        for name, column in read.items():
            at = 0
            for one in found:
                wanted = column.read(numbers[at : at + one.matched])
                assert one.values[name].dtype == wanted.dtype
                assert repr(one.values[name].tolist()) == repr(wanted.tolist())
                at += one.matched


@pytest.mark.parametrize("target", ["file", "group", "folder"])
@pytest.mark.parametrize("memory_limit", [1, 200_000, 1 << 30])
def test_sorted_copies_are_the_same_whatever_memory_they_take(tmp_path, target, memory_limit):
    data = columns(20_000, 5)
    with cq.create_table(tmp_path / "t.h5", data, chunk_rows=1024) as table:
        wanted = table.to_numpy()[judged_by(table, ["S", "f"], [False, False], np.arange(20_000))]
        to: Any = {"file": tmp_path / "copy.h5", "group": table.file, "folder": tmp_path / "copy"}[target]
        name = "/copy" if target == "group" else None
        with table.copy(to, name, sort_by=["S", "f"], memory_limit=memory_limit) as copied:
            assert repr(copied.to_numpy().tolist()) == repr(wanted.tolist())
    kept = {"t.h5"} | ({to.name} if target != "group" else set())
    assert set(os.listdir(tmp_path)) == kept


def test_a_sorted_copy_reads_only_what_matches(tmp_path):
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=100_000), "y": rng.random(100_000)}
    with (
        cq.create_table(tmp_path / "t.h5", data, chunk_rows=4096) as table,
        table.copy(tmp_path / "s.h5", sort_by="x", memory_limit=1 << 20) as copied,
    ):
        assert table.where("x > 3").explain().scan["boxes_skipped"] < 5
        found = copied.where("x > 3").explain()
        assert found.matched == np.count_nonzero(data["x"] > 3)
        assert found.scan["boxes_decoded"] <= 1
        assert found.scan["boxes_skipped"] >= found.scan["boxes"] - 1
        with pytest.raises(ValueError, match="memory_limit=0"):
            table.copy(tmp_path / "u.h5", sort_by="x", memory_limit=0)
    assert not os.path.exists(tmp_path / "u.h5")
