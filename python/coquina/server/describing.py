"""What is said of files and objects without reading values: trees, and the facts of one object.

In: objects. Out: dicts for JSON, as docs/http-api.md lists them.
"""

from __future__ import annotations

from dataclasses import asdict, is_dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coquina._core import CoquinaError
from coquina.arrays.array import Array
from coquina.arrays.bloscpack import PackFile
from coquina.arrays.frames import Frame
from coquina.hdf5.dataset_info import described, dtype_name
from coquina.hdf5.datasets import Dataset
from coquina.hdf5.describing import filters_of
from coquina.hdf5.netcdf_groups import dimension_names, is_bare_dimension
from coquina.hdf5.untyped import h5py
from coquina.server.objects import Found, children, find

if TYPE_CHECKING:
    from coquina.tables.table import Table

CHILDREN_MAX = 10_000
_ATTRIBUTE_BYTES_MAX = 1 << 20


def tree(found: Found) -> dict[str, Any]:
    """Return an object and what is in it, one level."""
    below = [_row(child) for child in islice(children(found), CHILDREN_MAX)]
    return {**child_facts(found), "children": below}


def _row(found: Found) -> dict[str, Any]:
    """Return the facts of an object of a group: damage of one leaves the others visible."""
    try:
        return child_facts(found)
    except CoquinaError:
        return child_facts(replace(found, kind="damaged"))


def child_facts(found: Found) -> dict[str, Any]:
    """Return the facts of an object that its row in a tree shows."""
    name = found.path.rpartition("/")[2] or found.file.place.name.rpartition("/")[2]
    facts: dict[str, Any] = {"name": name, "path": found.path, "kind": found.kind}
    if found.kind == "link":
        return {**facts, "to": link_target(found.node)}
    if found.kind == "damaged":
        # The message names the file by its place on the server.
        return facts
    if found.kind == "table":
        columns = list(found.node.columns)
        return {**facts, "rows": len(found.node), "columns": columns, **_sizes(found)}
    if found.kind == "group":
        return {**facts, "members": len(found.node)}
    return {**facts, "dtype": dtype_text(found), "shape": found.shape, **_sizes(found)}


def link_target(link: Any) -> str:
    """Return where a link of HDF5 leads."""
    return f"{link.filename}:{link.path}" if isinstance(link, h5py.ExternalLink) else link.path


def dtype_text(found: Found) -> str | None:
    """Return the dtype as text, in HDF5's words where NumPy has none for it."""
    if isinstance(found.node, h5py.Dataset | h5py.Datatype):
        return dtype_name(found.node)
    if found.dtype is not None:
        return "text" if found.dtype.kind == "T" else str(found.dtype)
    return "objects" if found.kind == "array" else None


def _sizes(found: Found) -> dict[str, Any]:
    if found.kind == "expression":
        return {"nbytes": found.nbytes, "stored": None}
    if found.kind == "table":
        about = found.node.info
        return {"nbytes": about["nbytes"], "stored": about["cbytes"]}
    if isinstance(found.node, h5py.Dataset):
        return {"nbytes": found.nbytes, "stored": found.node.id.get_storage_size()}
    if isinstance(found.node, Array):
        return {"nbytes": found.nbytes, "stored": found.node.cbytes}
    cbytes = getattr(found.node, "cbytes", None)
    return {"nbytes": found.nbytes, "stored": cbytes if isinstance(cbytes, int) else None}


def facts(found: Found) -> dict[str, Any]:
    """Return all facts of an object."""
    known = child_facts(found)
    nbytes, stored = known.get("nbytes"), known.get("stored")
    known["ratio"] = nbytes / stored if nbytes and stored else None
    known["attributes"] = attributes(found)
    if found.kind in ("array", "table", "frame"):
        known |= _storage(found)
    if found.kind in ("array", "expression"):
        known |= _meaning(found)
    return known


def attributes(found: Found) -> list[dict[str, Any]]:
    """Return the attributes: name, type and value; a value that cannot be read is the reason why."""
    made: list[dict[str, Any]] = []
    for name in list(found.attrs):
        try:
            value: Any = found.attrs[name]
        except Exception as error:
            made.append({"name": str(name), "type": "unreadable", "value": str(error)})
            continue
        if getattr(value, "nbytes", 0) > _ATTRIBUTE_BYTES_MAX:
            value = f"{value.dtype} {value.shape}, too large to be shown"
        made.append({"name": str(name), "type": _type(value), "value": value})
    return made


def _type(value: Any) -> str:
    if isinstance(value, np.ndarray):
        given: Any = cast("Any", value)
        return f"{given.dtype}{list(given.shape)}"
    if isinstance(value, np.generic):
        return str(cast("Any", value).dtype)
    return type(value).__name__


