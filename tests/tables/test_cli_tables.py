"""The command with tables, run as a user runs it."""

import io
import json

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coquina as cq
from coquina.cli import main
from tests.tables.table_cases import records, same

ROWS = 2000


def run(capsys, *arguments, code=0):
    found = main([str(one) for one in arguments])
    done = capsys.readouterr()
    assert found == code, done.err
    return done.out if code == 0 else done.err


def facts(capsys, *arguments):
    return json.loads(run(capsys, *arguments))


def trades():
    rng = np.random.default_rng(3)
    return {
        "time": np.datetime64("2024-01-01", "ns") + np.arange(ROWS) * np.timedelta64(1, "s"),
        "sym": [["ABC", "DEF", "X Y"][at] for at in rng.integers(0, 3, ROWS)],
        "price": rng.normal(50, 10, ROWS).round(2),
        "volume": np.ma.MaskedArray(rng.integers(1, 100, ROWS), rng.random(ROWS) < 0.1),
    }


@pytest.fixture
def path(tmp_path):
    cq.create_table(tmp_path / "trades.h5", trades(), name="/trades", chunk_rows=512).close()
    return tmp_path / "trades.h5"


@pytest.fixture
def mixed(path):
    """A file with a table of each layout, records of h5py's, a plain dataset, and what PyTables hides."""
    with cq.open(path, "r+") as file:
        file.create_table("g/old", records(300), layout="rows").close()
        file.h5.create_dataset("loose", data=np.zeros(7, [("x", "i4"), ("y", "f8")]))
        file.h5.create_dataset("grid", data=np.zeros((3, 4)))
        file.h5.create_group("g/_i_old").attrs["CLASS"] = "TINDEX"
        file.h5["g/_i_old"].create_dataset("inside", data=np.zeros(3))
    return path


def test_ls_lists_tables_and_not_what_they_are_made_of(capsys, mixed):
    found = {row["path"]: row for row in facts(capsys, "ls", mixed, "--json")["objects"]}
    assert {path: row["kind"] for path, row in found.items()} == {
        "/trades": "table", "/g": "group", "/g/old": "table", "/loose": "dataset", "/grid": "dataset",
    }  # fmt: skip
    assert (found["/trades"]["rows"], found["/trades"]["layout"]) == (ROWS, "columns")
    assert found["/trades"]["columns"] == ["time", "sym", "price", "volume"]
    assert (found["/g/old"]["rows"], found["/g/old"]["layout"]) == (300, "rows")
    assert found["/g/old"]["columns"] == list(records(1).dtype.names)
    everything = {
        row["path"]: row["kind"] for row in facts(capsys, "ls", mixed, "--all", "--json")["objects"]
    }
    assert {"/trades/sym/node1-data", "/trades/price", "/g/_i_old/inside"} < set(everything)
    assert everything["/trades"] == everything["/g/old"] == "table"
    text = run(capsys, "ls", mixed)
    assert "columns: time, sym, price, volume" in text
    assert "300 rows" in text
    assert "inside" not in text
    only = facts(capsys, "ls", f"{mixed}:/trades", "--json")["objects"]
    assert [(row["path"], row["kind"]) for row in only] == [("/trades", "table")]


def test_info_of_a_table_and_of_a_file_with_nothing_else(capsys, path):
    found = facts(capsys, "info", path, "--json")
    assert found == facts(capsys, "info", f"{path}:/trades", "--json")
    assert (found["format"], found["path"], found["rows"]) == ("HDF5 table", "/trades", ROWS)
    kinds = {name: (about["kind"], about["dtype"]) for name, about in found["columns"].items()}
    assert kinds == {
        "time": ("datetime", "datetime64[ns]"), "sym": ("string", "text"),
        "price": ("number", "float64"), "volume": ("nullable", "int64"),
    }  # fmt: skip
    assert found["columns"]["volume"]["nullable"]
    with cq.open_table(path) as table:
        assert found["cbytes"] == table.info["cbytes"] > 0
    text = run(capsys, "info", path)
    assert "datetime64[ns]" in text
    assert "int64?" in text


def test_info_of_a_file_with_more_names_its_tables(capsys, mixed):
    found = facts(capsys, "info", mixed, "--json")
    assert (found["format"], found["tables"]) == ("HDF5 file", ["/g/old", "/trades"])
    assert found["datasets"] > 4
    assert facts(capsys, "info", f"{mixed}:/g/old", "--json")["columns"]["s"]["dtype"] == "|S3"
    # Records that do not say that they are a table are a dataset, as before.
    assert facts(capsys, "info", f"{mixed}:/loose", "--json")["format"] == "HDF5 dataset"
    assert facts(capsys, "cat", f"{mixed}:/loose", "[1:3]", "--json")["items"] == [[0, 0.0]] * 2


