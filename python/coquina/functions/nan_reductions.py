"""Reductions that pass over NaN: `nansum`, `nanmean`, `nanmin` and the like.

In and out: as the functions of `reductions` without "nan". Source: NumPy's functions of these names, whose
errors and warnings these are too. For dtypes without NaN they are those functions.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina import function_signatures as signatures
from coquina.arrays.methods import given
from coquina.arrays.operands import as_numpy, source_of
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.function_signatures import extreme, place, spread, total
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


nansum = total("nansum", _sum_or_product)
nanprod = total("nanprod", _sum_or_product)


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


nanmin = extreme("nanmin", _extreme)
nanmax = extreme("nanmax", _extreme)


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


nanargmin = place("nanargmin", _place)
nanargmax = place("nanargmax", _place)


def _mean(name: str, x: Any, axis: Axis, dtype: DType, out: Any, keepdims: bool, where: Any) -> Any:
    del name
    if is_small(x, where):
        options = given(dtype=dtype)
        return by_numpy(np.nanmean, x, out, axis=axis, keepdims=keepdims, where=where, **options)
    if not _has_nan(x):
        return reductions.mean(x, axis, dtype, out, keepdims, where=where)
    reduction = Reduction(np.nanmean, x, axis, keepdims=keepdims, **given(dtype=dtype))
    total, count = _total(reduction, where)
    if (count == 0).any():
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=3)
    with np.errstate(all="ignore"):
        total = total.astype(np.result_type(total.dtype, reduction.dtype), copy=False)
        found = np.asarray(np.true_divide(total, count)).astype(reduction.dtype, copy=False)
    return reduction.finish(found, out)


nanmean = signatures.mean("nanmean", _mean)


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


def _spread(name: str, x: Any, axis: Axis, dtype: DType, out: Any, keepdims: bool, **options: Any) -> Any:
    """Return variances, or their roots. options: ddof, where, mean, correction."""
    where, mean = options["where"], options["mean"]
    if is_small(x, where, mean):
        options["mean"] = None if mean is None else as_numpy(mean)
        return by_numpy(
            getattr(np, name), x, out, axis=axis, keepdims=keepdims, **given(dtype=dtype, **options)
        )
    if not _has_nan(x):
        plain = reductions.var if name == "nanvar" else reductions.std
        return plain(x, axis, dtype, out, keepdims=keepdims, **options)
    reduction = Reduction(getattr(np, name), x, axis, keepdims=keepdims, **given(dtype=dtype))
    less = reductions.less_of(options["ddof"], options["correction"])
    found = _variance(reduction, less, where, mean)
    if name == "nanstd":
        found = np.sqrt(found).astype(reduction.dtype, copy=False)
    return reduction.finish(found, out)


nanvar = spread("nanvar", _spread)
nanstd = spread("nanstd", _spread)


__all__ = ["nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]
