"""What is at a path in a file that is open: a group, an array, a table, an expression, a link.

In: an open file and a path from a request. Out: `Found`, which reads by keys.
Invariant: indexes, and other parts of tables, are no objects of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CoquinaError, CorruptError
from coquina.arrays.array import Array
from coquina.arrays.bloscpack import PackFile
from coquina.arrays.frames import Frame
from coquina.arrays.views import View
from coquina.expressions.expression import Expr
from coquina.hdf5.attributes import attributes
from coquina.hdf5.describing import describe
from coquina.hdf5.files import File
from coquina.hdf5.groups import Group
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5py
from coquina.server.failures import RequestError, bad_request, not_found
from coquina.stores.tree import Group as StoreGroup
from coquina.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from coquina.server.opened_files import OpenedFile

#: What PyTables, and coquina with it, keeps beside and within tables.
_HIDDEN = ("_i_", "_p_")
_PATH_MAX = 16_384
#: Bytes of a packed file that are unpacked at once.
_UNPACKED_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """An object. kind: "group", "array", "table", "expression", "link", "type", "frame" or "damaged".

    node: ours, or h5py's where we have none; of a link what it says of its target; of what is damaged, which
        only lists of groups have, the exception.
    """

    file: OpenedFile
    path: str
    kind: str
    node: Any

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The lengths of the axes; None for what has none, and for empty datasets of HDF5."""
        if self.kind == "table":
            return (len(self.node),)
        shape = getattr(self.node, "shape", None)
        if shape is None and self.kind == "array" and not isinstance(self.node, h5py.Dataset):
            return (len(self.node),)
        return None if shape is None else tuple(shape)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The dtype of the values; None where NumPy has none. Packed bytes are numbers."""
        if isinstance(self.node, PackFile) and self.node.array is None:
            return np.dtype("u1")
        found = getattr(self.node, "dtype", None)
        return cast("Any", found) if isinstance(found, np.dtype) else None

    @property
    def nbytes(self) -> int | None:
        """Bytes of the values."""
        found = getattr(self.node, "nbytes", None)
        if isinstance(found, int):
            return found
        shape, dtype = self.shape, self.dtype
        return None if shape is None or dtype is None else prod(shape) * dtype.itemsize

    @property
    def h5(self) -> Any:
        """h5py's object of it, for what is asked of HDF5 alone; None for objects of other files."""
        if isinstance(self.node, h5py.HLObject):
            return self.node
        if isinstance(self.node, Table):
            return None if not isinstance(self.node.file, File) else inside(self.node)
        return inside(self.node) if hasattr(self.node, "_h5") else None

    @property
    def attrs(self) -> Any:
        """The attributes, a mapping."""
        if self.kind in ("link", "type", "damaged"):
            return {}
        h5 = self.h5
        return attributes(h5) if h5 is not None else getattr(self.node, "attrs", {})

    def read(self, key: tuple[int | slice, ...]) -> npt.NDArray[Any]:
        """Return the values of a key that `selections` has checked."""
        if isinstance(self.node, PackFile):
            return _unpacked(self.node, key)
        if isinstance(self.node, h5py.Dataset):
            return np.asarray(_read_h5py(self.node, key))
        if isinstance(self.node, (Array, Expr, View)):
            return np.asarray(self.node[key])
        if isinstance(self.node, Table):
            return np.asarray(self.node[key[0]])
        return _objects(self.node, key[0])


