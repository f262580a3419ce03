"""The answers of h5grove: `/meta/`, `/attr/`, `/data/`, `/stats/` and `/paths/`, which h5web asks for.

In: objects and parameters. Out: JSON, or values, as h5grove 4 gives them for HDF5 files; objects of other
files look like groups and datasets of HDF5.
Source: https://silx-kit.github.io/h5grove/reference.html; tests compare with h5grove itself.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from coquina.hdf5.attributes import attributes
from coquina.hdf5.places import inside
from coquina.hdf5.untyped import h5py, h5t
from coquina.server.encodings import Encoded, bytes_of, encoded
from coquina.server.failures import RequestError, bad_request, not_found
from coquina.server.json_values import json_bytes
from coquina.server.objects import Found, as_array, children
from coquina.server.statistics import Moments
from coquina.server.values import check_text, chosen, parts, read

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.server.parameters import Parameters
    from coquina.server.service import Service

_NAMES_MAX = 100_000
_LINKS = ("none", "only_valid", "all", "true", "false")


def _as_json(value: Any) -> Encoded:
    return Encoded(json_bytes(value, exact=False), "application/json")


def _sorted(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in sorted(facts)}


def meta(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return what an object is, and, of a group, what its members are."""
    del service
    links = (parameters.text("resolve_links") or "only_valid").lower()
    if links not in _LINKS:
        raise RequestError(422, "invalid", f"resolve_links {links[:40]!r}: takes one of {', '.join(_LINKS)}")
    return _as_json(_meta(_linked(found, links), links, 1))


def _linked(found: Found, links: str) -> Found:
    """Return an object, or the link that leads to it where links are not to be followed."""
    if links in ("none", "false") and found.path != "/" and found.h5 is not None:
        link = inside(found.file.top).get(found.path, getlink=True)
        if isinstance(link, h5py.SoftLink | h5py.ExternalLink):
            return Found(found.file, found.path, "link", link)
    if links in ("all", "true") and found.kind == "link":
        raise not_found(f"{found.path}: a link that leads to nothing")
    return found