def _storage(found: Found) -> dict[str, Any]:
    """Return how values are stored."""
    node = found.node
    if found.kind == "table":
        return _table_storage(node)
    if isinstance(node, h5py.Dataset):
        rows = filters_of(node.id.get_create_plist())
        names = [described(name, values) for _, name, _, values in rows]
        return {"chunks": node.chunks, "blocks": None, "codec": None, "filters": names}
    if isinstance(node, Array):
        return _array_storage(found, node)
    if isinstance(node, Frame):
        about = node.info()
        filters = [name for name, _ in about["filters"]]
        return {"chunks": None, "blocks": None, "codec": about["codec"], "filters": filters, "storage": about}
    if isinstance(node, PackFile):
        about = node.info()
        return {"chunks": None, "blocks": None, "codec": None, "filters": [], "storage": about}
    return {"chunks": None, "blocks": None, "codec": None, "filters": []}


def _table_storage(node: Table) -> dict[str, Any]:
    about = node.info
    names = ("layout", "chunk_rows", "block_rows", "codec", "level", "filters", "pipeline")
    indexes = [{"columns": name, "kind": one.kind} for name, one in node.indexes.items()]
    return {**{name: _simple(about[name]) for name in names if name in about}, "indexes": indexes}


def _array_storage(found: Found, node: Array) -> dict[str, Any]:
    about: dict[str, Any] = node.info.to_dict()
    is_hdf5 = found.h5 is not None
    made: dict[str, Any] = {
        "chunks": about["chunks"] or None,
        "blocks": about["blocks"] or None,
        **encoding_of(node),
        "checksums": about["checksums"],
        "special_chunks": about["special_chunks"],
        "nchunks": about["nchunks"],
        "lossy": _simple(about["lossy"]),
        "tuning": about["tuning"] and node.info.tuning_text,
    }
    if is_hdf5:
        made |= {"pipeline": _pipeline(node), "layout": about["layout"], "maxshape": about["maxshape"]}
        if about["layout"] != "chunked":
            made |= {"chunks": None, "blocks": None}
    return made


def _pipeline(node: Any) -> list[str]:
    return [described(name, values) for _, name, values in node.filters]


def encoding_of(node: Array) -> dict[str, Any]:
    """Return `codec`, `level` and `filters` of chunks; of filters of HDF5 other than Blosc2 their names."""
    if isinstance(node, Dataset):
        pipeline = _pipeline(node) if node.layout == "chunked" else []
        if not any(name.startswith("blosc2") for name in pipeline):
            return {"codec": None, "level": None, "filters": pipeline}
    info = node.info
    return {"codec": info.codec, "level": info.level, "filters": [name for name, _ in info.filters]}


def _simple(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _meaning(found: Found) -> dict[str, Any]:
    """Return what values mean: their unit, scale, fill value and axes, as NetCDF and CF say it."""
    attrs = found.attrs
    made: dict[str, Any] = {
        name: scalar(attrs, name) for name in ("scale_factor", "add_offset", "units", "long_name")
    }
    made["fill_value"] = fill_value(found)
    made |= _axes(found)
    return made


def scalar(attrs: Any, name: str) -> Any:
    """Return an attribute that is one number or one text; None for what is none."""
    try:
        value: Any = attrs.get(name)
    except Exception:
        return None
    if isinstance(value, np.ndarray):
        given: Any = cast("Any", value)
        if given.size != 1:
            return None
        value = given.reshape(-1)[0]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    is_one = isinstance(value, str | int | float | np.number | np.bool_)
    return cast("Any", value) if is_one else None


def fill_value(found: Found) -> Any:
    """Return the value that stands for no value: `_FillValue`, `missing_value`; None if nothing says so."""
    for name in ("_FillValue", "missing_value"):
        value = scalar(found.attrs, name)
        if value is not None:
            return value
    return None


def _axes(found: Found) -> dict[str, Any]:
    """Return names of the axes, and paths of the arrays with their coordinates."""
    shape = found.shape or ()
    names: list[str | None] = [None] * len(shape)
    paths: list[str | None] = [None] * len(shape)
    h5 = found.h5
    if h5 is not None and isinstance(h5, h5py.Dataset):
        _scales(h5, names, paths)
    elif isinstance(found.attrs.get("_ARRAY_DIMENSIONS", None), list):
        given = found.attrs["_ARRAY_DIMENSIONS"]
        names = [str(one) for one in given] if len(given) == len(shape) else names
    above = found.path.rpartition("/")[0]
    for axis, name in enumerate(names):
        if paths[axis] is None and name and found.h5 is None and found.path != "/":
            paths[axis] = _sibling(found, f"{above}/{name}", shape[axis])
    return {"dimensions": names, "coordinates": paths}


def _sibling(found: Found, path: str, length: int) -> str | None:
    try:
        return path if find(found.file, path).shape == (length,) else None
    except Exception:
        return None


def _scales(h5: Any, names: list[str | None], paths: list[str | None]) -> None:
    """Fill in what the dimension scales of a dataset of h5py say."""
    known = dimension_names(h5)
    for axis in range(min(len(names), h5.ndim)):
        dimension = h5.dims[axis]
        names[axis] = (known[axis] if known is not None else None) or dimension.label or None
        if len(dimension):
            scale = dimension[0]
            # A dimension of NetCDF without a variable has a dataset without values.
            if scale.shape == (h5.shape[axis],) and not is_bare_dimension(scale):
                paths[axis] = scale.name
            names[axis] = names[axis] or (scale.name or "").rpartition("/")[2] or None
