"""`Expr`: what would be computed of arrays, until items are asked for.

In: a node. Out: NumPy arrays for keys, a compressed array from `compute`.
Invariant: an expression never changes; it follows its operands, which are read when items are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from coquina.arrays.array import Array
from coquina.arrays.creation import new_array
from coquina.arrays.new_arrays import written
from coquina.arrays.operators import Operators
from coquina.arrays.views import View, view_of
from coquina.expressions import engine
from coquina.expressions.explanation import Explanation, explanation_of, summary_html
from coquina.expressions.gathering import read_key, read_selection, rows
from coquina.expressions.nodes import Boxes, Leaf, Node
from coquina.expressions.pickling import node_of, steps_of
from coquina.expressions.reference import postorder
from coquina.keyword_hints import names_keywords
from coquina.providers import Provider
from coquina.quoting import quoted
from coquina.storage_options import Storage, is_cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Unpack

    import numpy as np
    import numpy.typing as npt

    from coquina._core import Path
    from coquina.expressions import saved as saved_expressions
    from coquina.indexing import Selection
    from coquina.storage_options import Chunks, StorageOptions
else:
    saved_expressions = Provider("saved_expressions")


class Expr(Operators):
    """A lazy expression, with the shape, dtype, operators and methods of an array.

    `e[key]` computes a part and returns a NumPy array or scalar, for every key that NumPy supports.
    `e.compute()` returns a compressed array. Reductions such as `e.sum(axis=0)` compute block by block.
    Functions and operators of expressions return larger expressions. `e.explain()` shows the plan.

    >>> import coquina as cq
    >>> e = cq.expr("a * 2 + 1", a=cq.arange(4))
    >>> e.shape, e[2], e.sum()
    ((4,), np.int64(5), np.int64(16))
    """

    __slots__ = ("__weakref__", "_node")

    def __init__(self, node: Node) -> None:
        """Made by operators and functions of arrays, and by `coquina.expr`."""
        self._node = node

    @property
    def node(self) -> Node:
        """The tree of what is computed."""
        return self._node

    @property
    def shape(self) -> tuple[int, ...]:
        """Items along each axis."""
        return self._node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the items."""
        return self._node.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of an item."""
        return self._node.dtype.itemsize

    @property
    def operands(self) -> tuple[Any, ...]:
        """The arrays that are read, each once, in the order in which they are named."""
        found: dict[int, Any] = {}
        for node in postorder(self._node, boxes=True):
            if isinstance(node, Leaf):
                found.setdefault(id(node.source), node.source)
        return tuple(found.values())

    def __getitem__(self, key: Any) -> Any:
        """Compute the items of a key, any that NumPy takes. Raises what NumPy raises."""
        return read_key(self._read, key, self.shape, self.dtype, self._chunks())

    def view(self, key: Any) -> View:
        """Return the lazy `self[key]`: a view that computes when it is indexed itself.

        >>> import numpy as np
        >>> import coquina as cq
        >>> cq.expr("a * 2", a=cq.arange(10)).view(np.s_[::5])[:]
        array([ 0, 10])
        """
        return view_of(self, key)

    def _read(self, region: tuple[slice, ...]) -> npt.NDArray[Any]:
        return engine.read(self._node, region)

    def _chunks(self) -> tuple[int, ...] | None:
        """The boxes that are best read at once, if something says so."""
        return self._node.chunks if isinstance(self._node, Boxes) else None

    def get_selection(self, selection: Selection) -> npt.NDArray[Any]:
        """Compute the items of a lowered key, in its shape.

        >>> import numpy as np
        >>> import coquina as cq
        >>> from coquina.indexing import lower
        >>> e = cq.expr("a * 2", a=cq.arange(10))
        >>> e.get_selection(lower(np.s_[2:4], e.shape))
        array([4, 6])
        """
        items = read_selection(self._read, selection, self.shape, self.dtype, self._chunks())
        return items.reshape(selection.shape)

    def set_selection(self, selection: Selection, values: npt.NDArray[Any]) -> None:
        """Raise TypeError for any selection and values: what is computed is not assigned to."""
        raise TypeError("an expression cannot be assigned to; compute() makes an array of it")

    def compute(
        self,
        path: Path | None = None,
        *,
        threads: int | None = None,
        **storage: Unpack[StorageOptions],
    ) -> Array:
        """Compute the expression into a new compressed array, in memory or in a file.

        path: the file to write, which appears when it is complete; None: in memory. threads: the number of
            threads; all by default. The options of storage are those of `asarray`.

        Returns an `Array`. By default it has the chunks of the first operand of the same shape, and its
        blocks if elements have the same size. Memory: some blocks for each thread, and the result if it is in
        memory.

        >>> import coquina as cq
        >>> e = cq.expr("a * 2 + 1", a=cq.arange(4))
        >>> e.compute(codec="lz4")[:]
        array([1, 3, 5, 7])
        """
        if not is_cut(storage):
            chunks, blocks = self._partition()
            storage = cast("StorageOptions", {**storage, "chunks": chunks, "blocks": blocks})
        options = Storage.for_array(Expr.compute, storage, path).for_engine()
        array = new_array(self.shape, self.dtype, options)
        with written(array):
            engine.store(self._node, array, threads)
        return array

    def _partition(self) -> tuple[Chunks, tuple[int, ...] | None]:
        for source in self.operands:
            if isinstance(source, Array) and source.shape == self.shape:
                return source.chunks, source.blocks if source.itemsize == self.itemsize else None
        return None, None

    @names_keywords
    def save(self, path: Path, *, overwrite: bool = False) -> None:
        """Save the expression to a small file, which `open` returns as an expression.

        path: of the new file. overwrite: replace an existing file; otherwise FileExistsError is raised.

        The file has the text of the expression and the paths of its operands, relative to the file;
        python-blosc2 opens it too. Raises ValueError for operands in memory, which must be saved first;
        UnsupportedError for expressions without a text (reductions, sorted and joined arrays, your own
        functions): save the result of `compute` instead.

        >>> import coquina as cq
        >>> cq.arange(6).save("a.b2nd")
        >>> cq.expr("a * 2 + 1", a=cq.open("a.b2nd")).save("odd.b2nd")
        >>> cq.open("odd.b2nd")[:]
        array([ 1,  3,  5,  7,  9, 11])
        """
        saved_expressions.save(self, path, overwrite=overwrite)

    def explain(self) -> Explanation:
        """Return the plan: the expression as a tree, and the parts that NumPy computes. Nothing is computed.

        >>> import coquina as cq
        >>> print(cq.expr("a * 2", a=cq.arange(4)).explain().formula)
        x0 * 2
        """
        return explanation_of(self._node)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first axis; some rows are computed at a time."""
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (row for region in rows(self.shape, self.itemsize) for row in self[region])

    def __repr__(self) -> str:
        """Say shape and dtype, and what it is."""
        return f"<Expr {self.shape} {self.dtype}: {quoted(explanation_of(self._node).formula)}>"

    def _repr_html_(self) -> str:
        """Return a table of facts, for notebooks."""
        return summary_html(self._node)

    def __reduce__(self) -> tuple[Callable[..., Expr], tuple[Any, ...]]:
        """Pickle: operands in files by their paths (they reopen for reading), those in memory by content."""
        return _of_steps, (steps_of(self._node),)


def _of_steps(steps: list[Any]) -> Expr:
    """Return what a pickle holds."""
    return Expr(node_of(steps))


__all__ = ["Expr"]
