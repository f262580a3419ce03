"""Functions of strings, item by item: `coquina.strings`, as `numpy.strings`.

In: arrays of `S` or `U` dtypes, expressions, Python strings. Out: an `Array`, computed at once, if all is
    small, else a lazy expression. Comparing and joining are `coquina.equal`, `coquina.add`, and operators.
Source: NumPy's `numpy.strings`.
Invariant: `strings.pyi`, which tells type checkers the names, is what `tools/function_stub.py` writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS
from coquina.function_signatures import OF_STRINGS, described
from coquina.function_table import STRINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr
    from coquina.function_table import StringRow


def _unary(row: StringRow) -> Callable[[Any], Array | Expr]:
    function = FUNCTIONS[row.name]

    def call(a: Any, /) -> Array | Expr:
        return evaluate(function, a)

    return described(call, row.name, row.returns, __name__, OF_STRINGS, f"strings.{row.name}")


def _binary(row: StringRow) -> Callable[[Any, Any], Array | Expr]:
    function = FUNCTIONS[row.name]

    def call(a: Any, sub: Any, /) -> Array | Expr:
        return evaluate(function, a, sub)

    return described(call, row.name, row.returns, __name__, OF_STRINGS, f"strings.{row.name}")


globals().update({row.name: (_unary if row.arity == 1 else _binary)(row) for row in STRINGS})

__all__ = [row.name for row in STRINGS]  # pyright: ignore[reportUnsupportedDunderAll]
