"""Columns of every kind over arrays in memory, with the values that they hold as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np

import coquina as cq
from coquina import _core
from coquina.expressions import engine, reference
from coquina.expressions.nodes import Node
from coquina.tables.columns import (
    BitsColumn,
    CategoricalColumn,
    Column,
    DatetimeColumn,
    EnumColumn,
    NullableColumn,
    NumberColumn,
    Stored,
    StringColumn,
    TimeColumn,
)

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
MEMBERS = {"red": 0, "green": 1, "blue": -3}
WORDS = np.array(["", "a", "ab", "abc", "b", "é", "éa", "a\0b", "日本", "long enough to count"], "T")
RECORD = np.dtype(
    [
        ("i1", "i1"),
        ("i8", ">i8"),
        ("u8", "u8"),
        ("f2", "f2"),
        ("f4", "f4"),
        ("f8", ">f8"),
        ("c16", "c16"),
        ("b", "?"),
        ("s", "S5"),
        ("u", ">U5"),
        ("pos", ">i2", (2, 3)),
        ("bits", "u1"),
        ("enum", ">i2"),
        ("t64", "i8"),
        ("date", ">i8"),
        ("span", "i8"),
    ]
)


class Model:
    """Columns by path, and what they hold: plain arrays, of which masks say where a value is missing."""

    def __init__(self, seed: int, count: int) -> None:
        """`count` rows of random values, edges among them."""
        self.count = count
        self.random = np.random.default_rng(seed)
        self.columns: dict[str, Column] = {}
        self.values: dict[str, Any] = {}
        self.masks: dict[str, Any] = {}
        self._add_records()
        self._add_parts()

    def _add(self, column: Column, values: Any, mask: Any = None) -> None:
        self.columns[column.name] = column
        self.values[column.name] = values
        self.masks[column.name] = np.zeros(self.count, bool) if mask is None else mask

    def _add_records(self) -> None:
        random, n = self.random, self.count
        records = np.zeros(n, RECORD)
        for name in ("i1", "i8", "pos"):
            records[name] = random.integers(-9, 10, records[name].shape)
        records["u8"] = random.integers(0, 5, n).astype("u8") + np.uint64(2**63 - 2)
        for name in ("f2", "f4", "f8"):
            records[name] = random.choice([0.5, -1.25, 3, 0, -0.0, np.nan, np.inf, 0.1], n)
        records["c16"] = random.integers(-2, 3, n) + 1j * random.integers(-2, 3, n)
        records["b"], records["bits"] = random.integers(0, 2, (2, n))
        records["s"] = random.choice(np.array([b"", b"a", b"ab", b"abc", b"zz", b"a\0b"]), n)
        records["u"] = random.choice(np.array(["", "a", "ab", "abc", "é", "日本"]), n)
        records["enum"] = random.choice(list(MEMBERS.values()), n)
        records["t64"] = (random.integers(-4, 4, n) << 32) | (
            random.choice([0, 500000, -250000], n) & 0xFFFFFFFF
        )
        records["date"] = random.choice([0, 1, -1, 1577836800, 1577836801, np.iinfo("i8").min], n)
        records["span"] = random.choice([0, 1, -1, 90, 3600, np.iinfo("i8").min], n)
        array = cq.asarray(records)

        def part(name: str) -> Stored:
            dtype, offset = RECORD.fields[name][:2]  # type: ignore[index]
            return Stored(array, dtype, offset)

        for name in ("i1", "i8", "u8", "f2", "f4", "f8", "c16", "b", "s", "u", "pos"):
            self._add(NumberColumn(name, part(name)), records[name])
        self._add(BitsColumn("bits", part("bits")), records["bits"] != 0)
        self._add(EnumColumn("enum", part("enum"), MEMBERS), records["enum"])
        seconds = (records["t64"] >> 32) + 1e-6 * records["t64"].astype("i4")
        self._add(TimeColumn("t64", part("t64")), seconds)
        dates = records["date"].astype("i8").view("M8[s]")
        self._add(DatetimeColumn("date", part("date"), "M8[s]"), dates)
        self._add(DatetimeColumn("span", part("span"), "m8[s]"), records["span"].view("m8[s]"))

    def _add_parts(self) -> None:
        random, n = self.random, self.count
        codes = random.integers(-1, 4, n).astype("i1")
        names = np.array(["pear", "", "Äpfel", "plum"], "T")
        for name, ordered in (("info/fruit", False), ("size", True)):
            column = CategoricalColumn(name, Stored(cq.asarray(codes), "i1"), names, ordered)
            self._add(column, names[codes], codes < 0)
        numbers = np.array([2.5, -1.0, 7.0, 0.0])
        column = CategoricalColumn("level", Stored(cq.asarray(codes.astype("i4")), "i4"), numbers)
        self._add(column, numbers[codes], codes < 0)
        for name, dtype in (("info/nint", "i4"), ("nfloat", "f8"), ("nbool", "?")):
            values = random.integers(0, 2 if dtype == "?" else 5, n).astype(dtype)
            mask = random.random(n) < 0.3
            stored = Stored(cq.asarray(values), dtype)
            self._add(NullableColumn(name, stored, Stored(cq.asarray(mask), "?")), values, mask)
        self._add(*self._texts("text", None))
        mask = random.random(n) < 0.3
        self._add(*self._texts("ntext", mask), mask)

    def _texts(self, name: str, mask: Any) -> tuple[Column, Any]:
        values = self.random.choice(WORDS, self.count)
        encoded = [one.encode() for one in values.tolist()]
        offsets = np.cumsum([0, *map(len, encoded)])
        data = cq.asarray(np.frombuffer(b"".join(encoded), "u1"))
        stored = None if mask is None else Stored(cq.asarray(mask), "?")
        return StringColumn(name, cq.asarray(offsets), data, stored), values

    def masked(self, name: str) -> Any:
        """The values of a column as it is to give them."""
        column, values, mask = self.columns[name], self.values[name], self.masks[name]
        if not column.is_nullable:
            return values
        if values.dtype.kind == "T":
            values = values.astype(np.dtypes.StringDType(na_object=None))
            values[mask] = None
            return values
        return np.ma.MaskedArray(values, mask)


def read(node: Node) -> Any:
    """Return the items of a condition: the engine's, which are those of plain NumPy."""
    region = tuple([slice(0, size) for size in node.shape])
    plain = reference.read(node, region)
    found = engine.read(node, region)
    np.testing.assert_array_equal(found, plain)
    return found


