"""Values of columns as others hand them over: codes with categories, text as offsets and bytes.

In: parts of Arrow arrays and DataFrames. Out: what columns encode without a Python object for each value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.casting import is_missing

if TYPE_CHECKING:
    import numpy.typing as npt


#: Of text of any length.
TEXT: np.dtype[Any] = cast("Any", np.dtypes.StringDType())
#: Of text of any length, with None where there is none.
TEXT_OR_NONE: np.dtype[Any] = cast("Any", np.dtypes.StringDType(na_object=None))


@dataclass(frozen=True, slots=True)
class Coded:
    """Values as places in a list of categories; -1 where there is none."""

    codes: npt.NDArray[Any]
    categories: npt.NDArray[Any]

    def __len__(self) -> int:
        """Return how many values."""
        return len(self.codes)

    def __getitem__(self, rows: slice) -> Coded:
        """Return some of them."""
        return Coded(self.codes[rows], self.categories)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return the values: objects, None where there is none."""
        known: Any = np.empty(len(self.categories) + 1, object)
        known[:-1] = self.categories
        values = known[self.codes]
        return values if dtype is None else values.astype(dtype)


@dataclass(frozen=True, slots=True)
class Utf8:
    """Text: value `i` is the UTF-8 bytes from `offsets[i]` to `offsets[i + 1]`; null where `mask` is true."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    mask: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """Return how many values."""
        return len(self.offsets) - 1

    def __getitem__(self, rows: slice) -> Utf8:
        """Return some of them, which are neighbours."""
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(f"step {step}: text is cut in one piece")
        mask = None if self.mask is None else self.mask[rows]
        return Utf8(self.offsets[start : max(start, stop) + 1], self.data, mask)

    @classmethod
    def of(cls, values: Any) -> Utf8:
        """Return the text of str and None, of NumPy strings, or of a masked array of these."""
        if isinstance(values, Utf8):
            return values
        mask: Any = None
        if isinstance(values, np.ma.MaskedArray):
            masked = cast("Any", values)
            mask, values = np.ma.getmaskarray(masked), masked.data
        encoded: list[bytes] = []
        nulls: list[int] = []
        for at, one in enumerate(values.tolist() if hasattr(values, "tolist") else values):
            if isinstance(one, bytes):
                encoded.append(one)
            elif isinstance(one, str):
                encoded.append(one.encode())
            elif is_missing(one):
                nulls.append(at)
                encoded.append(b"")
            else:
                raise TypeError(f"{one!r} is not text")
        if nulls:
            mask = np.zeros(len(encoded), bool) if mask is None else mask.copy()
            mask[nulls] = True
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return cls(offsets, np.frombuffer(b"".join(encoded), np.uint8), mask)

    def packed(self) -> Utf8:
        """Return the same with offsets from 0 on, and no bytes but theirs."""
        first, last = int(self.offsets[0]), int(self.offsets[-1])
        if not first and last == len(self.data):
            return self
        return Utf8(self.offsets - first, self.data[first:last], self.mask)

    def tolist(self) -> list[str | None]:
        """Return the values as str, None where there is none."""
        raw, ends = self.data.tobytes(), self.offsets.tolist()
        values: list[str | None] = [raw[a:b].decode() for a, b in pairwise(ends)]
        if self.mask is not None:
            for at in np.flatnonzero(self.mask):
                values[at] = None
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return the values as NumPy strings of any length; None where there is none."""
        made = TEXT if self.mask is None else TEXT_OR_NONE
        return np.array(self.tolist(), dtype or made)
