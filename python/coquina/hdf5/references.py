"""Copies attributes from one file to another, and points their references to the copies.

In: objects of h5py. Out: attributes that hold the same; a reference to `/a/b` refers to `/a/b` of the new
file. Why: libhdf5 makes null references of those that it copies to another file, and without them the
dimensions of a netCDF file are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina.hdf5.exact_attributes import refers
from coquina.hdf5.untyped import h5py, h5r, h5s

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt


def has_references(dtype: np.dtype[Any]) -> bool:
    """Whether items of a dtype of h5py are references, or have some in them."""
    if h5py.check_ref_dtype(dtype) is not None:
        return True
    inner = h5py.check_vlen_dtype(dtype)
    if isinstance(inner, np.dtype):
        return has_references(cast("np.dtype[Any]", inner))
    if dtype.subdtype is not None:
        return has_references(dtype.base)
    return any(has_references(dtype[name]) for name in dtype.names or ())


def copy_attributes(source: Any, target: Any) -> list[tuple[str, str]]:
    """Copy all attributes that `target` lacks, and those with references; return those that fail, and why."""
    lost: list[tuple[str, str]] = []
    for name in list(source.attrs):
        try:
            attribute = source.attrs.get_id(name)
            if name not in target.attrs or refers(attribute.get_type()):
                _copy_attribute(source, target, name, attribute.dtype)
        except (OSError, RuntimeError, ValueError, LookupError, TypeError) as error:
            lost.append((name, str(error)))
    return lost


def _copy_attribute(source: Any, target: Any, name: str, dtype: np.dtype[Any]) -> None:
    value = source.attrs[name]
    if isinstance(value, h5py.Empty):
        target.attrs[name] = value
        return
    shape = source.attrs.get_id(name).shape
    if has_references(dtype):
        value = pointed(value, source.file, target.file)
    target.attrs.create(name, value, shape=shape, dtype=dtype)


def pointed(value: Any, source: Any, target: Any) -> Any:
    """Return a value that was read from file `source` with references into file `target`.

    What is not there is a null reference; and so are references to regions that have no counterpart.
    """

    def point(reference: Any) -> Any:
        name = h5r.get_name(reference, source.id) if reference else None
        return pointed_at(reference, source, target, name if name is not None and name in target else None)

    return mapped(value, point)


def pointed_at(reference: Any, source: Any, target: Any, name: bytes | None) -> Any:
    """Return a reference to `name` of file `target` of the kind of `reference`; a null one for None."""
    if isinstance(reference, h5py.RegionReference):
        if name is None:
            return h5py.RegionReference()
        return h5r.create(target.id, name, h5r.DATASET_REGION, h5r.get_region(reference, source.id))
    return h5py.Reference() if name is None else h5r.create(target.id, name, h5r.OBJECT)


def described(value: Any, node: Any) -> Any:
    """Return a value that h5py read, with text in place of references: the paths in the file of `node`."""

    def describe(reference: Any) -> str:
        name = h5r.get_name(reference, node.id) if reference else None
        if name is None:
            return "null reference"
        part = _selection(reference, node) if isinstance(reference, h5py.RegionReference) else ""
        return f"-> {name.decode('utf-8', 'backslashreplace')}{part}"

    return mapped(value, describe)


def _selection(reference: Any, node: Any) -> str:
    """Return what a reference to a region selects: boxes, or points, or all."""
    space = h5r.get_region(reference, node.id)
    kind = space.get_select_type()
    if kind == h5s.SEL_HYPERSLABS:
        boxes = space.get_select_hyper_blocklist()
        texts = [", ".join(f"{low}:{high + 1}" for low, high in zip(*box, strict=True)) for box in boxes]
    elif kind == h5s.SEL_POINTS:
        points = space.get_select_elem_pointlist()
        texts = [", ".join(map(str, point)) for point in points]
    else:
        return "[...]" if kind == h5s.SEL_ALL else "[]"
    return "".join(f"[{text}]" for text in texts)


def mapped(value: Any, each: Callable[[Any], Any]) -> Any:
    """Return a value that h5py read, with what `each` gives in place of every reference."""
    if isinstance(value, h5py.RegionReference | h5py.Reference):
        return each(value)
    if isinstance(value, np.void):
        value = cast("Any", value.item())
    if isinstance(value, tuple):
        return tuple(mapped(one, each) for one in cast("tuple[Any, ...]", value))
    if isinstance(value, np.ndarray):
        values = cast("npt.NDArray[Any]", value)
        if not values.dtype.hasobject:
            return values
        result = np.empty_like(values)
        for at in np.ndindex(values.shape):
            result[at] = mapped(values[at], each)
        return result
    return value
