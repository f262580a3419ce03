"""Writes `python/coquina/functions/ufuncs.pyi`: the functions of `function_table`, for type checkers.

In: the table. Out: the stub, with each name once in its `__all__` and once with its type.
"""

from __future__ import annotations

from pathlib import Path

from coquina.function_table import ELEMENTWISE, ELEMENTWISE_NAMES

STUB = Path(__file__).parents[1] / "python/coquina/functions/ufuncs.pyi"

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


def stub_text() -> str:
    """Return the text of the stub."""
    kinds = {name: "Unary" if row.arity == 1 else "Binary" for row in ELEMENTWISE for name in row.names}
    types = "\n".join(f"{name}: {kinds[name]}" for name in sorted(kinds))
    listed = "\n".join(f'    "{name}",' for name in sorted(ELEMENTWISE_NAMES))
    return f"{_HEAD}\n{types}\n\n__all__: list[str] = [  # noqa: RUF022\n{listed}\n]\n"


if __name__ == "__main__":
    STUB.write_text(stub_text())