def _meta(found: Found, links: str, depth: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": found.path.rpartition("/")[2]}
    if found.kind == "link":
        return _sorted({**facts, **_link(found.node)})
    if found.kind == "damaged":
        raise found.node
    facts["attributes"] = _attributes(found)
    h5 = found.h5
    if found.kind == "group" or isinstance(h5, h5py.Group):
        facts["kind"] = "group"
        if depth:
            facts["children"] = [_meta(_linked(one, links), links, depth - 1) for one in _members(found)]
    elif found.kind == "type":
        facts |= {"kind": "datatype", "type": type_of(found.node.id)}
    else:
        facts |= {"kind": "dataset", **_dataset(found)}
    return _sorted(facts)


def _members(found: Found) -> list[Found]:
    """Return what is in a group; of a table that is a group, its columns."""
    h5 = found.h5
    if found.kind == "group":
        return list(islice(children(found), _NAMES_MAX))
    names: list[str] = list(islice(h5, _NAMES_MAX))
    above = found.path.rstrip("/")
    return [Found(found.file, f"{above}/{name}", _kind(h5[name]), h5[name]) for name in names]


def _kind(h5: Any) -> str:
    if isinstance(h5, h5py.Group):
        return "group"
    return "type" if isinstance(h5, h5py.Datatype) else "array"


def _link(link: Any) -> dict[str, Any]:
    if isinstance(link, h5py.ExternalLink):
        return {"kind": "external_link", "target_file": link.filename, "target_path": link.path}
    return {"kind": "soft_link", "target_path": link.path}


def _dataset(found: Found) -> dict[str, Any]:
    h5 = found.h5
    if isinstance(h5, h5py.Dataset):
        plist = h5.id.get_create_plist()
        rows = [plist.get_filter(at) for at in range(plist.get_nfilters())]
        filters = [{"id": row[0], "name": row[3].decode("utf-8", "replace")} for row in rows] or None
        return {"chunks": h5.chunks, "filters": filters, "shape": h5.shape, "type": type_of(h5.id.get_type())}
    chunks: Any = getattr(found.node, "chunks", None)
    dtype: Any = found.dtype if found.dtype is not None else np.dtype(object)
    return {
        "chunks": list(chunks) if chunks else None,
        "filters": None,
        "shape": found.shape,
        "type": _type_of_dtype(dtype),
    }


def _type_of_dtype(dtype: np.dtype[Any]) -> dict[str, Any]:
    if dtype.kind in "OTU":
        dtype = h5py.string_dtype()
    elif dtype.kind in "mM":
        dtype = np.dtype("i8")
    return type_of(h5t.py_create(dtype, logical=True))


def _attributes(found: Found) -> list[dict[str, Any]]:
    h5 = found.h5
    if h5 is not None:
        made: list[dict[str, Any]] = []
        for name in sorted(h5.attrs):
            one = h5.attrs.get_id(name)
            made.append({"name": name, "shape": one.shape, "type": type_of(one.get_type())})
        return made
    made = []
    for name in sorted(map(str, found.attrs)):
        values = _attribute_values(found.attrs[name])
        made.append({"name": name, "shape": values.shape, "type": _type_of_dtype(values.dtype)})
    return made


def _attribute_values(value: Any) -> npt.NDArray[Any]:
    try:
        made = np.asarray(value)
    except ValueError:
        made = np.asarray(str(value))
    return np.asarray(str(value)) if made.dtype.kind == "O" else made


def type_of(tid: Any) -> dict[str, Any]:
    """Return a datatype of HDF5 as h5grove describes it: class, size, dtype, and what goes with the class."""
    base: dict[str, Any] = {
        "class": tid.get_class(),
        "dtype": _dtype_text(tid.dtype),
        "size": tid.get_size(),
    }
    if isinstance(tid, h5t.TypeIntegerID):
        return {**base, "order": tid.get_order(), "sign": tid.get_sign()}
    if isinstance(tid, h5t.TypeFloatID):
        return {**base, "order": tid.get_order()}
    if isinstance(tid, h5t.TypeStringID):
        is_variable = tid.is_variable_str()
        return {**base, "cset": tid.get_cset(), "strpad": tid.get_strpad(), "vlen": is_variable}
    if isinstance(tid, h5t.TypeOpaqueID):
        return {**base, "tag": tid.get_tag()}
    if isinstance(tid, h5t.TypeCompoundID):
        names = [tid.get_member_name(at).decode("utf-8", "replace") for at in range(tid.get_nmembers())]
        members = [{"name": name, **type_of(tid.get_member_type(at))} for at, name in enumerate(names)]
        return {**base, "members": members}
    if isinstance(tid, h5t.TypeEnumID):
        values = {
            tid.get_member_name(at).decode("utf-8", "replace"): tid.get_member_value(at)
            for at in range(tid.get_nmembers())
        }
        return {**base, "members": values, "base": type_of(tid.get_super())}
    if isinstance(tid, h5t.TypeVlenID):
        return {**base, "base": type_of(tid.get_super())}
    if isinstance(tid, h5t.TypeArrayID):
        return {**base, "dims": tid.get_array_dims(), "base": type_of(tid.get_super())}
    return base


def _dtype_text(dtype: np.dtype[Any]) -> Any:
    if dtype.fields is None:
        return dtype.str
    return {name: _dtype_text(row[0]) for name, row in dtype.fields.items()}


def attr(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the values of attributes: all of them, or those that `attr_keys` names."""
    del service
    if found.kind == "link":
        raise bad_request(f"{found.path}: a link that leads to nothing")
    attrs: Any = found.attrs if found.h5 is None else attributes(found.h5)
    wanted = parameters.texts("attr_keys") or [str(name) for name in attrs]
    values: dict[str, Any] = {}
    for name in wanted:
        if name not in attrs:
            raise not_found(f"{found.path}: there is no attribute {name[:80]!r}")
        values[name] = attrs[name]
    return _as_json(values)


def _dataset_of(found: Found) -> Found:
    """Return the dataset that an object is."""
    if found.kind == "table" and isinstance(found.h5, h5py.Group):
        raise bad_request(f"{found.path}: a group, which has no values")
    return as_array(found)


def data(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the values of a selection."""
    array = _dataset_of(found)
    wanted, dtype = parameters.text("format") or "json", parameters.text("dtype") or "origin"
    if dtype not in ("origin", "safe"):
        raise RequestError(422, "unsupported", f"dtype {dtype[:40]!r}: takes origin or safe")
    if array.shape is None:
        if wanted != "json" or dtype == "safe":
            raise RequestError(422, "unsupported", "an empty dataset has no values")
        return _as_json(None)
    picked = chosen(array, parameters.text("selection"))
    check_text(array, picked, wanted)
    values = read(array, picked, service.limits)
    if dtype == "safe":
        values = _safe(values)
    if parameters.flag("flatten") and values.ndim:
        values = values.reshape(-1)
    try:
        return (
            _plain_bytes(values)
            if wanted == "bin" and dtype == "origin"
            else encoded(values, wanted, exact=False)
        )
    except RequestError as error:
        raise RequestError(422, error.kind, error.message) from None


def _plain_bytes(values: npt.NDArray[Any]) -> Encoded:
    """Return the bytes of values as they are stored, in their own order of bytes."""
    if values.dtype.hasobject or values.dtype.kind == "T":
        raise bad_request("format 'bin' has no values of variable length")
    return Encoded(bytes_of(values), "application/octet-stream")


def _safe(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers in a type that JavaScript has arrays of."""
    dtype = values.dtype
    if dtype.kind not in "biufc":
        raise RequestError(422, "unsupported", "dtype 'safe': values that are not numbers")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        dtype = np.dtype("<f4" if dtype.itemsize < 4 else "<f8")
    # Numbers beyond those of float64 become infinities.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype.newbyteorder("<")).reshape(values.shape)


def stats(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the least, greatest and mean value and the deviation of a selection; of finite values only."""
    array = _dataset_of(found)
    picked = chosen(array, parameters.text("selection"))
    dtype = array.dtype
    # The value of a dataset without axes may be an array of variable length.
    is_value = dtype is not None and dtype.kind == "O" and array.shape == ()
    if dtype is None or not (dtype.kind in "biufc" or is_value):
        raise bad_request(f"{found.path}: statistics are of numbers")
    statistics = _Statistics()
    for stored in parts(array, picked, service.limits):
        if stored.dtype.kind not in "biufc":
            raise bad_request(f"{found.path}: statistics are of numbers")
        statistics.add(stored.reshape(-1))
    return _as_json(statistics.to_dict())


class _Statistics:
    """Statistics as h5grove has them: complex values are ordered by their real parts, which are told."""

    def __init__(self) -> None:
        self._moments, self._imaginary = Moments(), Moments()
        self._positive: Any = None
        self._not_negative: Any = None
        self._dtype: np.dtype[Any] = np.dtype("f8")

    def add(self, values: Any) -> None:
        """Take more values, an array of one axis."""
        values = values.view("u1") if values.dtype.kind == "b" else values
        self._dtype = values.dtype
        if values.dtype.kind in "fc":
            values = values[np.isfinite(values)]
        self._positive = _least(self._positive, values[values > 0].real)
        self._not_negative = _least(self._not_negative, values[values >= 0].real)
        self._moments.add(values.real)
        if values.dtype.kind == "c":
            self._imaginary.add(values.imag)

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics, rounded as there: towards zero, but for real numbers with a fraction."""
        facts = self._moments.to_dict()
        del facts["count"]
        if self._moments.count and self._imaginary.count:
            facts["std"] = math.hypot(facts["std"], self._imaginary.to_dict()["std"])
        facts = {"strict_positive_min": self._positive, "positive_min": self._not_negative, **facts}
        if self._dtype.kind != "f":
            return {name: None if value is None else int(value) for name, value in facts.items()}
        if self._dtype.itemsize < 4 and self._moments.count:
            facts |= {name: float(self._dtype.type(facts[name])) for name in ("mean", "std")}
        return facts


def _least(known: Any, values: Any) -> Any:
    if not values.size:
        return known
    least = values.min().item()
    return least if known is None else min(known, least)


def paths(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the paths of a group and of all that is below it."""
    del service, parameters
    h5 = found.h5
    names = [found.path]
    if isinstance(h5, h5py.Group):
        above = found.path.rstrip("/")

        def note(name: bytes) -> Any:
            names.append(f"{above}/{name.decode('utf-8', 'backslashreplace')}")
            return True if len(names) > _NAMES_MAX else None

        h5.id.links.visit(note)
    elif found.kind == "group":
        _note_below(found, names)
    else:
        raise bad_request(f"{found.path}: a {found.kind}, and no group")
    return _as_json(names)


def _note_below(found: Found, names: list[str]) -> None:
    for one in children(found):
        names.append(one.path)
        if one.kind == "group" and len(names) < _NAMES_MAX:
            _note_below(one, names)
