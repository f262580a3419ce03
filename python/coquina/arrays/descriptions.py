"""Metadata of an array, for all kinds of arrays: attributes, names of axes, coordinates.

In: arrays of ours, datasets of HDF5, variables of NetCDF, DataArrays of xarray, arrays of Zarr. Out: names
and values, as `Array.attrs` of a frame has them and the engine "coquina" of xarray reads them.
Invariant: what a source says of its items is in its copy, or an error says what cannot be.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CoquinaError
from coquina.arrays.array import Array
from coquina.msgpack_values import pack
from coquina.providers import Provider

if TYPE_CHECKING:
    from coquina.hdf5 import netcdf_groups
else:
    netcdf_groups = Provider("netcdf_groups")

#: The names of the axes; what the format has no room for by its name; coordinates by name.
AXES, MORE, COORDINATES = "_ARRAY_DIMENSIONS", "_ATTRS", "_COORDS"
#: Names that say of a frame what its axes are.
AXES_NAMES = (AXES, "dims")
_RESERVED = (*AXES_NAMES, MORE, COORDINATES)
#: So many attributes have a metalayer of their own, of the 15 that a frame has in all.
_OWN_LAYERS_MAX = 8
#: The format's limit of a name.
_NAME_BYTES_MAX = 31
#: Scalars that come back from a file as what they are.
_PLAIN = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))


def layers_of(source: Any) -> dict[str, bytes]:
    """Return the metadata of a source, as a frame stores it. Raises ValueError for what it cannot store."""
    if isinstance(source, Array) and not hasattr(source, "h5"):
        layers = {name: source.handle.layer(name) for name in source.handle.layer_names()}
        return {name: content for name, content in layers.items() if content is not None}
    found: dict[str, bytes] = {}
    for name, value in stored(*description_of(source)).items():
        try:
            found[name] = pack(value)
        except TypeError as error:
            raise ValueError(f"attribute {name!r}: {error}; remove it, or pass the values alone") from error
    return found


def add_layers(array: Array, layers: Mapping[str, bytes]) -> None:
    """Say of a new array what was said of its source."""
    for name, content in layers.items():
        array.handle.set_layer(name, content)


Description = tuple[dict[str, Any], "tuple[str, ...] | None", dict[str, Any]]


def description_of(source: Any) -> Description:
    """Return attributes, the names of the axes or None, and coordinates by name, of any source.

    A coordinate is a mapping with "dims", "attrs" and "values".
    """
    module = type(source).__module__.partition(".")[0]
    if hasattr(source, "h5") or module == "h5py":
        return _of_hdf5(getattr(source, "h5", source))
    if isinstance(source, Array):
        return _of_frame(source)
    if module == "xarray" and hasattr(source, "dims"):
        return _of_xarray(source)
    if hasattr(source, "ncattrs"):
        attributes = {name: source.getncattr(name) for name in source.ncattrs()}
        return attributes, tuple(source.dimensions), {}
    if module == "zarr" and isinstance(getattr(source, "attrs", None), Mapping):
        attributes = dict(source.attrs)
        names = attributes.pop(AXES, None) or getattr(source.metadata, "dimension_names", None)
        return attributes, None if names is None or None in names else tuple(names), {}
    return {}, None, {}


def _of_frame(array: Any) -> Description:
    attributes: dict[str, Any] = {}
    for name in array.attrs:
        try:
            attributes[name] = array.attrs[name]
        except CoquinaError:
            # Values of other programs' own classes.
            continue
    names = next((attributes[name] for name in AXES_NAMES if name in attributes), None)
    coordinates = attributes.pop(COORDINATES, None)
    more = attributes.pop(MORE, None)
    for name in AXES_NAMES:
        attributes.pop(name, None)
    attributes.update(cast("dict[str, Any]", more) if isinstance(more, dict) else {})
    axes = None if names is None else (names,) if isinstance(names, str) else tuple(map(str, names))
    return (
        {name: _scalar(value) for name, value in attributes.items()},
        axes if axes is not None and len(axes) == array.ndim else None,
        cast("dict[str, Any]", coordinates) if isinstance(coordinates, dict) else {},
    )


def _scalar(value: Any) -> Any:
    found: Any = value
    return found[()] if isinstance(value, np.ndarray) and not found.shape else found


def _of_hdf5(h5: Any) -> Description:
    if not hasattr(h5, "attrs"):
        return {}, None, {}
    names = netcdf_groups.dimension_names(h5)
    found = {name: _coordinate(one) for name, one in netcdf_groups.coordinates(h5)} if names else {}
    coordinates = {name: one for name, one in found.items() if one is not None}
    return netcdf_groups.attributes(h5), names, coordinates


def _coordinate(h5: Any) -> dict[str, Any] | None:
    """Return a coordinate, a dataset; None if its axes have no names, or its items are no plain ones."""
    names = netcdf_groups.dimension_names(h5)
    values: Any = np.asarray(h5[()])
    if values.dtype.hasobject:
        texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values.ravel()]
        if not all(isinstance(one, str) for one in texts):
            return None
        values = np.array(texts, "U").reshape(values.shape)
    if names is None or values.dtype.kind not in "biufSU":
        return None
    said = stored(netcdf_groups.attributes(h5), None, {})
    return {"dims": list(names), "attrs": said, "values": values}


def _of_xarray(source: Any) -> Description:
    attributes = dict(source.attrs)
    coordinates: dict[str, Any] = {}
    for name, one in getattr(source, "coords", {}).items():
        values = np.asarray(one.values)
        if values.dtype.hasobject:
            listed = values.tolist()
            flat = values.ravel().tolist()
            if not all(isinstance(text, str) for text in flat):
                raise ValueError(f"coordinate {name!r}: objects cannot be stored; drop_vars({name!r}) first")
            values = np.array(listed, "U") if flat else values.astype("U1")
        said = stored(dict(one.attrs), None, {})
        coordinates[str(name)] = {"dims": [str(axis) for axis in one.dims], "attrs": said, "values": values}
    return attributes, tuple(map(str, source.dims)), coordinates


def stored(attributes: Mapping[str, Any], names: tuple[str, ...] | None, coordinates: Any) -> dict[str, Any]:
    """Return a description as the attributes of a frame have it."""
    found: dict[str, Any] = {}
    more: dict[str, Any] = {}
    for name, value in attributes.items():
        has_name = name not in _RESERVED and 0 < len(name.encode()) <= _NAME_BYTES_MAX
        fits = has_name and len(found) < _OWN_LAYERS_MAX
        (found if fits else more)[name] = _kept(value)
    if names:
        found[AXES] = list(names)
    if more:
        found[MORE] = more
    if coordinates:
        found[COORDINATES] = coordinates
    return found


def _kept(value: Any) -> Any:
    """Return a value that comes back with its dtype."""
    dtype: Any = getattr(value, "dtype", None)
    if isinstance(value, np.ndarray):
        return cast("Any", value).tolist() if dtype.hasobject else cast("Any", value)
    if dtype is not None and dtype not in _PLAIN and dtype.kind not in "US":
        return np.asarray(value)
    return value


@contextmanager
def as_stored(x: Any) -> Generator[None]:
    """Have a variable of netCDF4 give its items as they are stored, of which its dtype and attributes tell.

    It would give those that `scale_factor` and others make of them, and `dtype` would cut these down.
    """
    if not hasattr(x, "set_auto_maskandscale"):
        yield
        return
    is_masked, is_scaled = x.mask, x.scale
    x.set_auto_maskandscale(False)
    try:
        yield
    finally:
        x.set_auto_mask(is_masked)
        x.set_auto_scale(is_scaled)


__all__ = ["AXES_NAMES", "add_layers", "as_stored", "description_of", "layers_of"]
