"""Objects of any kind in a frame: what python-blosc2 calls ObjectArray, BatchArray, ListArray.

In: an open frame whose metadata say how values are packed. Out: the values, by number. A pickle is never
    loaded: what is no value of `msgpack_values` is an error.
Source: docs/formats/blosc2-stores.md, "Objects".
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import index
from typing import TYPE_CHECKING, Any

from coquina._core import CorruptError, UnsupportedError
from coquina.attrs import Attrs, Meta
from coquina.msgpack_values import unpack, unpack_all
from coquina.stores.metadata import fixed, list_of, map_of, variable
from coquina.tables.arrow_module import pyarrow

if TYPE_CHECKING:
    from coquina._core import FrameHandle

OBJECTS, BATCHES, LISTS, SCALARS = "vlarray", "batcharray", "listarray", "ctable_varlen_scalar"
LENGTHS = "_batch_array_metadata"


class Values(Sequence[Any]):
    """Values by number, for reading: `v[3]`, `v[2:5]`, `len(v)`, `for value in v`."""

    def __init__(self, frame: FrameHandle) -> None:
        """Made by `coquina.open`."""
        self._frame = frame

    @property
    def attrs(self) -> Attrs:
        """Metadata by name."""
        return Attrs(self._frame)

    @property
    def meta(self) -> Meta:
        """The fixed metadata by name."""
        return Meta(self._frame)

    @property
    def path(self) -> str | None:
        """The absolute path of the file; None in memory."""
        return self._frame.path

    @property
    def nbytes(self) -> int:
        """Bytes of the packed values, before compression."""
        return self._frame.stats()["nbytes"]

    @property
    def cbytes(self) -> int:
        """Bytes of the packed values as stored."""
        return self._frame.stats()["cbytes"]

    @abstractmethod
    def _value(self, number: int) -> Any:
        """Return a value that there is."""

    def __getitem__(self, key: Any) -> Any:
        """Return a value, or a list of those of a slice. Raises IndexError; UnsupportedError for others."""
        count = len(self)
        if isinstance(key, slice):
            return [self._value(number) for number in range(*key.indices(count))]
        return self._value(range(count)[index(key)])

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, so that it can no longer be read."""
        return self._frame.is_closed

    def close(self) -> None:
        """Let go of the file."""
        self._frame.close()

    def __enter__(self) -> Values:
        """Return the values; they are closed at the end of the `with` block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close them."""
        self.close()

    def __repr__(self) -> str:
        """Say how many there are."""
        if self.is_closed:
            return f"<{type(self).__name__}, closed>"
        return f"<{type(self).__name__} of {len(self)}, {self.nbytes} bytes in {self.cbytes}>"


class ObjectArray(Values):
    """Values, each packed by itself."""

    def __len__(self) -> int:
        """Return how many values there are."""
        return self._frame.stats()["nchunks"]

    def _value(self, number: int) -> Any:
        return unpack(self._frame.chunk(number))


class BatchArray(Values):
    """Lists of values, each packed together; `flat` has their values one after another."""

    def __init__(self, frame: FrameHandle) -> None:
        """Made by `coquina.open`. Raises UnsupportedError for a way of packing that there was not."""
        super().__init__(frame)
        options = map_of(fixed(frame, BATCHES)) or {}
        self._serializer = options.get("serializer", "msgpack")
        if self._serializer not in ("msgpack", "arrow"):
            raise UnsupportedError(f"{BATCHES}: values packed by {self._serializer!r}")

    def __len__(self) -> int:
        """Return how many lists there are."""
        return self._frame.stats()["nchunks"]

    @property
    def flat(self) -> FlatArray:
        """All values, one after another."""
        return FlatArray(self._frame)

    def _value(self, number: int) -> Any:
        content = self._frame.chunk(number)
        if self._serializer == "arrow":
            return _arrow_values(content)
        values: list[Any] = []
        for block in map(list_of, unpack_all(content)):
            if block is None:
                raise CorruptError(f"batch {number}: a block that is not a list of values")
            values += block
        return values


class FlatArray(Values):
    """Values that are packed in batches, one after another."""

    def __init__(self, frame: FrameHandle) -> None:
        """Made by `coquina.open`."""
        super().__init__(frame)
        self._batches = BatchArray(frame)
        #: How many values each batch has.
        self.lengths = self._known_lengths()
        self._ends = list(accumulate(self.lengths))
        #: The batch that was read last, and its number.
        self._last: tuple[int, list[Any]] = (-1, [])

    def _known_lengths(self) -> list[int]:
        """Return how many values each batch has."""
        said = (map_of(variable(self._frame, LENGTHS)) or {}).get("batch_lengths")
        if said is None:
            return [len(batch) for batch in self._batches]
        lengths = list_of(said) or []
        count = len(self._batches)
        if len(lengths) != count or not all(type(one) is int and one >= 0 for one in lengths):
            raise CorruptError(f"{LENGTHS}: no lengths of {count} batches")
        return lengths

    def __len__(self) -> int:
        """Return how many values there are."""
        return self._ends[-1] if self._ends else 0

    def _value(self, number: int) -> Any:
        at = bisect_right(self._ends, number)
        start = self._ends[at - 1] if at else 0
        last, batch = self._last
        if last != at:
            batch = self._batches[at]
            if len(batch) != self._ends[at] - start:
                raise CorruptError(f"batch {at}: {len(batch)} values, and not {self._ends[at] - start}")
            self._last = at, batch
        return batch[number - start]


class ListArray(FlatArray):
    """Lists of values, some of which may be None."""


def values_of(frame: FrameHandle, names: set[str]) -> Values | None:
    """Return the values that a frame holds; None for other frames. names: of its fixed metadata."""
    if OBJECTS in names:
        return ObjectArray(frame)
    if LISTS in names:
        return ListArray(frame)
    if SCALARS in names:
        return FlatArray(frame)
    return BatchArray(frame) if BATCHES in names else None


def _arrow_values(content: bytes) -> list[Any]:
    """Return the values of streams of Arrow, one behind the other. Raises ImportError without PyArrow."""
    pa, ipc = pyarrow(), pyarrow("ipc")
    source: Any = pa.BufferReader(content)
    values: list[Any] = []
    try:
        while source.tell() < len(content):
            with ipc.open_stream(source) as stream:
                for batch in stream:
                    values += batch.column(0).to_pylist()
    except (pa.ArrowException, IndexError, OSError) as error:
        raise CorruptError(f"values packed by Arrow: {error}") from None
    return values
