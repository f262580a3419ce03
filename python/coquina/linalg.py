"""The `linalg` extension of the Array API standard: decompositions by NumPy, products and norms of any size.

In: arrays of any kind. Out: compressed arrays in memory, or named tuples of them.
Memory: decompositions decode their operands, and raise MemoryError for what is too large; products, norms of
    vectors and `cross` do not.
Source: the standard, 2024.12, "Linear algebra extension", and 2025.12 for `eig` and `eigvals`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from coquina.arrays.array import Array
from coquina.arrays.operands import as_numpy, source_of
from coquina.arrays.results import stored
from coquina.expressions.expression import Expr
from coquina.expressions.functions import as_node
from coquina.functions import traces
from coquina.functions.exchange import astype
from coquina.functions.layouts import nbytes_of
from coquina.functions.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from coquina.functions.linear_algebra import outer as _outer
from coquina.functions.slabs import along_axis

if TYPE_CHECKING:
    import numpy.typing as npt

#: Norms of arrays of more bytes are made box by box.
NORM_BYTES = 64 << 20


class EighResult(NamedTuple):
    """Of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """Of `qr`."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """Of `slogdet`."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Of `svd`."""

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Any, /, *, upper: bool = False) -> Array:
    """Return triangular matrices, lower ones or upper, that times their conjugate transposes are `x`.

    The lower one stands on the left of its conjugate transpose, the upper one on the right.

    >>> import coquina as cq
    >>> cq.linalg.cholesky([[4.0, 0.0], [0.0, 9.0]])[:]
    array([[2., 0.],
           [0., 3.]])
    """
    return _stored(np.linalg.cholesky(as_numpy(x), upper=upper))


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Return the cross products of vectors of 3 items along `axis`; the other axes broadcast.

    x1, x2: what `asarray` takes. Raises ValueError for vectors of another length.

    >>> import coquina as cq
    >>> cq.linalg.cross([1, 0, 0], [0, 1, 0])[:]
    array([0, 0, 1])
    """
    sources = (source_of(x1), source_of(x2))
    ndims = [len(source.shape) for source in sources]
    lengths = [source.shape[axis] for source in sources]
    if lengths != [3, 3]:
        raise ValueError(f"cross: vectors of {lengths[0]} and {lengths[1]} items, where 3 are needed")
    dtype = np.linalg.cross(*[np.zeros(3, source.dtype) for source in sources]).dtype
    if axis >= 0 and ndims[0] != ndims[1]:
        return _stored(np.linalg.cross(as_numpy(x1), as_numpy(x2), axis=axis))
    own = axis - ndims[0] if axis >= 0 else axis
    shape = np.broadcast_shapes(*[source.shape for source in sources])

    def call(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.linalg.cross(first, second, axis=own)

    return along_axis(call, sources, own, shape, dtype)


def det(x: Any, /) -> Array:
    """Return the determinants of square matrices.

    >>> import coquina as cq
    >>> round(float(cq.linalg.det([[1.0, 2.0], [3.0, 4.0]])), 6)
    -2.0
    """
    return _stored(np.linalg.det(as_numpy(x)))


def diagonal(x: Any, /, *, offset: int = 0) -> Array | Expr:
    """Return the diagonals of matrices, `offset` above the main one.

    >>> import coquina as cq
    >>> cq.linalg.diagonal([[1, 2], [3, 4]])[:]
    array([1, 4])
    """
    return traces.diagonal(x, offset, -2, -1)


def eig(x: Any, /) -> EigResult:
    """Return the eigenvalues and eigenvectors (columns) of square matrices, as complex numbers.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.eig(np.diag([2.0, 3.0])).eigenvalues[:].real
    array([2., 3.])
    """
    values, vectors = np.linalg.eig(as_numpy(x))
    return EigResult(_stored(_as_complex(values)), _stored(_as_complex(vectors)))


def eigvals(x: Any, /) -> Array:
    """Return the eigenvalues of square matrices, as complex numbers.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.eigvals(np.diag([2.0, 3.0]))[:].real
    array([2., 3.])
    """
    return _stored(_as_complex(np.linalg.eigvals(as_numpy(x))))


def _as_complex(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(np.result_type(values.dtype, np.complex64), copy=False)


def eigh(x: Any, /) -> EighResult:
    """Return the eigenvalues, ascending, and eigenvectors (columns) of symmetric or Hermitian matrices.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.eigh(np.diag([2.0, 3.0])).eigenvalues[:]
    array([2., 3.])
    """
    values, vectors = np.linalg.eigh(as_numpy(x))
    return EighResult(_stored(values), _stored(vectors))


def eigvalsh(x: Any, /) -> Array:
    """Return the eigenvalues, ascending, of symmetric or Hermitian matrices.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.eigvalsh(np.diag([2.0, 3.0]))[:]
    array([2., 3.])
    """
    return _stored(np.linalg.eigvalsh(as_numpy(x)))


def inv(x: Any, /) -> Array:
    """Return the inverses of square matrices.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.inv(np.diag([2.0, 4.0]))[:]
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return _stored(np.linalg.inv(as_numpy(x)))


