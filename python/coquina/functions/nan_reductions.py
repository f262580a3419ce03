"""Reductions that pass over NaN: `nansum`, `nanmean`, `nanmin` and the like.

In and out: as the functions of `reductions` without "nan". Source: NumPy's functions of these names, whose
errors and warnings these are too. For dtypes without NaN they are those functions.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.methods import given
from coquina.arrays.operands import as_numpy, source_of
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.functions import reductions
from coquina.functions.reducing import Reduction, by_numpy, is_kernel_type, is_small

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.functions.reducing import Axis

    DType = npt.DTypeLike | None


def _has_nan(x: Any) -> bool:
    return source_of(x).dtype.kind in "fc"


def _numbers(node: Node) -> Node:
    """Return the node of what is a number."""
    return call(FUNCTIONS["logical_not"], call(FUNCTIONS["isnan"], node))


def _filled(node: Node, value: Any) -> Node:
    """Return the node of the items, with `value` for NaN."""
    return call(FUNCTIONS["where"], _numbers(node), node, np.asarray(value).astype(node.dtype))


def _sum_or_product(
    name: str, x: Any, axis: Axis, dtype: DType, out: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    function = getattr(np, name)
    options = given(dtype=dtype, initial=initial)
    if is_small(x, where):
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims, where=where, **options)
    plain = reductions.sum if name == "nansum" else reductions.prod
    if not _has_nan(x) or where is not True or initial is not None:
        node = _filled(as_node(x), int(name == "nanprod")) if _has_nan(x) else x
        return plain(node, axis, out=out, keepdims=keepdims, where=where, **options)
    reduction = Reduction(function, x, axis, keepdims=keepdims, **options)
    if not is_kernel_type(reduction.node.dtype) or reduction.dtype.kind not in "fc":
        return plain(_filled(reduction.node, int(name == "nanprod")), axis, dtype, out, keepdims)
    return reduction.finish(reduction.total(name, reduction.dtype), out)


def nansum(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Return the sums along axes, with NaN as 0. As `numpy.nansum`."""
    return _sum_or_product("nansum", x, axis, dtype, out, keepdims, initial, where)


