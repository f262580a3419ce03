"""What NetCDF-4 says of a group of an HDF5 file: dimensions, variables, attributes.

In: groups of h5py. Out: which dimensions a group has, and which its variables have.
Source: the NetCDF-4 format: dimensions are datasets that are HDF5 dimension scales; variables refer to them
    by DIMENSION_LIST, or, if they are scales themselves, by the numbers in `_Netcdf4Coordinates`. Files of
    HDF5 without scales get dimensions by their lengths, with the names that the NetCDF library gives them.
Invariant: nothing is read of a variable but its header.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.damage import linked
from coquina.hdf5.describing import place_of
from coquina.hdf5.untyped import h5a, h5py, h5t

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The place of a group in a file, and a name in it; links may give a group several paths.
_Link = tuple[tuple[int, int], str]
#: What a dimension that is no variable is called, as an attribute of its dataset.
_NOT_A_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
#: In front of the name of a variable that is called as a dimension, and is not its coordinate.
_NO_COORDINATE = "_nc4_non_coord_"
#: Attributes by which files say what stands here.
_HIDDEN = frozenset(
    {
        *("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"),
        *("_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"),
    }
)


@dataclass(frozen=True)
class Dimension:
    """An axis that variables share. path: of its dataset; empty if it has none."""

    name: str
    length: int
    is_unlimited: bool
    path: str


@dataclass(frozen=True)
class NetcdfVariable:
    """A dataset as a variable: its name, its place in the file, and a dimension for each axis."""

    name: str
    path: str
    dimensions: tuple[Dimension, ...]


@dataclass(frozen=True)
class NetcdfGroup:
    """The dimensions and variables of a group, without those of groups around and below it."""

    dimensions: dict[str, Dimension]
    variables: dict[str, NetcdfVariable]


def members(group: Any, kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and nodes of a kind in a group: in the order in which they were made, or by name.

    Links that lead nowhere, and those into other files, are passed over.
    """
    links = {name: group.get(name, getlink=True) for name in group}
    names = [name for name, link in links.items() if not isinstance(link, h5py.ExternalLink)]
    infos = {name: group.id.links.get_info(name.encode()) for name in names}
    is_ordered = all(info.corder_valid for info in infos.values())
    for name in sorted(names, key=lambda name: infos[name].corder if is_ordered else name):
        if isinstance(node := linked(group, name), kind):
            yield name, node


