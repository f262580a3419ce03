"""Text that computes with columns is refused where names or values are wanted, with what to write instead."""

import numpy as np
import pytest

import coquina as cq

DATA = {"x": np.arange(5.0), "k": np.arange(5), "s": ["a", "b", "c", "d", "e"]}


@pytest.fixture(params=["rows", "columns"])
def table(tmp_path, request):
    data = {**DATA, "s": np.array(DATA["s"], "S8")} if request.param == "rows" else DATA
    with cq.create_table(tmp_path / "t.h5", data, layout=request.param) as made:
        yield made


TAKERS = {
    "select": lambda t, one: t.select(one),
    "selection": lambda t, one: t.where("k > 1").select(one),
    "to_numpy": lambda t, one: t.to_numpy(one),
    "to_dict": lambda t, one: t.to_dict(one),
    "to_arrow": lambda t, one: t.to_arrow(one),
    "to_pandas": lambda t, one: t.to_pandas(one),
    "to_polars": lambda t, one: t.to_polars(one),
    "batches": lambda t, one: list(t.batches(columns=one)),
    "read": lambda t, one: t.read(one),
    "read_sorted": lambda t, one: t.read_sorted("k", one),
    "order_by": lambda t, one: t.order_by(one),
    "group_by": lambda t, one: t.group_by(one),
    "to_csv": lambda t, one: t.to_csv("/dev/null", one),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_a_mapping_of_expressions_is_refused_where_names_are_wanted(table, taker):
    with pytest.raises(TypeError, match="add_column"):
        TAKERS[taker](table, {"x": "k*100"})


@pytest.mark.parametrize("text", ["k*2", "k + x", "-k", "sqrt(k)", "k > 1", "upper(s)", "k if x else 1"])
def test_text_that_computes_is_no_value_of_a_column(table, text):
    before = table.read()
    for put in (
        lambda: table.add_column("y", text),
        lambda: table.modify("k > 1", {"s": text}),
        lambda: table.where("k > 1").modify({"s": text}),
        lambda: table.__setitem__("s", text),
        lambda: table.__setitem__("y", text),
    ):
        with pytest.raises(TypeError, match="computes with columns"):
            put()
    np.testing.assert_array_equal(table.read(), before)


def test_the_columns_themselves_are_computed_and_plain_text_is_stored(tmp_path):
    with cq.create_table(tmp_path / "t.h5", DATA, layout="columns") as table:
        table.add_column("y", table["k"] * 2)
        assert table["y"][:].tolist() == [0, 2, 4, 6, 8]
        for name, text in (("unit", "m/s"), ("what", "k"), ("odd", "a*2"), ("not", "k *"), ("said", "'k*2'")):
            table.add_column(name, text)
            assert table[name][:].tolist() == [text] * 5
        table.add_column("each", ["k*2"] * 5)
        assert table["each"][0] == "k*2"
        table["s"] = "k is text"
        assert table["s"][0] == "k is text"
