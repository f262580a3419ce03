"""Frames, and groups of HDF5 files, as xarray reads them: variables by name, attributes, encodings.

In: a path, a file object or bytes; a group. Out: a store of xarray's, of which nothing but headers is read.
Invariant: a store holds no open file, but a manager of xarray's that opens it when it is needed, here or in
    another process.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xarray import Variable
from xarray.backends import AbstractDataStore, CachingFileManager, DummyFileManager
from xarray.coding import strings
from xarray.core import indexing

from coquina.adapters.xarray_arrays import BoxItems, LazyItems, Opened, Place, reading
from coquina.arrays import opening
from coquina.arrays.array import Array
from coquina.arrays.descriptions import AXES_NAMES, description_of
from coquina.hdf5 import File
from coquina.hdf5.netcdf_groups import attributes, group_of, groups_below
from coquina.hdf5.netcdf_groups import members as nodes_of
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5py
from coquina.quoting import quoted

if TYPE_CHECKING:
    from coquina.hdf5.netcdf_groups import NetcdfGroup, NetcdfVariable

#: What makes a dataset of what is none.
_INSTEAD = {
    "Store": "; `coquina convert run.b2z run.nc` makes one of its arrays",
    "Table": "; cq.open_table(path).to_pandas().to_xarray() has its columns",
}
_CONTENT = (bytes, bytearray, memoryview)
#: What xarray has for text of any length.
_TEXT: np.dtype[Any] = cast("Any", strings).create_vlen_dtype(str)


class Store(AbstractDataStore):
    """A frame, or a group of an HDF5 file, as xarray reads it."""

    __slots__ = ("_found", "_group", "_manager", "_source")

    def __init__(self, manager: Any, source: str | None, group: str) -> None:
        """manager: of the open file. source: its path. group: the path of a group."""
        self._manager = manager
        self._source = source
        self._group = group
        self._found: NetcdfGroup | None = None

    @classmethod
    def open(cls, source: Any, group: str | None) -> Store:
        """Open a file. Raises KeyError for a group that is not there, TypeError for anything but an array."""
        path = _path(source)
        if path is None:
            opener: Any = opening.from_bytes if isinstance(source, _CONTENT) else opening.open
            manager: Any = DummyFileManager(_checked(opener(source), "what was given"))
        else:
            manager = CachingFileManager(_open, path, mode="r")
        store = cls(manager, path, "/" + (group or "").strip("/"))
        try:
            store._check()
        except BaseException:
            store.close()
            raise
        return store

    def _check(self) -> None:
        with reading(self._manager) as opened:
            if isinstance(opened, File):
                if self._group not in opened or not isinstance(inside(opened)[self._group], h5py.Group):
                    raise KeyError(f"{self._source}: there is no group {self._group!r}")
            elif self._group != "/":
                raise KeyError(f"{self._source}: an array has no group {self._group!r}")

    def below(self) -> list[tuple[str, Store]]:
        """Return the stores of this group and of all below it, by their paths from here."""
        with reading(self._manager) as opened:
            if not isinstance(opened, File):
                return [("/", self)]
            paths = list(groups_below(inside(opened)[self._group]))
        base = self._group.rstrip("/")
        found: list[tuple[str, Store]] = []
        for path in paths:
            # Of a group xarray wants to know where others are from there.
            shown = path if not base else path.strip("/") or "."
            found.append((shown, Store(self._manager, self._source, base + path)))
        return found

    def get_variables(self) -> dict[str, Variable]:
        """Return the variables, of which nothing is read yet."""
        with reading(self._manager) as opened:
            if not isinstance(opened, File):
                return self._variables(opened)
            variables = self._netcdf(opened).variables.values()
            found = {one.name: self._variable(opened, one) for one in variables}
        return {name: variable for name, variable in found.items() if variable is not None}

    def get_attrs(self) -> dict[str, Any]:
        """Return the attributes of the group; those of a frame are its variable's."""
        with reading(self._manager) as opened:
            return attributes(inside(opened)[self._group]) if isinstance(opened, File) else {}

    def get_dimensions(self) -> dict[str, int]:
        """Return the lengths of the group's dimensions."""
        with reading(self._manager) as opened:
            if not isinstance(opened, File):
                return dict(zip(_axes(opened), opened.shape, strict=True))
            return {name: one.length for name, one in self._netcdf(opened).dimensions.items()}

    def get_encoding(self) -> dict[str, Any]:
        """Return which dimensions may grow, and where the dataset is from."""
        with reading(self._manager) as opened:
            dimensions = self._netcdf(opened).dimensions.values() if isinstance(opened, File) else ()
            return {"unlimited_dims": {one.name for one in dimensions if one.is_unlimited}}

    def close(self) -> None:
        """Close the file."""
        self._manager.close()

    def _netcdf(self, opened: File) -> NetcdfGroup:
        if self._found is None:
            self._found = group_of(inside(opened)[self._group])
        return self._found

    def _name(self) -> str:
        stem = os.path.basename(self._source or "").rsplit(".", 1)[0]
        return stem or "array"

    def _variables(self, array: Array) -> dict[str, Variable]:
        """Return the variable of a frame, and its coordinates."""
        found, _, coordinates = description_of(array)
        dims = _axes(array)
        others = [name for name in coordinates if name not in dims]
        if others and "coordinates" not in found:
            found["coordinates"] = " ".join(others)
        items = LazyItems(Place(self._manager, None), array.shape, array.dtype)
        encoding = {"dtype": array.dtype, **self._encoding(dims, array.chunks, array.shape)}
        variables = {self._name(): Variable(dims, indexing.LazilyIndexedArray(items), found, encoding)}
        for name, one in coordinates.items():
            variables.setdefault(name, Variable(one["dims"], one["values"], one["attrs"]))
        return variables

    def _variable(self, opened: File, one: NetcdfVariable) -> Variable | None:
        """Return a variable; None, with a warning, for items that no array has."""
        stored: Any = opened.dataset(one.path)  # h5py's own dataset where no array can have the items
        h5 = inside(stored)
        place = Place(self._manager, one.path)
        dims = tuple([dimension.name for dimension in one.dimensions])
        shape = tuple([max(d.length, n) for d, n in zip(one.dimensions, h5.shape, strict=True)])
        encoding: dict[str, Any] = {}
        if _is_text(h5):
            items = BoxItems(place, shape, _TEXT, "")
            encoding["dtype"] = str
        elif isinstance(stored, Array):
            inner = stored.shape[len(shape) :]
            shape, dims = shape + inner, dims + tuple([f"{one.name}_item_{k}" for k in range(len(inner))])
            is_shorter = stored.shape != shape
            encoding["dtype"] = _enumerated(h5, stored.dtype)
            if is_shorter:
                items: Any = BoxItems(place, shape, stored.dtype, cast("Any", stored).fillvalue)
            else:
                items = LazyItems(place, shape, stored.dtype)
        else:
            warnings.warn(
                f"{quoted(one.path)}: items of {h5.dtype} are no array; left out", UserWarning, stacklevel=2
            )
            return None
        encoding |= self._encoding(dims, h5.chunks, shape)
        encoding |= {"zlib": h5.compression == "gzip", "shuffle": h5.shuffle, "fletcher32": h5.fletcher32}
        encoding["complevel"] = h5.compression_opts if h5.compression == "gzip" else 0
        found = attributes(h5)
        if "least_significant_digit" in found:
            encoding["least_significant_digit"] = found.pop("least_significant_digit")
        return Variable(dims, indexing.LazilyIndexedArray(items), found, encoding)

    def _encoding(self, dims: Any, chunks: Any, shape: tuple[int, ...]) -> dict[str, Any]:
        """Return how items are stored, as xarray has it: chunks of Dask are made of whole ones of these."""
        found: dict[str, Any] = {"source": self._source, "original_shape": shape}
        if chunks is None:
            return {**found, "contiguous": True, "chunksizes": None}
        chunks = (*chunks, *shape[len(chunks) :])
        preferred = dict(zip(dims, chunks, strict=True))
        return {**found, "contiguous": False, "chunksizes": chunks, "preferred_chunks": preferred}


