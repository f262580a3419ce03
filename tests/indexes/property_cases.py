"""Random columns, and random conditions on them, with what NumPy says of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from coquina.tables.layout import ColumnSpec
from tests.tables.condition_cases import COMPARED

TEXT = np.dtypes.StringDType()
MEMBERS = {"red": 4, "green": 1, "blue": -2}
NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
#: Kinds of columns that all have, and those of one layout.
COMMON = (*NUMBERS, "b", "S", "when", "span", "color")
KINDS = {
    "rows": (*COMMON, "pos", "info", "t64", "i4be"),
    "columns": (*COMMON, "U", "text", "ntext", "gap", "gapf", "gapb", "cat", "code"),
    "array": (*NUMBERS, "S", "when"),
}
NULLABLE = ("gap", "gapf", "gapb", "code")
WORDS = ["", "a", "ab", "b", "prefix-", "prefix-a", "prefix-ab", "prefix-b", "prefixed", "é", "日本", "zz\0a"]
CODES = (30, -5, 7)
FLOATS = [0.0, -0.0, 1.5, -2.25, 0.1, 1e-320, 65504.0, 1e30, np.inf, -np.inf, np.nan]
Judge = Callable[["Model"], Any]


@dataclass
class Held:
    """The values of a column, and which of them are missing."""

    data: Any
    mask: Any

    def __getitem__(self, rows: Any) -> Held:
        return Held(self.data[rows], self.mask[rows])

    def __len__(self) -> int:
        return len(self.data)


@dataclass
class Model:
    """A table as NumPy has it: values by the path of their column, and its kind."""

    kinds: dict[str, str] = field(default_factory=dict)
    columns: dict[str, Held] = field(default_factory=dict)

    @property
    def nrows(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, rows: Any) -> Model:
        return Model(self.kinds, {name: held[rows] for name, held in self.columns.items()})

    def put(self, more: Model) -> None:
        for name, held in self.columns.items():
            other = more.columns[name]
            data = np.concatenate([held.data, other.data]).astype(held.data.dtype)
            self.columns[name] = Held(data, np.concatenate([held.mask, other.mask]))


def paths_of(kind: str) -> list[tuple[str, str]]:
    """Return the columns that a kind makes: names and their own kinds."""
    return [("info/x", "i4"), ("info/y", "f8")] if kind == "info" else [(kind, kind)]


def dtype_of(kind: str) -> np.dtype[Any]:
    if kind in NUMBERS:
        return np.dtype(kind)
    fixed = {"b": "?", "S": "S11", "U": "U9", "when": "M8[s]", "span": "m8[s]", "color": "i2", "pos": "f4"}
    more = {"gap": "i4", "gapf": "f8", "gapb": "?", "code": "i8", "t64": "f8", "i4be": "i4"}
    return np.dtype({**fixed, **more}.get(kind, "O"))


def spec_of(kind: str) -> ColumnSpec:
    """Return how a column of a kind is stored."""
    special = {
        "color": {"enum": MEMBERS},
        "pos": {"shape": (2,)},
        "t64": {"time": "time64"},
        "cat": {"categories": tuple(WORDS[:-1])},
        "code": {"categories": CODES, "ordered": True},
        "ntext": {"nullable": True},
        **{key: {"nullable": True} for key in ("gap", "gapf", "gapb")},
    }
    if kind == "info":
        inner = (ColumnSpec("x", np.dtype("i4")), ColumnSpec("y", np.dtype("f8")))
        return ColumnSpec("info", np.dtype([("x", "i4"), ("y", "f8")]), children=inner)
    dtype = TEXT if dtype_of(kind).kind == "O" else dtype_of(kind)
    dtype = np.dtype(">i4") if kind == "i4be" else dtype
    return ColumnSpec(kind, dtype, **special.get(kind, {}))


def values_of(kind: str, count: int, rng: np.random.Generator) -> Held:
    """Return random values: many equal, all different, in order, or mostly extremes."""
    dtype = dtype_of(kind)
    shape = (count, 2) if kind == "pos" else (count,)
    style = rng.integers(0, 5)
    some = pool_of(kind, rng)
    if style == 0 and dtype.kind in "iuf" and kind not in ("color", "code", "t64"):
        data = _spread(dtype, shape, rng)
    elif style == 1:
        data = some[rng.integers(0, min(2, len(some)), shape)]
    else:
        data = some[rng.integers(0, len(some), shape)]
    data = np.asarray(data, dtype)
    if style == 3 and kind != "pos":
        data = np.sort(data)
    if style == 4 and len(data):
        data = np.repeat(data, rng.integers(1, 200))[-len(data) :] if kind != "pos" else data
    mask = rng.random(count) < (rng.choice([0, 0.1, 0.9]) if kind in (*NULLABLE, "ntext", "cat") else 0)
    return Held(data, mask)


def _spread(dtype: np.dtype[Any], shape: Any, rng: np.random.Generator) -> Any:
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def pool_of(kind: str, rng: np.random.Generator) -> Any:
    """Return some values of a kind."""
    dtype = dtype_of(kind)
    if kind == "color":
        return np.array(list(MEMBERS.values()), dtype)
    if kind == "code":
        return np.array(CODES, dtype)
    if kind == "t64":
        return rng.integers(-40, 40, 30) / 4
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        edges = [limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max]
        some = [*rng.integers(0, 100, 40).tolist(), *edges]
        return np.array(some, dtype)[rng.permutation(len(some))]
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return rng.permutation(np.array([*FLOATS, *rng.normal(size=40).round(2)], dtype))
    if dtype.kind in "mM":
        some = rng.integers(0, 50, 40)
        return np.array([*some, -1, 10**9, np.iinfo("i8").min], "i8").view(dtype)
    if dtype.kind == "S":
        return np.array([word.encode()[:11] for word in WORDS], dtype)
    if dtype.kind == "U":
        return np.array(WORDS, dtype)
    long = "the same long beginning of all of them: "
    more = [*[long + str(n) for n in range(30)], *[long * 9 + str(n) for n in range(9)]]
    return np.array(WORDS[:-1] if kind == "cat" else [*WORDS, *more], "O")


# Conditions: a text, parameters, and what NumPy says.


@dataclass
class Condition:
    text: str
    judge: Judge
    params: dict[str, Any] = field(default_factory=dict)


def condition(pick: Random, model: Model, extra: list[str], depth: int = 2) -> Condition:
    """Return a condition. extra: columns and expressions that have indexes: these are preferred."""
    kind = pick.randrange(6) if depth else 0
    if kind < 3:
        return _term(pick, model, extra)
    if kind == 3:
        one = condition(pick, model, extra, depth - 1)
        sign = pick.choice(["~", "not "])
        return Condition(f"({sign}({one.text}))", lambda m: ~one.judge(m), one.params)
    sign = pick.choice(["&", "|", "and", "or"])
    left = condition(pick, model, extra, depth - 1)
    right = condition(pick, model, extra, depth - 1)
    compute = np.logical_and if sign in ("&", "and") else np.logical_or
    return Condition(
        f"(({left.text}) {sign} ({right.text}))",
        lambda m: compute(left.judge(m), right.judge(m)),
        {**left.params, **right.params},
    )


def operands_of(model: Model) -> list[tuple[str, str, Judge]]:
    """Return what conditions ask about: texts, kinds, and values."""
    found: list[tuple[str, str, Judge]] = []
    for name, kind in model.kinds.items():
        text = name.replace("/", ".")
        if kind == "pos":
            for at in (0, 1):
                found.append((f"{text}[{at}]", "f4", lambda m, n=name, at=at: m.columns[n].data[:, at]))  # noqa: PERF401
        else:
            found.append((text, kind, lambda m, n=name: m.columns[n].data))
    return found


def expressions_of(model: Model) -> list[tuple[str, str, Judge]]:
    """Return expressions of the columns, as `operands_of`."""
    found: list[tuple[str, str, Judge]] = []
    plain = [one for one in operands_of(model) if one[1] in NUMBERS and one[1] not in ("u8", "f2")]
    for text, kind, values in plain[:3]:
        if kind[0] == "f":
            found.append((f"abs({text})", kind, lambda m, v=values: abs(v(m))))
        else:
            found.append((f"{text} + 1", kind, lambda m, v=values, k=kind: v(m) + np.dtype(k).type(1)))
            found.append((f"{text} * 0.5", "f8", lambda m, v=values: v(m) * 0.5))
    for (text, kind, values), (other_text, other, others) in pairwise(plain):
        dtype = np.result_type(kind, other)
        if dtype.name in ("int32", "int64", "float64") and (kind[0] == other[0]):
            name = f"{dtype.kind}{dtype.itemsize}"
            found.append((f"{text} + {other_text}", name, lambda m, v=values, o=others: v(m) + o(m)))
    return found


def _term(pick: Random, model: Model, extra: list[str]) -> Condition:
    """Return a comparison, or another question."""
    operands = operands_of(model)
    every = [*operands, *expressions_of(model)]
    if pick.random() < 0.6:
        operands = [one for one in every if one[0] in extra or one[0].replace(".", "/") in extra] or operands
    elif pick.random() < 0.1:
        operands = every
    text, kind, values = pick.choice(operands)
    name = text.replace(".", "/")
    null: Judge = lambda m: m.columns[name].mask if name in m.columns else np.False_  # noqa: E731
    what = pick.random()
    if dtype_of(kind).kind == "b" and what < 0.4 and kind == "b":
        return Condition(text, values)
    if what < 0.12:
        is_not = pick.random() < 0.5
        judge: Judge = lambda m: _is_null(values(m)) | null(m)  # noqa: E731
        if is_not:
            return Condition(f"{text} is not null", lambda m: ~judge(m))
        return Condition(f"{text} is null", judge)
    if what < 0.27 and kind in ("S", "U", "text", "ntext", "cat"):
        return _begins(pick, text, kind, values, null)
    if what < 0.42:
        some = [constant(pick, kind, values(model), null(model)) for _ in range(pick.randint(1, 4))]
        if kind == "span":
            key = f"p{pick.randrange(10**6)}"
            return Condition(f"{text} in {key}", lambda m: _among(values(m), some), {key: some})
        shown = ", ".join(literal(one) for one in some)
        shown += "," * (len(some) == 1)
        return Condition(f"({text}) in ({shown})", lambda m: _among(values(m), some) & ~null(m))
    if what < 0.55 and kind not in ("cat", "code", "b", "gapb", "color"):
        return _between(pick, text, kind, values, null, model)
    sign = pick.choice(["==", "!="] if kind in ("cat", "code", "color", "span") else list(COMPARED))
    one = constant(pick, kind, values(model), null(model))
    judge = lambda m: _compared(sign, values(m), one) & ~null(m)  # noqa: E731
    if kind == "span" or pick.random() < 0.3:
        key = f"p{pick.randrange(10**6)}"
        return Condition(f"({text} {sign} {key})", judge, {key: one})
    if pick.random() < 0.2 and kind not in ("cat", "color"):
        swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
        return Condition(f"({literal(one)} {swapped} {text})", judge)
    return Condition(f"({text} {sign} {literal(one)})", judge)


def _begins(pick: Random, text: str, kind: str, values: Judge, null: Judge) -> Condition:
    word = pick.choice(WORDS[:-1])
    question = pick.choice(["startswith", "startswith", "startswith", "endswith", "contains"])
    inside = {"startswith": str.startswith, "endswith": str.endswith, "contains": str.__contains__}[question]

    def judge(m: Model) -> Any:
        texts = [one.decode() if isinstance(one, bytes) else one for one in values(m).tolist()]
        return np.array([inside(one, word) for one in texts], bool) & ~null(m)

    return Condition(f"{question}({text}, {word!r})", judge)


def _between(pick: Random, text: str, kind: str, values: Judge, null: Judge, model: Model) -> Condition:
    low, high = (constant(pick, kind, values(model), null(model)) for _ in range(2))
    left, right = pick.choice(["<", "<="]), pick.choice(["<", "<="])
    mirrored = {"<": ">", "<=": ">="}[left]
    if kind == "span":
        keys = [f"p{pick.randrange(10**6)}" for _ in range(2)]
        shown, params = keys, dict(zip(keys, (low, high), strict=True))
    else:
        shown, params = [literal(low), literal(high)], {}
    return Condition(
        f"({shown[0]} {left} {text} {right} {shown[1]})",
        lambda m: _compared(mirrored, values(m), low) & _compared(right, values(m), high) & ~null(m),
        params,
    )


def _is_null(values: Any) -> Any:
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.isnat(values) if values.dtype.kind in "mM" else np.zeros(len(values), bool)


def _compared(sign: str, values: Any, one: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(COMPARED[sign](values, one), bool)


def _among(values: Any, some: list[Any]) -> Any:
    found = np.zeros(len(values), bool)
    for one in some:
        found |= _compared("==", values, one)
    return found


def constant(pick: Random, kind: str, values: Any, null: Any) -> Any:
    """Return what values are compared with: one of them, one near them, or an extreme."""
    dtype = dtype_of(kind)
    known = values[~np.broadcast_to(null, len(values))]
    one: Any = None
    if len(known) and pick.random() < 0.6:
        one = known[pick.randrange(len(known))]
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        near = [0, 1, -1, 50, int(limits.min), int(limits.max), int(limits.max) + 1, int(limits.min) - 1]
        return pick.choice(near) if kind not in ("color", "code") else pick.choice([4, 1, -2, 30, -5, 7])
    elif dtype.kind == "f":
        return pick.choice([*FLOATS[:6], 0.5, -1.5, 1e300, np.inf, -np.inf, np.nan, 3])
    else:
        one = pick.choice(pool_of(kind, np.random.default_rng(pick.randrange(99))).tolist())
        one = np.asarray(one, dtype)[()] if dtype.kind in "mM" else one
    if dtype.kind in "mM":
        return np.datetime64(7, "s") if dtype.kind == "M" and np.isnat(one) else np.asarray(one, dtype)[()]
    one = one.item() if isinstance(one, np.generic) else one
    if dtype.kind in "iu" and dtype.itemsize < 8 and kind != "color" and pick.random() < 0.3:
        return one + pick.choice([-1, 1, 0.5])
    return one


def literal(one: Any) -> str:
    """Return a constant as conditions have it."""
    if isinstance(one, np.datetime64):
        return repr(str(one))
    if isinstance(one, int | float) and not isinstance(one, bool):
        return f"({one!r})"
    return repr(one)


def order_of(model: Model, name: str, descending: bool, rows: Any) -> Any:
    """Return rows, ascending, in the order of a column: equal ones keep theirs, what is missing is last."""
    held = model.columns[name][rows]
    gone = held.mask | _is_null(held.data)
    there = np.flatnonzero(~gone)
    ranks = np.unique(held.data[there], return_inverse=True)[1].reshape(-1)
    order = np.argsort(-ranks if descending else ranks, kind="stable")
    return rows[np.concatenate([there[order], np.flatnonzero(gone)])]