def test_cat_prints_rows_and_columns(capsys, path):
    data = trades()
    lines = run(capsys, "cat", f"{path}:/trades", "[5:9]").splitlines()
    assert lines[0].split() == ["time", "sym", "price", "volume"]
    assert len(lines) == 5
    assert "2024-01-01 00:00:06" in lines[2]
    assert lines == run(capsys, "cat", f"{path}:/trades[5:9]").splitlines()
    assert facts(capsys, "cat", f"{path}:/trades['price']", "--json")["items"] == data["price"].tolist()
    assert facts(capsys, "cat", f"{path}:/trades", "['sym']", "--json")["items"] == data["sym"]
    items = facts(capsys, "cat", f"{path}:/trades", "--json")["items"]
    assert [row[3] for row in items] == data["volume"].tolist()
    assert [row[0] for row in items] == data["time"].astype(str).tolist()
    assert run(capsys, "cat", f"{path}:/trades").splitlines()[-1] == f"{ROWS - 20} more; --all prints them"
    assert len(run(capsys, "cat", f"{path}:/trades", "--all").splitlines()) == ROWS + 1
    assert "no column" in run(capsys, "cat", f"{path}:/trades", "['nothing']", code=1)


def expected():
    data = trades()
    mask = (data["price"] > 55) & (np.array(data["sym"]) == "ABC")
    return data, mask


CONDITION = "price > 55 and sym == 'ABC'"


def test_query_prints_rows(capsys, path):
    data, mask = expected()
    lines = run(capsys, "query", path, CONDITION, "--columns", "sym,price").splitlines()
    assert lines[0].split() == ["sym", "price"]
    assert lines[-1] == f"{mask.sum()} rows, the first 20 shown"
    assert [float(line.split()[1]) for line in lines[1:-1]] == data["price"][mask][:20].tolist()
    ordered = ["--order-by", "price", "--descending", "--head", "3", "--format", "json"]
    rows = [json.loads(line) for line in run(capsys, "query", path, CONDITION, *ordered).splitlines()]
    assert [row["price"] for row in rows] == sorted(data["price"][mask])[::-1][:3]
    assert all(row["time"].startswith("2024-01-01T") for row in rows)


def test_query_writes_csv_and_arrow(capsys, path, tmp_path):
    data, mask = expected()
    run(capsys, "query", path, CONDITION, "--format", "csv", "-o", tmp_path / "out.csv")
    found = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert found["price"].to_pylist() == data["price"][mask].tolist()
    assert found["volume"].to_pylist() == data["volume"][mask].tolist()
    run(capsys, "query", path, CONDITION, "--format", "arrow", "-o", tmp_path / "out.arrow")
    with pa.ipc.open_stream(io.BytesIO((tmp_path / "out.arrow").read_bytes())) as stream:
        assert stream.read_all()["price"].to_pylist() == data["price"][mask].tolist()


def test_query_adds_up_and_explains(capsys, path):
    data, mask = expected()
    agg = ["--agg", "count,sum(volume),max(price)", "--format", "json"]
    found = facts(capsys, "query", path, CONDITION, *agg)
    volume, price = data["volume"][mask], data["price"][mask]
    assert found == {"count": mask.sum(), "sum_volume": volume.sum(), "max_price": price.max()}
    groups = facts(capsys, "query", path, "--by", "sym", *agg)
    for group in groups:
        part = np.array(data["sym"]) == group["sym"]
        assert (group["count"], group["sum_volume"]) == (part.sum(), data["volume"][part].sum())
    assert len(groups) == 3
    ordered = facts(capsys, "query", path, "--by", "sym", "--order-by", "sym", "--descending", *agg)
    assert [group["sym"] for group in ordered] == ["X Y", "DEF", "ABC"]
    assert "matched" in run(capsys, "query", path, CONDITION, "--explain")
    assert facts(capsys, "query", path, CONDITION, "--explain", "--format", "json")["matched"] == mask.sum()


def test_threads_are_as_before_after_a_query(capsys, path):
    before = cq.num_threads()
    run(capsys, "query", path, "price > 0", "--threads", before + 1)
    assert cq.num_threads() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["prise > 5"], "not a column"),
        (["price >"], "price >"),
        (["price > 5", "--columns", "nothing"], "nothing"),
        (["--agg", "best(price)"], "best"),
        (["--by", "nothing"], "nothing"),
        (["--agg", "count", "--format", "csv"], "--by"),
    ],
)
def test_query_says_what_is_wrong(capsys, path, arguments, sentence):
    said = run(capsys, "query", path, *arguments, code=1)
    assert sentence in said