def groups_below(group: Any, path: str = "/", *, backwards: bool = False) -> Iterator[str]:
    """Yield the path of a group, and of all that are in it, each once: links may lead in circles.

    backwards: the last ones of each group first.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [(path, group)]
    while waiting:
        path, group = waiting.pop()
        place = place_of(group.id)
        if place in seen:
            continue
        seen.add(place)
        yield path
        inner = [(_below(path, name), node) for name, node in members(group, h5py.Group)]
        waiting += inner if backwards else inner[::-1]


def _below(path: str, name: str) -> str:
    return f"{path.rstrip('/')}/{name}"


def group_of(group: Any) -> NetcdfGroup:
    """Return the dimensions and variables of a group of h5py."""
    own = _scales(group)
    known = dict(own)
    above = group
    while above.name != "/":
        above = above.parent
        known |= _scales(above)
    known = _grown(known, group.file["/"] if len(known) > len(own) else group)
    variables: dict[str, NetcdfVariable] = {}
    phony: dict[_Link, tuple[Dimension, ...]] | None = None
    for name, dataset in members(group, h5py.Dataset):
        if dataset.shape is None or is_bare_dimension(dataset):
            continue
        found = _dimensions(dataset, known)
        if found is None:
            phony = _phony(group.file["/"]) if phony is None else phony
            found = phony[place_of(group.id), name]
        shown = name.removeprefix(_NO_COORDINATE)
        variables[shown] = NetcdfVariable(shown, _below(group.name, name), found)
    made = [one for variable in variables.values() for one in variable.dimensions if not one.path]
    named = [known[path] for path in own]
    return NetcdfGroup({one.name: one for one in (*named, *made)}, variables)


def _scales(group: Any) -> dict[str, Dimension]:
    """Return the dimensions that are datasets of this group, by their paths."""
    found: dict[str, Dimension] = {}
    for name, dataset in members(group, h5py.Dataset):
        if _is_scale(dataset):
            found[dataset.name] = Dimension(name, dataset.shape[0], dataset.maxshape[0] is None, dataset.name)
    return found


def _is_scale(dataset: Any) -> bool:
    return bool(dataset.shape) and _raw(dataset, "CLASS") == b"DIMENSION_SCALE"


def is_bare_dimension(dataset: Any) -> bool:
    """Whether a dataset is a dimension and no variable."""
    return _is_scale(dataset) and _raw(dataset, "NAME").startswith(_NOT_A_VARIABLE)


def _raw(node: Any, name: str) -> bytes:
    """Return an attribute of text as bytes, empty if there is none."""
    found = node.attrs.get(name, b"")
    return found.encode() if isinstance(found, str) else found if isinstance(found, bytes) else b""


def _grown(known: dict[str, Dimension], group: Any) -> dict[str, Dimension]:
    """Return dimensions, the unlimited ones as long as the longest variable that has them."""
    lengths = {path: one.length for path, one in known.items() if one.is_unlimited}
    if not lengths:
        return known
    for path in groups_below(group, group.name):
        for _, dataset in members(group.file[path], h5py.Dataset):
            for axis, one in enumerate(_dimensions(dataset, known) or () if dataset.shape else ()):
                if one.path in lengths:
                    lengths[one.path] = max(lengths[one.path], dataset.shape[axis])
    return known | {path: replace(known[path], length=length) for path, length in lengths.items()}


def _dimensions(dataset: Any, known: dict[str, Dimension]) -> tuple[Dimension, ...] | None:
    """Return the dimension of each axis; None if the file says nothing of one."""
    if not dataset.shape:
        return ()
    if _is_scale(dataset):
        return _numbered(dataset, known)
    listed = dataset.attrs.get("DIMENSION_LIST")
    if listed is None or len(listed) != len(dataset.shape) or any(len(one) == 0 for one in listed):
        return None
    scales = [dataset.file[one[0]] for one in listed]
    return tuple([known.get(scale.name) or _elsewhere(scale) for scale in scales])


def _elsewhere(scale: Any) -> Dimension:
    """Return the dimension of a scale that is in no group around."""
    return Dimension(scale.name.rpartition("/")[2], scale.shape[0], False, scale.name)


def dimension_names(dataset: Any) -> tuple[str, ...] | None:
    """Return the name of the dimension of each axis of a dataset; None if the file does not say them all."""
    if not dataset.shape:
        return () if dataset.shape is not None else None
    known: dict[str, Dimension] = {}
    if _is_scale(dataset) and len(dataset.shape) > 1:
        above = dataset.parent
        while True:
            known = _scales(above) | known
            if above.name == "/":
                break
            above = above.parent
    found = _dimensions(dataset, known)
    if found is not None:
        return tuple([one.name for one in found])
    labels = tuple([axis.label for axis in dataset.dims])
    return labels if all(labels) else None


def coordinates(dataset: Any) -> Iterator[tuple[str, Any]]:
    """Yield the coordinates of a dataset, variables of h5py by their names.

    They are those called as its dimensions, and those that its attribute "coordinates" names, if they lie in
    its group or around it and are no larger than it.
    """
    if not dataset.shape:
        return
    found: dict[str, Any] = {}
    for one in _dimensions(dataset, {}) or ():
        scale = dataset.file[one.path] if one.path else None
        if scale is not None and scale != dataset and len(scale.shape) == 1 and not is_bare_dimension(scale):
            found[one.name] = scale
    for name in str(attributes(dataset).get("coordinates", "")).split():
        above = dataset.parent
        while name not in above and above.name != "/":
            above = above.parent
        node: Any = linked(above, name) if name in above else None
        if isinstance(node, h5py.Dataset) and node.shape is not None and node.size <= dataset.size:
            found.setdefault(name, node)
    yield from found.items()


def _numbered(dataset: Any, known: dict[str, Dimension]) -> tuple[Dimension, ...] | None:
    """Return the dimensions of a coordinate: itself, and others by their numbers."""
    if len(dataset.shape) == 1:
        return (known.get(dataset.name) or _elsewhere(dataset),)
    wanted = np.atleast_1d(dataset.attrs.get("_Netcdf4Coordinates", ())).tolist()
    numbers = {
        int(np.ravel(dataset.file[path].attrs["_Netcdf4Dimid"])[0]): one
        for path, one in known.items()
        if "_Netcdf4Dimid" in dataset.file[path].attrs
    }
    if len(wanted) != len(dataset.shape) or any(number not in numbers for number in wanted):
        return None
    return tuple([numbers[number] for number in wanted])


def _phony(root: Any) -> dict[_Link, tuple[Dimension, ...]]:
    """Return the dimensions of all datasets of a file that have none."""
    found: dict[_Link, tuple[Dimension, ...]] = {}
    # Groups below come first, as the NetCDF library numbers dimensions.
    paths = [*groups_below(root, backwards=True)][::-1]
    own = {path: _scales(root[path]) for path in paths}
    count = sum(len(one) for one in own.values())
    for path in paths:
        here = list(own[path].values())
        place = place_of(root[path].id)
        for name, dataset in members(root[path], h5py.Dataset):
            if dataset.shape is None or _dimensions(dataset, _around(own, path)) is not None:
                continue
            axes: list[Dimension] = []
            for length, most in zip(dataset.shape, dataset.maxshape, strict=True):
                fitting = [one for one in here if (one.length, one.is_unlimited) == (length, most is None)]
                one = next((one for one in fitting if one not in axes), None)
                if one is None:
                    one = Dimension(f"phony_dim_{count}", length, most is None, "")
                    here.append(one)
                    count += 1
                axes.append(one)
            found[place, name] = tuple(axes)
    return found


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _around(own: dict[str, dict[str, Dimension]], path: str) -> dict[str, Dimension]:
    """Return the dimensions of a group and of those around it."""
    found: dict[str, Dimension] = {}
    parts = _parts(path)
    for depth in range(len(parts) + 1):
        found |= own.get("/" + "/".join(parts[:depth]), {})
    return found


def attributes(node: Any) -> dict[str, Any]:
    """Return the attributes of a node as NetCDF's libraries give them: str, lists of str, numbers, arrays."""
    found: dict[str, Any] = {}
    for name in node.attrs:
        if name not in _HIDDEN and (value := _attribute(node, name)) is not None:
            found[name] = value
    return found


def _attribute(node: Any, name: str) -> Any:
    """Return the value of an attribute; None for references and the like."""
    kind = h5a.open(node.id, name.encode()).get_type()
    value = node.attrs[name]
    if isinstance(kind, h5t.TypeStringID):
        if isinstance(value, h5py.Empty):
            return ""
        if name == "_FillValue" and not kind.is_variable_str():
            # A character, which h5py shortens if it is zero.
            return np.bytes_(bytes(np.ravel(value)[0]).ljust(kind.get_size(), b"\0"))
        texts = [_text(one) for one in np.ravel(np.asarray(value, object))]
        return texts[0] if len(texts) == 1 else texts
    if isinstance(value, h5py.Empty):
        return np.empty(0, value.dtype)
    items = np.asarray(value)
    if items.dtype.kind in "OV":
        return None
    return items.ravel()[0] if items.size == 1 else items


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
