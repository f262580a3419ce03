"""Rows of which values can be missing: printed and listed, whatever kinds of columns are beside."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest

import coquina as cq
from coquina.tables.masked_rows import MaskedRows

KINDS = {
    "int": "i8", "big": ">i4", "bool": "?", "half": "f2", "float": "f8", "complex": "c16", "bytes": "S5",
    "text": "U5", "objects": "O", "time": "M8[ns]", "day": "M8[D]", "span": "m8[s]",
    "nested": [("x", "i4"), ("y", [("z", "f8"), ("w", "S2")])],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (1,)])
@pytest.mark.parametrize("masked", [False, True])
def test_records_of_every_kind_are_printed_and_listed(kind, shape, masked):
    """NumPy raises ValueError and IndexError for fields with axes, and warns of float16."""
    dtype = np.dtype([("a", KINDS[kind], shape), ("q", "i4")])
    mask = np.zeros(3, np.ma.make_mask_descr(dtype))
    if masked:
        mask[1] = np.ones(1, mask.dtype)[0]
    with warnings.catch_warnings():
        # NumPy's own, of the fill value of times with axes, which no table has.
        warnings.simplefilter("ignore" if shape and kind in ("time", "day", "span") else "error")
        rows = MaskedRows(np.zeros(3, dtype), mask)
        for one in (rows, rows[1:], rows[["a"]], rows["a"], rows[1], rows[:0]):
            assert str(one) is not None
            assert repr(one)
            one.tolist()
        assert isinstance(rows, np.ma.MaskedArray)
        listed = rows.tolist()
        assert [row[1] for row in listed] == [0, None if masked else 0, 0]
        assert rows[1].tolist() == listed[1]
        assert str(rows[1]).startswith("(")


def test_times_are_printed_as_times(tmp_path):
    table = {"n": np.ma.array([1, 2], mask=[False, True]), "t": np.array([1, 10**18], "M8[ns]")}
    with cq.create_table(tmp_path / "t.h5", table) as t:
        rows = t[:]
        assert str(rows[0]) == "(1, '1970-01-01T00:00:00.000000001')"
        assert str(rows) == ("[(1, '1970-01-01T00:00:00.000000001')\n (--, '2001-09-09T01:46:40.000000000')]")
        assert repr(rows).startswith("masked_array(data=[(1, '1970-01-01T00:00:00.000000001'),\n")
        assert rows["n"].tolist() == [1, None]
        again = pickle.loads(pickle.dumps(rows))
        assert again.tolist() == rows.tolist()
        rows[0] = (7, np.datetime64(5, "ns"))
        rows["n"][1] = 3
        assert rows["n"].tolist() == [7, 3]


def test_of_many_records_the_ends_are_printed():
    dtype = np.dtype([("a", "i8"), ("t", "M8[s]")])
    count = 1_000_000
    rows = MaskedRows(np.zeros(count, dtype), np.zeros(count, np.ma.make_mask_descr(dtype)))
    rows["a"] = np.arange(count)
    rows["a"][[1, -1]] = np.ma.masked
    tracemalloc.start()
    text = str(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text.split("...")[0].count("(--, '1970-01-01T00:00:00')") == 1
    assert text.endswith("(--, '1970-01-01T00:00:00')]")
    assert peak < 2_000_000
