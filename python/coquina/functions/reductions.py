"""Reductions: sums, products, means, variances, extremes and their places, truth, counts.

In: an array, an expression, or what NumPy takes; NumPy's options, or those of the Array API standard. Out:
    NumPy's result, a scalar or an array of its dtype and shape; an `Array` in memory for more than 64 MiB.
Source: NumPy's functions of these names, whose errors and warnings these are too, but for those of overflow.
Sums of float32 and float16 are taken in higher precision and rounded once: they are closer than NumPy's. The
order of operations depends on shapes alone, so the result has the same bits for any number of threads.
"""

from __future__ import annotations

import builtins
import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import function_signatures as signatures
from coquina.arrays.methods import given
from coquina.arrays.operands import as_numpy, source_of
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.function_signatures import extreme, place, spread, total, truth
from coquina.functions.reducing import Reduction, by_numpy, is_kernel_type, is_small

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.expressions.nodes import Node
    from coquina.functions.reducing import Axis

    DType = npt.DTypeLike | None

#: Integers of fewer bytes are summed exactly for a mean.
_EXACT_BYTES = 8
_EXACT_COUNT = 1 << 31


def _sum_or_product(
    name: str, x: Any, axis: Axis, dtype: DType, out: Any, keepdims: bool, initial: Any, where: Any
) -> Any:
    function = getattr(np, name)
    if is_small(x, where):
        options = given(dtype=dtype, initial=initial)
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims, where=where, **options)
    reduction = Reduction(function, x, axis, keepdims=keepdims, **given(dtype=dtype))
    found = reduction.total(name, reduction.dtype, where)
    if initial is not None:
        combine = np.add if name == "sum" else np.multiply
        found = combine(found, np.asarray(initial).astype(found.dtype))
    return reduction.finish(found, out)


sum = total("sum", _sum_or_product)
prod = total("prod", _sum_or_product)


def _extreme(name: str, x: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    function = getattr(np, name)
    options = given(initial=initial)
    if is_small(x, where):
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims, where=where, **options)
    mask: dict[str, Any] = {} if where is True else {"where": np.True_}
    reduction = Reduction(function, x, axis, keepdims=keepdims, **options, **mask)
    node = reduction.node
    if where is not True:
        node = reduction.masked(node, where, initial)
    found = reduction.fold(name, node)[0].astype(reduction.dtype, copy=False)
    if initial is not None:
        combine = np.minimum if name == "min" else np.maximum
        found = combine(found, np.asarray(initial).astype(found.dtype))
    return reduction.finish(found, out)


min = extreme("min", _extreme)
max = extreme("max", _extreme)


def ptp(x: Any, /, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the distances between the largest and the smallest items along axes. As `numpy.ptp`.

    >>> import coquina as cq
    >>> cq.ptp([1, 5, 3])
    np.int64(4)
    """
    if is_small(x):
        return by_numpy(np.ptp, x, out, axis=axis, keepdims=keepdims)
    reduction = Reduction(np.ptp, x, axis, keepdims=keepdims)
    with np.errstate(all="ignore"):
        return reduction.finish(np.subtract(reduction.fold("max")[0], reduction.fold("min")[0]), out)


def _place(name: str, x: Any, axis: int | None, out: Any, keepdims: bool) -> Any:
    function = getattr(np, name)
    if is_small(x):
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims)
    reduction = Reduction(function, x, axis, keepdims=keepdims)
    return reduction.finish(reduction.fold(name)[0].astype(np.intp, copy=False), out)


argmin = place("argmin", _place)
argmax = place("argmax", _place)


def _truth(name: str, x: Any, axis: Axis, out: Any, keepdims: bool, where: Any) -> Any:
    function = getattr(np, name)
    if is_small(x, where):
        return by_numpy(function, x, out, axis=axis, keepdims=keepdims, where=where)
    reduction = Reduction(function, x, axis, keepdims=keepdims)
    node = reduction.node
    if where is not True:
        node = reduction.masked(cast_node(node, np.dtype(np.bool_)), where, name == "all")
    return reduction.finish(reduction.fold(name, node)[0].astype(np.bool_, copy=False), out)


any = truth("any", _truth)
all = truth("all", _truth)


def count_nonzero(x: Any, /, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return how many items along axes are not zero. As `numpy.count_nonzero`.

    >>> import coquina as cq
    >>> cq.count_nonzero([0, 1, 2])
    np.int64(2)
    """
    if is_small(x):
        return by_numpy(np.count_nonzero, x, axis=axis, keepdims=keepdims)
    reduction = Reduction(np.count_nonzero, x, axis, keepdims=keepdims)
    return reduction.finish(reduction.fold("count_nonzero")[0].astype(np.intp, copy=False))


def _mean(name: str, x: Any, axis: Axis, dtype: DType, out: Any, keepdims: bool, where: Any) -> Any:
    del name
    if is_small(x, where):
        return by_numpy(np.mean, x, out, axis=axis, keepdims=keepdims, where=where, **given(dtype=dtype))
    reduction = Reduction(np.mean, x, axis, keepdims=keepdims, **given(dtype=dtype))
    return reduction.finish(mean_of(reduction, where), out)


mean = signatures.mean("mean", _mean)


def mean_of(reduction: Reduction, where: Any = True) -> npt.NDArray[Any]:
    """Return the means of the kept axes. Warns as NumPy does where there are no items."""
    count = reduction.counted(where)
    if np.any(np.equal(count, 0)):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=4)
    dtype, node = reduction.dtype, reduction.node
    if where is not True or dtype.kind not in "fc" or not is_kernel_type(node.dtype):
        # float16 has its sums in float32, so that these do not overflow.
        wide = np.dtype(np.float32) if dtype == np.float16 else dtype
        total = reduction.total("sum", wide, where)
    elif node.dtype.kind in "biu":
        is_exact = node.dtype.itemsize < _EXACT_BYTES and reduction.count < _EXACT_COUNT
        total = reduction.fold("sum" if is_exact else "mean")[0]
    else:
        is_real = node.dtype.kind == "c" and dtype.kind != "c"
        total = reduction.fold("sum", cast_node(node, dtype) if is_real else node)[0]
    with np.errstate(all="ignore"):
        # As a complex number, if such are wanted: what that makes of infinite ones differs.
        total = total.astype(np.result_type(total.dtype, dtype), copy=False)
        return np.asarray(np.true_divide(total, count)).astype(dtype, copy=False)


