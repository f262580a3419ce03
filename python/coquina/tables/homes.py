"""Where the arrays of a columns table live: a group of an HDF5 file, or a directory of frames.

In: paths of arrays below the table, one or two names with "/" between. Out: arrays, their attributes, short
    lists of text, and appenders, which put rows behind several arrays at once.
Invariant: nothing here knows what a column is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

from coquina._core import CorruptError, UnsupportedError
from coquina.hdf5.appending import AppendGroup
from coquina.hdf5.attributes import attributes
from coquina.hdf5.creation import Content, datatype
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.describing import place_of
from coquina.hdf5.groups import create_in
from coquina.hdf5.places import inside, node_in
from coquina.hdf5.sessions import ROWS
from coquina.hdf5.untyped import h5py
from coquina.hdf5.variable_items import read_items, row_regions
from coquina.hdf5.zones import zone_fields
from coquina.tables.column_storage import for_array, for_few
from coquina.tables.marks import in_header

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from coquina.arrays.array import Array
    from coquina.hdf5.groups import Group
    from coquina.storage_options import Storage

_TEXT_WIDTH_MIN = 16
#: Attributes of the Climate and Forecast conventions: their readers want text of variable length.
_FOR_OTHERS = ("units", "calendar")


class Appender(Protocol):
    """Puts rows behind arrays, of which a kill leaves what was flushed."""

    def append(self, parts: Sequence[npt.NDArray[Any]], /) -> None:
        """Add items to each array, which may differ in number."""

    def flush(self) -> None:
        """Write what waits in memory."""

    def close(self) -> None:
        """Flush, and let go of the arrays."""


class Home(ABC):
    """A place for arrays; `attrs` are the table's own.

    rows_max: columns are shown with so many rows at most; None if all have as many.
    """

    rows_max: int | None = None
    #: Whether `transaction` makes changes one commit, and undoes them after an exception.
    is_transactional = False

    @property
    def is_broken(self) -> bool:
        """Whether a commit has failed that could not be undone: nothing can be read or written any more."""
        return False

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context in which all changes are one commit, where the home has commits."""
        return nullcontext()

    def watched_by(self, table: Any) -> None:
        """Have a table told of transactions of the home's arrays, where they have some of their own."""
        del table

    def discard(self, path: str) -> None:
        """Remove what an error left unfinished; where it has closed the file, nothing is there."""
        if not self.is_broken and self.kind(path) is not None:
            self.remove(path)

    def refresh(self) -> bool:
        """Go to the newest commit of another writer; return whether there is one."""
        return False

    def compact(self) -> None:
        """Give unused room back. Raises UnsupportedError where that cannot be done in place."""
        raise UnsupportedError("HDF5 gives no space back in place")

    def is_outdated(self) -> bool:
        """Whether there is a newer commit than the one that is shown."""
        return False

    @property
    @abstractmethod
    def is_writable(self) -> bool:
        """Whether anything can be changed."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The table's name."""

    @property
    @abstractmethod
    def file(self) -> Any:
        """The file that the table is in; None for a directory."""

    @property
    @abstractmethod
    def attrs(self) -> MutableMapping[str, Any]:
        """The attributes of the table."""

    def put_marks(self, path: str, marks: Mapping[str, Any]) -> None:
        """Set attributes of what is at a path that decide how it is read; the table's own are at ""."""
        (self.attrs_of(path) if path else self.attrs).update(marks)

    def noted_rows(self) -> int | None:
        """Return how many rows the last commit is said to have; None where commits tell of each array."""
        return None

    @abstractmethod
    def note_rows(self, rows: int) -> None:
        """Say how many rows the next commit has, so that a column that was cut short is noticed."""

    @abstractmethod
    def kind(self, path: str) -> Literal["array", "texts", "group"] | None:
        """Return what there is at a path; None for nothing that can be read."""

    @abstractmethod
    def names(self, path: str) -> list[str]:
        """Return what there is right below a path; nothing if that is not a group."""

    @abstractmethod
    def attrs_of(self, path: str) -> MutableMapping[str, Any]:
        """Return the attributes of what is at a path."""

    @abstractmethod
    def create_group(self, path: str) -> None:
        """Make a place for arrays of one column."""

    @abstractmethod
    def create(
        self, path: str, dtype: npt.DTypeLike, storage: Storage, *, fillvalue: Any = None, zoned: bool = True
    ) -> Array:
        """Return a new array without items, which can grow. `h5py.enum_dtype` makes one of named numbers.

        zoned: least and greatest numbers are kept for its blocks, for conditions to skip them.
        """

    @abstractmethod
    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the array at a path. zoned: what is written to it gets such bounds."""

    def place_of(self, array: Array) -> Any:
        """Return what tells an array from others."""
        return id(array)

    @abstractmethod
    def limited(self, array: Array, length: int) -> Array:
        """Return the front of a longer array, for reading."""

    @abstractmethod
    def members(self, path: str) -> dict[str, int] | None:
        """Return the names of the numbers in an array; None if they have none."""

    @abstractmethod
    def texts(self, path: str) -> npt.NDArray[Any]:
        """Return all text at a path: str, None for what is not text."""

    @abstractmethod
    def texts_count(self, path: str) -> int:
        """Return how many texts there are at a path."""

    @abstractmethod
    def put_texts(self, path: str, texts: Sequence[str], storage: Storage) -> None:
        """Keep a short list of text, which begins with what is there."""

    @abstractmethod
    def takes_texts(self, path: str, texts: Sequence[str]) -> bool:
        """Return whether such texts can be put behind those that are there without these being moved."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove what is at a path."""

    @abstractmethod
    def move(self, old: str, new: str) -> None:
        """Give it another path; attributes follow."""

    def replace(self, old: str, new: str) -> None:
        """Give it the path of something else, which is removed."""
        self.remove(new)
        self.move(old, new)

    @abstractmethod
    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return what puts rows behind these arrays."""

    @abstractmethod
    def can_grow(self, array: Array) -> bool:
        """Whether rows can be put behind an array."""

    @abstractmethod
    def set_number(self, path: str, name: str, number: int) -> None:
        """Change a number among the attributes in place, as it may be done while rows are appended."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the arrays."""


