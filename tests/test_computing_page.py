"""What `docs/computing.md` says of functions: which of them the engine runs, and how exact they are.

Its lists are made here: `python -m tests.test_computing_page` writes them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import coquina as cq
from coquina.expressions import engine
from coquina.expressions.expression import Expr
from coquina.expressions.functions import FUNCTIONS, Function, call
from coquina.expressions.protocols import NUMPY_FUNCTIONS

DOCUMENT = Path(__file__).parents[1] / "docs" / "computing.md"

#: The numbers that the engine has types for, by what they are called together; the first that fits is said.
KINDS = {
    "all numbers": "?bhiqBHIQfdFD",
    "all real numbers": "?bhiqBHIQfd",
    "integers": "bhiqBHIQ",
    "signed integers": "bhiq",
    "unsigned integers": "BHIQ",
    "integers of 16 to 64 bits": "hiqHIQ",
    "integers of 8 bits": "bB",
    "float32 and float64": "fd",
    "complex numbers": "FD",
    "bool": "?",
}
#: Functions whose last places may be others than those of NumPy's.
_ROUNDED = """
arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 hypot log log10 log1p log2
logaddexp logaddexp2 power sin sinh tan tanh
"""
ROUNDED = frozenset(_ROUNDED.split())
ULPS = 4
ROWS = sorted({id(row): row for row in FUNCTIONS.values()}.values(), key=lambda row: row.name)


def operands_of(row: Function, code: str, count: int = 2) -> list[np.ndarray]:
    dtypes = [code] * row.arity
    if row.name == "where":
        dtypes[0] = "?"
    elif row.name == "ldexp":
        dtypes[1] = "i"
    return [np.ones(count, dtype) for dtype in dtypes]


def is_native(row: Function, code: str) -> bool | None:
    """Whether the engine computes a function of such numbers; None if NumPy does not have it."""
    try:
        node = call(row, *operands_of(row, code))
    except TypeError:
        return None
    try:
        return not engine.explain(node)["by_numpy"]
    except cq.UnsupportedError:  # where the environment wants to know
        return False


def named(codes: str) -> str:
    left, names = set(codes), []
    for name, members in KINDS.items():
        if left.issuperset(members):
            names.append(name)
            left -= set(members)
    assert not left
    return ", ".join(names)


def table() -> Iterator[str]:
    groups: dict[tuple[str, str], list[str]] = {}
    for row in ROWS:
        found = {code: is_native(row, code) for code in KINDS["all numbers"]}
        pair = tuple(named("".join(c for c in found if found[c] is which)) for which in (True, False))
        groups.setdefault(pair, []).append(row.name)
    yield "| Functions | Engine | NumPy, block by block |"
    yield "|---|---|---|"
    for (native, other), names in sorted(groups.items(), key=lambda group: (not group[0][0], -len(group[1]))):
        if not native and not other:
            other = "strings; `isnat`: dates and durations"
        yield f"| {' '.join(f'`{name}`' for name in names)} | {native} | {other} |"


def wrapped(names: object) -> str:
    return textwrap.fill(" ".join(f"`{name}`" for name in sorted(names)), 118)


SECTIONS = {
    "functions": lambda: "\n".join(table()),
    "rounded": lambda: wrapped(ROUNDED),
    "numpy": lambda: wrapped(NUMPY_FUNCTIONS),
}


def page(text: str) -> str:
    """Return the page with its lists made anew."""
    for name, make in SECTIONS.items():
        pattern = rf"(<!-- {name}: made by `python -m tests.test_computing_page` -->\n).*?(<!-- end -->)"
        made = make()
        text, count = re.subn(pattern, lambda m, made=made: f"{m[1]}{made}\n{m[2]}", text, flags=re.DOTALL)
        assert count == 1, name
    return text


def test_the_page_is_up_to_date():
    text = DOCUMENT.read_text()
    assert page(text) == text, "stale: run python -m tests.test_computing_page"


def samples(dtype: str, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    parts = [rng.uniform(-low, low, 3000) for low in (1, 10, 800)]
    parts.append(rng.standard_normal(3000) * 10.0 ** rng.uniform(-30, 30, 3000))
    parts.append(np.repeat([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5], 50))
    return [rng.permutation(np.concatenate(parts)).astype(dtype) for _ in range(count)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [row for row in ROWS if is_native(row, "d")], ids=lambda row: row.name)
def test_functions_are_as_exact_as_the_page_says(row, dtype):
    operands = [
        values if of.dtype.kind == "f" else (values > 0).astype(of.dtype)
        for values, of in zip(samples(dtype, row.arity), operands_of(row, dtype), strict=True)
    ]
    found = Expr(call(row, *map(cq.asarray, operands)))[...]
    with np.errstate(all="ignore"):
        wanted = row.apply(*operands)
        if row.name not in ROUNDED:
            assert np.array_equal(found, wanted, equal_nan=True)
            return
        # Where two numbers cancel out, the places are those of the greater one.
        scale = np.maximum(abs(wanted), abs(operands[0])) if row.name.startswith("logaddexp") else abs(wanted)
        room = ULPS * np.spacing(np.minimum(scale, np.finfo(dtype).max))
        is_close = (found == wanted) | (abs(found - wanted) <= room)
    assert np.all(is_close | (np.isnan(found) & np.isnan(wanted)))


if __name__ == "__main__":
    DOCUMENT.write_text(page(DOCUMENT.read_text()))
