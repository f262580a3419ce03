"""NumPy's protocols: its ufuncs and functions on our arrays are ours.

In: a ufunc or a function of NumPy, and its arguments. Out: what our function gives. Other functions raise
    TypeError: nothing is decoded as a whole behind the user's back.
Source: NumPy, NEP 13 (`__array_ufunc__`) and NEP 18 (`__array_function__`).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.methods import namespace
from coquina.arrays.operands import as_numpy
from coquina.expressions.assignment import assign_same
from coquina.expressions.evaluation import evaluate
from coquina.expressions.functions import FUNCTIONS, WEAK_TYPES, as_node, types_of

if TYPE_CHECKING:
    import numpy.typing as npt

#: Reductions of ufuncs (`np.add.reduce`) and what they are called here.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}
#: ufuncs that are not functions of single items, or have two results.
_OTHERS = frozenset(("divmod", "modf", "frexp", "matmul", "vecdot"))

_LIST = """
all allclose amax amin angle any argmax argmin argsort argwhere around array_equal astype atleast_1d
atleast_2d atleast_3d average bincount broadcast_arrays broadcast_to can_cast clip column_stack concat
concatenate count_nonzero cumprod cumsum cumulative_prod cumulative_sum diagonal diff digitize dot dstack
einsum empty_like expand_dims extract fix flatnonzero flip fliplr flipud full_like histogram
histogram_bin_edges hstack imag inner isclose iscomplex isin isreal kron matrix_transpose max mean median
meshgrid min moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
nanpercentile nanprod nanquantile nanstd nansum nanvar ndim nonzero ones_like outer pad percentile
permute_dims prod ptp quantile ravel real repeat reshape result_type roll rollaxis rot90 round searchsorted
shape size sort split squeeze stack std sum swapaxes take take_along_axis tensordot tile trace transpose tril
triu unique unique_all unique_counts unique_inverse unique_values unstack var vdot vstack where zeros_like
"""

#: Functions of NumPy that work on our arrays: those of coquina that have the same name and meaning.
NUMPY_FUNCTIONS = frozenset(_LIST.split())

#: Names that NumPy has for functions that are called otherwise here.
OTHER_NAMES = {
    "amax": "max",
    "amin": "min",
    "around": "round",
}


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do what NumPy's `ufunc.method(*inputs, **kwargs)` says."""
    out = kwargs.pop("out", None)
    name = ufunc.__name__
    if method == "__call__":
        where = kwargs.pop("where", True)
        result = _called(ufunc, inputs, kwargs)
        if where is not True and result is not NotImplemented:
            result = _chosen(ufunc, where, result, out)
    elif method == "reduce" and name in _REDUCTIONS:
        axis = kwargs.pop("axis", 0)
        result = getattr(namespace(), _REDUCTIONS[name])(inputs[0], axis=axis, **_present(kwargs))
    elif method == "accumulate" and name in _ACCUMULATIONS:
        axis = kwargs.pop("axis", 0)
        result = getattr(namespace(), _ACCUMULATIONS[name])(inputs[0], axis=axis, **_present(kwargs))
    else:
        return NotImplemented
    if result is NotImplemented or out is None:
        return result
    results = cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)
    given = [_put(target, value, name) for target, value in zip(out, results, strict=True)]
    return given[0] if ufunc.nout == 1 else tuple(given)


def _present(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that are given: NumPy passes on what was None."""
    return {name: value for name, value in kwargs.items() if value is not None}


def _called(ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = ufunc.__name__
    is_known = name in FUNCTIONS and ufunc in (FUNCTIONS[name].apply, getattr(np.strings, name, None))
    if not is_known and name not in _OTHERS:
        return NotImplemented
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    kwargs.pop("subok", None)
    if kwargs.pop("order", "K") not in ("K", "A", "C") or kwargs:
        raise TypeError(
            f"{name} of compressed arrays takes of the ufunc options only 'out', 'dtype', 'where', 'casting'"
        )
    if dtype is not None:
        inputs = _as_dtype(ufunc, inputs, dtype, casting)
    return evaluate(FUNCTIONS[name], *inputs) if is_known else getattr(namespace(), name)(*inputs)


def _chosen(ufunc: np.ufunc, where: Any, result: Any, out: Any) -> Any:
    """Return a result where `where` is true; elsewhere what is in `out`, or zeros: NumPy has anything."""
    if ufunc.nout > 1:
        raise TypeError(f"{ufunc.__name__} of compressed arrays has several results, and takes no 'where'")
    stays = result.dtype.type() if out is None or out[0] is None else out[0]
    return namespace().where(where, result, stays)


def _as_dtype(ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: Any, casting: Any) -> tuple[Any, ...]:
    """Return the operands as the loop for a result of `dtype` takes them."""
    nodes = [None if type(x) in WEAK_TYPES else as_node(x) for x in inputs]
    signature = (*(None,) * ufunc.nin, *(np.dtype(dtype),) * ufunc.nout)
    missing = (None,) * ufunc.nout
    loop = cast("Any", ufunc).resolve_dtypes(
        (*types_of(inputs, nodes), *missing), signature=signature, casting=casting
    )
    return tuple(
        [
            np.asarray(x, loop[at]) if node is None else namespace().astype(x, loop[at])
            for at, (x, node) in enumerate(zip(inputs, nodes, strict=True))
        ]
    )


def _put(target: Any, value: Any, name: str) -> Any:
    """Write a result where `out` says."""
    if target is None:
        return value
    if isinstance(target, np.ndarray):
        items = as_numpy(value)
        array = cast("npt.NDArray[Any]", target)
        np.copyto(array, items, casting="same_kind")
        return array
    if assign_same(target, value, name) is not target:
        raise TypeError("out: an expression cannot be written to")
    return target


def _size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    shape = a.shape
    if axis is None:
        return prod(shape)
    return prod([shape[one] for one in (axis if isinstance(axis, tuple) else (axis,))])


def _shape(a: Any) -> tuple[int, ...]:
    return a.shape


def _ndim(a: Any) -> int:
    return len(a.shape)


#: What NumPy asks of an array that has it as an attribute.
_FACTS: dict[str, Callable[..., Any]] = {"ndim": _ndim, "shape": _shape, "size": _size}


def array_function(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do what NumPy's `func(*args, **kwargs)` says, if it is a function of the list."""
    name = func.__name__
    is_listed = name in NUMPY_FUNCTIONS and getattr(func, "__module__", "") == "numpy"
    if is_listed and name in _FACTS:
        return _FACTS[name](*args, **kwargs)
    ours: Any = getattr(namespace(), OTHER_NAMES.get(name, name), None) if is_listed else None
    if ours is None:
        raise TypeError(
            f"numpy.{name} does not take compressed arrays; coquina.expressions.protocols.NUMPY_FUNCTIONS "
            "lists those that do. For this one decode the array: numpy.asarray(a), or a[...]"
        )
    return _called_by_name(func, ours, args, kwargs)


def _called_by_name(
    func: Callable[..., Any], ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call ours, giving by name what it does not take by place, as NumPy's `func` does."""
    kinds = [parameter.kind for parameter in signature(ours).parameters.values()]
    count = len(args)
    if Parameter.VAR_POSITIONAL not in kinds:
        count = sum([kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds])
    if len(args) > count:
        names = list(signature(func).parameters)[count:]
        kwargs = kwargs | dict(zip(names, args[count:], strict=False))
    return ours(*args[:count], **kwargs)
