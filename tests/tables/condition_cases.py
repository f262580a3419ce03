"""Random conditions in PyTables' grammar, each with what NumPy makes of it; and rows to ask them of."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

#: Columns that are computed with hold few values, exact in every type, and so are results: PyTables (numexpr)
#: computes in other types than NumPy, int32 for int8 and float32 for int32 with float32.
SIGNED, FLOATS = ("i1", "i2", "i4", "i8"), ("f2", "f4", "f8")
UNSIGNED = ("u1", "u2", "u4")
#: Columns of all values that there are, for comparisons with numbers alone.
WIDE = ("wi1", "wi2", "wi4", "wi8", "wu1", "wu2", "wu4")
TEXTS = ("s", "long")
BOOLS = ("b", "c")
#: PyTables refuses conditions on it.
REFUSED = "wu8"
ROW = np.dtype(
    [("id", "<i8")]
    + [(name, "<" + name) for name in (*SIGNED, *UNSIGNED, *FLOATS)]
    + [(name, "<" + name[1:]) for name in (*WIDE, REFUSED)]
    + [("s", "S3"), ("long", "S6"), ("b", "?"), ("c", "?")]
)
WORDS = [b"", b"a", b"ab", b"abc", b"B", b"b", b"zz"]
Judge = Callable[[Any], Any]
Case = tuple[str, Judge]


def records(count: int, seed: int) -> np.ndarray:
    """Return rows of random values; some columns are in order in parts."""
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, ROW)
    rows["id"] = np.arange(count)
    for name in (*SIGNED, *UNSIGNED, *FLOATS):
        values = rng.integers(0 if name in UNSIGNED else -5, 6, count)
        if name in FLOATS:
            values = values + rng.choice(
                [0, 0.25, 0.5, np.nan, np.inf, -np.inf], count, p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05]
            )
        rows[name] = np.sort(values) if rng.random() < 0.3 else values
    for name in (*WIDE, REFUSED):
        info = np.iinfo(rows[name].dtype)
        some = rng.integers(info.min, info.max, count, rows[name].dtype, endpoint=True)
        few = rng.choice(np.array([info.min, info.max, 0, 1, info.max - 1], rows[name].dtype), count)
        rows[name] = np.where(rng.random(count) < 0.7, some, few)
    rows["s"] = rng.choice(WORDS, count)
    rows["long"] = rng.choice([*WORDS, b"abcdef", b"ab\0d"], count)
    rows["b"], rows["c"] = rng.random(count) < 0.5, np.arange(count) % 7 < 5
    return rows


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    ">=": lambda x, y: x >= y,
    ">": lambda x, y: x > y,
}


def column(name: str) -> Case:
    return name, lambda rows: rows[name]


def constant(value: Any) -> Case:
    return f"({value!r})" if isinstance(value, int | float) and value < 0 else repr(value), lambda rows: value


def number(pick: Random) -> Case:
    """Return a small number."""
    return constant(pick.choice([0, 1, -1, 2, 5, -4, 0.25, -1.5, 2.0]))


def computed(pick: Random) -> Case:
    """Return columns that are computed with."""
    text, judge = column(pick.choice((*SIGNED, *FLOATS)))
    kind = pick.randrange(7)
    if kind < 3:
        other_text, other = pick.choice([number(pick), column(pick.choice((*SIGNED, *FLOATS)))])
        sign = pick.choice("+-*")
        compute = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign]
        return f"({text} {sign} {other_text})", lambda rows: _quiet(compute, judge(rows), other(rows))
    if kind == 3:
        return f"abs({text})", lambda rows: abs(judge(rows))
    if kind == 4:
        return f"(-{text})", lambda rows: -judge(rows)
    if kind == 5:
        other_text, other = column(pick.choice((*SIGNED, *FLOATS)))
        return (
            f"where({pick.choice(BOOLS[:1])}, {text}, {other_text})",
            lambda rows: np.where(rows["b"], judge(rows), other(rows)),
        )
    return text, judge


def _quiet(compute: Any, *operands: Any) -> Any:
    with np.errstate(all="ignore"):
        return compute(*operands)


def comparison(pick: Random) -> Case:
    """Return one comparison."""
    kind = pick.randrange(8)
    sign = pick.choice(list(COMPARED))
    compare = COMPARED[sign]
    if kind == 0:
        (left, judge), (right, other) = column(pick.choice(TEXTS)), constant(pick.choice([*WORDS, b"abcdef"]))
    elif kind == 1:
        (left, judge), (right, other) = column(pick.choice(TEXTS)), column(pick.choice(TEXTS))
    elif kind == 2:
        name = pick.choice(WIDE)
        info = np.iinfo(name[1:])
        value = pick.choice(
            [info.min, info.max, 0, pick.randint(int(info.min), int(info.max)), -1, info.max // 2]
        )
        (left, judge), (right, other) = column(name), constant(int(value))
    elif kind == 3:
        (left, judge), (right, other) = column(pick.choice(UNSIGNED)), number(pick)
    elif kind == 4:
        (left, judge), (right, other) = column(pick.choice((*UNSIGNED, *SIGNED))), column(pick.choice(SIGNED))
    else:
        (left, judge), (right, other) = computed(pick), pick.choice([number(pick), computed(pick)])
    if pick.random() < 0.2:
        (left, judge), (right, other) = (right, other), (left, judge)
    return f"({left} {sign} {right})", lambda rows: compare(judge(rows), other(rows))


def condition(pick: Random, depth: int = 2) -> Case:
    """Return a condition."""
    kind = pick.randrange(8) if depth else 0
    if kind < 2:
        return comparison(pick)
    if kind == 2:
        return column(pick.choice(BOOLS))
    if kind == 3:
        text, judge = condition(pick, depth - 1)
        return f"~({text})", lambda rows: ~judge(rows)
    sign = pick.choice("&|")
    (left, judge), (right, other) = condition(pick, depth - 1), condition(pick, depth - 1)
    compute = np.logical_and if sign == "&" else np.logical_or
    return f"({left} {sign} {right})", lambda rows: compute(judge(rows), other(rows))


def span(pick: Random, count: int) -> tuple[int | None, int | None, int | None]:
    """Return start, stop and step, all of them at times."""

    def place() -> int | None:
        return pick.choice(
            [None, pick.randint(0, count), pick.randint(-count, count), pick.randint(0, 2 * count)]
        )

    return place(), place(), pick.choice([None, 1, 2, 7, pick.randint(1, max(count, 1))])
