"""Says of a dataset what was said of its source: attributes, the names of its axes, coordinates.

In: a dataset of h5py, and a description as `arrays.descriptions` gives it. Out: attributes, and dimension
scales as NetCDF-4 has them, so that xarray finds dimensions and coordinates.
Invariant: nothing that is there is changed: an axis whose name is taken for something else gets a label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

_BARE = "This is a netCDF dimension but not a netCDF variable.%10d"
_UNITS = {
    "ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds", "m": "minutes",
    "h": "hours", "D": "days",
}  # fmt: skip


def add_attributes(dataset: Any, attributes: Mapping[str, Any], source: Any = None) -> None:
    """Add attributes. source: a dataset of h5py that has them, from which they are taken to the bit.

    Raises ValueError for a value that HDF5 has not.
    """
    for name, value in attributes.items():
        if source is not None and name in source.attrs:
            found = source.attrs.get_id(name)
            dataset.attrs.create(name, source.attrs[name], shape=found.shape, dtype=found.dtype)
            continue
        try:
            if name == "_FillValue" and np.shape(value) == ():
                # NetCDF has one item, of the type of the variable.
                dataset.attrs.create(name, np.asarray([value], dataset.dtype))
            else:
                dataset.attrs[name] = _as_hdf5(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"attribute {name!r}: HDF5 cannot store this {type(value).__name__}") from error


def _as_hdf5(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "U" and array.shape:
        return np.asarray(array.tolist(), h5py.string_dtype())
    if value is None or isinstance(value, dict) or array.dtype.kind in "OmM":
        raise TypeError
    return value


def add_axes(dataset: Any, names: tuple[str, ...] | None, coordinates: Mapping[str, Any]) -> None:
    """Name the axes of a dataset, by dimension scales beside it, and add its coordinates."""
    if names is None or len(names) != len(dataset.shape) or len(set(names)) < len(names):
        return
    group = dataset.parent
    for name, one in coordinates.items():
        if name not in group and "/" not in name:
            _add_coordinate(group, name, one)
    scales = [_scale(group, name, dataset, axis) for axis, name in enumerate(names)]
    others = [name for name in coordinates if name not in names and name in group]
    if others and "coordinates" not in dataset.attrs:
        dataset.attrs["coordinates"] = " ".join(others)
    if len(names) == 1 and scales[0] == dataset:
        dataset.make_scale(names[0])
        return
    for name in others:
        axes = tuple(coordinates[name]["dims"])
        if not group[name].is_scale and len(group[name].shape) == len(axes):
            _attach(group[name], axes, [_scale(group, axis, group[name], at) for at, axis in enumerate(axes)])
    _attach(dataset, names, scales)


def _attach(dataset: Any, names: tuple[str, ...], scales: list[Any]) -> None:
    if any(scale is None for scale in scales):
        for axis, name in enumerate(names):
            dataset.dims[axis].label = name
        return
    for axis, scale in enumerate(scales):
        dataset.dims[axis].attach_scale(scale)


def _scale(group: Any, name: str, dataset: Any, axis: int) -> Any:
    """Return the scale of an axis: one that is there, or a new one; None if the name is taken."""
    length = dataset.shape[axis]
    if not name or "/" in name:
        return None
    if name in group:
        found = group[name]
        if found == dataset:
            return found if len(dataset.shape) == 1 else None
        fits = isinstance(found, h5py.Dataset) and found.shape == (length,) and found.is_scale
        return found if fits else None
    made = group.create_dataset(name, (length,), ">f4")
    made.make_scale(_BARE % length)
    return made


def _add_coordinate(group: Any, name: str, one: Mapping[str, Any]) -> None:
    values: npt.NDArray[Any] = np.asarray(one["values"])
    attributes = dict(one["attrs"])
    if values.dtype.kind == "M":
        unit = np.datetime_data(values.dtype)
        if unit[0] not in _UNITS or unit[1] != 1:
            values, unit = values.astype("M8[ns]"), ("ns", 1)
        attributes |= {"units": f"{_UNITS[unit[0]]} since 1970-01-01", "calendar": "proleptic_gregorian"}
        values = values.view("i8" if values.dtype.isnative else values.dtype.str.replace("M", "i"))
    if values.dtype.kind == "U":
        made = group.create_dataset(name, data=values.astype(object), dtype=h5py.string_dtype())
    else:
        made = group.create_dataset(name, data=values)
    add_attributes(made, attributes)
    if tuple(one["dims"]) == (name,):
        made.make_scale(name)


__all__ = ["add_attributes", "add_axes"]
