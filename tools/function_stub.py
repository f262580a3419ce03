"""Writes the stubs of the functions of items and of strings: those of `function_table`, for type checkers.

In: the tables. Out: `functions/ufuncs.pyi` and `strings.pyi` in `python/coquina`, with each name once in its
`__all__` and once with its type.
"""

from __future__ import annotations

from pathlib import Path

from coquina.function_table import ELEMENTWISE, STRINGS

PACKAGE = Path(__file__).parents[1] / "python/coquina"

_HEAD = '''"""The functions of `function_table`, for type checkers; `tools/function_stub.py` writes it."""

from typing import Any, Protocol

from coquina.arrays.array import Array
from coquina.expressions.expression import Expr

class Unary(Protocol):
    """A function of one operand, with what NumPy's ufuncs take by name."""

    def __call__(
        self, x: Any, /, *, out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> Array | Expr: ...

class Binary(Protocol):
    """A function of two operands, with what NumPy's ufuncs take by name."""

    def __call__(
        self,
        x1: Any,
        x2: Any,
        /,
        *,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> Array | Expr: ...
'''


_STRINGS_HEAD = '''"""The functions of strings, for type checkers; `tools/function_stub.py` writes it."""

from typing import Any, Protocol

from coquina.arrays.array import Array
from coquina.expressions.expression import Expr

class Unary(Protocol):
    """A function of each string."""

    def __call__(self, a: Any, /) -> Array | Expr: ...

class Binary(Protocol):
    """A function of each string, and of another one."""

    def __call__(self, a: Any, sub: Any, /) -> Array | Expr: ...
'''


def stubs() -> dict[str, str]:
    """Return the texts of the stubs, by their paths in the package."""
    of_items = {name: row.arity for row in ELEMENTWISE for name in row.names}
    of_strings = {row.name: row.arity for row in STRINGS}
    return {
        "functions/ufuncs.pyi": _stub(_HEAD, of_items, "  # noqa: RUF022"),
        "strings.pyi": _stub(_STRINGS_HEAD, of_strings),
    }


def _stub(head: str, arities: dict[str, int], note: str = "") -> str:
    types = "\n".join(f"{name}: {'Unary' if arities[name] == 1 else 'Binary'}" for name in sorted(arities))
    listed = "\n".join(f'    "{name}",' for name in sorted(arities))
    return f"{head}\n{types}\n\n__all__: list[str] = [{note}\n{listed}\n]\n"


if __name__ == "__main__":
    for path, text in stubs().items():
        (PACKAGE / path).write_text(text)