def _unpacked(node: PackFile, key: tuple[int | slice, ...]) -> npt.NDArray[Any]:
    """Return the values of a key, whose rows are unpacked as a whole, some of them at a time."""
    rows = key[0] if key else 0
    if isinstance(rows, int) or is_scattered(node):
        return np.asarray(node[key]) if node.array is not None else np.asarray(node[rows], "u1")
    numbers = range(*rows.indices(len(node)))
    row_bytes = 1 if node.array is None else node.array.row_bytes
    each = max(1, _UNPACKED_BYTES // max(1, row_bytes * abs(numbers.step)))
    parts: list[npt.NDArray[Any]] = []
    for at in range(0, max(1, len(numbers)), each):
        part = numbers[at : at + each]
        one = slice(part.start, None if part.stop < 0 else part.stop, part.step)
        parts.append(
            np.frombuffer(node[one], "u1") if node.array is None else np.asarray(node[(one, *key[1:])])
        )
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def is_scattered(node: PackFile) -> bool:
    """Whether rows of a packed array lie scattered over its file, so that each read unpacks all of it."""
    return node.array is not None and node.array.order != "C"


def _objects(node: Any, key: int | slice) -> npt.NDArray[Any]:
    """Return values of any length: only those that are asked for are read."""
    numbers = range(*key.indices(len(node))) if isinstance(key, slice) else range(key, key + 1)
    made = np.empty(len(numbers), object)
    for at, number in enumerate(numbers):
        made[at] = node[number]
    return made if isinstance(key, slice) else made.reshape(())


def _read_h5py(node: Any, key: tuple[int | slice, ...]) -> Any:
    """Read what no array of ours can have; h5py takes no steps backwards."""
    if node.shape is None:
        raise bad_request("an empty dataset has no values")
    if any(isinstance(one, slice) and (one.step or 1) < 0 for one in key):
        forward = tuple([_forward(one) if isinstance(one, slice) else one for one in key])
        back = tuple(
            [slice(None, None, -1 if (one.step or 1) < 0 else 1) for one in key if isinstance(one, slice)]
        )
        return node[forward][back]
    return node[key]


def _forward(one: slice) -> slice:
    if (one.step or 1) > 0:
        return one
    stop = -1 if one.stop is None else one.stop
    numbers = range(one.start, stop, one.step)
    return slice(numbers[-1], numbers[0] + 1, -one.step) if numbers else slice(0, 0)


def parts_of(path: str | None) -> list[str]:
    """Return the names of a path. Raises RequestError for what is no path."""
    if path is None:
        return []
    if len(path) > _PATH_MAX or "\0" in path:
        raise bad_request("no path of an object")
    return [part for part in path.split("/") if part not in ("", ".")]


def find(file: OpenedFile, path: str | None) -> Found:
    """Return the object at a path of a file. Raises RequestError with status 404 if there is none."""
    name = "/" + "/".join(parts_of(path))
    found = file.kept(name)
    if found is None:
        found = file.keep(name, _looked_up(file, name))
    if isinstance(found.node, Array) and file.caches is not None:
        file.caches.use(found.node)
    return found


def _looked_up(file: OpenedFile, name: str) -> Found:
    """Return the object at a path, opened anew."""
    node = file.top
    if name == "/":
        return Found(file, name, _kind(node), node)
    if not isinstance(node, Group | StoreGroup):
        raise not_found(f"{name}: {file.place.name} is one object, at /")
    if isinstance(node, Group):
        return _found_in_hdf5(file, node, name)
    if name[1:] not in node:
        raise not_found(f"{name}: there is no such object in {file.place.name}")
    node = node[name[1:]]
    return Found(file, name, _kind(node), node)


def _found_in_hdf5(file: OpenedFile, top: Group, name: str) -> Found:
    error: Exception = not_found(f"{name}: there is no such object in {file.place.name}")
    try:
        if (node := top.get(name)) is not None:
            return Found(file, name, _kind(node), node)
    except CorruptError as damage:
        # libhdf5 says the same of links that lead round in circles.
        error = damage
    try:
        link = top.get(name, getlink=True)
    except (KeyError, ValueError, TypeError, RuntimeError, CorruptError):
        link = None
    if isinstance(link, h5py.SoftLink | h5py.ExternalLink):
        return Found(file, name, "link", link)
    raise error


def _kind(node: Any) -> str:
    if isinstance(node, Table):
        return "table"
    if isinstance(node, Group | StoreGroup | h5py.Group):
        return "group"
    if isinstance(node, Expr):
        return "expression"
    if isinstance(node, h5py.Datatype):
        return "type"
    if isinstance(node, Frame):
        return "frame"
    is_array = isinstance(node, Array | PackFile | View | h5py.Dataset)
    is_array = is_array and getattr(node, "dtype", None) is not None
    return "array" if is_array or hasattr(cast("Any", type(node)), "__len__") else "frame"


def as_array(found: Found, what: str = "values") -> Found:
    """Return an object whose values can be read: an array, an expression, or the records of a table."""
    if found.kind in ("array", "expression"):
        return found
    if found.kind == "table":
        h5 = found.h5
        if h5 is not None and isinstance(h5, h5py.Dataset) and describe(h5) is not None:
            return Found(found.file, found.path, "array", found.node.dataset)
        return found
    raise bad_request(f"{found.path}: a {found.kind}, which has no {what}")


def children(found: Found) -> Iterator[Found]:
    """Iterate over what is in a group, but for what belongs to tables.

    Who lists a group need not read any of it, so that nothing is kept for later requests.
    """
    if found.kind != "group":
        return
    above = found.path.rstrip("/")
    for name in list(found.node):
        if not name.startswith(_HIDDEN):
            path = f"{above}/{name}"
            try:
                yield found.file.kept(path) or _looked_up(found.file, path)
            except (CoquinaError, RequestError) as error:
                yield Found(found.file, path, "damaged", error)