def gathered(column: Column) -> list[Any]:
    """Return all of a column's sources as bytes, as a scan gathers them."""

    def all_of(lazy: _core.Lazy, itemsize: int) -> Any:
        out = np.empty(lazy.shape[0] * itemsize, "u1")
        if out.size:
            lazy.read([0], [lazy.shape[0]], out)
        return out

    parts: list[Any] = []
    stored = list(column.stored)
    for source in column.sources():
        if isinstance(source, tuple):
            offsets, data = all_of(source[0], stored.pop(0).dtype.itemsize), all_of(source[1], 1)
            stored.pop(0)
            parts.append((offsets.view("i8"), data))
        else:
            parts.append(all_of(source, stored.pop(0).dtype.itemsize))
    return parts


def same(found: Any, wanted: Any) -> None:
    """Check that values are those wanted: masks too, and what is masked does not matter."""
    assert isinstance(found, np.ma.MaskedArray) == isinstance(wanted, np.ma.MaskedArray)
    if isinstance(wanted, np.ma.MaskedArray):
        np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))
        found, wanted = found[~found.mask].data, wanted[~wanted.mask].data
    if wanted.dtype.kind == "T":
        assert found.tolist() == wanted.tolist()
    else:
        np.testing.assert_array_equal(found, wanted)
    assert found.shape == wanted.shape