def nanprod(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Return the products along axes, with NaN as 1. As `numpy.nanprod`."""
    return _sum_or_product("nanprod", x, axis, dtype, out, keepdims, initial, where)


def _extreme(name: str, x: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    function = getattr(np, name)
    options = given(initial=initial)
    if is_small(x, where):
        masks = {} if where is True else {"where": where}
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims, **options, **masks)
    mask: dict[str, Any] = {} if where is True else {"where": np.True_}
    reduction = Reduction(function, x, axis, keepdims=keepdims, **options, **mask)
    node = reduction.node
    if where is not True:
        node = reduction.masked(node, where, initial)
    found = reduction.fold(name, node)[0].astype(reduction.dtype, copy=False)
    if initial is not None:
        combine = np.fmin if name == "nanmin" else np.fmax
        found = combine(found, np.asarray(initial).astype(found.dtype))
    if np.isnan(found).any():
        warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=3)
    return reduction.finish(found, out)


def nanmin(
    x: Any,
    /,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Return the smallest numbers along axes; NaN, with a warning, where all are. As `numpy.nanmin`."""
    return _extreme("nanmin", x, axis, out, keepdims, initial, where)


def nanmax(
    x: Any,
    /,
    axis: Axis = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Return the largest numbers along axes; NaN, with a warning, where all are. As `numpy.nanmax`."""
    return _extreme("nanmax", x, axis, out, keepdims, initial, where)


def _place(name: str, x: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    function = getattr(np, name)
    plain = name.removeprefix("nan")
    if is_small(x):
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims)
    if not _has_nan(x):
        return getattr(reductions, plain)(x, axis, out, keepdims=keepdims)
    reduction = Reduction(function, x, axis, keepdims=keepdims)
    if is_kernel_type(reduction.node.dtype):
        places, best = reduction.fold(name)
        is_nan = np.isnan(best).any()
    else:
        node = reduction.node
        places = reduction.fold(plain, _filled(node, np.inf if plain == "argmin" else -np.inf))[0]
        is_nan = not reduction.fold("any", _numbers(node))[0].all()
    if is_nan:
        raise ValueError("All-NaN slice encountered")
    return reduction.finish(places.astype(np.intp, copy=False), out)


def nanargmin(x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return the first place of the smallest number along an axis, or in the flat array.

    As `numpy.nanargmin`: NaN counts as infinite. Raises ValueError where all are NaN.
    """
    return _place("nanargmin", x, axis, out, keepdims)


def nanargmax(x: Any, /, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return the first place of the largest number along an axis, or in the flat array.

    As `numpy.nanargmax`: NaN counts as minus infinity. Raises ValueError where all are NaN.
    """
    return _place("nanargmax", x, axis, out, keepdims)


def nanmean(
    x: Any,
    /,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """Return the means of the numbers along axes; NaN, with a warning, of none. As `numpy.nanmean`."""
    if is_small(x, where):
        options = given(dtype=dtype)
        return by_numpy(np.nanmean, x, out, axis=axis, keepdims=keepdims, where=where, **options)
    if not _has_nan(x):
        return reductions.mean(x, axis, dtype, out, keepdims, where=where)
    reduction = Reduction(np.nanmean, x, axis, keepdims=keepdims, **given(dtype=dtype))
    total, count = _total(reduction, where)
    if (count == 0).any():
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    with np.errstate(all="ignore"):
        total = total.astype(np.result_type(total.dtype, reduction.dtype), copy=False)
        found = np.asarray(np.true_divide(total, count)).astype(reduction.dtype, copy=False)
    return reduction.finish(found, out)


def _total(reduction: Reduction, where: Any) -> tuple[Any, Any]:
    """Return the sums of the numbers, and how many there are."""
    node, dtype = reduction.node, reduction.dtype
    is_real = node.dtype.kind == "c" and dtype.kind != "c"
    if where is True and is_kernel_type(node.dtype) and not is_real:
        total, count = reduction.fold("nanmean")
        return total, count
    numbers = _numbers(node)
    if where is not True:
        numbers = reduction.masked(numbers, where, other=False)
    filled = Reduction(np.sum, _filled(node, 0), reductions.axes_of(reduction))
    return filled.total("sum", dtype, where), reduction.fold("count_nonzero", numbers)[0]


def _variance(reduction: Reduction, less: float, where: Any, mean: Any) -> npt.NDArray[Any]:
    """Return the variances of the numbers. Warns as NumPy does where there are too few."""
    node = reduction.node
    if where is True and mean is None and is_kernel_type(node.dtype):
        _, count, squares = reduction.fold("nanmoments")
    else:
        if mean is None:
            total, count = _total(Reduction(np.nanmean, node, reductions.axes_of(reduction)), where)
            with np.errstate(all="ignore"):
                mean = np.asarray(np.true_divide(total, count)).astype(total.dtype).reshape(reduction.full)
        numbers = _numbers(node)
        if where is not True:
            numbers = reduction.masked(numbers, where, other=False)
        count = reduction.fold("count_nonzero", numbers)[0]
        square = reductions.squared(call(FUNCTIONS["subtract"], node, mean))
        square = call(FUNCTIONS["where"], numbers, square, np.zeros((), square.dtype))
        wide = np.dtype(np.float32) if reduction.dtype == np.float16 else reduction.dtype
        squares = reduction.fold("sum", cast_node(square, wide))[0]
    freedom = count - less
    with np.errstate(all="ignore"):
        found = np.asarray(np.true_divide(squares, freedom)).astype(reduction.dtype, copy=False)
    if (freedom <= 0).any():
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=3)
        found = np.where(freedom <= 0, found.dtype.type(np.nan), found)
    return found


def nanvar(
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
    """Return the variances of the numbers along axes. As `numpy.nanvar`; see `var` for the options."""
    if is_small(x, where, mean):
        options = given(dtype=dtype, mean=None if mean is None else as_numpy(mean), correction=correction)
        return by_numpy(np.nanvar, x, out, axis=axis, ddof=ddof, keepdims=keepdims, where=where, **options)
    less = reductions.less_of(ddof, correction)
    if not _has_nan(x):
        return reductions.var(x, axis, dtype, out, less, keepdims, where=where, mean=mean)
    reduction = Reduction(np.nanvar, x, axis, keepdims=keepdims, **given(dtype=dtype))
    return reduction.finish(_variance(reduction, less, where, mean), out)


def nanstd(
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
    """Return the standard deviations of the numbers along axes. As `numpy.nanstd`; see `std`."""
    if is_small(x, where, mean):
        options = given(dtype=dtype, mean=None if mean is None else as_numpy(mean), correction=correction)
        return by_numpy(np.nanstd, x, out, axis=axis, ddof=ddof, keepdims=keepdims, where=where, **options)
    less = reductions.less_of(ddof, correction)
    if not _has_nan(x):
        return reductions.std(x, axis, dtype, out, less, keepdims, where=where, mean=mean)
    reduction = Reduction(np.nanstd, x, axis, keepdims=keepdims, **given(dtype=dtype))
    found = np.sqrt(_variance(reduction, less, where, mean))
    return reduction.finish(found.astype(reduction.dtype, copy=False), out)


__all__ = ["nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]
