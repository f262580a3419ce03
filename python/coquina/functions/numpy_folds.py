"""Reductions by NumPy: the way of the dtypes that the engine has no folds of.

In: a node, the name of a fold, and which axes are reduced. Out: values of the kept axes.
Invariant: partial results are combined in the order of the boxes, which depends on shapes alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.arrays.regions import boxes
from coquina.expressions import engine
from coquina.expressions.nodes import Boxes, Leaf
from coquina.expressions.reference import postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.expressions.nodes import Node, Region

    Values = npt.NDArray[Any]

_BOX_BYTES = 16 << 20

#: How a box is reduced, and how what two boxes gave is combined.
_STEPS: dict[str, tuple[Callable[..., Any], np.ufunc]] = {
    "sum": (np.sum, np.add),
    "prod": (np.prod, np.multiply),
    "min": (np.min, np.minimum),
    "max": (np.max, np.maximum),
    "nansum": (np.nansum, np.add),
    "nanprod": (np.nanprod, np.multiply),
    "nanmin": (np.fmin.reduce, np.fmin),
    "nanmax": (np.fmax.reduce, np.fmax),
    "any": (np.any, np.logical_or),
    "all": (np.all, np.logical_and),
    "count_nonzero": (np.count_nonzero, np.add),
}


def _regions(node: Node) -> Iterator[Region]:
    """Yield boxes along the cut of the first operand that has one."""
    chunks: tuple[int, ...] = node.shape
    for one in reversed(postorder(node, boxes=True)):
        found = one.chunks if isinstance(one, Boxes) else None
        if isinstance(one, Leaf):
            found = getattr(one.source, "chunks", None)
        if one.shape == node.shape and found is not None:
            chunks = tuple(found)
            break
    return boxes(node.shape, chunks, node.dtype.itemsize, _BOX_BYTES)


def fold_boxes(node: Node, name: str, is_reduced: tuple[bool, ...]) -> Values:
    """Return the first column of a fold, box by box."""
    axes = tuple([at for at, is_ in enumerate(is_reduced) if is_])
    if name in ("argmin", "argmax"):
        return _places(node, getattr(np, name), is_reduced)
    reduce, combine = _STEPS[name]
    full = tuple([1 if is_ else size for size, is_ in zip(node.shape, is_reduced, strict=True)])
    result: Any = None
    for region in _regions(node):
        part = np.asarray(reduce(engine.read(node, region), axis=axes, keepdims=True))
        if result is None:
            result = np.empty(full, part.dtype)
        pairs = list(zip(region, is_reduced, strict=True))
        target = tuple([slice(0, 1) if is_ else one for one, is_ in pairs])
        is_first = all(one.start == 0 for one, is_ in pairs if is_)
        result[target] = part if is_first else combine(result[target], part)
    kept = [size for size, is_ in zip(node.shape, is_reduced, strict=True) if not is_]
    return cast("Values", result.reshape(kept))


def _places(node: Node, find: Callable[..., Any], is_reduced: tuple[bool, ...]) -> Values:
    """Return places along one axis, or in the flat array."""
    if all(is_reduced):
        found: list[tuple[int, Any]] = []
        for region in _regions(node):
            items = engine.read(node, region)
            first: tuple[Any, ...] = np.unravel_index(int(find(items)), items.shape)
            at = [one.start + int(step) for one, step in zip(region, first, strict=True)]
            found.append((int(np.ravel_multi_index(at, node.shape)) if at else 0, items[first]))
        found.sort(key=lambda pair: pair[0])
        best = find(np.array([item for _, item in found], node.dtype))
        return np.array(found[int(best)][0])
    axis = is_reduced.index(True)
    full = tuple([1 if is_ else size for size, is_ in zip(node.shape, is_reduced, strict=True)])
    places, best = np.zeros(full, np.intp), np.empty(full, node.dtype)
    for region in _regions(node):
        items = engine.read(node, region)
        place = np.expand_dims(find(items, axis=axis), axis)
        target = tuple([slice(0, 1) if at == axis else one for at, one in enumerate(region)])
        item = np.take_along_axis(items, place, axis)
        wins = find(np.stack([best[target], item]), axis=0) == 1
        if region[axis].start == 0:
            wins = np.ones(wins.shape, np.bool_)
        places[target] = np.where(wins, place + region[axis].start, places[target])
        best[target] = np.where(wins, item, best[target])
    return places.reshape([size for size, is_ in zip(node.shape, is_reduced, strict=True) if not is_])
