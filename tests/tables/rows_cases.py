"""A table with every kind of column that the rows layout has, and values for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from coquina.tables.layout import ColumnSpec, Schema

ENUM = {"red": 4, "green": 1, "blue": -2}


def number(name: str, dtype: str, *shape: int, default: Any = None) -> ColumnSpec:
    return ColumnSpec(name, np.dtype(dtype), shape, default=default)


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "c8", "c16", ">i4", ">f8"]
NESTED = ColumnSpec(
    "inner",
    np.dtype([("p", "u1"), ("deep", [("z", "f8")]), ("q", "u8")]),
    children=(
        number("p", "u1", default=1),
        ColumnSpec("deep", np.dtype([("z", "f8")]), children=(number("z", "f8", default=9.5),)),
        number("q", "u8"),
    ),
)
#: The columns that PyTables numbers otherwise than they stand: a nested one is not last.
EVERYTHING: Schema = (
    *(number(f"n{dtype.strip('>')}{'be' * dtype.startswith('>')}", dtype) for dtype in NUMBERS),
    number("flag", "?"),
    NESTED,
    number("text", "S5", default=b"ab"),
    number("matrix", "f4", 2, 3, default=2.5),
    number("flags", "?", 2),
    ColumnSpec("color", np.dtype("i2"), enum=ENUM, default="green"),
    ColumnSpec("colors", np.dtype("i1"), (2,), enum=ENUM),
    ColumnSpec("t32", np.dtype("i4"), time="time32"),
    ColumnSpec("t64", np.dtype("f8"), time="time64"),
    number("when", "M8[us]"),
    number("span", "m8[s]"),
)


def values(rows: int, seed: int = 0) -> dict[str, Any]:
    """Return a batch for all columns; `n` counts the rows, `t64` is in halves of seconds."""
    random = np.random.default_rng(seed)
    count = np.arange(rows)
    batch: dict[str, Any] = {}
    for dtype in NUMBERS:
        name = f"n{dtype.strip('>')}{'be' * dtype.startswith('>')}"
        batch[name] = (count % 100).astype(dtype.strip(">"))
    batch["ni8"] = count - 3
    batch["nu8"] = count.astype("u8") + np.uint64(2**63)
    batch["nc16"] = count * (1 + 2j)
    batch |= {
        "flag": count % 3 == 0,
        "inner/p": (count % 200).astype("u1"),
        "inner/deep/z": random.random(rows),
        "inner/q": count.astype("u8") * 7,
        "text": np.array([b"%d" % (n % 90000) for n in range(rows)], "S5"),
        "matrix": random.random((rows, 2, 3)).astype("f4"),
        "flags": random.random((rows, 2)) < 0.5,
        "color": np.array(list(ENUM.values()))[count % 3].astype("i2"),
        "colors": np.full((rows, 2), -2, "i1"),
        "t32": (count * 60).astype("i4"),
        "t64": count * 0.5 - 100,
        "when": count.astype("M8[us]"),
        "span": -count.astype("m8[s]"),
    }
    return batch