class Hdf5Home(Home):
    """A group of an HDF5 file; arrays are its datasets."""

    def __init__(self, group: Group) -> None:
        """Made of an open group."""
        self._place = group
        self._file: Any = None
        self._is_writable = inside(group).file.mode != "r"
        self._noted: int | None = None
        # What has a name, in a file that is open for reading, where names stay.
        self._nodes: dict[str, Any] = {}

    @property
    def is_broken(self) -> bool:
        """Whether the file was closed, as it is after a sync that failed."""
        return not inside(self._place)

    @property
    def _group(self) -> Group:
        """The group. Raises ValueError if the file was closed."""
        if self.is_broken:
            raise ValueError("the file of the table was closed; open it again")
        return self._place

    @property
    def is_writable(self) -> bool:
        """Whether the file is open for writing."""
        return self._is_writable

    @property
    def name(self) -> str | None:
        """The name of the group."""
        return self._group.name

    @property
    def file(self) -> Any:
        """The file of the group."""
        if self._file is None:
            self._file = self._group.file
        return self._file

    @property
    def attrs(self) -> MutableMapping[str, Any]:
        """The attributes of the group: h5py's mapping."""
        return self._group.attrs

    def put_marks(self, path: str, marks: Mapping[str, Any]) -> None:
        """Set attributes; text is written where checksums are, but for what other programs read."""
        put = {name: one if name in _FOR_OTHERS else in_header(one) for name, one in marks.items()}
        super().put_marks(path, put)

    def noted_rows(self) -> int | None:
        """Return what stands in an attribute."""
        found: Any = self.attrs.get(ROWS)
        self._noted = int(found) if np.asarray(found).dtype.kind in "iu" and np.ndim(found) == 0 else None
        return self._noted

    def note_rows(self, rows: int) -> None:
        """Write it to an attribute; in a file without commits, which a kill may cut, never a greater one."""
        if self._noted == rows or (rows > (self._noted or 0) and not getattr(self.file, "commits", False)):
            return
        inside(self._group).attrs.modify(ROWS, np.int64(rows))
        self._noted = rows

    def _node(self, path: str) -> Any:
        """Return what has this name. Raises KeyError."""
        found = self._nodes.get(path)
        if found is None:
            found = node_in(self._group, path)
            if not self.is_writable:
                self._nodes[path] = found
        return found

    def kind(self, path: str) -> Literal["array", "texts", "group"] | None:
        """Return what there is: an array of ours, h5py's text of variable length, or a group."""
        try:
            found = self._node(path)
        except KeyError:
            return None
        if isinstance(found, Dataset):
            return "array"
        if isinstance(found, h5py.Dataset):
            return "texts" if h5py.check_string_dtype(found.dtype) and found.ndim == 1 else None
        return "group" if hasattr(found, "create_group") else None

    def names(self, path: str) -> list[str]:
        """Return the names in a group."""
        found = self._group.get(path) if path else self._group
        return list(found) if hasattr(found, "create_group") else []

    def attrs_of(self, path: str) -> MutableMapping[str, Any]:
        """Return h5py's mapping."""
        return attributes(inside(self._node(path)))

    def create_group(self, path: str) -> None:
        """Make a group."""
        self._group.create_group(path)

    def create(
        self, path: str, dtype: npt.DTypeLike, storage: Storage, *, fillvalue: Any = None, zoned: bool = True
    ) -> Array:
        """Return a new dataset without items, chunked."""
        wanted = for_array(storage, path)
        lossy, kind = wanted.lossy, np.dtype(dtype)
        zones = _zones(kind) if zoned else ()
        wanted = replace(wanted, lossy=None, maxshape=(None,), fillvalue=fillvalue, zones=zones)
        types = datatype(kind)
        if types is None:
            raise TypeError(f"{path}: no column has items of {kind}")
        made = create_in(self._group, path, Content((0,), kind, None), types, wanted)
        if lossy is not None:
            # Not by `Storage.lossy`, which may put a variable of CF's beside it: that would be among the
            # columns.
            made.set_error_bound(lossy)
        return made

    def array(self, path: str, *, zoned: bool = True) -> Array:
        """Return the dataset. Raises KeyError if there is nothing, CorruptError if that is not an array."""
        dataset = self._node(path)
        if not isinstance(dataset, Dataset):
            raise CorruptError(f"{self.name}/{path}: a {type(dataset).__name__}, where an array is stored")
        zones = _zones(dataset.dtype) if zoned and self.is_writable and len(dataset.shape) == 1 else ()
        return dataset if dataset.zones == zones else dataset.with_zones(zones)

    def place_of(self, array: Array) -> Any:
        """Return which file the dataset is in, and where."""
        return place_of(inside(array).id)

    def limited(self, array: Array, length: int) -> Array:
        """Return the dataset as if it were shorter."""
        return cast("Dataset", array).shortened(length)

    def members(self, path: str) -> dict[str, int] | None:
        """Return the members of an enumeration; h5py's booleans are none."""
        return h5py.check_enum_dtype(inside(self._node(path)).dtype)

    def texts(self, path: str) -> npt.NDArray[Any]:
        """Return strings that h5py reads. Raises UnicodeDecodeError for bytes that are not UTF-8."""
        h5: Any = self._node(path)
        items: Any = np.empty(h5.shape, object)
        for region in row_regions(h5):
            found = read_items(h5, region)
            items[region] = [one.decode() if isinstance(one, bytes) else one for one in found.tolist()]
        return items

    def texts_count(self, path: str) -> int:
        """Return the length of the dataset."""
        return len(self._node(path))

    def takes_texts(self, path: str, texts: Sequence[str]) -> bool:
        """Return whether they are not longer than those that are there, and theirs can grow."""
        h5: Any = inside(self._node(path))
        width = 0 if h5.dtype.kind != "S" or h5.maxshape[0] is not None else h5.dtype.itemsize
        return max((len(one.encode()) for one in texts), default=0) <= width

    def put_texts(self, path: str, texts: Sequence[str], storage: Storage) -> None:
        """Put strings of a fixed width behind those that are there, or make a dataset of them.

        Not of variable length: where a kill leaves these beyond the length of the dataset, libhdf5 refuses
        for ever to write in their place.
        """
        encoded = [one.encode() for one in texts]
        if any(b"\0" in one for one in encoded):
            raise ValueError(f"{path}: HDF5 has no strings with NUL in them")
        if path in self._group and not self.takes_texts(path, texts):
            del self._group[path]
        if path not in self._group:
            longest = max((len(one) for one in encoded), default=0)
            width = max(_TEXT_WIDTH_MIN, 1 << max(longest - 1, 0).bit_length())
            self.create(path, h5py.string_dtype("utf-8", width), for_few(storage))
        array = self.array(path)
        array.append(np.array(encoded[array.shape[0] :], array.dtype))

    def remove(self, path: str) -> None:
        """Remove a dataset or a group."""
        del self._group[path]

    def move(self, old: str, new: str) -> None:
        """Give it another name."""
        self._group.move(old, new)

    def appender(self, arrays: Sequence[Array]) -> Appender:
        """Return an `AppendGroup`, which flushes where it is told."""
        datasets = cast("Sequence[Dataset]", arrays)
        fixed = [dataset.name for dataset in datasets if not self.can_grow(dataset)]
        if fixed:
            raise UnsupportedError(
                f"{', '.join(map(str, fixed))}: made with a fixed length; copy the table to append to it"
            )
        return AppendGroup(datasets, buffer_bytes=None)

    def can_grow(self, array: Array) -> bool:
        """Whether a dataset is chunked and without a greatest length."""
        dataset = cast("Dataset", array)
        return dataset.layout == "chunked" and dataset.maxshape[0] is None

    def set_number(self, path: str, name: str, number: int) -> None:
        """Write it where it stands."""
        inside(self._node(path)).attrs.modify(name, np.int64(number))

    def close(self) -> None:
        """Nothing: the nodes are those of the file."""


def _zones(dtype: np.dtype[Any]) -> tuple[tuple[int, str], ...]:
    """Return what bounds are kept of: numbers with an order, as they are stored, and fixed-width bytes."""
    if dtype.names is not None or dtype.kind in "mM":
        return ()
    return tuple(zone_fields(dtype))
