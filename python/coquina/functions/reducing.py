"""How a reduction runs: which axes, which fold of the engine, and in which shape the result comes.

In: what NumPy's function got. Out: `Reduction`, whose folds give NumPy arrays of the kept axes, and what is
    returned for them.
Numbers of the engine's types are folded by it, chunk by chunk on all threads: sums of float32 in double
precision, sums of float64 by pairs, in an order that depends on shapes alone. float16 is cast to float32
block by block. What the engine has no numbers for (long doubles, datetimes, strings) is folded by NumPy, box
by box.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina import _core
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import EAGER_BYTES, stored
from coquina.expressions import engine
from coquina.expressions.functions import FUNCTIONS, as_node, call, cast_node
from coquina.functions.numpy_folds import fold_boxes
from coquina.memory import check_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.expressions.nodes import Node

    Values = npt.NDArray[Any]
    Axis = int | tuple[int, ...] | None

#: Larger results are compressed.
RESULT_BYTES_MAX = 64 << 20

#: What sums of a kind of numbers are taken in.
_WIDE = {kind: np.dtype(wide) for kind, wide in zip("biufc", ("i8", "i8", "u8", "f8", "c16"), strict=True)}
_KERNEL_TYPES = frozenset(np.dtype(code) for code in "?bhilqBHILQfdFD")
_FLOAT16 = np.dtype(np.float16)
_FLOAT32 = np.dtype(np.float32)


def is_small(*operands: Any) -> bool:
    """Whether the operands together are so small that NumPy reduces them at once."""
    total = 0
    for x in operands:
        if x is not None and x is not True:
            source = source_of(x)
            total += prod(source.shape) * source.dtype.itemsize
    return total <= EAGER_BYTES


def by_numpy(function: Callable[..., Any], x: Any, out: Any = None, **options: Any) -> Any:
    """Return what NumPy's function gives for the items, or `out` with that in it."""
    if options.get("where", True) is not True:
        options["where"] = as_numpy(options["where"])
    source = source_of(x)
    items = cast("Any", source if isinstance(source, np.ndarray) else source[...])
    if out is None:
        return function(items, **options)
    if isinstance(out, np.ndarray):
        return function(items, out=out, **options)
    return put(out, np.asarray(function(items, **options)))


def put(out: Any, values: Values) -> Any:
    """Write a result to `out`, and return that. Raises ValueError for another shape."""
    if isinstance(out, tuple):
        (out,) = cast("tuple[Any]", out)
    if out.shape != values.shape:
        raise ValueError(f"output parameter of shape {out.shape} for a result of shape {values.shape}")
    out[...] = values.astype(out.dtype, copy=False)
    return out


def is_kernel_type(dtype: np.dtype[Any]) -> bool:
    """Whether the engine folds items of this dtype, or of one that holds them exactly."""
    return dtype.newbyteorder("=") in _KERNEL_TYPES or dtype == _FLOAT16