def matrix_norm(
    x: Any, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro"
) -> Array:
    """Return norms of matrices.

    ord: "fro": Frobenius' norm, of arrays of any size. "nuc": the sum of the singular values. 2: the largest
    of them. 1, inf: the largest sum of absolute values of a column, a row. -2, -1, -inf: the smallest.

    x: arrays whose last two axes are matrices. keepdims: keep these axes, with length 1. Returns real
        numbers.

    >>> import numpy as np
    >>> import coquina as cq
    >>> float(cq.linalg.matrix_norm(np.diag([3.0, 4.0])))
    5.0
    """
    source = source_of(x)
    if ord in ("fro", None) and len(source.shape) > 1 and nbytes_of([source]) > NORM_BYTES:
        return vector_norm(source, axis=(-2, -1), keepdims=keepdims)
    return _stored(np.linalg.matrix_norm(as_numpy(source), keepdims=keepdims, ord=ord))


def matrix_power(x: Any, n: int, /) -> Array:
    """Return the product of `n` times the same matrix; of its inverse for negative `n`.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.matrix_power(np.diag([2, 3]), 3)[:]
    array([[ 8,  0],
           [ 0, 27]])
    """
    return _stored(np.linalg.matrix_power(as_numpy(x), n))


def matrix_rank(x: Any, /, *, rtol: float | Any | None = None) -> Array:
    """Return how many singular values are larger than `rtol` times the largest one.

    rtol: by default the longer side times the machine epsilon. Raises LinAlgError for less than two axes.

    >>> import numpy as np
    >>> import coquina as cq
    >>> int(cq.linalg.matrix_rank(np.ones((2, 2))))
    1
    """
    values = as_numpy(x)
    if values.ndim < 2:
        raise np.linalg.LinAlgError(f"matrix_rank: an array of {values.ndim} axes, where two are needed")
    singular = np.linalg.svd(values, compute_uv=False)
    if rtol is None:
        rtol = max(values.shape[-2:]) * np.finfo(singular.dtype).eps
    if 0 in values.shape[-2:]:
        return _stored(np.zeros(values.shape[:-2], np.intp))
    limits = singular.max(axis=-1, keepdims=True) * as_numpy(rtol)[..., None]
    return _stored(np.count_nonzero(singular > limits, axis=-1))


def outer(x1: Any, x2: Any, /) -> Array | Expr:
    """Return products of each item of `x1` with each of `x2`, both of one axis; a row for each of `x1`.

    Raises ValueError for more than one axis.

    >>> import coquina as cq
    >>> cq.linalg.outer([1, 2], [3, 4])[:]
    array([[3, 4],
           [6, 8]])
    """
    ndims = [len(source_of(x).shape) for x in (x1, x2)]
    if ndims != [1, 1]:
        raise ValueError(f"outer: arrays of {ndims[0]} and {ndims[1]} axes, where one is needed")
    return _outer(x1, x2)


