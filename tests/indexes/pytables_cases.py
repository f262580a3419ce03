"""Tables of PyTables with indexes in small slices, and what rows have values in a range."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tables

from coquina._core import KeyRanges, RowSet
from coquina.hdf5 import File
from coquina.tables.pytables_indexes import PyTablesIndex, indexes_of
from tests.reference.keys import keys_of

KINDS = ["ultralight", "light", "medium", "full"]
ENUM = {"red": 3, "green": -1, "blue": 0}
#: Rows of a superblock, a block, a slice and a chunk.
SIZES = (4096, 2048, 512, 64)


class Inner(tables.IsDescription):
    z = tables.Float32Col(pos=0)


class Nested(tables.IsDescription):
    p = tables.Int64Col(pos=0)
    deep = Inner()


class Everything(tables.IsDescription):
    """A column of each kind that PyTables indexes."""

    i1 = tables.Int8Col(pos=0)
    u2 = tables.UInt16Col(pos=1)
    i4 = tables.Int32Col(pos=2)
    i8 = tables.Int64Col(pos=3)
    f4 = tables.Float32Col(pos=5)
    f8 = tables.Float64Col(pos=6)
    flag = tables.BoolCol(pos=7)
    text = tables.StringCol(5, pos=8)
    long = tables.StringCol(12, pos=9)
    t32 = tables.Time32Col(pos=10)
    t64 = tables.Time64Col(pos=11)
    color = tables.EnumCol(ENUM, "red", "int16", pos=12)
    inner = Nested()


COLUMNS = [
    *("i1", "u2", "i4", "i8", "f4", "f8", "flag", "text", "long", "t32", "t64", "color"),
    *("inner/p", "inner/deep/z"),
]


def column_of(rows: Any, path: str) -> Any:
    for part in path.split("/"):
        rows = rows[part]
    return rows


def records(dtype: np.dtype[Any], count: int, seed: int, *, odd: bool = True) -> Any:
    """Rows with doubles, infinities, both zeros, and text that begins alike.

    odd: with NaN and text with NUL, too, which PyTables does not find.
    """
    random = np.random.default_rng(seed)
    rows = np.zeros(count, dtype)
    for path in COLUMNS:
        part = column_of(rows, path)
        kind = part.dtype.kind
        if path == "color":
            part[:] = random.choice(list(ENUM.values()), count)
        elif path == "t64":
            part[:] = random.integers(-(10**6), 10**6, count) + random.integers(0, 10**6, count) / 1e6
        elif kind == "f":
            part[:] = random.normal(size=count).round(1 + seed % 3)
            some = random.integers(0, count, count // 20)
            part[some] = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0][not odd :], len(some))
        elif kind == "b":
            part[:] = random.random(count) < 0.3
        elif kind == "S":
            text = random.integers(0, 500, count).astype("S3")
            part[:] = np.char.add(b"prefix-" if part.dtype.itemsize > 8 else b"", text)
            for text in (b"a\0\xff", b"a\0\x01") if odd else ():
                part[random.integers(0, count, count // 50)] = text
        else:
            limits = np.iinfo(part.dtype)
            part[:] = random.integers(max(limits.min, -800), min(limits.max, 800), count)
            part[random.integers(0, count, 2)] = limits.min, limits.max
    return rows


def create(path: Path, count: int, seed: int = 0, *, chunk: int = 100, odd: bool = True) -> Any:
    """Make a table `/g/t` of PyTables, and return its rows."""
    with tables.open_file(str(path), "w") as file:
        table = file.create_table("/g", "t", Everything, createparents=True, chunkshape=(chunk,))
        fill(table, records(table.dtype, count, seed, odd=odd))
        return table[:]


def fill(table: Any, rows: Any) -> None:
    """Append rows: PyTables swaps the bytes of its own copy only, but converts times in the caller's."""
    if len(rows):
        table.append(rows.astype(table.dtype, copy=True))
        table.flush()


def index_columns(table: Any, columns: Sequence[str], kind: str, optlevel: int = 6) -> None:
    for path in columns:
        table.cols._f_col(path).create_index(kind=kind, optlevel=optlevel, _blocksizes=SIZES)


def mask_of(found: RowSet, count: int) -> Any:
    """The rows of a set as truth values."""
    assert len(found.rows) == len(np.unique(found.rows))
    mask = np.zeros(count, np.bool_)
    mask[found.rows] = True
    for start, stop in found.open:
        assert 0 <= start < stop <= count
        mask[start:stop] = True
    return mask


def ranges_for(values: Any, kind: str, random: np.random.Generator) -> list[tuple[Any, Any, Any]]:
    """Ranges of keys: between values that there are, at single ones, near them, several; and what is in them.

    Each is low keys, high keys, and the values that are in, as truth values.
    """
    keys, missing = keys_of(values, kind)
    picked = np.unique(random.choice(keys[~missing], 6))
    ones = [(one, one) for one in picked.tolist()]
    near = [(one + 1, one + 1) for one in picked[:2].tolist() if one < np.iinfo(np.uint64).max]
    wide = [(picked[0], picked[-1]), (1, picked[len(picked) // 2]), (picked[len(picked) // 2], picked[-1])]
    several = [(one, one) for one in picked.tolist()]
    found = [[one] for one in [*ones, *near, *wide]] + [several]
    made: list[tuple[Any, Any, Any]] = []
    for one in found:
        low, high = (np.array([pair[at] for pair in one], np.uint64) for at in (0, 1))
        is_in = np.zeros(len(values), np.bool_)
        for first, last in zip(low, high, strict=True):
            is_in |= (keys >= first) & (keys <= last) & ~missing
        made.append((low, high, is_in))
    return made


def check_index(index: PyTablesIndex, values: Any, seed: int = 0) -> None:
    """An index gives all rows with values in a range; a "full" one of numbers gives no others."""
    assert index.is_usable, index.reason
    random = np.random.default_rng(seed)
    kind = index.source.kind
    is_sharp = index.level == "full" and kind != "S" and index.column != "t64"
    missing = keys_of(values, kind)[1]
    for low, high, is_in in ranges_for(values, kind, random):
        for also in (False, True):
            wanted = is_in | (missing if also else False)
            found = mask_of(index.lookup(KeyRanges(low, high), missing=also), len(values))
            assert not (wanted & ~found).any()
            if is_sharp:
                assert not (found & ~wanted).any()
            assert index.estimate(KeyRanges(low, high), missing=also) >= np.count_nonzero(wanted)
    assert not index.reason


def check_all(path: Path, rows: Any, columns: Sequence[str], level: str) -> None:
    """All indexes of a file are used, and right."""
    with File(path) as file:
        found = indexes_of(file.table("g/t"))
        assert set(found) == set(columns)
        for name, index in found.items():
            assert index.level == level
            values = column_of(rows, name)
            check_index(index, values.astype(values.dtype.newbyteorder("=")))
