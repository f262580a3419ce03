"""The signatures of reductions, each once: functions and methods of arrays are made of them.

In: the name of a row of `function_table.REDUCTIONS`, or of its twin, and what computes it. Out: a function
with NumPy's signature, whose options `compute` gets by keyword, behind the name and the operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from coquina.function_examples import EXAMPLES
from coquina.function_table import REDUCTION_RETURNS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Axis = int | tuple[int, ...] | None
    DType = npt.DTypeLike | None

F = TypeVar("F", bound="Callable[..., Any]")


#: What docstrings say of the options, and of the result.
OF_ITEMS = """\
{operands}: arrays, expressions, views, datasets, NumPy arrays, numbers or lists; they are broadcast.
out: a NumPy array, or a writable array, for the result. where: which elements are computed.
dtype, casting: as in NumPy's ufuncs.

Returns an `Array` if operands and result are small, otherwise a lazy `Expr`; its dtype is that of
`numpy.{name}`. Raises TypeError for unsupported dtypes, ValueError for shapes that cannot be broadcast."""
OF_STRINGS = """\
a: arrays of bytes or text, expressions, or strings. sub: the string to look for, or one for each element.

Returns an `Array` if operands and result are small, otherwise a lazy `Expr`. Raises TypeError for operands
that are not strings."""
OF_AXES = """\
x: an array, an expression, a view, a dataset, or anything that NumPy converts to an array.
axis: an axis or a tuple of axes; None: all. keepdims: keep these axes, with length 1.
out: a NumPy array for the result. dtype: of the result. initial: the value to start from. where: which
elements are included.{more}

Returns a NumPy array without these axes, or a scalar. Raises IndexError for an axis out of range, TypeError
for unsupported dtypes. Memory: a chunk for each thread, and the result, which does not depend on the number
of threads."""


def described(call: F, name: str, returns: str, module: str, notes: str = "", key: str = "") -> F:
    """Give a function that was made its name, its docstring, and the module where it is found by its name.

    notes: what the docstring says of operands and options. key: of its example, its name by default.
    """
    made: Any = cast("Any", call)
    made.__name__ = made.__qualname__ = name
    example, result = EXAMPLES[key or name]
    imports = ">>> import numpy as np\n" if "np." in example else ""
    text = f"{notes}\n\n{imports}>>> import coquina as cq\n>>> {example}\n{result}"
    made.__doc__ = f"Return {returns}.\n\n{text}\n"
    made.__module__ = module
    return call


def _reduction(call: F, name: str, compute: Any, note: str = "") -> F:
    where = getattr(compute, "__module__", __name__)
    notes = OF_AXES.format(more=note)
    return described(call, name, f"{REDUCTION_RETURNS[name]}. As `numpy.{name}`", where, notes)


def total(name: str, compute: Callable[..., Any]):
    """Return a sum or a product."""

    def call(
        x: Any,
        /,
        axis: Axis = None,
        dtype: DType = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        return compute(
            name, x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
        )

    return _reduction(call, name, compute)


def extreme(name: str, compute: Callable[..., Any]):
    """Return a least or a greatest item."""

    def call(
        x: Any,
        /,
        axis: Axis = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        return compute(name, x, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where)

    return _reduction(call, name, compute)


def place(name: str, compute: Callable[..., Any]):
    """Return where the least or the greatest item is."""

    def call(x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
        return compute(name, x, axis=axis, out=out, keepdims=keepdims)

    return _reduction(call, name, compute)


def truth(name: str, compute: Callable[..., Any]):
    """Return whether items are true."""

    def call(
        x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True
    ) -> Any:
        return compute(name, x, axis=axis, out=out, keepdims=keepdims, where=where)

    return _reduction(call, name, compute)


def mean(name: str, compute: Callable[..., Any]):
    """Return a mean."""

    def call(
        x: Any,
        /,
        axis: Axis = None,
        dtype: DType = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Any:
        return compute(name, x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)

    return _reduction(call, name, compute)


def spread(name: str, compute: Callable[..., Any]):
    """Return a variance, or its root."""

    def call(
        x: Any,
        /,
        axis: Axis = None,
        dtype: DType = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
        correction: float | None = None,
    ) -> Any:
        return compute(
            name,
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            ddof=ddof,
            keepdims=keepdims,
            where=where,
            mean=mean,
            correction=correction,
        )

    return _reduction(
        call,
        name,
        compute,
        " correction, ddof: what the count is reduced by. mean: the means, if they are known.",
    )
