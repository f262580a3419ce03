"""Texts that the engine binds to columns: what it has no kernels or types for is computed by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import coquina as cq
from coquina.expressions import engine, reference
from coquina.tables.conditions import condition, expression

ROWS = 60
NUMBERS = np.arange(ROWS)
VALUES = {
    "half": (NUMBERS / 4).astype("f2"),
    "name": np.array([f"Ab{n}é" for n in NUMBERS], "U6"),
    "n": NUMBERS - 30,
    "wait": (NUMBERS - 30).astype("m8[s]"),
    "long": NUMBERS.astype(np.longdouble) / 3,
    "pos": np.stack([NUMBERS, -NUMBERS], 1),
}


@pytest.fixture(scope="module")
def table():
    dtype = [(name, one.dtype, one.shape[1:]) for name, one in VALUES.items()]
    records = np.zeros(ROWS, dtype)
    for name, one in VALUES.items():
        records[name] = one
    with cq.as_table(cq.asarray(records, chunks=(16,))) as made:
        yield made


CASES = {
    "half * half > 20": VALUES["half"] * VALUES["half"] > 20,
    "half > mean(half)": VALUES["half"] > VALUES["half"].mean(),
    "upper(name) == 'AB7É'": np.strings.upper(VALUES["name"]) == "AB7É",
    "isalnum(name) and not name.endswith('1é')": ~np.strings.endswith(VALUES["name"], "1é"),
    "n ** (n + 40) == 1": VALUES["n"] ** np.maximum(VALUES["n"] + 40, 0) == 1,
    "wait * 2 > wait": VALUES["wait"] * 2 > VALUES["wait"],
    "maximum(wait, wait) == wait": np.ones(ROWS, bool),
    "long > 1.5": VALUES["long"] > np.longdouble(1.5),
    "(long < 3) & (n > -25)": (VALUES["long"] < 3) & (VALUES["n"] > -25),
    "pos[1] < -3 or pos[-1] == 0": (VALUES["pos"][:, 1] < -3) | (VALUES["pos"][:, 1] == 0),
    "frexp_mantissa(n) > 0.7": np.frexp(VALUES["n"])[0] > 0.7,
}


@pytest.mark.parametrize("text", CASES)
def test_what_the_engine_has_no_kernels_for_is_what_numpy_computes(table, text):
    assert table.where(text).row_numbers().tolist() == np.flatnonzero(CASES[text]).tolist()


def test_parts_of_a_text_compute_what_the_engine_computes(table):
    columns = table.layout.columns
    texts = ["(n > 3) & (half < 9)", "name in ('Ab1é', 'Ab2é') or n == 3", "not (n in (1, 2))", "wait > k"]
    for text in texts:
        node = condition(text, columns, {"k": np.timedelta64(3, "s")})
        found = engine.read(node, (slice(0, ROWS),))
        assert found.any()
        np.testing.assert_array_equal(found, reference.read(node, (slice(0, ROWS),)))


def test_errors_of_columns_that_only_numpy_has_types_for_are_those_of_the_text(table):
    with pytest.raises(cq.ExpressionError, match="'longer' is not a column"):
        table.where("longer > 3")
    with pytest.raises(cq.ExpressionError):
        table.where("long > nothing")


def test_expressions_of_times_are_times(table):
    node = expression("wait + wait", table.layout.columns)
    assert node.dtype == np.dtype("m8[s]")
    np.testing.assert_array_equal(engine.read(node, (slice(0, ROWS),)), VALUES["wait"] * 2)


def test_parameters_are_text_for_each_row_and_text_among_others(table):
    names = VALUES["name"].copy()
    names[::2] = "none"
    assert table.where("name == k", {"k": names}).row_numbers().tolist() == list(range(1, ROWS, 2))
    assert table.where("name in k", {"k": names}).row_numbers().tolist() == list(range(1, ROWS, 2))
