"""NumPy keys, lowered to what the engine takes: a range or an index list for each axis, and joint points.

In: any key that NumPy takes (`lower`), one index for each axis (`lower_outer`), or coordinates
(`lower_vector`), and the shape of the array. Out: a `Selection`; for writing, the values in its layout.
Source: NumPy, "Indexing on ndarrays". What NumPy refuses is refused with NumPy's own exception.
Invariant: what a `Selection` names lies within the shape; arrays are int64, 1-d and contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from operator import index
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from coquina.index_maps import AxisMap, IntArray, Range, Shape, as_map, joint_dims, layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Item = int | slice[Any, Any, Any] | EllipsisType | npt.NDArray[Any] | None

Kind = Literal["item", "region", "gather", "mask"]

_BASIC = frozenset((int, slice, EllipsisType, type(None)))
_NOTHING = np.zeros((), np.bool_)


@dataclass(slots=True, eq=False)
class Selection:
    """Which elements of an array, and how they are laid out.

    axes: for each axis `(start, step, length)`, an index list, or None where the axis is in `points`.
    points: pairs of an axis and its coordinates, all of one length; None if there are none.
    points_at: how many of the other axes stand before the dimension of the points in the raw result.
    raw_shape: one length for each axis that is not joint, and that of the points. An empty one needs no read.
    shape: what NumPy gives; the raw result reshaped.
    kind: how NumPy treats values assigned to it: one "item" (read as a scalar), a "region" of basic keys, a
        "gather" by arrays, or a single "mask".
    """

    axes: Sequence[Range | IntArray | None]
    points: list[tuple[int, IntArray]] | None
    points_at: int
    raw_shape: Shape
    shape: Shape
    kind: Kind = "region"

    @property
    def is_scalar(self) -> bool:
        """Whether reading gives a NumPy scalar, not an array."""
        return self.kind == "item"

    @property
    def size(self) -> int:
        """How many elements it takes, repeated ones included."""
        return prod(self.raw_shape)


@dataclass(slots=True, eq=False)
class ResolvedKey:
    """A key that has met a shape: checked, but with index arrays not yet broadcast.

    entries: for each axis a range (ints have length 1), or an array that broadcasts within the block.
    dims: for each axis with a slice the dimension of the result that it became, else -1.
    shape: of the result.
    block: the dimensions of the result, from the first up to but without the last, that the arrays span.
    """

    entries: list[Range | IntArray]
    dims: list[int]
    shape: Shape
    block: tuple[int, int] | None
    kind: Kind

    def maps(self) -> list[AxisMap]:
        """Return for each axis on which dimensions of the result its index depends."""
        stop = self.block[1] if self.block else 0
        return [
            as_map((dim,) if isinstance(entry, tuple) else range(stop - entry.ndim, stop), entry)
            for dim, entry in zip(self.dims, self.entries, strict=True)
        ]


def lower(key: Any, shape: Shape) -> Selection:
    """Return what `x[key]` selects for an array `x` of `shape`. Raises what NumPy raises.

    Index arrays that vary independently, as `np.ix_` makes them, become index lists; others are points.
    """
    if type(key) is np.ndarray and key.dtype == np.int64 and key.ndim == len(shape) == 1 and key.size:
        # Rows by their numbers are read so often that what would come of it is said at once.
        entries: list[Range | IntArray] = [key]
        if _wrap(entries, shape):
            rows = np.ascontiguousarray(entries[0])
            axis = rows if len(rows) > 1 else (int(rows[0]), 1, 1)
            return Selection([axis], None, 0, key.shape, key.shape, "gather")
    return _selection(resolve(key, shape))


def lower_vector(key: Any, shape: Shape) -> Selection:
    """Return the selection of single points: integer arrays that broadcast together, or one mask.

    Axes with a slice, or without an index, are taken whole for each point: the dimensions of the points
    stand first in the result, those of the slices follow, wherever the slices stood (as Dask's `vindex`).
    Raises IndexError for None in the key, and what NumPy raises.
    """
    if any(item is None for item in _items(key)):
        raise IndexError("vindex: newaxis (None) is not taken")
    return _selection(resolve(key, shape, is_vector=True))


def lower_outer(key: Any, shape: Shape) -> Selection:
    """Return the selection where each axis is indexed on its own by an int, a slice, a 1-d array or mask.

    The dimensions of the result stand in the order of the axes; ints drop theirs. An Ellipsis, or the end of
    the key, stands for whole axes. Raises IndexError for an index out of bounds, of more than one dimension
    or not an integer, for None, and for more indices than axes.
    """
    whole = slice(None)
    items = _parsed(_items(key), key, shape)
    if any(item is None for item in items):
        raise IndexError("oindex: newaxis (None) is not taken")
    ellipses = [place for place, item in enumerate(items) if item is Ellipsis] or [len(items)]
    before, after = items[: ellipses[0]], items[ellipses[0] + 1 :]
    missing = len(shape) - len(before) - len(after)
    if missing < 0 or len(ellipses) > 1:
        raise _refusal(key if missing < 0 else (..., ...), shape)
    entries: list[Range | IntArray] = []
    final: list[int] = []
    for item in (*before, *(whole,) * missing, *after):
        if isinstance(item, np.ndarray) and item.ndim != 1:
            raise IndexError(f"oindex: axis {len(entries)}: an index of {item.ndim} dimensions, not 1")
        # One axis alone is a key that NumPy knows.
        alone = resolve((*(whole,) * len(entries), item), shape)
        entry = alone.entries[len(entries)]
        entries.append(entry if isinstance(entry, tuple) else np.ascontiguousarray(entry))
        if not isinstance(item, int):
            final.append(_length(entry))
    kind = "gather" if final or len(before) < len(items) else "item"
    return Selection(entries, None, 0, tuple(map(_length, entries)), tuple(final), kind)


def resolve(key: Any, shape: Shape, *, is_vector: bool = False) -> ResolvedKey:
    """Check `key` against `shape`. The arrays' dimensions stand first if `is_vector`, else as in NumPy."""
    items = _items(key)
    if not _BASIC.issuperset(map(type, items)):
        items = _parsed(items, key, shape)
    unnamed, ellipses = _unnamed(items, shape)
    if unnamed < 0 or ellipses > 1:
        raise _refusal(key, shape)
    entries: list[Range | IntArray] = []
    dims: list[int] = []
    final: list[int] = []
    shapes: list[Shape] = []
    for item in items if ellipses else (*items, ...):
        if type(item) is int:
            size = shape[len(entries)]
            start = item + size if item < 0 else item
            if not 0 <= start < size:
                raise _refusal(key, shape)
            entries.append((start, 1, 1))
            dims.append(-1)
        elif type(item) is slice:
            entry = _sliced(item, shape[len(entries)])
            if entry is None:
                raise _refusal(key, shape)
            entries.append(entry)
            dims.append(len(final))
            final.append(entry[2])
        elif item is None:
            final.append(1)
        elif item is Ellipsis:
            for size in shape[len(entries) : len(entries) + unnamed]:
                entries.append((0, 1, size))
                dims.append(len(final))
                final.append(size)
        else:
            arrays, its_shape = _index_arrays(cast("npt.NDArray[Any]", item), shape[len(entries) :])
            if arrays is None:
                raise _refusal(key, shape)
            entries += arrays
            dims += [-1] * len(arrays)
            shapes.append(its_shape)
    if not shapes:
        return ResolvedKey(entries, dims, tuple(final), None, "region" if final or ellipses else "item")
    block = _broadcast(shapes)
    # NumPy does not look at indices that are broadcast to nothing.
    if block is None or (0 not in block and not _wrap(entries, shape)):
        raise _refusal(key, shape)
    kind = "mask" if len(items) == 1 and _is_mask(items[0], shape) else "gather"
    found = ResolvedKey(entries, dims, tuple(final), None, kind)
    return _with_block(found, block, 0 if is_vector else _block_at(items, unnamed))


def _unnamed(items: tuple[Item, ...], shape: Shape) -> tuple[int, int]:
    """Return how many axes no part of a key names, and how often `...` stands in it."""
    unnamed, ellipses = len(shape), 0
    for item in items:
        if type(item) is int or type(item) is slice:
            unnamed -= 1
        elif item is Ellipsis:
            ellipses += 1
        elif item is not None:
            unnamed -= _axis_count(cast("npt.NDArray[Any]", item))
    return unnamed, ellipses


def _with_block(found: ResolvedKey, block: Shape, at: int) -> ResolvedKey:
    """Return a key with the dimensions that its arrays span, from dimension `at` of the result on."""
    shape = (*found.shape[:at], *block, *found.shape[at:])
    dims = [dim + len(block) if dim >= at else dim for dim in found.dims]
    return ResolvedKey(found.entries, dims, shape, (at, at + len(block)), found.kind)


def broadcast_values(value: Any, selection: Selection, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return `value` as NumPy would assign it to the selection: `raw_shape`, `dtype`, C order.

    An array that fits as it is is not copied. Raises ValueError where the shapes do not broadcast, and what
    NumPy raises for values that `dtype` cannot take. `uniform_value` is the way to fill with one value.
    """
    return np.ascontiguousarray(shaped_values(value, selection.shape, dtype, selection.kind)).reshape(
        selection.raw_shape
    )


def uniform_value(value: Any, dtype: np.dtype[Any], kind: Kind = "region") -> npt.NDArray[Any] | None:
    """Return `value` as a 0-d array of `dtype` if it is a single one, which fits any selection; else None.

    kind: of the selection. NumPy's scalars are cast for keys with arrays, and have to fit for others.
    """
    is_single = value.ndim == 0 if isinstance(value, np.ndarray) else np.isscalar(value)
    return shaped_values(value, (), dtype, "region" if kind == "item" else kind) if is_single else None


def shaped_values(value: Any, shape: Shape, dtype: np.dtype[Any], kind: Kind) -> npt.NDArray[Any]:
    """Return `value` broadcast to `shape` as assigning to a selection of `kind` does."""
    if kind in ("gather", "mask"):
        # NumPy makes an array first, whose leading dimensions of length 1 do not count; for basic keys a
        # sequence may not be nested deeper than the region is. Arrays are cast last: not at all for nothing.
        if not isinstance(value, np.ndarray):
            value = np.asarray(value, dtype)
        if kind == "mask" and value.ndim > 1:
            raise TypeError(f"assigning to a mask takes values of 0 or 1 dimensions, not {value.ndim}")
    if isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        if array.shape == shape and array.dtype == dtype and kind != "item":
            return array
    out = np.empty(shape, dtype)
    out[() if kind == "item" else ...] = value
    return out


def _selection(found: ResolvedKey) -> Selection:
    """Choose how the engine is to read a key: lists where the order of the axes allows it, else points."""
    entries = found.entries
    if found.block is None:
        ranges = cast("list[Range]", entries)
        return Selection(ranges, None, 0, tuple([entry[2] for entry in ranges]), found.shape, found.kind)
    if 0 in found.shape:
        nothing: list[Range] = [(0, 1, 0)] * len(entries)
        return Selection(nothing, None, 0, (0,) * max(1, len(entries)), found.shape, found.kind)
    maps = found.maps()
    made = layout(maps, found.shape, joint_dims(maps))
    if made.order != sorted(made.order):
        # NumPy wants the arrays' dimensions elsewhere than their axes are, and only points can be moved.
        made = layout(maps, found.shape, {dim for dim in range(*found.block) if found.shape[dim] != 1})
    return Selection(made.axes, made.points, made.points_at, made.raw_shape, found.shape, found.kind)


def _items(key: Any) -> tuple[Item, ...]:
    return cast("tuple[Item, ...]", key if isinstance(key, tuple) else (key,))


def _parsed(items: Iterable[object], key: Any, shape: Shape) -> tuple[Item, ...]:
    """Return each part of a key as a plain int, a slice, `...`, None, or an array of int64 or bool."""
    return tuple([_parsed_item(item, key, shape) for item in items])


def _parsed_item(item: Any, key: Any, shape: Shape) -> Item:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return cast("Item", item)
    if not isinstance(item, (np.ndarray, list, bool, np.bool_)):
        try:
            return int(index(item))
        except TypeError:
            pass  # Array-likes may have `__index__` and still not be a single integer.
    try:
        array: npt.NDArray[Any] = np.asarray(item)
    except ValueError:
        raise _refusal(key, shape) from None
    if array.size == 0 and not hasattr(cast("Any", item), "dtype"):
        return array.astype(np.int64)  # An empty list says nothing of its type; NumPy takes it for integers.
    if array.dtype.kind not in "biu":
        raise _refusal(key, shape)
    if array.dtype.kind == "b":
        return array
    # As in NumPy, uint64 beyond int64 wraps around in arrays, but not in single integers.
    return array.astype(np.int64, copy=False) if array.ndim else int(array)


def _is_mask(item: Item, shape: Shape) -> bool:
    return isinstance(item, np.ndarray) and item.dtype.kind == "b" and item.shape == shape


def _axis_count(array: npt.NDArray[Any]) -> int:
    return array.ndim if array.dtype.kind == "b" else 1


def _index_arrays(array: npt.NDArray[Any], sizes: Shape) -> tuple[list[IntArray] | None, Shape]:
    """Return an index array for each axis that `array` covers, and their common shape; None if it cannot."""
    if array.dtype.kind != "b":
        return [array], array.shape
    if array.ndim == 0:
        return [], (int(array),)  # No axis: a new dimension of length 1, or 0 for False.
    # As in NumPy, a mask without elements fits any size in the dimensions where it has none.
    if any(own not in (0, size) for own, size in zip(array.shape, sizes, strict=False)):
        return None, ()
    arrays = [where.astype(np.int64, copy=False) for where in array.nonzero()]
    return arrays, arrays[0].shape


def _sliced(item: slice[Any, Any, Any], size: int) -> Range | None:
    try:
        start, stop, step = item.indices(size)
    except (TypeError, ValueError):
        return None
    length = len(range(start, stop, step))
    # Steps of any size are legal; where nothing is stepped over they must not reach the engine.
    return (start, step, length) if length > 1 else (start if length else 0, 1, length)


def _length(entry: Range | IntArray) -> int:
    return entry[2] if isinstance(entry, tuple) else len(entry)


def _broadcast(shapes: list[Shape]) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _wrap(entries: list[Range | IntArray], shape: Shape) -> bool:
    """Count negative indices from the end, in place; return False if one is out of bounds."""
    for axis, (entry, size) in enumerate(zip(entries, shape, strict=True)):
        if isinstance(entry, tuple):
            continue
        low, high = int(entry.min()), int(entry.max())
        if low < -size or high >= size:
            return False
        if low < 0:
            entries[axis] = np.where(entry < 0, entry + size, entry)
    return True


def _block_at(items: Iterable[Item], unnamed: int) -> int:
    """Return where the dimensions of the arrays stand in the result.

    In the place of the arrays where these, and the ints that count as such, are neighbours; else in front.
    """
    at, dim, is_open = -1, 0, False
    for item in items:
        if isinstance(item, (int, np.ndarray)):
            if at >= 0 and not is_open:
                return 0
            at, is_open = (at if is_open else dim), True
        else:
            dim += unnamed if item is Ellipsis else 1
            is_open = False
    return at


def _refusal(key: Any, shape: Shape) -> Exception:
    """Return what NumPy raises for `key`: an array of this shape, which takes no memory, is asked."""
    refusal = IndexError(f"index {key!r} does not fit an array of shape {shape}")
    try:
        x = np.broadcast_to(_NOTHING, shape)
    except ValueError:
        return refusal  # More elements than NumPy can count.
    try:
        x[key]
    except Exception as error:
        return error
    return refusal