def _open(source: str, mode: Any = "r") -> Opened:
    return _checked(opening.open(source, mode), source)


def _checked(opened: Any, place: str) -> Opened:
    """Return an open file. Raises TypeError where it has no arrays that a dataset could have."""
    if isinstance(opened, File | Array):
        return Opened(opened)
    kind = type(opened).__name__
    raise TypeError(f"{place}: a {kind}, which is neither an array nor an HDF5 file{_INSTEAD.get(kind, '')}")


def _path(source: Any) -> str | None:
    """Return the path of a file, absolute, or its URL; None for a file object and bytes."""
    if not isinstance(source, str | os.PathLike):
        return None
    path = str(cast("Any", source))
    return path if "://" in path else os.path.abspath(os.path.expanduser(path))


def _axes(array: Array) -> tuple[str, ...]:
    """Return the names of the axes of an array. Raises ValueError where there are not as many as axes."""
    for key in AXES_NAMES:
        if key in array.attrs:
            names = array.attrs[key]
            listed = [names] if isinstance(names, str) else list(names)
            if len(listed) != array.ndim:
                raise ValueError(f"attrs[{key!r}] is {names!r}: names for an array of {array.ndim} axes")
            return tuple([str(name) for name in listed])
    return tuple([f"dim_{axis}" for axis in range(array.ndim)])


def _is_text(h5: Any) -> bool:
    """Whether items are text, and not single characters, which NetCDF has as a type of its own."""
    found = h5py.check_string_dtype(h5.dtype)
    return found is not None and found.length != 1


def _enumerated(h5: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype with the names of an enumeration, as xarray keeps them."""
    members = h5py.check_enum_dtype(h5.dtype)
    if members is None or dtype.kind == "b":
        return dtype
    return np.dtype(dtype, metadata={"enum": dict(members), "enum_name": _enum_name(h5, members)})


def _enum_name(h5: Any, members: dict[str, int]) -> str:
    """Return the name of the datatype, of a group around, that an enumeration is."""
    group = h5.parent
    while True:
        for name, node in nodes_of(group, h5py.Datatype):
            if h5py.check_enum_dtype(node.dtype) == members:
                return name
        if group.name == "/":
            return f"{h5.name.rpartition('/')[2]}_enum"
        group = group.parent


__all__ = ["Store"]
