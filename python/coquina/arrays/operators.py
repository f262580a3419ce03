"""What `Array`, `Expr` and `View` have in common: operators, conversions, and NumPy's methods.

In: what has a shape, a dtype and items for keys. Out: arrays in memory where all is small, else expressions;
    reductions and keys give NumPy's scalars and arrays.
Source: NumPy's arrays, and the array object of the Python array API standard.
Invariant: operators never change an operand, but for `+=` and its like on arrays that can be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.arrays.methods import Methods
from coquina.arrays.operands import as_numpy
from coquina.providers import Provider

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from coquina.adapters import dask_arrays as dask
    from coquina.arrays.array import Array
    from coquina.expressions import arithmetic, assignment
    from coquina.expressions import protocols as numpy_protocols
    from coquina.expressions.expression import Expr

    Result = Array | Expr
else:
    arithmetic, assignment = map(Provider, ("arithmetic", "assignment"))
    numpy_protocols, dask = map(Provider, ("numpy_protocols", "dask"))


class Operators(Methods):
    """Operators of items, as NumPy's arrays have them."""

    __slots__ = ()
    __hash__ = object.__hash__  # of the object: `==` compares items

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Take part in NumPy's ufuncs: `np.sin(a)` is what `coquina.sin(a)` is."""
        return numpy_protocols.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Take part in NumPy's functions that coquina has too; others raise TypeError."""
        return numpy_protocols.array_function(func, args, kwargs)

    def __add__(self, other: Any, /) -> Result:
        """Return `self + other`."""
        return arithmetic.binary("add", self, other)

    def __radd__(self, other: Any, /) -> Result:
        """Return `other + self`."""
        return arithmetic.reflected("add", other, self)

    def __iadd__(self, other: Any, /) -> Any:
        """Add to the items in place."""
        return assignment.in_place("add", self, other)

    def __sub__(self, other: Any, /) -> Result:
        """Return `self - other`."""
        return arithmetic.binary("subtract", self, other)

    def __rsub__(self, other: Any, /) -> Result:
        """Return `other - self`."""
        return arithmetic.reflected("subtract", other, self)

    def __isub__(self, other: Any, /) -> Any:
        """Subtract from the items in place."""
        return assignment.in_place("subtract", self, other)

    def __mul__(self, other: Any, /) -> Result:
        """Return `self * other`."""
        return arithmetic.binary("multiply", self, other)

    def __rmul__(self, other: Any, /) -> Result:
        """Return `other * self`."""
        return arithmetic.reflected("multiply", other, self)

    def __imul__(self, other: Any, /) -> Any:
        """Multiply the items in place."""
        return assignment.in_place("multiply", self, other)

    def __truediv__(self, other: Any, /) -> Result:
        """Return `self / other`."""
        return arithmetic.binary("divide", self, other)

    def __rtruediv__(self, other: Any, /) -> Result:
        """Return `other / self`."""
        return arithmetic.reflected("divide", other, self)

    def __itruediv__(self, other: Any, /) -> Any:
        """Divide the items in place."""
        return assignment.in_place("divide", self, other)

    def __floordiv__(self, other: Any, /) -> Result:
        """Return `self // other`."""
        return arithmetic.binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any, /) -> Result:
        """Return `other // self`."""
        return arithmetic.reflected("floor_divide", other, self)

    def __ifloordiv__(self, other: Any, /) -> Any:
        """Divide the items in place, rounding down."""
        return assignment.in_place("floor_divide", self, other)

    def __mod__(self, other: Any, /) -> Result:
        """Return `self % other`."""
        return arithmetic.binary("remainder", self, other)

    def __rmod__(self, other: Any, /) -> Result:
        """Return `other % self`."""
        return arithmetic.reflected("remainder", other, self)

    def __imod__(self, other: Any, /) -> Any:
        """Leave the remainders of the items."""
        return assignment.in_place("remainder", self, other)

    def __divmod__(self, other: Any, /) -> tuple[Result, Result]:
        """Return `self // other` and `self % other`."""
        return self // other, self % other

    def __rdivmod__(self, other: Any, /) -> tuple[Result, Result]:
        """Return `other // self` and `other % self`."""
        return other // self, other % self

    def __pow__(self, other: Any, /) -> Result:
        """Return `self ** other`."""
        return arithmetic.power(self, other)

    def __rpow__(self, other: Any, /) -> Result:
        """Return `other ** self`."""
        return arithmetic.reflected("power", other, self)

    def __ipow__(self, other: Any, /) -> Any:
        """Raise the items to powers in place."""
        return assignment.in_place("power", self, other)

    def __matmul__(self, other: Any, /) -> Any:
        """Return `self @ other`."""
        return arithmetic.matmul(self, other)

    def __rmatmul__(self, other: Any, /) -> Any:
        """Return `other @ self`."""
        return arithmetic.reflected_matmul(other, self)

    def __imatmul__(self, other: Any, /) -> Any:
        """Put `self @ other` in the place of the items."""
        return assignment.matmul_in_place(self, other)

    def __and__(self, other: Any, /) -> Result:
        """Return `self & other`."""
        return arithmetic.binary("bitwise_and", self, other)

    def __rand__(self, other: Any, /) -> Result:
        """Return `other & self`."""
        return arithmetic.reflected("bitwise_and", other, self)

    def __iand__(self, other: Any, /) -> Any:
        """And the bits of the items in place."""
        return assignment.in_place("bitwise_and", self, other)

    def __or__(self, other: Any, /) -> Result:
        """Return `self | other`."""
        return arithmetic.binary("bitwise_or", self, other)

    def __ror__(self, other: Any, /) -> Result:
        """Return `other | self`."""
        return arithmetic.reflected("bitwise_or", other, self)

    def __ior__(self, other: Any, /) -> Any:
        """Or the bits of the items in place."""
        return assignment.in_place("bitwise_or", self, other)

    def __xor__(self, other: Any, /) -> Result:
        """Return `self ^ other`."""
        return arithmetic.binary("bitwise_xor", self, other)

    def __rxor__(self, other: Any, /) -> Result:
        """Return `other ^ self`."""
        return arithmetic.reflected("bitwise_xor", other, self)

    def __ixor__(self, other: Any, /) -> Any:
        """Exclusive-or the bits of the items in place."""
        return assignment.in_place("bitwise_xor", self, other)

    def __lshift__(self, other: Any, /) -> Result:
        """Return `self << other`."""
        return arithmetic.binary("left_shift", self, other)

    def __rlshift__(self, other: Any, /) -> Result:
        """Return `other << self`."""
        return arithmetic.reflected("left_shift", other, self)

    def __ilshift__(self, other: Any, /) -> Any:
        """Shift the bits of the items to the left in place."""
        return assignment.in_place("left_shift", self, other)

    def __rshift__(self, other: Any, /) -> Result:
        """Return `self >> other`."""
        return arithmetic.binary("right_shift", self, other)

    def __rrshift__(self, other: Any, /) -> Result:
        """Return `other >> self`."""
        return arithmetic.reflected("right_shift", other, self)

    def __irshift__(self, other: Any, /) -> Any:
        """Shift the bits of the items to the right in place."""
        return assignment.in_place("right_shift", self, other)

    def __eq__(self, other: Any, /) -> Result:  # type: ignore[override]
        """Return whether items are equal, one by one."""
        return arithmetic.binary("equal", self, other)

    def __ne__(self, other: Any, /) -> Result:  # type: ignore[override]
        """Return whether items differ, one by one."""
        return arithmetic.binary("not_equal", self, other)

    def __lt__(self, other: Any, /) -> Result:
        """Return `self < other`."""
        return arithmetic.binary("less", self, other)

    def __le__(self, other: Any, /) -> Result:
        """Return `self <= other`."""
        return arithmetic.binary("less_equal", self, other)

    def __gt__(self, other: Any, /) -> Result:
        """Return `self > other`."""
        return arithmetic.binary("greater", self, other)

    def __ge__(self, other: Any, /) -> Result:
        """Return `self >= other`."""
        return arithmetic.binary("greater_equal", self, other)

    def __neg__(self) -> Result:
        """Return `-self`."""
        return arithmetic.unary("negative", self)

    def __pos__(self) -> Result:
        """Return `+self`."""
        return arithmetic.unary("positive", self)

    def __abs__(self) -> Result:
        """Return the absolute values."""
        return arithmetic.unary("absolute", self)

    def __invert__(self) -> Result:
        """Return `~self`."""
        return arithmetic.unary("invert", self)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return all items. Raises ValueError for `copy=False`, MemoryError where there is none for them."""
        if copy is False:
            raise ValueError("copy=False: the items are decoded into new memory")
        return as_numpy(self).astype(self.dtype if dtype is None else dtype, copy=False)

    def __len__(self) -> int:
        """Return the length of the first axis."""
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __bool__(self) -> bool:
        """Return the truth of the only item. Raises ValueError if there is not exactly one."""
        # What NumPy says of sizes is known without reading.
        return bool(self[...] if self.size == 1 else np.broadcast_to(np.False_, min(self.size, 2)))

    def _only_item(self) -> Any:
        if self.shape:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        item = self[()]
        # Python's complex numbers are not taken for real ones, NumPy's are.
        return item.item() if isinstance(item, np.complexfloating) else item

    def __int__(self) -> int:
        """Return the item of an array without axes as an int."""
        return int(self._only_item())

    def __float__(self) -> float:
        """Return the item of an array without axes as a float."""
        return float(self._only_item())

    def __complex__(self) -> complex:
        """Return the item of an array without axes as a complex number."""
        return complex(self._only_item())

    def __index__(self) -> int:
        """Return the item of an integer array without axes."""
        if self.shape or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self[()])

    def __contains__(self, item: Any, /) -> bool:
        """Whether any item equals `item`."""
        return bool(arithmetic.binary("equal", self, item).any())

    def to_dask(self, chunks: int | str | tuple[int | str | None, ...] | None = None) -> Any:
        """Return a `dask.array.Array` of the same elements. It is lazy and read without a lock.

        chunks: elements along each axis of a Dask chunk, one number or one for each axis ("auto", -1 for
            all), rounded to multiples of the stored chunks, so that no two tasks decode the same chunk. By
            default as many stored chunks as fit Dask's `array.chunk-size` (128 MiB), at least one.

        Slices of the Dask array decode only the blocks that they touch. Its name depends on the values, or on
        the path and commit of a file. Values are read when Dask computes. Tasks in other processes open files
        by their path; arrays in memory are sent to them compressed. Raises ImportError without Dask,
        ValueError for invalid `chunks`.

        >>> import numpy as np
        >>> import coquina as cq
        >>> d = cq.asarray(np.arange(12).reshape(3, 4), chunks=(2, 4)).to_dask(chunks=(2, 4))
        >>> d.chunks
        ((2, 1), (4,))
        >>> int(d.sum().compute(scheduler="threads"))
        66
        """
        return dask.to_dask(self, chunks)
