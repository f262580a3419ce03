"""Groups to files of other kinds: what `coquina convert` does with HDF5 files, NetCDF-4 files and stores.

In: an open group. Out: an HDF5 file, or a store of python-blosc2, with all that is in the group.
Invariant: what the new file cannot have is told by name, and left out.
"""

from __future__ import annotations

import os
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import coquina
from coquina.arrays.descriptions import COORDINATES, MORE, description_of, stored
from coquina.cli import hdf5_paths, sources, store_paths, tables
from coquina.cli.row_files import STORES
from coquina.hdf5 import netcdf_groups
from coquina.hdf5.copying import Repacked, repack
from coquina.hdf5.scales import add_attributes, add_axes
from coquina.hdf5.untyped import h5py

if TYPE_CHECKING:
    import argparse
    from contextlib import ExitStack


def group_of(options: argparse.Namespace, stack: ExitStack) -> Any:
    """Return the group that is to be converted; None if the input, or the output, is something else."""
    is_file = (place := hdf5_paths.new_place(options.output, "/")) is not None and not place.path.strip("/")
    if not is_file and not options.output.lower().endswith(STORES):
        return None
    if (place := hdf5_paths.place(options.file)) is not None:
        found = stack.enter_context(hdf5_paths.opened(place))
    elif (place := store_paths.place(options.file)) is not None:
        found = stack.enter_context(store_paths.opened(place))
    else:
        return None
    if not store_paths.is_group(found):
        return None
    return None if is_file and _is_one(found) else found


def _is_one(group: Any) -> bool:
    """Whether there is one table or one array in it, which is converted alone."""
    if len(group) == 1 and tables.is_table(group[next(iter(group))]):
        return True
    h5 = getattr(group, "h5", None)
    return h5 is not None and len(sources.datasets_of(h5)) == 1


def convert(source: Any, options: argparse.Namespace, encoding: dict[str, Any]) -> dict[str, Any]:
    """Write a new file with all that is in a group, and return a summary."""
    if os.path.lexists(options.output) and not options.force:
        raise FileExistsError(f"{options.output} exists; --force replaces it")
    said: dict[str, Any] = {"output": options.output, "groups": 0, "arrays": 0, "tables": 0, "dropped": []}
    with coquina.open(options.output, "w") as target:
        _copy(source, target, encoding, said, set())
    return said


def repacked(options: argparse.Namespace, encoding: dict[str, Any], lossy: Any) -> Repacked | None:
    """Copy an HDF5 file, or a group of it, to an HDF5 file as `repack` does; None for files of other kinds.

    What an array or a table cannot be stays too: text of any length, references, links, named datatypes.
    """
    source, target = hdf5_paths.place(options.file), hdf5_paths.new_place(options.output, "/")
    if source is None or target is None:
        return None
    return repack(
        source.file, target.file, group=source.path, overwrite=options.force, lossy=lossy, **encoding
    )


def _copy(source: Any, target: Any, encoding: dict[str, Any], said: dict[str, Any], copied: set[Any]) -> None:
    """Copy all that is in a group. copied: the groups so far, to which links may lead back."""
    copied.add(source)
    _copy_attributes(source, target)
    axes: list[tuple[bool, Any, Any, Any]] = []
    described: list[Any] = []
    for name in source:
        node = source.get(name)
        if store_paths.is_group(node) and node not in copied and not _is_link(source, name):
            said["groups"] += 1
            _copy(node, target.create_group(name), encoding, said, copied)
        elif tables.is_table(node):
            said["tables"] += 1
            stored = {key: one for key, one in encoding.items() if key != "threads"}
            try:
                target.create_table(name, node, **stored)
            except coquina.UnsupportedError as error:
                raise coquina.UnsupportedError(f"{source.name.rstrip('/')}/{name}: {error}") from error
        elif isinstance(node, coquina.Array):
            said["arrays"] += 1
            made = target.create_dataset(name, data=node, **encoding)
            if hasattr(target, "h5"):
                attributes, names, coordinates = description_of(node)
                # Of items without a number, such as opaque bytes, h5py's dataset is made.
                h5 = getattr(made, "h5", made)
                add_attributes(h5, attributes, getattr(node, "h5", None))
                # An array of one axis that has its name is the scale of others.
                axes.append((names != (name,), h5, names, coordinates))
            elif COORDINATES in made.attrs:
                described.append(made)
        else:
            said["dropped"].append(f"{source.name.rstrip('/')}/{name}")
    for _, dataset, names, coordinates in sorted(axes, key=itemgetter(0)):
        add_axes(dataset, names, coordinates)
    for made in described:
        _leave_to_arrays(made.attrs, target)


def _leave_to_arrays(attributes: Any, group: Any) -> None:
    """Forget the coordinates of an array that are arrays beside it."""
    found = attributes[COORDINATES]
    left = {name: one for name, one in found.items() if name not in group}
    if left:
        attributes[COORDINATES] = left
    else:
        del attributes[COORDINATES]


def _is_link(source: Any, name: str) -> bool:
    """Whether it is a soft or an external link; stores have none."""
    return hasattr(source, "h5") and not isinstance(source.get(name, getlink=True), h5py.HardLink)


def _copy_attributes(source: Any, target: Any) -> None:
    h5 = getattr(source, "h5", None)
    attributes = dict(source.attrs) if h5 is None else netcdf_groups.attributes(h5)
    # Those that a frame has no room for by their name.
    attributes |= attributes.pop(MORE, {})
    if hasattr(target, "h5"):
        add_attributes(target.h5, attributes, h5)
    else:
        target.attrs.update(stored(attributes, None, {}))