def _spread(name: str, x: Any, axis: Axis, dtype: DType, out: Any, keepdims: bool, **options: Any) -> Any:
    """Return variances, or their roots. options: ddof, where, mean, correction."""
    where, mean = options["where"], options["mean"]
    if is_small(x, where, mean):
        options["mean"] = None if mean is None else as_numpy(mean)
        return by_numpy(
            getattr(np, name), x, out, axis=axis, keepdims=keepdims, **given(dtype=dtype, **options)
        )
    reduction = Reduction(getattr(np, name), x, axis, keepdims=keepdims, **given(dtype=dtype))
    found = _variance(reduction, less_of(options["ddof"], options["correction"]), where, mean, dtype)
    if name == "std":
        found = np.sqrt(found).astype(reduction.dtype, copy=False)
    return reduction.finish(found, out)


var = spread("var", _spread)
std = spread("std", _spread)


def less_of(ddof: float, correction: float | None) -> float:
    """Return what a count is reduced by. Raises ValueError if both are given."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _variance(reduction: Reduction, less: float, where: Any, mean: Any, dtype: DType) -> npt.NDArray[Any]:
    """Return the variances of the kept axes. Warns as NumPy does where there are too few items."""
    count = reduction.counted(where)
    if np.any(np.greater_equal(less, count)):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
    node = reduction.node
    if where is True and mean is None and reduction.dtype.kind == "f" and is_kernel_type(node.dtype):
        squares = reduction.fold("moments")[2]
    else:
        squares = _squares(reduction, where, mean, dtype)
    return np.asarray(np.true_divide(squares, np.maximum(count - less, 0))).astype(
        reduction.dtype, copy=False
    )


def _squares(reduction: Reduction, where: Any, mean: Any, dtype: DType) -> npt.NDArray[Any]:
    """Return the sums of the squares of the distances from the mean, in two passes as NumPy takes them."""
    node = reduction.node
    if mean is None:
        total = Reduction(np.mean, node, axes_of(reduction), **given(dtype=dtype))
        mean = mean_quietly(total, where).reshape(reduction.full)
    apart = call(FUNCTIONS["subtract"], node, mean)
    square = squared(apart)
    inner = Reduction(np.sum, square, axes_of(reduction), **given(dtype=dtype))
    wide = np.dtype(np.float32) if inner.dtype == np.float16 else inner.dtype
    return inner.total("sum", wide, where)


def axes_of(reduction: Reduction) -> tuple[int, ...]:
    """Return the numbers of the reduced axes."""
    return tuple([at for at, is_reduced in enumerate(reduction.is_reduced) if is_reduced])


def mean_quietly(reduction: Reduction, where: Any) -> npt.NDArray[Any]:
    """Return means without a word about those of no items."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return mean_of(reduction, where)


def squared(apart: Node) -> Node:
    """Return the node of the squares of the absolute values."""
    if apart.dtype.kind != "c":
        return call(FUNCTIONS["multiply"], apart, apart)
    product = call(FUNCTIONS["multiply"], apart, call(FUNCTIONS["conjugate"], apart))
    return call(FUNCTIONS["real"], product)


def average(
    x: Any, /, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the weighted means along axes, and the sums of the weights if `returned`. As `numpy.average`.

    >>> import coquina as cq
    >>> cq.average([1, 2], weights=[3, 1])
    np.float64(1.25)
    """
    if is_small(x, weights):
        given = None if weights is None else as_numpy(weights)
        return np.average(
            as_numpy(x), axis=cast("Any", axis), weights=given, returned=returned, keepdims=keepdims
        )
    if weights is None:
        found = mean(x, axis, keepdims=keepdims)
        if not returned:
            return found
        size = int(np.prod(source_of(x).shape, dtype=object))
        shape = np.shape(found)
        count = np.asarray(found).dtype.type(size / builtins.max(int(np.prod(shape)), 1))
        return found, (np.full(shape, count) if shape else count)
    node = as_node(x)
    weight = _weights(weights, node, axis)
    types = [node.dtype, weight.dtype, *([np.dtype(np.float64)] if node.dtype.kind in "biu" else [])]
    dtype = np.result_type(*types)
    total = sum(weight, axis, dtype, keepdims=keepdims)
    if np.any(np.equal(total, 0.0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    product = call(FUNCTIONS["multiply"], cast_node(node, dtype), cast_node(weight, dtype))
    found = sum(product, axis, keepdims=keepdims) / total
    return (found, np.broadcast_to(total, np.shape(found)).copy()[()]) if returned else found


def _weights(weights: Any, node: Node, axis: Axis) -> Node:
    """Return weights for each item, or raise what NumPy raises."""
    weight = as_node(weights)
    if weight.shape == node.shape:
        return weight
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = np.lib.array_utils.normalize_axis_tuple(axis, len(node.shape), argname="axis")
    if weight.shape != tuple([node.shape[at] for at in axes]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    values = as_numpy(weights).transpose(np.argsort(axes))
    shape = [size if at in axes else 1 for at, size in enumerate(node.shape)]
    return as_node(values.reshape(shape))


__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "average",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]
