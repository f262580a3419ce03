"""Tables and Arrow: pyarrow, pandas, Polars and DuckDB take tables, and tables are made of theirs."""

import io
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coquina as cq
from coquina.tables import gathering, ordering, sorting
from coquina.tables.layout import ColumnSpec
from tests.tables.table_cases import FLAT, NESTED, both_layouts, records, same

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

ROWS = 3000
RNG = np.random.default_rng(11)


def data() -> dict:
    """Return columns of all kinds that the columns layout has."""
    day = np.datetime64("2024-02-28", "ns")
    when = day + RNG.integers(0, 10**15, ROWS).astype("m8[ns]")
    when[7] = "NaT"
    floats = RNG.normal(size=ROWS)
    floats[5] = np.nan
    words = np.array(["", "a", "grün", "\U0001f600 long enough to be no short text"], object)
    nullable = words[RNG.integers(0, 4, ROWS)]
    nullable[RNG.random(ROWS) < 0.2] = None
    return {
        "i": RNG.integers(-100, 100, ROWS).astype("i2"),
        "f": floats,
        "b": RNG.random(ROWS) < 0.5,
        "s": words[RNG.integers(0, 4, ROWS)].tolist(),
        "n": nullable.tolist(),
        "when": when,
        "span": RNG.integers(0, 10**6, ROWS).astype("m8[ms]"),
        "maybe": np.ma.MaskedArray(RNG.integers(0, 9, ROWS), RNG.random(ROWS) < 0.3),
        "perhaps": np.ma.MaskedArray(RNG.random(ROWS) < 0.5, RNG.random(ROWS) < 0.3),
        "cat": pd.Categorical.from_codes(RNG.integers(-1, 3, ROWS), ["x", "y", "z"], ordered=True),
        "fixed": RNG.choice([b"A", b"BB", b""], ROWS).astype("S2"),
    }


DATA = data()
#: Of each column its values as Python has them, None for what is missing.
PLAIN = {
    name: [None if one is pd.NaT or (name == "cat" and one != one) else one for one in pd.Series(values)]
    if name in ("when", "span", "cat")
    else (values if isinstance(values, list) else values.tolist())
    for name, values in DATA.items()
}
PLAIN["fixed"] = [one.decode() for one in PLAIN["fixed"]]


def make(path, **options):
    frame = pd.DataFrame({"cat": DATA["cat"]})
    table = cq.create_table(path, {name: one for name, one in DATA.items() if name != "cat"}, **options)
    with cq.create_table(path.with_name("cat.h5"), frame) as other:
        spec = other.schema[0]
    table.add_column("cat", list(PLAIN["cat"]), spec)
    return table


@pytest.fixture
def table(tmp_path):
    with make(tmp_path / "t.h5", chunk_rows=1024) as made:
        yield made


