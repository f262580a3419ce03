"""Views: a part of an array, chosen by any NumPy key, that is read when it is asked for.

In: an array that gets and sets a `Selection`, and keys. Out: what `x[key1][key2]...` is in NumPy, but only
the elements that the last key leaves are read. Values assigned to a view go to the array.
Invariant: a view never nests; a view of a view is a view of the array, its indices composed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coquina.arrays.info import human
from coquina.arrays.operators import Operators
from coquina.html import caption_html, facts_html
from coquina.index_maps import AxisMap, Shape, as_map, compose, joint_dims, layout
from coquina.indexing import Kind, Selection, resolve, shaped_values, uniform_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

_ROWS_BYTES = 1 << 20  # read at a time by iteration


class Source(Protocol):
    """What a view needs of its array."""

    @property
    def shape(self) -> Shape:
        """Elements along each axis."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements."""
        ...

    def get_selection(self, selection: Selection, /) -> npt.NDArray[Any]:
        """Return the selected elements in the selection's shape."""
        ...

    def set_selection(self, selection: Selection, values: npt.NDArray[Any], /) -> object:
        """Write `values`, which broadcast to the selection's shape."""
        ...


def view_of(source: Source, key: Any = ...) -> View:
    """Return the lazy `source[key]`, for any NumPy key. Raises what NumPy raises. Reads nothing."""
    axes = [as_map((axis,), (0, 1, size)) for axis, size in enumerate(source.shape)]
    return View(source, axes, source.shape).view(key)


class View(Operators):
    """A lazy part of an array: indexing reads, assignment writes to the array, `view` selects a part of it.

    Changes of the array are visible in the view, whose shape is fixed. Unlike in NumPy, indexing by arrays
    returns a view too; if its indices name an element several times, the last assigned value is stored.

    >>> import numpy as np
    >>> import coquina as cq
    >>> v = cq.arange(100).view(np.s_[10:20])
    >>> v[2], v.sum()
    (np.int64(12), np.int64(145))
    """

    __slots__ = ("_maps", "_shape", "_source")

    def __init__(self, source: Source, maps: Sequence[AxisMap], shape: Shape) -> None:
        """Made by `view_of`: how the axes of `source` depend on the dimensions of `shape`."""
        self._source = source
        self._maps = maps
        self._shape = shape

    @property
    def shape(self) -> Shape:
        """Elements along each dimension."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements: that of the array."""
        return self._source.dtype

    @property
    def source(self) -> Source:
        """What this is a view of."""
        return self._source

    def ranges(self) -> list[tuple[int, int, int] | None]:
        """Return for each dimension axis, start and step of the source, where it is a range of one axis.

        >>> import numpy as np
        >>> import coquina as cq
        >>> cq.zeros((10, 10)).view(np.s_[2:8:2, 3]).ranges()
        [(0, 2, 2)]
        """
        found: list[tuple[int, int, int] | None] = [None] * len(self._shape)
        for axis, one in enumerate(self._maps):
            if len(one.dims) == 1 and isinstance(one.indices, tuple):
                start, step, _ = one.indices
                found[one.dims[0]] = (axis, start, step) if found[one.dims[0]] is None else None
        return found

    @property
    def whole(self) -> Source | None:
        """What this is a view of, if it is a view of all of it, as it stands there."""
        if self._shape != self._source.shape:
            return None
        ranges = [as_map((axis,), (0, 1, size)) for axis, size in enumerate(self._shape)]
        is_all = all(
            isinstance(one.indices, tuple) and one == wanted
            for one, wanted in zip(self._maps, ranges, strict=True)
        )
        return self._source if is_all else None

    def view(self, key: Any) -> View:
        """Return the lazy `self[key]`. Raises what NumPy raises. Reads nothing.

        >>> import numpy as np
        >>> import coquina as cq
        >>> cq.arange(100).view(np.s_[10:20]).view(np.s_[::5])[:]
        array([10, 15])
        """
        return self._narrowed(key)[0]

    def __getitem__(self, key: Any) -> Any:
        """Return `x[key]` of the NumPy array that the view stands for; reads only these elements."""
        part, kind = self._narrowed(key)
        elements = part._read()
        return elements[()] if kind == "item" else elements

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to the array's elements as NumPy would to `x[key]`."""
        part, kind = self._narrowed(key)
        part._write(value, kind)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first dimension; many rows are read at a time."""
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        rows = max(1, _ROWS_BYTES * len(self) // max(1, self.nbytes))
        return (row for start in range(0, len(self), rows) for row in self[start : start + rows])

    @property
    def is_closed(self) -> bool:
        """Whether the array that it is a view of was closed."""
        return bool(getattr(self._source, "is_closed", False))

    def __repr__(self) -> str:
        """Say shape and dtype, and of what this is a view."""
        if self.is_closed:
            return "<View, closed>"
        return f"<View {self._shape} {self.dtype} of {type(self._source).__name__} {self._source.shape}>"

    def _repr_html_(self) -> str:
        """Return a table of facts, for notebooks."""
        if self.is_closed:
            return caption_html(self)
        facts = {"shape": self._shape, "dtype": self.dtype, "size": human(self.nbytes)}
        return facts_html([*facts.items(), ("view of", self._source)])

    def _narrowed(self, key: Any) -> tuple[View, Kind]:
        found = resolve(key, self._shape)
        # What is empty stays so, and its indices, which nobody checked, are never used.
        maps = self._maps if 0 in found.shape else compose(self._maps, found.maps())
        return View(self._source, maps, found.shape), found.kind

    def _selection(self) -> tuple[Selection, list[int]]:
        """Return what to read, and which dimension of the view each dimension of that is."""
        made = layout(self._maps, self._shape, joint_dims(self._maps))
        shape = tuple([self._shape[dim] for dim in made.order])
        return Selection(made.axes, made.points, made.points_at, made.raw_shape, shape), made.order

    def _read(self) -> npt.NDArray[Any]:
        if 0 in self._shape:
            return np.empty(self._shape, self.dtype)
        selection, order = self._selection()
        elements = self._source.get_selection(selection).transpose(np.argsort(order))
        # Dimensions that no axis depends on: new ones, repeated if they are longer than 1.
        elements = elements.reshape([n if dim in order else 1 for dim, n in enumerate(self._shape)])
        return elements if elements.shape == self._shape else np.broadcast_to(elements, self._shape).copy()

    def _write(self, value: Any, kind: Kind) -> None:
        single = None if 0 in self._shape else uniform_value(value, self.dtype, kind)
        values = shaped_values(value, self._shape, self.dtype, kind) if single is None else single
        if 0 in self._shape:
            return
        selection, order = self._selection()
        if single is None:
            # Of values for one element the last counts.
            last = tuple([slice(None) if dim in order else -1 for dim in range(self.ndim)])
            values = values[(*last, ...)].transpose(np.argsort(np.argsort(order)))
        self._source.set_selection(selection, values)