def pinv(x: Any, /, *, rtol: float | Any | None = None) -> Array:
    """Return the pseudo-inverses of matrices.

    rtol: singular values up to this times the largest one count as 0; by default the longer side times the
    machine epsilon.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.pinv(np.diag([2.0, 4.0]))[:]
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    values = as_numpy(x)
    if rtol is None and values.ndim > 1:
        kind = values.dtype if values.dtype.kind in "fc" else np.dtype(np.float64)
        rtol = max(values.shape[-2:]) * np.finfo(kind).eps
    return _stored(np.linalg.pinv(values, rtol=1e-15 if rtol is None else as_numpy(rtol)))


def qr(x: Any, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return matrices with orthonormal columns, and upper triangular ones, whose products are `x`.

    mode: "reduced" or "complete": how many columns Q has. Raises ValueError for another one.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.qr(np.eye(2)).R.shape
    (2, 2)
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode {mode!r}, where 'reduced' or 'complete' is needed")
    q, r = np.linalg.qr(as_numpy(x), mode)
    return QRResult(_stored(q), _stored(r))


def slogdet(x: Any, /) -> SlogdetResult:
    """Return the signs of determinants, and the logarithms of their absolute values.

    >>> import numpy as np
    >>> import coquina as cq
    >>> float(cq.linalg.slogdet(np.diag([2.0, -1.0])).sign)
    -1.0
    """
    sign, logabsdet = np.linalg.slogdet(as_numpy(x))
    return SlogdetResult(_stored(sign), _stored(logabsdet))


def solve(x1: Any, x2: Any, /) -> Array:
    """Return what `x1` is to be multiplied with to give `x2`: one vector, or matrices of columns.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.solve(np.diag([2.0, 4.0]), [2.0, 4.0])[:]
    array([1., 1.])
    """
    return _stored(np.linalg.solve(as_numpy(x1), as_numpy(x2)))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """Return the singular value decompositions of matrices: U, the singular values S, descending, and Vh.

    x: arrays whose last two axes are matrices. full_matrices: whether U and Vh are square.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.svd(np.diag([3.0, 2.0])).S[:]
    array([3., 2.])
    """
    u, s, vh = np.linalg.svd(as_numpy(x), full_matrices)
    return SVDResult(_stored(u), _stored(s), _stored(vh))


def svdvals(x: Any, /) -> Array:
    """Return the singular values of matrices, descending.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.linalg.svdvals(np.diag([3.0, 2.0]))[:]
    array([3., 2.])
    """
    return _stored(np.linalg.svdvals(as_numpy(x)))


def trace(x: Any, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> Array:
    """Return the sums of the diagonals of matrices; small integers are summed up as 64-bit ones.

    x: arrays whose last two axes are matrices. offset: which diagonal. dtype: of the sums.

    >>> import coquina as cq
    >>> cq.linalg.trace([[1, 2], [3, 4]])
    <Array () int64, chunks (), blocks (), in memory>
    """
    return _stored(traces.trace(x, offset, -2, -1, dtype=dtype))


def vector_norm(
    x: Any, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float = 2
) -> Array:
    """Return norms of vectors along axes, all for None: the `ord`-th root of the sum of powers.

    ord: 0 counts what is not 0; inf and -inf give the largest and the smallest absolute value.

    x: what `asarray` takes. axis: one or several. keepdims: keep these axes, with length 1. Returns real
        numbers.

    >>> import coquina as cq
    >>> float(cq.linalg.vector_norm([3.0, 4.0]))
    5.0
    """
    source = source_of(x)
    if nbytes_of([source]) <= NORM_BYTES:
        norm = cast("Any", np.linalg.vector_norm)
        return _stored(norm(as_numpy(source), axis=axis, keepdims=keepdims, ord=ord))
    return _stored(_reduced_norm(source, axis, keepdims, ord))


def _reduced_norm(source: Any, axis: int | tuple[int, ...] | None, keepdims: bool, ord: float) -> Any:
    """Return norms by reductions, which read box by box."""
    items: Any = Expr(as_node(source))
    if items.dtype.kind not in "fc":
        items = astype(items, np.dtype(np.float64))
    real = np.zeros(0, items.dtype).real.dtype
    sizes: Any = abs(items)
    if ord in (np.inf, -np.inf):
        return (sizes.max if ord > 0 else sizes.min)(axis=axis, keepdims=keepdims)
    if ord == 0:
        powers = astype(items != 0, real)
    elif ord == 1:
        powers = sizes
    else:
        powers = sizes * sizes if ord == 2 else sizes ** real.type(ord)
    total = as_numpy(powers.sum(axis=axis, keepdims=keepdims))
    if ord in (0, 1):
        return total
    return np.sqrt(total) if ord == 2 else total ** np.reciprocal(real.type(ord))


def _stored(values: Any) -> Array:
    return values if isinstance(values, Array) else stored(np.asarray(values))


__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