def equal(found, wanted) -> None:
    """Check values, NaN and times included."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, float) and other != other:
            assert one is None or one != one
        else:
            assert one == other, (one, other)


def alike(found, wanted) -> None:
    """Check Arrow data, where NaN is NaN and however it is cut."""
    assert found.schema == wanted.schema
    for name in wanted.column_names:
        equal(found[name].to_pylist(), wanted[name].to_pylist())


def test_pyarrow_takes_a_table(table):
    found = pa.table(table)
    assert found.column_names == list(table.columns)
    for name, wanted in PLAIN.items():
        equal([pd.Timestamp(one.value) if one.is_valid else None for one in found[name]]
              if name == "when" else found[name].to_pylist(), wanted)  # fmt: skip
    assert str(found.schema.field("cat").type).startswith("dictionary<values=large_string")
    assert found.schema.field("cat").type.ordered
    assert found.schema.field("when").type == pa.timestamp("ns")
    assert found.schema.field("maybe").type == pa.int64()
    assert pa.RecordBatchReader.from_stream(table).schema == found.schema == table.to_arrow().schema


def test_a_table_of_arrow_data_is_the_same_again(table, tmp_path):
    arrow = table.to_arrow()
    with cq.create_table(tmp_path / "u.h5", arrow) as again:
        alike(again.to_arrow(), arrow)
        assert again.append(arrow.slice(1000)) == ROWS - 1000
        alike(again.to_arrow(), pa.concat_tables([arrow, arrow.slice(1000)]))
    with cq.create_table(tmp_path / "v.h5", pa.RecordBatchReader.from_stream(table)) as again:
        alike(again.to_arrow(), arrow)
    with cq.create_table(tmp_path / "w.h5", table) as again:
        alike(again.to_arrow(), arrow)


def test_pandas(table, tmp_path):
    frame = table.to_pandas()
    for name in ("i", "f", "b"):
        np.testing.assert_array_equal(frame[name], DATA[name])
    np.testing.assert_array_equal(frame["when"].to_numpy(), DATA["when"])
    assert frame["cat"].dtype.ordered
    equal([None if one != one else one for one in frame["cat"]], PLAIN["cat"])
    frame["maybe"] = pd.array(PLAIN["maybe"], "Int64")
    frame["perhaps"] = pd.array(PLAIN["perhaps"], "boolean")
    with cq.create_table(tmp_path / "p.h5", frame) as again:
        assert again.columns == table.columns
        for name, wanted in PLAIN.items():
            if name not in ("when", "span"):
                equal(again.to_arrow(name)[name].to_pylist(), wanted)
        np.testing.assert_array_equal(again["when"][:], DATA["when"])
        np.testing.assert_array_equal(again["span"][:], DATA["span"])


def test_polars(table, tmp_path):
    frame = pl.DataFrame(table)
    assert frame.columns == list(table.columns)
    assert frame.equals(table.to_polars(), null_equal=True)
    for name in ("i", "b", "s", "n", "maybe", "perhaps", "cat", "fixed"):
        equal(frame[name].to_list(), PLAIN[name])
    with cq.create_table(tmp_path / "p.h5", frame) as again:
        for name, wanted in PLAIN.items():
            if name not in ("when", "span"):
                equal(again.to_arrow(name)[name].to_pylist(), wanted)
        np.testing.assert_array_equal(again["when"][:], DATA["when"])
    few = pl.DataFrame(table.where("i > 50 and n is not null").select(["i", "n"]))
    wanted = frame.filter((pl.col("i") > 50) & pl.col("n").is_not_null()).select("i", "n")
    assert few.equals(wanted)


def test_duckdb_finds_a_table_by_its_name_in_python(table, tmp_path):
    t = table
    asked = "select cat::varchar, count(*), sum(maybe) from t where n is not null group by 1 order by 1"
    found = duckdb.sql(asked).fetchall()
    wanted = {}
    for cat, n, maybe in zip(PLAIN["cat"], PLAIN["n"], PLAIN["maybe"], strict=True):
        if n is not None:
            count, total = wanted.get(cat, (0, 0))
            wanted[cat] = (count + 1, total + (maybe or 0))
    assert {row[0]: row[1:] for row in found} == wanted
    t = table.where("i > 0")
    assert duckdb.sql("select count(*) from t").fetchall() == [((np.array(PLAIN["i"]) > 0).sum(),)]
    t = table
    relation = duckdb.sql("select i, s, maybe, fixed from t where i > 0 order by i, s")
    with cq.create_table(tmp_path / "d.h5", relation) as made:
        assert made.columns == ("i", "s", "maybe", "fixed")
        assert len(made) == (DATA["i"] > 0).sum()
        equal(made.to_arrow("i")["i"].to_pylist(), sorted(DATA["i"][DATA["i"] > 0].tolist()))
    assert t.count() == ROWS


@both_layouts
def test_records_go_through_arrow(layout, tmp_path):
    for dtype in (FLAT, NESTED)[: 1 + (layout == "rows")]:
        rows = records(900, dtype)
        names = [name for name in rows.dtype.names if name not in "cs"]  # no complex, no fixed text in Arrow
        with cq.create_table(tmp_path / f"{layout}.h5", rows, layout=layout, mode="w") as table:
            found = table.to_arrow(names)
            with cq.create_table(tmp_path / "again.h5", found, layout="rows", mode="w") as again:
                for name in names:
                    wanted = np.asarray(rows[name])
                    same(again.to_numpy(name), wanted.astype(wanted.dtype.newbyteorder("=")))
    with cq.create_table(tmp_path / "c.h5", records(5), layout=layout) as table:
        check_refused(table)


def check_refused(table):
    with pytest.raises(TypeError, match=r"'c'.*Arrow has no type"):
        table.to_arrow()


def test_enumerations_are_dictionaries(tmp_path):
    spec = ColumnSpec("e", np.dtype("i1"), enum={"red": 1, "green": 5})
    with cq.create_table(tmp_path / "e.h5", (spec,), layout="rows") as table:
        table.append({"e": np.array([5, 1, 5], "i1")})
        assert table.to_arrow()["e"].to_pylist() == ["green", "red", "green"]


def test_only_what_is_asked_for_is_decoded(table, monkeypatch):
    asked = []
    real = gathering.pieces

    def pieces(plan, columns):
        asked.append((sorted(columns), plan.condition() is not None))
        return real(plan, columns)

    monkeypatch.setattr(gathering, "pieces", pieces)
    few = table.where("i > 90").select(["f", "s"])
    found = few.to_arrow()
    assert asked == [(["f", "s"], True)]
    assert found["s"].to_pylist() == [PLAIN["s"][at] for at in np.flatnonzero(DATA["i"] > 90)]
    assert few.to_arrow("f").column_names == ["f"]
    assert asked[-1] == (["f"], True)
    report = table.where("i > 1000").select(["f"]).explain()
    assert report.scan["boxes_decoded"] == 0
    assert report.columns == ("f",)


def test_a_stream_comes_in_pieces_and_in_order(table, monkeypatch):
    batches = list(pa.RecordBatchReader.from_stream(table.where("b").order_by("i").head(10)))
    values = [one for batch in batches for one in batch["i"].to_pylist()]
    assert values == sorted(DATA["i"][DATA["b"]].tolist())[:10]
    empty = table.where("i > 1000").to_arrow()
    assert empty.num_rows == 0
    assert empty.schema == table.to_arrow().schema


def test_all_rows_in_an_order_are_the_rows_taken_in_that_order(table):
    order = np.argsort(DATA["i"], kind="stable")
    found = table.order_by("i").to_arrow()
    assert found.schema == table.to_arrow().schema
    assert found["i"].to_pylist() == DATA["i"][order].tolist()
    expected = table.to_arrow().take(pa.array(order))
    assert found.drop_columns("f").to_pylist() == expected.drop_columns("f").to_pylist()


@pytest.mark.parametrize("condition", [None, "b", "i != 7"])
def test_an_order_in_memory_is_that_of_rows_that_wait_in_files(table, monkeypatch, condition):
    rows = table if condition is None else table.where(condition)
    in_files = []

    def sorted_rows(*given, **options):
        found = ordering.sorted_rows(*given, **options)
        in_files.append(found.is_in_file)
        return found

    monkeypatch.setattr(sorting, "sorted_rows", sorted_rows)
    for keys, flags in ((["s", "i"], [False, True]), (["maybe"], [True]), (["b", "s"], [True, True])):
        chosen = rows.order_by(keys, flags)
        found = chosen.to_arrow()
        with monkeypatch.context() as patch:
            patch.setattr(gathering, "sorted_pieces", partial(sorting.sorted_pieces, memory_limit=1))
            wanted = chosen.to_arrow()
        assert in_files == [False, True]
        in_files.clear()
        assert found.schema == wanted.schema
        assert repr(found.to_pylist()) == repr(wanted.to_pylist())


def test_csv(table, tmp_path):
    names = ["i", "f", "s", "n", "maybe", "when"]
    assert table.where("b").to_csv(tmp_path / "t.csv", names) == DATA["b"].sum()
    with cq.read_csv(tmp_path / "t.csv", tmp_path / "c.h5") as made:
        assert (made.layout.kind, made.name, made.columns) == ("columns", "/table", tuple(names))
        for name in ("i", "f", "maybe", "s"):
            wanted = [one for one, keep in zip(PLAIN[name], DATA["b"], strict=True) if keep]
            # An empty field is null: what is quoted is text.
            equal(made.to_arrow(name)[name].to_pylist(), wanted)
    (tmp_path / "x.csv").write_text("a;b\n1;2.5\n3;\n")
    with cq.read_csv(tmp_path / "x.csv", tmp_path / "x.h5", delimiter=";", layout="rows", name="/x") as made:
        assert made.to_arrow().to_pydict()["a"] == [1, 3]
        assert made.layout.kind == "rows"
    with cq.read_csv(tmp_path / "x.csv", tmp_path / "x.h5", delimiter=";", columns=["b"], mode="a") as made:
        assert made.columns == ("b",)
    with cq.read_csv(io.BytesIO(b"q\n1\n"), tmp_path / "y.h5") as made:
        assert made["q"][0] == 1
    with pytest.raises(ValueError, match="CSV"):
        cq.read_csv(io.BytesIO(b"a,b\n1,2\n3\n"), tmp_path / "no.h5")
    assert not (tmp_path / "no.h5").exists()


def test_nulls_that_come_late_are_known_before(tmp_path):
    count = 200_000
    late = pa.array([*range(count - 1), None])
    words = pa.array(["w"] * (count - 1) + [None])
    whole = pa.table({"x": late, "s": words, "y": np.arange(count)})
    pa.parquet.write_table(whole, tmp_path / "late.parquet")
    with cq.read_parquet(tmp_path / "late.parquet", tmp_path / "late.h5", mode="w") as made:
        assert [spec.nullable for spec in made.schema] == [True, True, False]
        assert made.to_arrow()["x"].to_pylist() == late.to_pylist()
    # Longer than what the types are found out from.
    pa.csv.write_csv(pa.table({"pad": ["p" * 200] * count, "x": late}), tmp_path / "late.csv")
    with cq.read_csv(tmp_path / "late.csv", tmp_path / "late.h5", mode="w") as made:
        assert [spec.nullable for spec in made.schema] == [False, True]
        assert made.where("x is null").row_numbers().tolist() == [count - 1]


def test_parquet(table, tmp_path):
    assert table.to_parquet(tmp_path / "t.parquet") == ROWS
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet")["i"].to_pylist() == PLAIN["i"]
    with cq.read_parquet(tmp_path / "t.parquet", tmp_path / "p.h5") as made:
        assert made.columns == table.columns
        for name in PLAIN:
            equal(made.to_arrow(name)[name].to_pylist(), table.to_arrow(name)[name].to_pylist())
    with cq.read_parquet(tmp_path / "t.parquet", tmp_path / "q.h5", columns=["s", "i"]) as made:
        assert made.columns == ("s", "i")


def test_a_failed_export_leaves_the_old_file(tmp_path, table):
    (tmp_path / "old.csv").write_text("old")
    with pytest.raises(KeyError):
        table.to_csv(tmp_path / "old.csv", ["nothing"])
    bad = cq.create_table(tmp_path / "bad.h5", {"b": np.array([b"\xff"], "S1")})
    with bad, pytest.raises(ValueError, match="not text"):
        bad.to_csv(tmp_path / "old.csv")
    assert (tmp_path / "old.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.glob("old*")) == ["old.csv"]


def test_types_that_tables_do_not_have_are_refused(tmp_path):
    for values in (pa.array([[1], [2, 3]]), pa.array([b"a", b"bc"]), pa.array([{"k": [1]}])):
        with pytest.raises(TypeError, match=r"column '[vk]'.*not stored"):
            cq.create_table(tmp_path / "no.h5", pa.table({"v": values}))
    with pytest.raises(ValueError, match="same name"):
        cq.create_table(tmp_path / "no.h5", pa.table([[1], [2]], names=["a", "a"]))
    assert not (tmp_path / "no.h5").exists()
