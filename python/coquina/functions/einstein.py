"""`einsum`: sums of products as Einstein wrote them, of arrays of any size.

In: subscripts, and arrays of any kind. Out: a compressed array, in memory or at `path`.
Invariant: NumPy itself reads the subscripts, of arrays of one item, before they are read here; so what it
    refuses is refused. Letters become the labels of a `Contraction`, "..." labels below zero.
"""

from __future__ import annotations

from itertools import chain
from operator import index
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina.arrays.methods import namespace
from coquina.arrays.operands import source_of
from coquina.functions.contraction import Contraction, contracted

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina._core import Path
    from coquina.arrays.array import Array

_LETTERS = ascii_uppercase + ascii_lowercase


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    optimize: Any = True,
    dtype: npt.DTypeLike | None = None,
    casting: Literal["no", "equiv", "safe", "same_kind", "unsafe"] = "safe",
    path: Path | None = None,
) -> Array:
    """Return the products of items whose axes have the same letters, summed over letters not behind "->".

    subscripts: as NumPy's: "ij,jk->ik" is the product of matrices. Without "->" the letters that stand once
        remain. Or an array, a list of labels, and the next array: `einsum(a, [0, 1], b, [1, 2], [0, 2])`.
    optimize: taken as NumPy takes it, and without effect: the order is chosen here. dtype, casting: what is
        computed with, and how the operands may be made that. path: the file to write.
    Memory: 64 MiB of all arrays, 32 MiB of the result, and what NumPy needs.

    Raises ValueError for subscripts that do not fit the operands.

    >>> import numpy as np
    >>> import coquina as cq
    >>> cq.einsum("ij,j->i", np.eye(2), [3.0, 4.0])[:]
    array([3., 4.])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _spelled((subscripts, *operands))
    sources = tuple([source_of(x) for x in operands])
    single = [np.zeros((1,) * len(source.shape), source.dtype) for source in sources]
    options: Any = {"optimize": optimize} if dtype is None else {"optimize": optimize, "dtype": dtype}
    # What NumPy does not need to sum up is a view, in its own byte order.
    found = np.einsum(subscripts, *single, casting=casting, **options).dtype.newbyteorder("=")
    if "dtype" in options:
        sources = tuple([source_of(namespace().astype(source, found)) for source in sources])
    labels, result = _labels(subscripts, [len(source.shape) for source in sources])
    lengths: dict[int, int] = {}
    for source, its in zip(sources, labels, strict=True):
        for label, size in zip(its, source.shape, strict=True):
            if size != 1 and lengths.setdefault(label, size) != size:
                raise ValueError(
                    f"einsum: {subscripts!r}: operands could not be broadcast together: lengths {size} and "
                    f"{lengths[label]} of one axis"
                )

    def call(*panels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # All of one dtype first, as NumPy does without optimizing: pairs of truths are not to be truths.
        common = np.result_type(*panels)
        return np.einsum(subscripts, *[panel.astype(common, copy=False) for panel in panels], optimize=True)

    return contracted(Contraction(sources, labels, result, found, call), path)


def _spelled(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return letters for labels that are numbers, as NumPy's own: 0 is "A", and 26 "a"."""
    operands, labels = given[: len(given) // 2 * 2 : 2], given[1::2]
    terms = [_letters(its) for its in labels]
    result = "" if len(given) % 2 == 0 else f"->{_letters(given[-1])}"
    return ",".join(terms) + result, operands


def _letters(labels: Any) -> str:
    spelled: list[str] = []
    for label in labels:
        if label is Ellipsis:
            spelled.append("...")
        elif 0 <= index(label) < len(_LETTERS):
            spelled.append(_LETTERS[index(label)])
        else:
            raise ValueError(f"einsum: label {label}: takes 0 to {len(_LETTERS) - 1}, and ...")
    return "".join(spelled)


def _labels(subscripts: str, ndims: list[int]) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Return the labels of the axes of each operand, and of the result."""
    ours, arrow, theirs = subscripts.replace(" ", "").partition("->")
    terms = ours.split(",")
    labels = tuple([_term(term, ndim) for term, ndim in zip(terms, ndims, strict=True)])
    found = list(chain.from_iterable(labels))
    if not arrow:
        # NumPy's order: axes without letters, then letters by the alphabet, capitals first.
        return labels, (
            *_unnamed(found),
            *sorted(label for label in found if label >= 0 and found.count(label) == 1),
        )
    before, dots, after = theirs.partition("...")
    return labels, (*map(ord, before), *(_unnamed(found) if dots else ()), *map(ord, after))


def _term(term: str, ndim: int) -> tuple[int, ...]:
    """Return the labels of an operand's axes; those of "..." count from the last one."""
    before, _, after = term.partition("...")
    unnamed = range(len(before) + len(after) - ndim, 0)
    return (*map(ord, before), *unnamed, *map(ord, after))


def _unnamed(labels: list[int]) -> list[int]:
    return sorted({label for label in labels if label < 0})


__all__ = ["einsum"]