class Reduction:
    """Items that are reduced along axes.

    node: what is reduced. dtype: of NumPy's result. count: items for each item of the result.
    """

    __slots__ = ("count", "dtype", "is_reduced", "keepdims", "node")

    def __init__(
        self, function: Callable[..., Any], x: Any, axis: Any, *, keepdims: bool = False, **options: Any
    ) -> None:
        """What `function(x, axis, keepdims=keepdims, **options)` reduces. Raises what NumPy raises."""
        self.node: Node = as_node(x)
        ndim, dtype = len(self.node.shape), self.node.dtype
        # What NumPy does with one item says the dtype, and which axes and options are errors.
        few = np.ones if dtype.kind in "biufc" else np.zeros
        found = function(few((1,) * ndim, dtype), axis=axis, **options)
        self.dtype: np.dtype[Any] = np.asarray(found).dtype
        self.keepdims = bool(keepdims)
        # NumPy lets an axis pass that an item without axes has not.
        every = axis is None or not ndim
        axes = range(ndim) if every else np.lib.array_utils.normalize_axis_tuple(cast("Any", axis), ndim)
        self.is_reduced = tuple([at in axes for at in range(ndim)])
        self.count = prod([size for size, is_ in zip(self.node.shape, self.is_reduced, strict=True) if is_])

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of the kept axes."""
        axes = zip(self.node.shape, self.is_reduced, strict=True)
        return tuple([size for size, is_reduced in axes if not is_reduced])

    @property
    def full(self) -> tuple[int, ...]:
        """The shape of the result that broadcasts to what is reduced."""
        axes = zip(self.node.shape, self.is_reduced, strict=True)
        return tuple([1 if is_reduced else size for size, is_reduced in axes])

    def fold(self, name: str, node: Node | None = None) -> list[Values]:
        """Return the columns of a fold of the engine, of `node` in place of the items."""
        node = self.node if node is None else node
        if node.dtype == _FLOAT16:
            found = self.fold(name, cast_node(node, _FLOAT32))
            return [column.astype(_FLOAT16) if column.dtype == _FLOAT32 else column for column in found]
        node = cast_node(node, node.dtype.newbyteorder("="))
        if node.dtype not in _KERNEL_TYPES:
            return [fold_boxes(node, name, self.is_reduced)]
        dtypes = columns_of(name, node.dtype)
        check_memory(prod(self.kept) * sum([dtype.itemsize for dtype in dtypes]), "the result")
        columns: list[Values] = []
        at = 0
        data, _, _ = fold_native(node, name, self.is_reduced)
        for dtype in dtypes:
            column: Values = np.frombuffer(data, dtype, prod(self.kept), at)
            at += column.nbytes
            columns.append(column.reshape(self.kept))
        return columns

    def total(self, name: str, dtype: np.dtype[Any], where: Any = True) -> Values:
        """Return sums or products ("sum", "prod", "nansum", "nanprod") of the items as `dtype`."""
        node = self.node
        if _WIDE.get(node.dtype.kind) != dtype:
            node = cast_node(node, dtype)
        if where is not True:
            node = self.masked(node, where, 0 if name.endswith("sum") else 1)
        with np.errstate(all="ignore"):
            return self.fold(name, node)[0].astype(dtype, copy=False)

    def masked(self, node: Node, where: Any, other: Any) -> Node:
        """Return the node of the items where a mask is true, and of `other` elsewhere."""
        mask = as_node(where)
        if np.broadcast_shapes(mask.shape, node.shape) != node.shape:
            raise ValueError(f"where of shape {mask.shape} does not broadcast to {node.shape}")
        if mask.dtype != np.bool_:
            raise TypeError(f"where of dtype {mask.dtype}: takes bool")
        return call(FUNCTIONS["where"], mask, node, np.asarray(other).astype(node.dtype))

    def counted(self, where: Any) -> Any:
        """Return how many items a mask lets through."""
        if where is True:
            return self.count
        mask = source_of(where)
        if tuple(mask.shape) == self.node.shape:
            return self.fold("count_nonzero", as_node(where))[0]
        axes = tuple([at for at, is_reduced in enumerate(self.is_reduced) if is_reduced])
        return np.asarray(np.count_nonzero(np.broadcast_to(as_numpy(mask), self.node.shape), axis=axes))

    def finish(self, values: Any, out: Any = None) -> Any:
        """Return values of the kept axes in the shape that is wanted: as a scalar, an array, or in `out`."""
        values = np.asarray(values)
        values = values.reshape(self.full if self.keepdims else self.kept)
        if out is not None:
            return put(out, values)
        if values.ndim == 0:
            return values[()]
        if values.nbytes > RESULT_BYTES_MAX:
            return stored(values)
        return values if values.flags.writeable else values.copy()


def columns_of(name: str, dtype: np.dtype[Any]) -> list[np.dtype[Any]]:
    """Return the dtypes of the columns of a fold of the engine."""
    integer, real = np.dtype(np.int64), np.dtype(np.float64)
    mean = _WIDE["c" if dtype.kind == "c" else "f"]
    match name.removeprefix("nan"):
        case "sum" | "prod":
            return [_WIDE[dtype.kind]]
        case "min" | "max":
            return [dtype]
        case "argmin" | "argmax":
            return [integer, dtype]
        case "any" | "all":
            return [np.dtype(np.bool_)]
        case "count_nonzero":
            return [integer]
        case "mean":
            return [mean, integer]
        case _:
            return [mean, real, real]


def fold_native(node: Node, name: str, is_reduced: tuple[bool, ...]) -> tuple[bytes, int, int]:
    """Fold in the engine: the bytes of the columns, how many chunks, and how many needed no reading."""
    threads = 1 if engine.is_ordered(node) else None
    kind = engine.type_name(node.dtype) or node.dtype.name
    return _core.reduce(engine.lower(node), kind, name, list(is_reduced), threads)
