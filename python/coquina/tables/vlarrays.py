"""`VLArray`: rows that are sequences of any length, as PyTables keeps its arrays of variable length.

In: a 1-d dataset of HDF5 of sequences of variable length, with the attribute CLASS of "VLARRAY". Out: a value
for each row: a NumPy array, a string, or bytes.
Source: docs/formats/pytables-nodes.md.
Invariant: nothing that is pickled is read: such rows are their bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.arrays.array import Array
from coquina.foreign_attributes import ARRAYS, no_attribute
from coquina.hdf5.describing import describe_bytes
from coquina.hdf5.fixed_attributes import text_of
from coquina.hdf5.heaps import SEQUENCE, Heap
from coquina.hdf5.item_types import stored_dtype
from coquina.hdf5.places import Placed
from coquina.hdf5.times import shown_seconds
from coquina.hdf5.untyped import h5t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from coquina.hdf5.nodes import Nodes

Kind = Literal["numbers", "bytes", "str", "pickle"]

_KINDS: dict[str, Kind] = {"vlstring": "bytes", "vlunicode": "str", "object": "pickle"}
#: Files of PyTables 1 say it by the flavor.
_OLD_KINDS: dict[str, Kind] = {"VLString": "bytes", "Object": "pickle"}
#: Iterating reads so many rows at a time.
_BATCH_ROWS = 1024


class VLArray(Placed):
    """Rows that are sequences of any length, for reading.

    `v[i]` is a value; `v[a:b:s]`, `v[[i, j]]` and `v[mask]` are lists of values.

    kind: what the values are: "numbers" are NumPy arrays, with `item_shape` behind their first axis, in the
        byte order of this machine; "str" and "bytes" are strings; "pickle" are the bytes of a pickled
        object, which is never loaded.
    dtype: of the items of "numbers"; None for the others. Of strings `S`, of PyTables' times float64.
    """

    def __init__(self, h5: Any, nodes: Nodes) -> None:
        """Made by a group. Raises UnsupportedError for items that NumPy has no dtype for."""
        self._h5 = h5
        self._nodes = nodes
        base = h5.id.get_type().get_super()
        stored = stored_dtype(base)
        if stored is None:
            raise UnsupportedError(f"{h5.name}: sequences of a datatype that NumPy does not have")
        self.kind: Kind = _kind(h5, stored)
        self._stored, self.item_shape = (stored, ()) if stored.subdtype is None else stored.subdtype
        while isinstance(base, h5t.TypeArrayID):
            base = base.get_super()
        self._meaning = _meaning(base)
        empty = self._meaning(np.empty(0, self._stored.newbyteorder("=")))
        self.dtype: np.dtype[Any] | None = empty.dtype if self.kind == "numbers" else None
        self._heap = Heap(h5.file)
        self._places: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, in a tuple."""
        return self._h5.shape

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._h5.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Return the value of a row, or a list of the values of a slice, list or mask of rows.

        Raises what NumPy raises for the key, CorruptError for a damaged file, UnsupportedError for filters
        that we do not have.
        """
        places = np.asarray(self._where()[key]).view(SEQUENCE)
        if places.ndim > 1:
            raise IndexError(
                f"{places.ndim} axes: rows are chosen by a number, a slice, or a list of numbers"
            )
        values = self._values(places.reshape(-1))
        return values if places.ndim else values[0]

    if not TYPE_CHECKING:  # To type checkers, every name would be an attribute.

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for names of other libraries it says what to write here."""
            advice = {**ARRAYS, "append": "tables.open_file(path, 'a') to add rows; coquina reads them"}
            raise AttributeError(no_attribute("'VLArray' object", name, advice), name=name, obj=self)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values, some rows read at a time."""
        for start in range(0, len(self), _BATCH_ROWS):
            yield from self[start : start + _BATCH_ROWS]

    def lengths(self, key: Any = slice(None)) -> npt.NDArray[Any]:
        """Return how many items the rows of `key` have: of strings code points or bytes. No item is read."""
        return np.asarray(self._where()[key]).view(SEQUENCE)["length"].astype(np.int64)

    def __repr__(self) -> str:
        """Say name, number of rows, and what they are."""
        if not self._h5:
            return "<VLArray, closed>"
        what = self.kind if self.dtype is None else f"{self.dtype}, {self.item_shape}"
        return f"<VLArray {self.name!r} ({len(self)} rows) of {what}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle by path and name: it reopens for reading."""
        return self._nodes.pickled(self)

    def _where(self) -> Array:
        """Return where the sequences are: an array of what the dataset has of each."""
        if self._places is None or self._places.shape != self.shape:
            facts = describe_bytes(self._h5)
            if facts.access == "whole":
                raise UnsupportedError(f"{self.name}: {facts.reason}")
            self._places = Array(facts.open(facts.library_of(self._h5)), facts.dtype)
        return self._places

    def _values(self, places: npt.NDArray[Any]) -> list[Any]:
        item_bytes = self._stored.itemsize * int(np.prod(self.item_shape, dtype=int))
        try:
            found = self._heap.sequences(places, item_bytes)
            if self.kind == "str":
                coding = "utf-32-be" if self._stored.str[0] == ">" else "utf-32-le"
                return [raw.decode(coding, "surrogatepass") for raw in found]
        except (CorruptError, UnicodeDecodeError) as error:
            raise CorruptError(f"{self.name}: {error}") from error
        if self.kind != "numbers":
            return found
        native = self._stored.newbyteorder("=")
        return [
            self._meaning(np.frombuffer(raw, self._stored).astype(native)).reshape(-1, *self.item_shape)
            if raw
            else self._meaning(np.empty((0, *self.item_shape), native))
            for raw in found
        ]


def vlarray(h5: Any, nodes: Nodes) -> VLArray | None:
    """Return the rows of a dataset of h5py that is one of PyTables' arrays of variable length, else None."""
    is_sequence = isinstance(h5.id.get_type(), h5t.TypeVlenID) and h5.shape is not None and len(h5.shape) == 1
    if not is_sequence or text_of(h5, "CLASS") != "VLARRAY":
        return None
    return None if stored_dtype(h5.id.get_type().get_super()) is None else VLArray(h5, nodes)


def _kind(h5: Any, stored: np.dtype[Any]) -> Kind:
    kind = _KINDS.get(text_of(h5, "PSEUDOATOM") or "") or _OLD_KINDS.get(
        text_of(h5, "FLAVOR") or "", "numbers"
    )
    itemsize = 4 if kind == "str" else 1
    return kind if kind == "numbers" or (stored.kind, stored.itemsize) == ("u", itemsize) else "numbers"


def _meaning(tid: Any) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]]:
    """Return what turns stored items into what they mean: bits, times of PyTables, or what they are."""
    if isinstance(tid, h5t.TypeBitfieldID) and tid.get_size() == 1:
        return lambda items: items != 0
    if isinstance(tid, h5t.TypeTimeID) and tid.get_size() == 8:
        return shown_seconds
    return lambda items: items
