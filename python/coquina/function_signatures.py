"""The signatures of reductions, each once: functions and methods of arrays are made of them.

In: the name of a row of `function_table.REDUCTIONS`, or of its twin, and what computes it. Out: a function
with NumPy's signature, whose options `compute` gets by keyword, behind the name and the operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from coquina.function_table import REDUCTION_RETURNS

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Axis = int | tuple[int, ...] | None
    DType = npt.DTypeLike | None

F = TypeVar("F", bound="Callable[..., Any]")


def described(call: F, name: str, returns: str, module: str) -> F:
    """Give a function that was made its name, its docstring, and the module where it is found by its name."""
    made: Any = cast("Any", call)
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Return {returns}."
    made.__module__ = module
    return call


def _reduction(call: F, name: str, compute: Any, note: str = "") -> F:
    where = getattr(compute, "__module__", __name__)
    described(call, name, f"{REDUCTION_RETURNS[name]}. As `numpy.{name}`", where)
    cast("Any", call).__doc__ += note
    return call


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
        "\n\n    correction, ddof: what the count is reduced by. mean: the means, if they are known.\n    ",
    )
