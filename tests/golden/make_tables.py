"""Make the golden directory of a table that the Python package wrote; it is never made anew.

`cargo test -p coquina --test table_laws -- --ignored` makes the one that the engine wrote. Tests of both
languages read both: `crates/coquina/tests/tables/goldens.rs`, `tests/tables/test_engine_tables.py`.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pandas as pd

import coquina as cq

FOLDER = Path(__file__).parent / "tables" / "coquina-python-0.1.0"


def columns() -> dict[str, object]:
    """Return the values of the table, column by column."""
    missing = [False, True, False, False, True]
    return {
        "bool": np.array([True, False, True, True, False]),
        "int8": np.array([-1, 0, 1, 2, 3], "i1"),
        "uint64": np.array([0, 1, 2, 3, 2**64 - 1], "u8"),
        "float16": np.array([0, 0.5, 1, 1.5, 2], "f2"),
        "float64": np.array([0, -0.0, np.nan, np.inf, 1.5]),
        "complex128": np.arange(5) * (1 + 2j),
        "bytes": np.array([b"a", b"", b"abc", b"\xff\x00z", b"x"], "S3"),
        "text": np.array(["a", "bé", "", "d\n", "😀"], object),
        "some text": np.array(["a", None, "", "d", None], object),
        "dates": np.array([0, 1, "NaT", 3, 4], "M8[ns]"),
        "spans": np.arange(5).astype("m8[10s]"),
        "enum": np.array([1, 7, 7, 1, 1], h5py.enum_dtype({"red": 1, "green": 7}, "i1")),
        "some integers": np.ma.array([1, 2, 3, 4, 5], "i8", mask=missing),
        "some truth": np.ma.array([True, True, False, True, True], mask=missing),
        "some floats": np.ma.array([0.5, 1.5, 2.5, 3.5, 4.5], mask=missing),
        "categories": pd.Categorical(["x", None, "y", "x", "y"]),
        "ordered": pd.Categorical(
            ["low", "high", "low", "low", None], ["low", "middle", "high"], ordered=True
        ),
        "numbers": pd.Categorical([30, 10, 30, None, 10]),
    }


if __name__ == "__main__":
    cq.create_table(FOLDER, columns(), chunk_rows=4, title="golden").close()
