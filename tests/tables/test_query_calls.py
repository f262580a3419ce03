"""How many calls of Python functions a query takes: what plans it is the engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from tests.python_calls import calls

COUNT = 100_000
#: Where a table is, and the most calls of the first query when it was opened: h5py has some of them.
PLACES = {
    "directory": ("t", {}, 81),
    "records": ("t.h5", {"layout": "rows"}, 226),
    "columns": ("t.h5", {}, 144),
}
#: The most calls of a query like one before, and of one with another text; one of them names wrong keywords.
AGAIN = 23


@pytest.mark.parametrize("place", PLACES)
def test_a_query_takes_few_calls(tmp_path: Path, place: str) -> None:
    name, options, first = PLACES[place]
    data = np.zeros(COUNT, [("price", "f8"), ("sym", "S4"), ("n", "i8")])
    data["price"] = np.random.default_rng(0).random(COUNT) * 21
    data["n"] = np.arange(COUNT)
    with cq.create_table(tmp_path / name, data, **options) as table:
        # What the first query of a program imports is not counted.
        table.where("price > 20").to_numpy()
    with cq.open_table(tmp_path / name) as table:
        texts = ("price > 20", "price > 20", "price > 20.5")
        found = [calls(lambda text=text: table.where(text).to_numpy()) for text in texts]
    assert found[0] <= first
    assert max(found[1:]) <= AGAIN
