"""Tables of 10^14 rows, of which few were written: all that is done with them takes moments."""

import numpy as np
import pytest

import coquina as cq

ROWS = 10**14
SCHEMA = np.dtype([("n", "i8"), ("x", "f4")])
HOMES = [("t", "columns"), ("t.h5", "columns"), ("t.h5", "rows")]


@pytest.mark.parametrize(("name", "layout"), HOMES)
def test_rows_that_nobody_wrote_cost_nothing(tmp_path, name, layout):
    path = tmp_path / name
    with cq.create_table(path, SCHEMA, layout=layout, expected_rows=ROWS) as table:
        table.resize(ROWS)
        assert table.nrows == ROWS
        table.append({"n": [7, 8], "x": [0.5, 1.5]})
        table.flush()
        table[ROWS // 3] = (9, 2.5)
    with cq.open_table(path) as table:
        assert table.nrows == ROWS + 2
        assert table[ROWS // 3].tolist() == (9, 2.5)
        assert table[ROWS // 3 + 1].tolist() == (0, 0.0)
        assert table.where("n > 7").to_numpy().tolist() == [(9, 2.5), (8, 1.5)]
        assert table.where("x > 0").sum("n") == 24


@pytest.mark.parametrize(("name", "layout"), HOMES)
def test_too_many_chunks_say_what_to_do(tmp_path, name, layout):
    with cq.create_table(tmp_path / name, SCHEMA, layout=layout) as table:
        table.append({"n": [1], "x": [2.0]})
        with pytest.raises(cq.LimitError, match=f"expected_rows={ROWS}"):
            table.resize(ROWS)
        assert table[...].tolist() == [(1, 2.0)]
        table.append({"n": [3], "x": [4.0]})
        assert table[...].tolist() == [(1, 2.0), (3, 4.0)]
