"""The functions of one and two operands, made from `function_table`, as NumPy's ufuncs are called.

In: arrays, expressions, views, datasets, NumPy arrays, Python scalars, lists; they broadcast. Out: an
    `Array`, computed at once, if all is small, else a lazy expression.
Invariant: `ufuncs.pyi`, which tells type checkers the names, is what `tools/function_stub.py` writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS, Function
from coquina.expressions.protocols import array_ufunc
from coquina.function_signatures import OF_ITEMS, described
from coquina.function_table import ELEMENTWISE, ELEMENTWISE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from coquina.arrays.array import Array
    from coquina.expressions.expression import Expr


def _unary(name: str, what: str) -> Callable[[Any], Array | Expr]:
    """Return the function of one operand of this name, which returns `what`."""
    function = FUNCTIONS[name]

    def call(
        x: Any, /, *, out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> Array | Expr:
        if out is None and where is True and dtype is None:
            return evaluate(function, x)
        return _as_ufunc(function, (x,), {"out": out, "where": where, "dtype": dtype, "casting": casting})

    return described(call, name, what, __name__, OF_ITEMS.format(operands="x", name=name))


def _binary(name: str, what: str) -> Callable[[Any, Any], Array | Expr]:
    """Return the function of two operands of this name, which returns `what`."""
    function = FUNCTIONS[name]

    def call(
        x1: Any,
        x2: Any,
        /,
        *,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> Array | Expr:
        if out is None and where is True and dtype is None:
            return evaluate(function, x1, x2)
        return _as_ufunc(function, (x1, x2), {"out": out, "where": where, "dtype": dtype, "casting": casting})

    return described(call, name, what, __name__, OF_ITEMS.format(operands="x1, x2", name=name))


def _as_ufunc(function: Function, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a function with what NumPy's ufuncs take by name."""
    if not isinstance(cast("Any", function.apply), np.ufunc):
        raise TypeError(f"{function.name}: not a NumPy ufunc, so it does not take 'out', 'where' and 'dtype'")
    out = options.pop("out")
    given: dict[str, Any] = {"out": out if isinstance(out, tuple) else (out,)} if out is not None else {}
    return array_ufunc(cast("Any", function.apply), "__call__", operands, {**options, **given})


def _make_all() -> None:
    """Put the function of each row under all of its names."""
    for row in ELEMENTWISE:
        make = _unary if row.arity == 1 else _binary
        function = make(row.names[0], row.returns)
        globals().update(dict.fromkeys(row.names, function))


_make_all()

__all__ = list(ELEMENTWISE_NAMES)  # pyright: ignore[reportUnsupportedDunderAll]
