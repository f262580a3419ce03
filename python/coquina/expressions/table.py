"""What functions of items do, by `function_table`, and how NumPy types them.

In: the dtypes of operands. Out: the dtypes that a function takes and returns.
Source: NumPy's ufuncs and its promotion (NEP 50): the dtypes are those that `ufunc.resolve_dtypes` answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.function_table import ELEMENTWISE_NAMES, STRINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    #: A dtype, or the type of a Python number, which takes on the dtype of what it meets.
    Operand = np.dtype[Any] | type
    Resolve = Callable[[tuple[Operand, ...]], tuple[np.dtype[Any], ...]]

WEAK_TYPES = frozenset((int, float, complex))


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of items.

    name: as NumPy calls it. arity: how many operands. apply: NumPy's function of arrays.
    kernel: what the engine calls its own loops of it; None if there are none.
    resolve: the dtypes of the operands, or types of Python numbers, to those of the loop: what it takes, and
        last what it returns. Raises what NumPy raises.
    """

    name: str
    apply: Callable[..., Any]
    kernel: str | None
    arity: int
    resolve: Resolve


def of_ufunc(ufunc: np.ufunc, *, output: int = 0, name: str | None = None) -> Function:
    """Return the row of a ufunc, or of one of its outputs, which then has its own name."""
    nin, missing = ufunc.nin, (None,) * ufunc.nout

    def resolve(types: tuple[Operand, ...]) -> tuple[np.dtype[Any], ...]:
        found = cast("Any", ufunc).resolve_dtypes((*types, *missing))
        return (*found[:nin], found[nin + output])

    if ufunc.nout == 1:
        return Function(ufunc.__name__, ufunc, ufunc.__name__, nin, resolve)
    return Function(name or ufunc.__name__, lambda *args: ufunc(*args)[output], None, nin, resolve)


def of_strings(name: str, arity: int) -> Function:
    """Return the row of a function of strings, whose dtype is what it gives for nothing."""

    def apply(*args: Any) -> Any:
        # `numpy.strings` is imported when it is used: it takes a while.
        strings: Any = np.strings
        return strings.find(*args) >= 0 if name == "contains" else getattr(strings, name)(*args)

    def resolve(types: tuple[Operand, ...]) -> tuple[np.dtype[Any], ...]:
        dtypes = tuple(map(np.dtype, types))
        return (*dtypes, apply(*[np.empty(0, dtype) for dtype in dtypes]).dtype)

    return Function(name, apply, None, arity, resolve)


def _resolve_where(types: tuple[Operand, ...]) -> tuple[np.dtype[Any], ...]:
    dtype = result_type(*types[1:])
    return (np.dtype(np.bool_), dtype, dtype, dtype)


def _resolve_part(types: tuple[Operand, ...]) -> tuple[np.dtype[Any], ...]:
    (dtype,) = map(np.dtype, types)
    parts: Any = np.empty(0, dtype)
    return (dtype, parts.real.dtype)


def result_type(*types: Operand) -> np.dtype[Any]:
    """Return NumPy's common dtype, where types of Python numbers are weak."""
    return np.result_type(*[kind(0) if kind in WEAK_TYPES else kind for kind in cast("Iterable[Any]", types)])


def _rows() -> Iterable[Function]:
    # Some have two names of one ufunc.
    named = dict.fromkeys(getattr(np, name) for name in ELEMENTWISE_NAMES)
    yield from (of_ufunc(found) for found in named if isinstance(found, np.ufunc))
    yield of_ufunc(np.modf, name="modf_fraction")
    yield of_ufunc(np.modf, output=1, name="modf_whole")
    yield of_ufunc(np.frexp, name="frexp_mantissa")
    yield of_ufunc(np.frexp, output=1, name="frexp_exponent")
    yield from (of_strings(row.name, row.arity) for row in STRINGS)
    yield Function("where", np.where, "where", 3, _resolve_where)
    yield Function("real", np.real, "real", 1, _resolve_part)
    yield Function("imag", np.imag, "imag", 1, _resolve_part)


#: All functions, by the names that NumPy has for them.
FUNCTIONS: dict[str, Function] = {row.name: row for row in _rows()}
FUNCTIONS.update({name: FUNCTIONS[getattr(np, name).__name__] for name in ELEMENTWISE_NAMES})
