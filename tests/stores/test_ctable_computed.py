"""Computed columns of python-blosc2's tables: read-only columns by our grammar; their code is never run."""

import json
from dataclasses import make_dataclass

import blosc2
import numpy as np
import pytest

import coquina as cq

EXPRESSIONS = {
    "total": "price * qty",
    "kind": "where(qty > 2, sqrt(price), -1)",
    "both": "(price > 10) & (qty != 3)",
    "turned": "-(price ** 2) / (qty + 1.5)",
}


@blosc2.dsl_kernel
def kernel(a, b):
    return a + b


def write(path, *, deleted=()):
    """Write a table with computed columns, and return the values that the peer reads."""
    fields = [("price", float, blosc2.field(blosc2.float64())), ("qty", int, blosc2.field(blosc2.int32()))]
    table = blosc2.CTable(make_dataclass("Row", fields), urlpath=str(path), mode="w")
    table.extend([(1.5 * row, row % 5) for row in range(50)])
    for name, text in EXPRESSIONS.items():
        table.add_computed_column(name, text)
    table.add_computed_column("half", "price * 2", dtype=np.float32)
    table.add_computed_column("code", kernel, inputs=["price", "qty"])
    if deleted:
        table.delete(list(deleted))
    table.close()
    return expected(path)


def expected(path):
    peer = blosc2.open(str(path))
    return {name: peer[name][:] for name in ["price", "qty", *EXPRESSIONS, "half"]}


@pytest.mark.parametrize("name", ["t.b2d", "t.b2z"])
@pytest.mark.parametrize("deleted", [(), (3, 7, 49)])
def test_computed_columns_are_those_of_the_peer(name, deleted, tmp_path):
    values = write(tmp_path / name, deleted=deleted)
    with cq.open(tmp_path / name) as t:
        assert list(t.columns) == list(values)
        for column, wanted in values.items():
            found = t[column][:]
            # The peer computes with all digits whatever its schema says.
            assert found.dtype == ("f4" if column == "half" else wanted.dtype)
            np.testing.assert_array_equal(found, wanted)
        assert t.info["computed"]["total"] == "(price * qty)"
        assert t.info["others"] == {"code": "dsl"}
        assert t.where("total > 50").count() == int((values["total"] > 50).sum())
        with t.copy(tmp_path / "copy.h5") as copy:
            np.testing.assert_array_equal(copy["turned"][:], values["turned"])
        with pytest.raises(cq.UnsupportedError, match="'code' is computed by Python code"):
            t["code"]


@pytest.mark.parametrize("name", ["t.b2d", "t.b2z"])
def test_rows_are_given_without_computed_columns(name, tmp_path):
    write(tmp_path / name)
    with cq.open(tmp_path / name, "r+") as t:
        t.append({"price": [100.0], "qty": [4]})
        t.modify(slice(0, 2), {"qty": [9, 9]})
        with pytest.raises(ValueError, match=r"'total' is computed, as \(price \* qty\)"):
            t.modify(slice(0, 2), {"total": [9.0, 9.0]})
        with pytest.raises(ValueError, match="total"):
            t.append({"price": [1.0], "qty": [1], "total": [1.0]})
        assert t["total"][-1] == 400
        assert t["total"][1] == 13.5
    for column, wanted in expected(tmp_path / name).items():
        with cq.open(tmp_path / name) as t:
            np.testing.assert_array_equal(t[column][:], wanted)


def test_values_are_missing_where_an_operand_is(tmp_path):
    fields = [
        ("n", int, blosc2.field(blosc2.int64(nullable=True))),
        ("x", float, blosc2.field(blosc2.float64())),
    ]
    table = blosc2.CTable(make_dataclass("Row", fields), urlpath=str(tmp_path / "t.b2d"), mode="w")
    table.extend([(None if row % 3 == 0 else row, row / 2) for row in range(10)])
    table.add_computed_column("y", "n * 2 + x")
    table.close()
    with cq.open(tmp_path / "t.b2d") as t:
        wanted = [None if row % 3 == 0 else row * 2 + row / 2 for row in range(10)]
        assert t["y"][:].tolist() == wanted


@pytest.mark.parametrize(
    "changed",
    [
        {"expression": "__import__('os').system('touch ran')"},
        {"expression": "open('ran', 'w')"},
        {"expression": "zeros(100_000_000)"},
        {"expression": "o0 +"},
        {"expression": "o7 * 2"},
        {"expression": "o0[:1]"},
        {"expression": "nothing(o0)"},
        {"col_deps": ["price", "total"]},
        {"dtype": "O"},
        {"dtype": "no dtype"},
        {"kind": "dsl", "dsl_source": "open('ran', 'w')"},
    ],
)
def test_what_the_grammar_does_not_have_is_left_out_and_never_run(changed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.b2d")
    frame = blosc2.open("t.b2d/_meta.b2f", mode="a")
    schema = json.loads(frame.vlmeta["schema"])
    schema["computed_columns"][0] |= changed
    frame.vlmeta["schema"] = json.dumps(schema)
    del frame
    with cq.open("t.b2d") as t:
        assert "total" not in t.columns
        assert "total" in t.info["others"]
        assert t["half"][3] == 9
        with pytest.raises(cq.UnsupportedError, match="'total' is computed"):
            t["total"]
    assert not (tmp_path / "ran").exists()
