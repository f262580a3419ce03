"""Answers about files and arrays: `/files/`, `/tree/`, `/info/`, `/slice/`, `/histogram/`, `/storage/`.

In: objects and parameters. Out: `Encoded` answers, as docs/http-api.md says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coquina._core import __version__
from coquina.arrays.array import Array
from coquina.server import describing
from coquina.server.encodings import SCALES, Colours, Encoded, encoded, png, stops_of
from coquina.server.expressions import Budget, computed, expression
from coquina.server.failures import bad_request, not_found
from coquina.server.json_values import json_bytes
from coquina.server.objects import as_array
from coquina.server.statistics import HistogramRequest, histogram
from coquina.server.storage import StorageRequest, storage
from coquina.server.values import check_decoded, check_picture, check_text, chosen, decoded, part_of, read

if TYPE_CHECKING:
    import numpy.typing as npt

    from coquina.server.objects import Found
    from coquina.server.opened_files import OpenedFile
    from coquina.server.parameters import Parameters
    from coquina.server.selections import Selected
    from coquina.server.service import Service
    from coquina.server.users import User


def as_json(value: Any) -> Encoded:
    """Return a value as an answer in JSON."""
    return Encoded(json_bytes(value), "application/json")


def version(service: Service, user: User, parameters: Parameters) -> Encoded:
    """Return what serves, and whether the user may write."""
    del parameters
    return as_json({"coquina": __version__, "writable": user.writes, "single": service.root.single})


def files(service: Service, user: User, parameters: Parameters) -> Encoded:
    """Return what a folder holds that the user may see."""
    name = (parameters.text("path") or "").strip("/")
    place = service.root.find(name) if service.root.single is None else None
    if place is not None and not user.may_list(place.inside):
        raise not_found(f"{name!r}: there is no such file")
    entries = [
        one
        for one in service.root.entries(name)
        if (user.may_list if one["kind"] == "folder" else user.may_read)(
            service.root.find(one["path"]).inside
        )
    ]
    is_single = service.root.single is not None
    return as_json({"root": service.root.name, "path": name, "entries": entries, "single": is_single})


def tree(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return what is in an object, one level."""
    del service, parameters
    return as_json(describing.tree(found))


def info(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the facts of an object."""
    del service, parameters
    return as_json(describing.facts(found))


def storage_of(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return how an array is stored, or a column of a table."""
    del service
    wanted = StorageRequest(
        parameters.integer("offset", 0), parameters.integer("most", 5000), parameters.text("selection")
    )
    return as_json(storage(with_chunks(found, parameters), wanted))


def with_chunks(found: Found, parameters: Parameters) -> Found:
    """Return what has chunks: of a table what the column that `column` names is stored in, or its records."""
    name = parameters.text("column")
    if found.kind == "table" and name:
        if name not in found.node.columns:
            raise bad_request(f"there is no column {name[:80]!r}")
        return type(found)(found.file, found.path, "array", _largest_part(found.node[name]))
    return found if found.kind == "frame" else as_array(found)


def _largest_part(values: Any) -> Any:
    """Return the array of a column; of text, times and columns with nulls the largest one of several."""
    stored = () if isinstance(values, Array) else getattr(getattr(values, "column", None), "stored", ())
    return max((one.array for one in stored), key=lambda array: array.cbytes, default=values)


def slice_of(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return the values of a selection."""
    array = as_array(found)
    picked = chosen(array, parameters.text("selection"), parameters.optional_integer("most"))
    wanted, is_decoded = parameters.text("format") or "bin", parameters.flag("decode")
    check_text(array, picked, wanted)
    check_picture(array, picked, wanted)
    values = read(array, picked, service.limits, is_decoded=is_decoded)
    if is_decoded:
        values = decoded(array, values)
    return sent(values, picked, parameters)


def sent(values: npt.NDArray[Any], picked: Selected, parameters: Parameters) -> Encoded:
    """Return values in the format that is asked for, with their shape, dtype and steps as headers."""
    wanted = parameters.text("format") or "bin"
    made = _picture(values, parameters) if wanted == "png" else encoded(values, wanted)
    dtype = values.dtype if values.dtype.kind in "OT" else values.dtype.newbyteorder("<")
    headers = {
        "X-Shape": ",".join(map(str, values.shape)),
        "X-Dtype": dtype.str if dtype.names is None else str(dtype.descr),
        "X-Step": ",".join(map(str, picked.steps)),
    }
    return Encoded(made.content, made.media_type, made.filename, headers)


def _picture(values: npt.NDArray[Any], parameters: Parameters) -> Encoded:
    """Return values as a picture, as the page draws them."""
    scale = parameters.text("scale") or ("log" if parameters.flag("log") else "linear")
    if scale not in SCALES:
        raise bad_request(f"scale {scale[:40]!r}: takes one of {', '.join(SCALES)}")
    colours = Colours(
        parameters.text("cmap") or "viridis",
        parameters.number("min"),
        parameters.number("max"),
        scale,
        stops_of(parameters.text("stops") or ""),
    )
    values = part_of(values, parameters.text("part") or "abs")
    if parameters.flag("turn") and values.ndim > 1:
        values = values.swapaxes(0, 1)
    flipped = parameters.text("flip") or ""
    for axis, name in enumerate("yx"[: values.ndim]):
        values = np.flip(values, axis) if name in flipped else values
    return png(values, colours)


def expression_of(service: Service, file: OpenedFile, parameters: Parameters) -> Encoded:
    """Return the values of a selection of an expression of arrays of a file."""
    budget = Budget(service.limits)
    found = expression(file, parameters.needed("expression"), parameters.text("operands"), budget)
    if parameters.flag("info"):
        return as_json({"shape": found.shape, "dtype": str(found.dtype)})
    picked = chosen(found, parameters.text("selection"), parameters.optional_integer("most"))
    wanted = parameters.text("format") or "bin"
    check_text(found, picked, wanted)
    check_picture(found, picked, wanted)
    check_decoded(found, picked, service.limits)
    return sent(computed(found, picked, budget), picked, parameters)


def histogram_of(service: Service, found: Found, parameters: Parameters) -> Encoded:
    """Return how the values of a selection are spread."""
    array = as_array(found)
    picked = chosen(array, parameters.text("selection"), parameters.optional_integer("most"))
    is_decoded = parameters.flag("decode", default=True)
    part = parameters.text("part") or "abs"
    wanted = HistogramRequest(parameters.integer("bins", 64), parameters.flag("log"), is_decoded, part)
    return as_json(histogram(array, picked, wanted, service.limits))
