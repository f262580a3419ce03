"""Tables that python-blosc2 writes are tables here: every kind of column, nulls, rows that were deleted."""

import shutil
from dataclasses import make_dataclass
from itertools import product

import blosc2
import numpy as np
import pytest

import coquina as cq

from . import peer_tables
from .peer_tables import DELETED, wanted


def is_same(found, value):
    """Whether a value of ours is one of the peer's; NaN is what floats have for none."""
    if isinstance(value, np.ndarray):
        return np.array_equal(found, value)
    if value is None:
        return found is None or found is np.ma.masked or found != found
    return found == value


def check(table, values):
    assert set(table.columns) == set(values)
    for name, column in values.items():
        found = table[name][:]
        assert len(found) == len(column) == table.nrows, name
        for one, value in zip(found, column, strict=True):
            assert is_same(one, value), (name, one, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for suffix in ("b2d", "b2z"):
        peer_tables.write(folder / f"whole.{suffix}", deleted=())
        peer_tables.write(folder / f"deleted.{suffix}")
    return folder


@pytest.mark.parametrize("name", ["whole.b2d", "whole.b2z", "deleted.b2d", "deleted.b2z"])
def test_every_column_is_read(folder, name):
    deleted = DELETED if "deleted" in name else ()
    with cq.open(folder / name) as table:
        assert isinstance(table, cq.Table)
        assert table.nrows == peer_tables.ROWS - len(deleted)
        assert dict(table.attrs) == {"title": "rows of all kinds"}
        check(table, wanted(deleted))
        record = table[-2]
        values = wanted(deleted)
        assert all(
            is_same(record[one], column[-2]) or one in ("when", "zoned") for one, column in values.items()
        )


@pytest.mark.parametrize("name", ["whole.b2d", "deleted.b2z"])
def test_rows_are_queried_as_those_of_other_tables(folder, name):
    values = wanted(DELETED if "deleted" in name else ())
    range(len(values["n"]))
    with cq.open(folder / name) as table:
        for condition, test in {
            "n > 100": lambda i: values["n"][i] > 100,
            "kind == 'red' and x < 20": lambda i: values["kind"][i] == "red" and values["x"][i] < 20,
            "text.startswith('é2')": lambda i: values["text"][i].startswith("é2"),
            "n_mask is null": lambda i: values["n_mask"][i] is None,
            "n_sentinel > 10": lambda i: (values["n_sentinel"][i] or 0) > 10,
            "text_mask == 'é6' or fixed_mask == 'f7'": lambda i: (
                values["text_mask"][i] == "é6" or values["fixed_mask"][i] == "f7"
            ),
            "when >= '2001-09-09T01:46:40.020'": lambda i: values["small"][i] >= 20,
        }.items():
            found = table.where(condition)["small"][:]
            assert found.tolist() == [values["small"][i] for i in range(len(values["n"])) if test(i)], (
                condition
            )
        assert table.order_by("x", True)["n"][:3].tolist() == values["n"][:-4:-1]
        assert np.array_equal(table[[5, 1, 5]]["n"], np.array(values["n"])[[5, 1, 5]])
        assert table.to_arrow(["n", "text_mask", "kind_null", "when"]).num_rows == len(values["n"])


def test_columns_are_expressions_and_copies_are_tables_of_ours(tmp_path):
    names = ("n", "x", "text_mask", "n_mask", "kind_null", "when", "long")
    values = {name: column for name, column in wanted().items() if name in names}
    peer_tables.write(tmp_path / "x.b2z", names=names)
    with cq.open(tmp_path / "x.b2z") as table:
        assert float((table["x"] * 2).sum()) == 2 * sum(values["x"])
        table.copy(str(tmp_path / "ours")).close()
        with cq.open_table(tmp_path / "ours") as copy:
            check(copy, values)


def test_tables_that_are_opened_for_reading_are_only_read(folder):
    with cq.open(folder / "whole.b2d") as table, pytest.raises(ValueError, match="for reading only"):
        table["n"] = 5


def test_tables_in_memory_and_far_away(folder):
    import fsspec

    peer = blosc2.open(str(folder / "deleted.b2d"), mode="r")
    check(cq.from_bytes(peer.to_cframe()), wanted())
    check(cq.from_bytes((folder / "deleted.b2z").read_bytes()), wanted())
    with fsspec.open("memory://far/table.b2z", "wb") as file:
        file.write((folder / "whole.b2z").read_bytes())
    check(cq.open("memory://far/table.b2z"), wanted(()))


def numbers(path, rows, **columns):
    """Write a table of int64 columns."""
    fields = [(name, int, blosc2.field(blosc2.int64())) for name in columns or ("a", "b")]
    table = blosc2.CTable(make_dataclass("Row", fields), urlpath=path and str(path), mode="w")
    if rows:
        table.extend([tuple(i + 10 * k for k in range(len(fields))) for i in range(rows)])
    return table


def test_tables_lie_in_trees(tmp_path):
    with blosc2.TreeStore(str(tmp_path / "x.b2z"), mode="w") as tree:
        tree["/g/array"] = np.arange(4)
        tree["/g/table"] = numbers(None, 7)
    seen = []
    with cq.open(tmp_path / "x.b2z") as store:
        table = store["g/table"]
        assert isinstance(table, cq.Table)
        assert table["b"][:].tolist() == list(range(10, 17))
        store.visit(seen.append)
    assert seen == ["g", "g/array", "g/table"]


def test_open_table_opens_them_too(folder, tmp_path):
    for name in ("whole.b2d", "whole.b2z"):
        with cq.open_table(folder / name) as table:
            assert table.nrows == peer_tables.ROWS
    with blosc2.TreeStore(str(tmp_path / "x.b2z"), mode="w") as tree:
        tree["/g/table"] = numbers(None, 7)
    assert cq.open_table(tmp_path / "x.b2z", "g/table").nrows == 7
    assert cq.open_table(tmp_path / "x.b2z").nrows == 7
    with blosc2.TreeStore(str(tmp_path / "x.b2z"), mode="a") as tree:
        tree["/other"] = numbers(None, 8)
    with pytest.raises(KeyError, match="2 tables, pass the name of one: g/table, other"):
        cq.open_table(tmp_path / "x.b2z")
    shutil.copytree(folder / "whole.b2d", tmp_path / "y.b2d")
    with cq.open_table(tmp_path / "y.b2d", mode="a") as table:
        assert table.nrows == peer_tables.ROWS
        with pytest.raises(cq.UnsupportedError, match="only read"):
            table.append(table[:2])


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_small_tables(tmp_path, rows):
    numbers(tmp_path / "x.b2d", rows).close()
    with cq.open(tmp_path / "x.b2d") as table:
        assert table.nrows == rows
        assert table["a"][:].tolist() == list(range(rows))
    peer = blosc2.open(str(tmp_path / "x.b2d"), mode="a")
    peer.delete(list(range(rows)))
    peer.close()
    with cq.open(tmp_path / "x.b2d") as table:
        assert table.nrows == 0
        assert table["a"][:].tolist() == []


def test_a_changed_bit_is_an_error_of_ours_or_some_values(tmp_path):
    table = numbers(tmp_path / "x.b2d", 5)
    table.delete([1])
    table.close()
    files = sorted(one for one in (tmp_path / "x.b2d").rglob("*.b2*") if "_indexes" not in str(one))
    errors = 0
    for path in files:
        content = path.read_bytes()
        for at, bit in product(range(0, len(content), 11), (0, 5)):
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            try:
                found = cq.open(tmp_path / "x.b2d")
                if isinstance(found, cq.Table):
                    found[:]
            except cq.CoquinaError:
                errors += 1
        path.write_bytes(content)
    assert errors > 50


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ("[5]", cq.CorruptError),
        ('[{"name": "a"}]', cq.CorruptError),
        (
            '[{"name": "a", "kind": "int64"}, {"name": "a", "kind": "int64"}]}',
            cq.CorruptError,
        ),
        ('[{"name": "missing", "kind": "int64"}]', cq.CorruptError),
        ('[{"name": "../a", "kind": "int64"}]', cq.CorruptError),
        ('[{"name": "a", "kind": "utf8"}]', cq.CorruptError),
        ('[{"name": "a", "kind": "string"}]', cq.CorruptError),
        ('[{"name": "a", "kind": "dictionary"}]', cq.CorruptError),
        (
            '[{"name": "a", "kind": "timestamp", "unit": "age"}]}',
            cq.CorruptError,
        ),
    ],
)
def test_wrong_columns_are_errors(tmp_path, columns, error):
    check_schema(tmp_path, f'{{"version": 1, "columns": {columns}}}', error)


@pytest.mark.parametrize("schema", ["no JSON", "[" * 5000, "[]", '{"version": 9, "columns": []}'])
def test_wrong_schemas_are_errors(tmp_path, schema):
    check_schema(tmp_path, schema, cq.UnsupportedError if "9" in schema else cq.CorruptError)


def check_schema(tmp_path, schema, error):
    numbers(tmp_path / "x.b2d", 3).close()
    with cq.open(tmp_path / "x.b2d" / "_meta.b2f", "a") as meta:
        meta.attrs["schema"] = schema
    with pytest.raises(error):
        cq.open(tmp_path / "x.b2d")
