"""NumPy's methods and attributes of arrays, for all that is array-like here.

In: what has a shape, a dtype and items for keys. Out: what coquina's function of the same name gives.
Invariant: a method does nothing itself that a function does.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from coquina.function_signatures import extreme, mean, place, spread, total, truth
from coquina.providers import serving

if TYPE_CHECKING:
    from types import EllipsisType

    import numpy.typing as npt

    Axis = int | tuple[int, ...] | None
    DType = npt.DTypeLike | None

_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def namespace() -> Any:
    """Return `coquina`, whose functions are imported when they are asked for."""
    return serving("functions")


def given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None: those of functions, whose own defaults stand for the others."""
    return {name: value for name, value in options.items() if value is not None}


def _reduced(name: str, x: Any, **options: Any) -> Any:
    """Return what the reduction of this name gives."""
    return getattr(namespace(), name)(x, **options)


class Methods:
    """Attributes and methods of NumPy's arrays."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]:
            """Items along each axis."""
            ...

        @property
        def dtype(self) -> np.dtype[Any]:
            """Of the items."""
            ...

        @overload
        def __getitem__(self, key: slice | EllipsisType | list[int] | str, /) -> npt.NDArray[Any]: ...

        @overload
        def __getitem__(self, key: Any, /) -> Any: ...

        def __getitem__(self, key: Any, /) -> Any:
            """Return items."""
            ...

    @property
    def ndim(self) -> int:
        """How many axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many items."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the items, decoded."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def T(self) -> Any:
        """The array with its axes in the reverse order; of two axes for the array API standard."""
        return namespace().permute_dims(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Any:
        """The array with its last two axes exchanged."""
        return namespace().matrix_transpose(self)

    @property
    def real(self) -> Any:
        """The real parts."""
        return namespace().real(self)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return namespace().imag(self)

    @property
    def device(self) -> Literal["cpu"]:
        """Where the items are."""
        return "cpu"

    def to_device(self, device: str, /, stream: object = None) -> Any:
        """Return the array: there is one device, "cpu". Raises ValueError for others.

        >>> import coquina as cq
        >>> cq.arange(3).to_device("cpu")[:]
        array([0, 1, 2])
        """
        if device != "cpu" or stream is not None:
            raise ValueError(f"to_device: {device!r}: arrays are on 'cpu', without streams")
        return self

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """Return the module whose functions follow the Python array API standard: `coquina`."""
        if api_version is not None and api_version not in _API_VERSIONS:
            raise ValueError(f"api_version {api_version!r}: one of {', '.join(_API_VERSIONS)} is followed")
        return namespace()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the device as DLPack names it: memory of the processor."""
        return (1, 0)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Lend all items, decoded, by the protocol DLPack. Raises BufferError for `copy=False`."""
        if copy is False:
            raise BufferError("copy=False: the items are decoded into new memory")
        items: Any = np.array(self[...], copy=None)
        return items.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def item(self, *args: Any) -> Any:
        """Return one item as a Python object: the only one, or that of an index.

        Raises ValueError without an index where there is not exactly one item, IndexError for one out of
        bounds.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).item(1, 0)
        3
        """
        if not args and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        if len(args) == 1 and isinstance(args[0], tuple):
            args = cast("tuple[Any, ...]", args[0])
        if len(args) > 1:
            return np.asarray(self[args]).item()
        if not args:
            return np.asarray(self[(0,) * self.ndim]).item()
        number = args[0] + self.size if args[0] < 0 else args[0]
        if not 0 <= number < self.size:
            raise IndexError(f"index {args[0]} is out of bounds for size {self.size}")
        index: list[int] = []
        for size in reversed(self.shape):
            number, at = divmod(number, size)
            index.append(at)
        return np.asarray(self[tuple(reversed(index))]).item()

    def tolist(self) -> Any:
        """Return all items as nested lists of Python objects.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return np.asarray(self).tolist()

    def to_numpy(self, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
        """Return all items as a NumPy array, as another dtype if one is given.

        Other libraries ask for this by its name: Matplotlib, seaborn and scikit-learn take arrays so. Raises
        MemoryError, before anything is decoded, if there is no memory for the items.

        >>> import coquina as cq
        >>> cq.arange(4).to_numpy("float32")
        array([0., 1., 2., 3.], dtype=float32)
        """
        return np.asarray(self, dtype)

    def astype(self, dtype: npt.DTypeLike, *, casting: Any = "unsafe", copy: bool = True) -> Any:
        """Return the items as another dtype. Raises TypeError if the rule `casting` does not allow it.

        >>> import coquina as cq
        >>> cq.asarray([1.7, -1.7]).astype("int8")[:]
        array([ 1, -1], dtype=int8)
        """
        if not np.can_cast(self.dtype, np.dtype(dtype), casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} according to the rule "
                f"{casting!r}"
            )
        return namespace().astype(self, dtype, copy=copy)

    def compute(self, path: Any = None, **options: Any) -> Any:
        """Return an `Array`, as `Expr.compute` does; small results are computed already.

        path, options: see `asarray`. Without options the array itself is returned.

        >>> import coquina as cq
        >>> e = cq.expr("a**2", a=cq.arange(4))
        >>> e.compute(codec="lz4")[:]
        array([0, 1, 4, 9])
        """
        return namespace().asarray(self, path=path, **options)

    def explain(self) -> Any:
        """Return how the values are obtained, as `Expr.explain` does: small results are computed already.

        >>> import coquina as cq
        >>> print((cq.arange(4) * 2).explain())
        x0: int64 (4,), Array, chunks (4,)
        chunks: (4,)
        blocks: (4,)
        by_numpy: []
        """
        return namespace().expr("x", x=self).explain()

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None, **storage: Any) -> Any:
        """Return the items in another shape, in C order or Fortran's; see `coquina.reshape`.

        >>> import coquina as cq
        >>> cq.arange(6).reshape(2, -1)[:]
        array([[0, 1, 2],
               [3, 4, 5]])
        """
        wanted = shape[0] if len(shape) == 1 else shape
        return namespace().reshape(self, wanted, order=order, **given(copy=copy), **storage)

    def ravel(self, order: str = "C") -> Any:
        """Return the items along one axis, in C order or Fortran's.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).ravel()[:]
        array([1, 2, 3, 4])
        """
        return namespace().reshape(self, (-1,), order=order)

    def flatten(self, order: str = "C") -> Any:
        """Return the items along one axis, in C order or Fortran's.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).flatten(order="F")[:]
        array([1, 3, 2, 4])
        """
        return namespace().reshape(self, (-1,), order=order)

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes in another order, the reverse one if none is said.

        >>> import coquina as cq
        >>> cq.zeros((2, 3, 4)).transpose(2, 0, 1).shape
        (4, 2, 3)
        """
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return namespace().permute_dims(self, tuple(order or range(self.ndim - 1, -1, -1)))

    def squeeze(self, axis: Axis = None) -> Any:
        """Return the array without axes of length 1: all of these, or some.

        >>> import coquina as cq
        >>> cq.zeros((1, 3, 1)).squeeze().shape
        (3,)
        """
        if axis is None:
            axis = tuple([at for at, size in enumerate(self.shape) if size == 1])
        return namespace().squeeze(self, axis)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Return the items, those below `min` or above `max` replaced by these.

        >>> import coquina as cq
        >>> cq.arange(6).clip(2, 4)[:]
        array([2, 2, 2, 3, 4, 4])
        """
        return namespace().clip(self, min, max)

    def round(self, decimals: int = 0) -> Any:
        """Return the items rounded to decimals, halves to even.

        >>> import coquina as cq
        >>> cq.asarray([1.25, 2.35]).round(1)[:]
        array([1.2, 2.4])
        """
        return namespace().round(self, decimals)

    def conj(self) -> Any:
        """Return the complex conjugates.

        >>> import coquina as cq
        >>> cq.asarray([1 + 2j]).conj()[:]
        array([1.-2.j])
        """
        return namespace().conj(self)

    conjugate = conj

    all = truth("all", _reduced)
    any = truth("any", _reduced)
    max = extreme("max", _reduced)
    min = extreme("min", _reduced)
    sum = total("sum", _reduced)
    prod = total("prod", _reduced)
    mean = mean("mean", _reduced)
    std = spread("std", _reduced)
    var = spread("var", _reduced)
    argmax = place("argmax", _reduced)
    argmin = place("argmin", _reduced)

    def cumsum(self, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Any:
        """Return the sums of the items up to each, along an axis or in C order.

        >>> import coquina as cq
        >>> cq.asarray([2, 3, 4]).cumsum()[:]
        array([2, 5, 9])
        """
        return namespace().cumsum(self, axis=axis, **given(dtype=dtype))

    def cumprod(self, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Any:
        """Return the products of the items up to each, along an axis or in C order.

        >>> import coquina as cq
        >>> cq.asarray([2, 3, 4]).cumprod()[:]
        array([ 2,  6, 24])
        """
        return namespace().cumprod(self, axis=axis, **given(dtype=dtype))

    def cumulative_sum(
        self, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        """Return the cumulative sums along an axis; see `coquina.cumulative_sum`.

        >>> import coquina as cq
        >>> cq.asarray([2, 3, 4]).cumulative_sum(include_initial=True)[:]
        array([0, 2, 5, 9])
        """
        return namespace().cumulative_sum(self, axis=axis, dtype=dtype, include_initial=include_initial)

    def cumulative_prod(
        self, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        """Return the cumulative products along an axis; see `coquina.cumulative_prod`.

        >>> import coquina as cq
        >>> cq.asarray([2, 3, 4]).cumulative_prod(include_initial=True)[:]
        array([ 1,  2,  6, 24])
        """
        return namespace().cumulative_prod(self, axis=axis, dtype=dtype, include_initial=include_initial)

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        """Return the array with two axes exchanged.

        axis1, axis2: which two. Raises IndexError for an axis that there is not.

        >>> import coquina as cq
        >>> cq.zeros((2, 3, 4)).swapaxes(0, 2).shape
        (4, 3, 2)
        """
        return namespace().swapaxes(self, axis1, axis2)

    def repeat(self, repeats: Any, axis: int | None = None) -> Any:
        """Return the array with items repeated along an axis, or flat.

        >>> import coquina as cq
        >>> cq.asarray([1, 2]).repeat(2)[:]
        array([1, 1, 2, 2])
        """
        return namespace().repeat(self, repeats, axis=axis)

    def take(self, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Any:
        """Return the items at indices along an axis, or of the flat array; see `coquina.take`.

        >>> import coquina as cq
        >>> cq.asarray([5, 6, 7]).take([2, 0])[:]
        array([7, 5])
        """
        return namespace().take(self, indices, axis=axis, mode=mode)

    def sorted(self, axis: int = -1) -> Any:
        """Return the items sorted along an axis; NumPy's `sort` would change the array.

        >>> import coquina as cq
        >>> cq.asarray([3, 1, 2]).sorted()[:]
        array([1, 2, 3])
        """
        return namespace().sort(self, axis=axis)

    def argsort(self, axis: int = -1) -> Any:
        """Return the indices that sort along an axis.

        >>> import coquina as cq
        >>> cq.asarray([3, 1, 2]).argsort()[:]
        array([1, 2, 0])
        """
        return namespace().argsort(self, axis=axis)

    def searchsorted(self, v: Any, side: Literal["left", "right"] = "left") -> Any:
        """Return where the items of `v` belong in this sorted array.

        >>> import coquina as cq
        >>> cq.asarray([1, 3, 5]).searchsorted([2, 5])[:]
        array([1, 2])
        """
        return namespace().searchsorted(self, v, side=side)

    def nonzero(self) -> Any:
        """Return the indices of the items that are not zero, an array for each axis.

        >>> import coquina as cq
        >>> [found.tolist() for found in cq.asarray([0, 3, 0, 4]).nonzero()]
        [[1, 3]]
        """
        return namespace().nonzero(self)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Return the diagonal of two axes.

        offset: which one, above the main one if positive. axis1, axis2: the axes. See `coquina.diagonal`.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).diagonal()[:]
        array([1, 4])
        """
        return namespace().diagonal(self, offset=offset, axis1=axis1, axis2=axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """Return the sum of the diagonal of two axes.

        offset: which diagonal, above the main one if positive. axis1, axis2: the axes. See `coquina.trace`.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).trace()
        np.int64(5)
        """
        return namespace().trace(self, offset=offset, axis1=axis1, axis2=axis2)

    def dot(self, b: Any) -> Any:
        """Return the dot product, as `numpy.dot` has it.

        >>> import coquina as cq
        >>> cq.asarray([[1, 2], [3, 4]]).dot([1, 1])[:]
        array([3, 7])
        """
        return namespace().dot(self, b)
