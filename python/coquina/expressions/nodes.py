"""The tree that an expression is: what is computed of what. Nothing is computed here.

In: operands and functions whose dtypes have been resolved by NumPy. Out: nodes with a shape and a dtype.
Invariant: a node never changes; shapes and dtypes are those that NumPy's result would have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from coquina import _core
    from coquina.expressions.functions import Function

Shape = tuple[int, ...]
Region = tuple[slice, ...]  # within the shape, steps of 1, one for each axis


class Node:
    """Something with a shape and a dtype that can be computed region by region."""

    __slots__ = ("__weakref__", "dtype", "lowered", "shape")

    dtype: np.dtype[Any]
    shape: Shape
    #: The node as the engine computes it, once it was wanted; see `coquina.expressions.engine`.
    lowered: _core.Lazy | None

    def __init__(self, shape: Shape, dtype: np.dtype[Any]) -> None:
        """A node of this shape and dtype."""
        self.shape = shape
        self.dtype = dtype
        self.lowered = None

    @property
    def args(self) -> tuple[Node, ...]:
        """What it is computed of."""
        return ()


class Leaf(Node):
    """An operand: an `Array`, a NumPy array, or what has `shape`, `dtype` and gives items for slices."""

    __slots__ = ("grows", "source")

    def __init__(self, source: Any, *, grows: bool = False) -> None:
        """The leaf of an operand. grows: it may get more items on its one axis, which are not looked at."""
        super().__init__(tuple(source.shape), source.dtype)
        self.source, self.grows = source, grows


class Constant(Node):
    """One value."""

    __slots__ = ("value",)

    def __init__(self, value: npt.NDArray[Any]) -> None:
        """`value`: an array without axes."""
        super().__init__((), value.dtype)
        self.value = value


class Cast(Node):
    """The items of another node as another dtype, as `ndarray.astype` gives them."""

    __slots__ = ("arg",)

    def __init__(self, arg: Node, dtype: np.dtype[Any]) -> None:
        """`arg` as `dtype`."""
        super().__init__(arg.shape, dtype)
        self.arg = arg

    @property
    def args(self) -> tuple[Node, ...]:
        """What it is computed of."""
        return (self.arg,)


class Call(Node):
    """A function of items. The arguments broadcast to the shape and have the dtypes that it takes."""

    __slots__ = ("_args", "function")

    def __init__(
        self, function: Function, args: tuple[Node, ...], shape: Shape, dtype: np.dtype[Any]
    ) -> None:
        """`function` of `args`."""
        super().__init__(shape, dtype)
        self.function = function
        self._args = args

    @property
    def args(self) -> tuple[Node, ...]:
        """What it is computed of."""
        return self._args


class Blockwise(Node):
    """A user's function of blocks: NumPy arrays of one shape in, one of the same shape and our dtype out."""

    __slots__ = ("_args", "call", "is_ordered", "name")

    def __init__(
        self,
        call: Callable[..., npt.NDArray[Any]],
        args: tuple[Node, ...],
        shape: Shape,
        dtype: np.dtype[Any],
        *,
        name: str = "",
        is_ordered: bool = False,
    ) -> None:
        """`call(*blocks)`; `is_ordered`: block after block in C order, by one thread; `name`: for people."""
        super().__init__(shape, dtype)
        self.call = call
        self._args = args
        self.name = name or getattr(call, "__name__", type(call).__name__)
        self.is_ordered = is_ordered

    @property
    def args(self) -> tuple[Node, ...]:
        """What it is computed of."""
        return self._args


class Boxes(Node):
    """Anything that gives the items of a region: a transposed, joined, shifted array, and the like."""

    __slots__ = ("_args", "chunks", "name", "read")

    def __init__(
        self,
        name: str,
        read: Callable[[Region], npt.NDArray[Any]],
        shape: Shape,
        dtype: np.dtype[Any],
        *,
        args: tuple[Node, ...] = (),
        chunks: Shape | None = None,
    ) -> None:
        """`read(region)` gives the items of a region; `chunks`: the boxes that are best read at once.

        name: what `explain` calls it. args: what it reads from.
        """
        super().__init__(shape, dtype)
        self.name = name
        self.read = read
        self.chunks = chunks
        self._args = args

    @property
    def args(self) -> tuple[Node, ...]:
        """What it is computed of."""
        return self._args


class Engine(Boxes):
    """What the engine computes as a source of its own: strings that match, codes that are looked up."""

    __slots__ = ("lazy",)

    def __init__(
        self,
        name: str,
        lazy: Callable[[], _core.Lazy],
        read: Callable[[Region], npt.NDArray[Any]],
        shape: Shape,
        dtype: np.dtype[Any],
        args: tuple[Node, ...] = (),
    ) -> None:
        """`lazy()` makes the engine's source; `read` is the same by plain NumPy, to hold it against."""
        super().__init__(name, read, shape, dtype, args=args)
        self.lazy = lazy
