"""list what an HDF5 file holds: groups, datasets, links, and how they are stored

Nothing is decoded. The ratio is that of the bytes of the items to the bytes that they take in the file.

Examples:
  coquina ls run.h5
  coquina ls run.h5:/detector --json
"""

from __future__ import annotations

import json
from math import prod
from typing import TYPE_CHECKING, Any

from coquina.cli import arguments, hdf5_paths

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `coquina ls`."""
    parser.add_argument("file", help="an HDF5 file, or FILE.h5:/path of a group in it")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """List the file."""
    place = hdf5_paths.place(options.file)
    if place is None:
        raise ValueError(f"{options.file} is no HDF5 file, and has no such names in it")
    with hdf5_paths.opened(place) as top:
        rows = listed(getattr(top, "h5", top))
    if options.json:
        print(json.dumps({"file": place.file, "path": place.path, "objects": rows}))
        return
    print(f"{place.file}:{place.path}")
    lines = [_cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    for cells in lines:
        *aligned, last = cells
        columns = [f"{cell:{width}}" for cell, width in zip(aligned, widths, strict=True)]
        print("  ".join([*columns, last]).rstrip())


def listed(top: Any) -> list[dict[str, Any]]:
    """Return a row of facts for each object and link below `top`, a group or dataset of h5py."""
    from coquina.hdf5.trees import Walk

    return [_facts(entry) for entry in Walk(top)]


def _facts(entry: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"path": entry.name, "kind": entry.kind}
    if entry.kind == "again":
        return {**facts, "to": entry.to.decode("utf-8", "backslashreplace")}
    if entry.kind == "soft":
        return {**facts, "to": entry.to.decode("utf-8", "backslashreplace")}
    if entry.kind == "external":
        return {**facts, "to": ":".join(part.decode("utf-8", "backslashreplace") for part in entry.to)}
    facts["attrs"] = len(entry.object.attrs)
    if entry.kind == "group":
        return {**facts, "members": len(entry.object)}
    if entry.kind == "type":
        return {**facts, "dtype": dtype_name(entry.object)}
    return facts | stored(entry.object)


def stored(dataset: Any) -> dict[str, Any]:
    """Return how a dataset of h5py is stored."""
    from coquina.hdf5.dataset_info import described
    from coquina.hdf5.describing import filters_of

    shape = dataset.shape
    nbytes = 0 if shape is None else prod(shape) * dataset.id.get_type().get_size()
    cbytes = dataset.id.get_storage_size()
    rows = filters_of(dataset.id.get_create_plist())
    return {
        "shape": shape,
        "dtype": dtype_name(dataset),
        "chunks": dataset.chunks,
        "maxshape": None if shape is None else dataset.maxshape,
        "filters": [described(name, values) for _, name, _, values in rows],
        "nbytes": nbytes,
        "cbytes": cbytes,
        "cratio": nbytes / cbytes if cbytes else None,
    }


def dtype_name(found: Any) -> str:
    """Return the dtype of a dataset or named datatype, for people."""
    from coquina.hdf5.untyped import h5py

    try:
        dtype = found.dtype
    except TypeError:
        return "not known to NumPy"
    if h5py.check_string_dtype(dtype) is not None:
        return "str" if dtype.kind == "O" else str(dtype)
    if h5py.check_ref_dtype(dtype) is not None:
        return "reference"
    if dtype.names is not None:
        return f"{len(dtype.names)} fields"
    inner = h5py.check_vlen_dtype(dtype)
    return str(dtype) if inner is None else f"{inner}, of any length"


def _cells(row: dict[str, Any]) -> list[str]:
    """Return name, datatype, shape, storage and size, or what there is of it."""
    depth = row["path"].count("/") - 1
    name = "  " * depth + row["path"].rpartition("/")[2]
    kind = row["kind"]
    if "to" in row:
        return [name, "", "", "", f"{'=' if kind == 'again' else '->'} {row['to']}"]
    if kind == "group":
        return [f"{name}/", "", "", "", ""]
    if kind == "type":
        return [name, row["dtype"], "", "", "datatype"]
    shape = "no items" if row["shape"] is None else str(tuple(row["shape"]))
    pipeline = " + ".join(row["filters"])
    how = f"chunks {tuple(row['chunks'])} {pipeline}" if row["chunks"] else ""
    size = arguments.human(row["nbytes"])
    if row["chunks"] and row["cbytes"]:
        size = f"{size} in {arguments.human(row['cbytes'])}, {row['cratio']:.2f}x"
    return [name, row["dtype"], shape, how.strip(), size]
