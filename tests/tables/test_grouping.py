"""Groups by text, by what can be missing, and of it: the engine and NumPy agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coquina as cq
from coquina.tables import grouping
from coquina.tables.grouping import AGGREGATES
from coquina.tables.layout import ColumnSpec
from coquina.tables.values import TEXT, Coded
from tests.reference.grouping import group_by_windows
from tests.tables.table_cases import make

COUNT = 2500
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

TEXTS = ["", "a", "b", "ä", "a\0", "abcdefgh" * 3, "Grüße, lang genug für jeden Rand"]
#: Columns that are keys, and what is aggregated of which column.
KEYS = ["t", "tn", "c", "cn", "i", "f", "b", "code", "x"]
VALUES = [*KEYS, "i + x"]
NUMBERS = ("i", "f", "b", "code", "x", "i + x")
#: Text that is aggregated stays with NumPy.
BY_ENGINE = ("count", "first", "last", "nunique")


def columns_of(count: int) -> dict:
    """Return columns of all kinds, with repeats, nulls, and NaN in those of floats."""
    rng = np.random.default_rng(7)

    def missing(values):
        return np.ma.MaskedArray(values, rng.random(count) < 0.2)

    floats = rng.integers(0, 4, count) / 2
    floats[rng.random(count) < 0.1] = np.nan
    texts = np.array(TEXTS, object)[rng.integers(0, len(TEXTS), count)]
    # Most texts of the first rows, some only later, and one group that is nothing but nulls.
    texts[count // 2 :: 7] = [f"late {number % 11}" for number in range(len(texts[count // 2 :: 7]))]
    code = rng.integers(0, 3, count, np.int8)
    with_none = [None if gone else text for text, gone in zip(texts, rng.random(count) < 0.2, strict=True)]
    ints = missing(rng.integers(-2, 3, count, np.int16))
    ints[code == 2] = np.ma.masked
    return {
        "t": texts.tolist(),
        "tn": with_none,
        "i": ints,
        "f": missing(floats),
        "b": missing(rng.random(count) < 0.5),
        "code": code,
        "x": np.where(rng.random(count) < 0.1, np.nan, rng.integers(0, 9, count) / 4).astype("f4"),
    }


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    with make(tmp_path_factory.mktemp("g"), "columns", columns_of(COUNT)) as made:
        codes = np.arange(COUNT) % 17 % 4 - 1
        text = Coded(codes, np.array(["x", "y", "z"], TEXT))
        made.layout.add_column(ColumnSpec("c", TEXT, categories=()), text)
        numbers = Coded(codes // 2, np.array([2.5, 1.5]))
        made.layout.add_column(ColumnSpec("cn", np.dtype("f8"), categories=()), numbers)
        yield made


def by_numpy(groups, wanted, monkeypatch):
    """Return the groups without the engine."""
    with monkeypatch.context() as patch:
        patch.setattr(grouping, "grouped", group_by_windows)
        return groups.agg(**wanted)


def agree(found, wanted) -> None:
    """Check that columns of results are the same, sums up to their rounding."""
    assert found.dtype.names == wanted.dtype.names
    for name in wanted.dtype.names:
        one, other = found[name], wanted[name]
        mask = np.ma.getmaskarray(other)
        np.testing.assert_array_equal(np.ma.getmaskarray(one), mask, err_msg=name)
        one, other = np.ma.getdata(one)[~mask], np.ma.getdata(other)[~mask]
        assert one.dtype.kind == other.dtype.kind
        if other.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9, err_msg=name)
        else:
            assert one.tolist() == other.tolist(), name


@quick
@given(
    keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True),
    wanted=st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(AGGREGATES)), max_size=4, unique=True),
    condition=st.sampled_from([None, "code > 0", "i is null", "t != 'a'", "x > 99"]),
    start=st.sampled_from([None, 3, 1300]),
)
def test_the_engine_and_numpy_agree(table, keys, wanted, condition, start):
    rows = table.where("code >= 0" if condition is None else condition, start=start)
    asked = {
        f"v{at}": (column, kind)
        for at, (column, kind) in enumerate(wanted)
        if column in NUMBERS or kind in BY_ENGINE
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coquina.tables.scanning.WINDOW_BYTES", 1)
        patch.setattr("coquina.tables.scanning._ROWS_MIN", 600)
        groups = rows.group_by(keys)
        agree(groups.agg(n="count", **asked), by_numpy(groups, {"n": "count", **asked}, patch))


@pytest.mark.parametrize("key", KEYS)
def test_all_keys_are_of_the_engine(table, key):
    asked = {f"{name} {kind}": (name, kind) for name in NUMBERS for kind in AGGREGATES}
    asked |= {f"{name} count": (name, "count") for name in KEYS}
    asked |= {f"{name} {kind}": (name, kind) for name in ("c", "cn") for kind in BY_ENGINE}
    found = table.group_by(key).agg(**asked)
    values = table[key][:]
    nulls = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(COUNT, bool)
    listed = [None if gone or one != one else one for one, gone in zip(values.tolist(), nulls, strict=True)]
    assert len(found) == len(set(listed))


def test_null_and_nan_of_a_nullable_column_are_one_group_shown_as_its_first_row(tmp_path):
    for first in (0, 1):
        values = np.ma.array([np.nan, 5.0, 1.0, 1.0], mask=[0, 1, 0, 0])
        values = values if first == 0 else values[[1, 0, 2, 3]]
        folder = tmp_path / str(first)
        folder.mkdir()
        with make(folder, "columns", {"k": values}) as table:
            found = table.group_by("k").count()
        assert found["count"].tolist() == [2, 2]
        shown = found["k"][0]
        assert (shown is np.ma.masked) if first else bool(np.isnan(shown))


def test_what_stands_behind_a_null_is_no_group(tmp_path):
    with make(tmp_path, "columns", {"t": ["a", None, "b", None], "n": np.arange(4)}) as table:
        found = table.group_by("t").agg(n=("n", "sum"))
        assert found["t"].tolist() == ["a", None, "b"]
        assert found["n"].tolist() == [0, 4, 2]
        empty = table.where("n > 9").group_by(["t", "n"]).agg(n2=("t", "count"))
        assert len(empty) == 0


def test_an_aggregate_without_a_column_is_refused(tmp_path):
    with cq.create_table(tmp_path / "t.h5", {"k": [1, 1, 2], "x": [1, 2, 3]}) as t:
        with pytest.raises(TypeError, match="'mean' of which column"):
            t.group_by("k").agg("mean")
        assert t.group_by("k").agg({"x": "mean"}).tolist() == [(1, 1.5), (2, 3.0)]


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_means_of_times_are_times(tmp_path, layout):
    """They were numbers without a unit, with NaT for the least of all."""
    when = np.array(["1969-12-01", "1970-01-04T00:00:01", "2024-01-05", "2024-01-08", "NaT"], "M8[s]")
    data = {"k": np.array([0, 0, 1, 1, 2]), "when": when, "took": (when - when[0]).astype("m8[ms]")}
    with make(tmp_path, layout, data) as table:
        found = table.group_by("k").agg({"when": "mean", "took": ["mean", "sum"]})
        for row, part in zip(found[:2], (slice(2), slice(2, 4)), strict=True):
            for name in ("when", "took"):
                mean = np.array(int(data[name][part].view(np.int64).mean())).view(data[name].dtype)
                assert row[f"{name}_mean"] == mean
                assert table.where(f"k == {row['k']}").mean(name) == mean
            assert row["took_sum"] == data["took"][part].sum()
        assert found.dtype["when_mean"] == "M8[s]"
        assert found.dtype["took_mean"] == "m8[ms]"
        assert np.isnat([found["when_mean"][2], table.mean("when"), table.where("k == 2").mean("when")]).all()
        assert np.isnat([found["took_mean"][2], found["took_sum"][2]]).all()
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            assert np.isnat(table.where("k == 9").mean("when"))
        for kind, name in [("std", "when"), ("var", "took"), ("sum", "when")]:
            with pytest.raises(TypeError, match=f"{kind}: .*; there are min, max and mean"):
                table.group_by("k").agg({name: kind})