def test_query_needs_to_know_which_table(capsys, mixed, tmp_path):
    said = run(capsys, "query", mixed, code=1)
    assert "the file has 2 tables, pass the name of one: /g/old, /trades" in said
    assert run(capsys, "query", f"{mixed}:/g/old", "a > 0").splitlines()[-1].endswith("shown")
    # Records without marks are queried too where they are named.
    assert run(capsys, "query", f"{mixed}:/loose", "x == 0").splitlines()[-1] == "7 rows"
    h5py.File(tmp_path / "empty.h5", "w").close()
    assert "no table" in run(capsys, "query", tmp_path / "empty.h5", code=1)


def test_csv_to_a_table_to_parquet_and_csv(capsys, path, tmp_path):
    run(capsys, "convert", f"{path}:/trades", tmp_path / "a.csv")
    for layout in ("columns", "rows"):
        # The rows layout has no text of any length, and no nulls.
        source = tmp_path / "a.csv"
        if layout == "rows":
            source = tmp_path / "p.csv"
            with cq.open_table(path) as table:
                table.to_csv(source, ["price"])
        target = tmp_path / f"{layout}.h5"
        run(capsys, "convert", source, f"{target}:/deep/t", "--layout", layout)
        with cq.open_table(target) as table:
            assert (table.layout.kind, table.name) == (layout, "/deep/t")
            np.testing.assert_array_equal(table["price"][:], trades()["price"])
    run(capsys, "convert", tmp_path / "columns.h5", tmp_path / "b.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "b.parquet")
    assert found["sym"].to_pylist() == trades()["sym"]
    assert found["volume"].to_pylist() == trades()["volume"].tolist()
    run(capsys, "convert", tmp_path / "b.parquet", tmp_path / "folder")
    assert facts(capsys, "info", tmp_path / "folder", "--json")["rows"] == ROWS
    found = facts(capsys, "query", tmp_path / "folder", CONDITION, "--agg", "count", "--format", "json")
    assert found == {"count": expected()[1].sum()}
    assert len(run(capsys, "cat", tmp_path / "folder", "[:3]").splitlines()) == 4
    assert "exists" in run(capsys, "convert", tmp_path / "a.csv", f"{target}:/deep/t", code=1)
    run(capsys, "convert", tmp_path / "a.csv", f"{target}:/deep/t", "--force")
    with cq.open_table(target) as table:
        assert table.columns == ("time", "sym", "price", "volume")


def test_records_to_tables_and_back(capsys, tmp_path):
    wanted = records(700)
    np.save(tmp_path / "r.npy", wanted)
    for layout in ("rows", "columns"):
        run(capsys, "convert", tmp_path / "r.npy", tmp_path / f"{layout}.h5", "--layout", layout)
        run(capsys, "convert", f"{tmp_path / layout}.h5:/table", tmp_path / f"{layout}.npy")
        same(np.load(tmp_path / f"{layout}.npy"), wanted)
    run(capsys, "convert", tmp_path / "rows.h5", tmp_path / "rows.b2nd")
    same(cq.open(tmp_path / "rows.b2nd")[:], wanted)
    # Without --layout they are a dataset, as any array.
    run(capsys, "convert", tmp_path / "r.npy", f"{tmp_path / 'rows.h5'}:/plain")
    with h5py.File(tmp_path / "rows.h5") as file:
        assert "CLASS" not in file["plain"].attrs
        assert file["plain"].shape == (700,)


def test_what_npy_cannot_say_is_refused(capsys, path, tmp_path):
    assert "parquet" in run(capsys, "convert", path, tmp_path / "t.npy", code=1)
    assert not (tmp_path / "t.npy").exists()


@pytest.mark.parametrize("form", ["--json", "--format=json"])
def test_query_prints_json_whatever_the_floats(capsys, tmp_path, form):
    # Infinite parts of complex numbers were printed as NaN and Infinity, which are no JSON.
    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    data = {"f": [1.5, np.inf, -np.inf, np.nan], "c": np.array([1 + 2j, complex(np.inf, 1), np.nan, 1j])}
    cq.create_table(tmp_path / "t.h5", data, layout="columns").close()
    told = run(capsys, "query", tmp_path / "t.h5", form)
    if form == "--json":
        rows = json.loads(told, parse_constant=refuse)["rows"]
    else:
        rows = [json.loads(line, parse_constant=refuse) for line in told.splitlines()]
    assert [row["f"] for row in rows] == [1.5, None, None, None]
    assert [row["c"] for row in rows] == [[1, 2], [None, 1], [None, 0], [0, 1]]
    told = run(capsys, "query", tmp_path / "t.h5", "--agg", "max(f),min(f),sum(c)", form)
    found = json.loads(told, parse_constant=refuse)
    assert set(found.get("aggregates", found)) == {"max_f", "min_f", "sum_c"}
