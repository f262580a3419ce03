"""Plain NumPy code as one expression: it is run with operands that remember what is done to them.

In: a function written for NumPy arrays, and arrays of ours. Out: the expression of all that it computes.
Invariant: what cannot be written down that way is an error that says where; nothing is decoded instead.
"""

from __future__ import annotations

from functools import update_wrapper
from os import sep
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from coquina._core import CoquinaError
from coquina.arrays.methods import Methods
from coquina.arrays.operators import Operators
from coquina.arrays.results import is_tiny, stored
from coquina.arrays.views import View, view_of
from coquina.expressions.evaluation import evaluate
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node, power_function
from coquina.expressions.protocols import NUMPY_FUNCTIONS, array_ufunc

if TYPE_CHECKING:
    from collections.abc import Callable


class TraceError(CoquinaError, TypeError):
    """A function that is no expression: it wants the values of its operands, or changes them.

    >>> import coquina as cq
    >>> @cq.traced
    ... def branching(x):
    ...     return x if x > 0 else -x
    >>> try:
    ...     branching(cq.zeros(100_000))
    ... except cq.TraceError as error:
    ...     print(type(error).__name__)
    TraceError
    """


_METHODS = frozenset(
    name for name, value in vars(Methods).items() if callable(value) and not name.startswith("_")
) - {"item", "to_device", "tolist"}
_SKIPPED = tuple([f"{Path(file).parent}{sep}" for file in (__file__, np.__file__)])


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn plain NumPy code into a function of compressed arrays that returns one expression.

    The function is called with stand-ins for its array arguments. Elementwise functions of NumPy (`np.sin`,
    `np.where`, `np.clip`, operators, `astype`), constant keys, and functions that move values
    (`np.transpose`, `np.concatenate`, ...) become parts of the expression. Functions of all values are
    computed during the call: reductions (`np.sum`, `x.max()`), which return NumPy's numbers and arrays, and
    `np.sort`, `@` and the like. Small arrays are computed at once.

    Raises TraceError, a TypeError with the line, for other code: `if x > 0`, `float(x)`, loops over elements,
    `x[i] = ...`, `x += ...`, `out=`, keys that depend on values, functions of NumPy that are not listed in
    `coquina.expressions.protocols`, and functions of other packages, including coquina's.

    >>> import coquina as cq, numpy as np
    >>> @cq.traced
    ... def normalized(x):
    ...     return np.where(x < 0, 0, x) / np.max(x)
    >>> normalized(cq.linspace(-1.0, 2.0, 100_000))
    <Expr (100000,) float64: where((x0 < 0.0), 0.0, x0) / 2.0>
    """
    if not callable(cast("Any", function)):
        raise TypeError(f"traced takes a function, not a {type(function).__name__}")
    name = getattr(function, "__name__", type(function).__name__)

    def run(*args: Any, **kwargs: Any) -> Any:
        if _contains_traced((args, kwargs)):
            return function(*args, **kwargs)
        try:
            found = function(*_each(_entering, args), **_each(_entering, kwargs))
        except TraceError as error:
            error.args = (f"{name} cannot be traced: {error}{_place(error, function)}",)
            raise
        return _each(_leaving, found)

    return update_wrapper(run, function)


class Traced(NDArrayOperatorsMixin):
    """What stands for an array while a function is traced."""

    __slots__ = ("array",)
    __hash__ = object.__hash__  # type: ignore[assignment]  # as expressions: `==` compares items

    def __init__(self, array: Any) -> None:
        """Stands for an array, an expression, or a view."""
        self.array = array

    @property
    def node(self) -> NoReturn:
        """Asked for by functions of coquina. Raises TraceError."""
        _refuse("a traced array meets coquina itself; use NumPy's functions, and pass arrays as arguments")

    @property
    def shape(self) -> tuple[int, ...]:
        """Items along each axis."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the items."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many items."""
        return self.array.size

    @property
    def itemsize(self) -> int:
        """Bytes of an item."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the items."""
        return self.array.nbytes

    @property
    def T(self) -> Any:
        """With the axes in the reverse order."""
        return _wrapped(self.array.T)

    @property
    def mT(self) -> Any:
        """With the last two axes exchanged."""
        return _wrapped(self.array.mT)

    @property
    def real(self) -> Any:
        """The real parts."""
        return _wrapped(self.array.real)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return _wrapped(self.array.imag)

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's methods that expressions have too."""
        if name in _METHODS:
            return lifted(getattr(self.array, name))
        if not name.startswith("_") and hasattr(np.ndarray, name):
            _refuse(f".{name} is asked for, which needs the items or changes them")
        raise AttributeError(f"arrays have no attribute {name!r}")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Write down a ufunc."""
        if kwargs.get("out") is not None:
            _refuse("items are assigned to, by out= or an operator like +=; expressions are new: x = x + ...")
        if kwargs.get("where", True) is not True:
            _refuse(f"numpy.{ufunc.__name__} with where=; numpy.where chooses items")
        found = array_ufunc(ufunc, method, _each(_unwrapped, inputs), _each(_unwrapped, kwargs))
        if found is NotImplemented:
            called = "" if method == "__call__" else f".{method}"
            _refuse(f"the ufunc {ufunc.__name__}{called} is no function of expressions")
        return _each(_wrapped, found)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Write down, or compute, a function of NumPy."""
        name, module = func.__name__, getattr(func, "__module__", "numpy")
        if module != "numpy" or name not in NUMPY_FUNCTIONS:
            _refuse(f"{module}.{name} is no function of expressions")
        if kwargs.get("out") is not None:
            _refuse("items are assigned to, by out=")
        return lifted(func)(*args, **kwargs)

    def __pow__(self, other: Any) -> Any:
        """Return `self ** other`, with NumPy's squares and roots."""
        # NumPy squares, and takes roots, in place of some powers.
        function = power_function(self.dtype, other) if type(other) in (int, float) else None
        if function is None:
            return np.power(cast("Any", self), other)
        return _wrapped(evaluate(function, self.array))

    def __getitem__(self, key: Any) -> Any:
        """Return a part, which is read when it is needed."""
        if _contains_traced(key):
            _refuse("a key depends on values; numpy.where chooses items")
        array = self.array
        return _wrapped(array.view(key) if isinstance(array, View) else view_of(array, key))

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return len(self.array)

    def __repr__(self) -> str:
        """Say shape and dtype."""
        return f"<traced {self.shape} {self.dtype}>"

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        """Raise TraceError."""
        _refuse("items are assigned to")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        """Raise TraceError."""
        _refuse("its items are asked for, by a function that is not among those of expressions")

    def __iter__(self) -> NoReturn:
        """Raise TraceError."""
        _refuse("a loop over items, or unpacking; parts are x[0], x[1], ...")

    def __contains__(self, item: Any) -> NoReturn:
        """Raise TraceError."""
        _refuse("'in' depends on values; numpy.any is computed while tracing")

    def __bool__(self) -> NoReturn:
        """Raise TraceError."""
        _refuse("'if', 'and', 'or', 'not' or 'while' depends on values; numpy.where chooses items")

    def __int__(self) -> NoReturn:
        """Raise TraceError."""
        _refuse("int() of an array")

    def __index__(self) -> NoReturn:
        """Raise TraceError."""
        _refuse("an array is used as an index or a length")

    def __float__(self) -> NoReturn:
        """Raise TraceError."""
        _refuse("float() of an array, or a function of one number; numpy has it for arrays")

    def __complex__(self) -> NoReturn:
        """Raise TraceError."""
        _refuse("complex() of an array")


