"""Arrays that are known by their diagonals: `eye`, and `tril` and `triu` of other arrays.

In: lengths, or an array of two axes or more. Out: an `Array`; `tril` and `triu` of what is not tiny are lazy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.operands import source_of
from coquina.arrays.results import is_tiny, stored
from coquina.arrays.sequences import made, new_from
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.expressions.nodes import Boxes
from coquina.storage_options import Storage

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array
    from coquina.arrays.regions import Region
    from coquina.expressions.expression import Expr
    from coquina.storage_options import StorageOptions

#: Fewer items are made by NumPy at once.
_AT_ONCE = 1 << 20


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    path: Path | None = None,
    **storage: Unpack[StorageOptions],
) -> Array:
    """Return a new array of two axes with ones along diagonal `k`, and zeros elsewhere.

    n_cols: as many as rows by default. k: 0 is the main diagonal, positive ones are above it. See `asarray`
    for the options.

    >>> import coquina as cq
    >>> cq.eye(2, 3, k=1)[:]
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    options = Storage.for_array(eye, storage, path, device).for_engine()
    kind: np.dtype[Any] = np.dtype(dtype)
    shape = (n_rows, n_rows if n_cols is None else n_cols)
    if shape[0] * shape[1] <= _AT_ONCE:
        return new_from(np.eye(*shape, k, kind), options)

    def part(region: Region) -> npt.NDArray[Any]:
        rows, columns = region
        lengths = (rows.stop - rows.start, columns.stop - columns.start)
        return np.eye(*lengths, k + rows.start - columns.start, kind)

    return made(shape, kind, options, part)


def tril(x: Any, /, *, k: int = 0) -> Array | Expr:
    """Return the lower triangle of the last two axes: zeros above diagonal `k`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.tril(np.ones((2, 2), int))[:]
    array([[1, 0],
           [1, 1]])
    """
    return _triangle("tril", np.tril, x, k)


def triu(x: Any, /, *, k: int = 0) -> Array | Expr:
    """Return the upper triangle of the last two axes: zeros below diagonal `k`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.triu(np.ones((2, 2), int))[:]
    array([[1, 1],
           [0, 1]])
    """
    return _triangle("triu", np.triu, x, k)


def _triangle(name: str, cut: Callable[[Any, int], npt.NDArray[Any]], x: Any, k: int) -> Array | Expr:
    source = source_of(x)
    if len(source.shape) < 2:
        raise ValueError(f"{name}: an array of shape {source.shape}, where two axes or more are needed")
    if is_tiny(source):
        return stored(cut(np.asarray(source), k))

    def read(region: Region) -> npt.NDArray[Any]:
        rows, columns = region[-2:]
        return cut(np.asarray(source[region]), k + rows.start - columns.start)

    node = Boxes(name, read, source.shape, source.dtype, args=(as_node(source),))
    return Expr(node)


__all__ = ["eye", "tril", "triu"]