def _refuse(what: str) -> NoReturn:
    raise TraceError(what)


def is_traced(x: Any) -> bool:
    """Whether `x` stands for an array in a function that is being traced."""
    return isinstance(x, Traced)


def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of what stands for arrays, of one of the arrays themselves."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return _each(_wrapped, function(*_each(_unwrapped, args), **_each(_unwrapped, kwargs)))

    return call


def _each(change: Callable[[Any], Any], x: Any) -> Any:
    """Return `x` with `change` made to all that is in it: in lists, tuples, and dictionaries."""
    if isinstance(x, dict):
        return {key: _each(change, value) for key, value in cast("dict[Any, Any]", x).items()}
    if not isinstance(x, (list, tuple)):
        return change(x)
    values = [_each(change, value) for value in cast("list[Any]", x)]
    if isinstance(x, list):
        return values
    make: Any = getattr(cast("Any", x), "_make", tuple)  # of named tuples
    return make(values)


def _contains_traced(x: Any) -> bool:
    found: list[bool] = []
    _each(lambda value: found.append(is_traced(value)), x)
    return any(found)


def _unwrapped(x: Any) -> Any:
    return x.array if isinstance(x, Traced) else x


def _wrapped(x: Any) -> Any:
    return Traced(x) if isinstance(x, Operators) else x


def _entering(x: Any) -> Any:
    """Return what stands for an argument: for arrays of any kind, and datasets."""
    if isinstance(x, Operators):
        return Traced(x)
    if isinstance(x, np.generic) or not all(hasattr(x, name) for name in ("shape", "dtype", "__getitem__")):
        return cast("Any", x)
    return Traced(Expr(as_node(x)))


def _leaving(x: Any) -> Any:
    """Return what a part of the result stands for: an array if it is small, else an expression."""
    array: Any = _unwrapped(x)
    if not (is_traced(x) and isinstance(array, View)):
        return array
    return stored(np.asarray(array)) if is_tiny(array) else Expr(as_node(array))


def _place(error: TraceError, function: Callable[..., Any]) -> str:
    """Return the line of the user's code that is at fault."""
    frames = [one for one in extract_tb(error.__traceback__) if not one.filename.startswith(_SKIPPED)]
    code = getattr(function, "__code__", None)
    own = [one for one in frames if code is not None and one.filename == code.co_filename]
    if not frames:
        return ""
    at = (own or frames)[-1]
    return f" ({at.filename}, line {at.lineno}{f': {at.line}' if at.line else ''})"


__all__ = ["TraceError", "traced"]
