"""AnnData's "awkward-array" for columns: text as offsets and bytes, and numbers of which some are missing.

In: what a column is. Out: the JSON form that says which arrays it has, as Awkward Array knows them, and
    back. Each array of the group is called by a key of the form and by what it is to it.
Source: anndata, on-disk format, "awkward arrays"; Awkward Array, `ak.to_buffers` and `ak.forms`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from coquina._core import UnsupportedError

ENCODING = {"encoding-type": "awkward-array", "encoding-version": "0.1.0"}
_DEPTH_MAX = 4


@dataclass(frozen=True, slots=True)
class Parts:
    """The arrays of a column, by their names in its group. offsets: of text, whose bytes are `data`."""

    data: str
    offsets: str | None = None
    mask: str | None = None


def text_form(*, nullable: bool) -> tuple[str, Parts]:
    """Return the form of text, and its arrays."""
    first = int(nullable)
    inner: dict[str, Any] = {
        "class": "ListOffsetArray",
        "offsets": "i64",
        "content": {
            "class": "NumpyArray",
            "primitive": "uint8",
            "inner_shape": [],
            "parameters": {"__array__": "char"},
            "form_key": f"node{first + 1}",
        },
        "parameters": {"__array__": "string"},
        "form_key": f"node{first}",
    }
    parts = Parts(f"node{first + 1}-data", f"node{first}-offsets", "node0-mask" if nullable else None)
    return json.dumps(_masked(inner) if nullable else inner), parts


def numbers_form(dtype: np.dtype[Any]) -> tuple[str, Parts]:
    """Return the form of numbers that can be missing, and their arrays."""
    inner: dict[str, Any] = {
        "class": "NumpyArray",
        "primitive": dtype.name,
        "inner_shape": [],
        "parameters": {},
        "form_key": "node1",
    }
    return json.dumps(_masked(inner)), Parts("node1-data", mask="node0-mask")


def _masked(content: dict[str, Any]) -> dict[str, Any]:
    return {
        "class": "ByteMaskedArray",
        "mask": "i8",
        "valid_when": False,
        "content": content,
        "parameters": {},
        "form_key": "node0",
    }


def parts_of(form: Any) -> Parts:
    """Return the arrays of a form. Raises UnsupportedError for one that is neither text nor numbers."""
    try:
        node = json.loads(form)
    except (TypeError, ValueError, RecursionError):
        raise UnsupportedError("an awkward array whose form is not JSON") from None
    mask = offsets = None
    for _ in range(_DEPTH_MAX):
        kind, key = _fields(node)
        if kind == "ByteMaskedArray" and mask is offsets is None and node.get("valid_when") is False:
            mask, node = f"{key}-mask", node.get("content")
        elif kind == "UnmaskedArray" and offsets is None:
            node = node.get("content")
        elif kind == "ListOffsetArray" and offsets is None and _is_text(node):
            offsets, node = f"{key}-offsets", node.get("content")
        elif kind == "NumpyArray" and not node.get("inner_shape"):
            if (offsets is None) == (node.get("primitive") == "uint8" and "char" in _parameters(node)):
                break
            return Parts(f"{key}-data", offsets, mask)
        else:
            break
    raise UnsupportedError("an awkward array of neither numbers nor text with offsets of 64 bits")


def _fields(node: Any) -> tuple[str | None, str | None]:
    if not isinstance(node, dict):
        return None, None
    known = cast("dict[str, Any]", node)
    return known.get("class"), known.get("form_key")


def _parameters(node: dict[str, Any]) -> list[Any]:
    parameters = node.get("parameters")
    return list(cast("dict[str, Any]", parameters).values()) if isinstance(parameters, dict) else []


def _is_text(node: dict[str, Any]) -> bool:
    return node.get("offsets") == "i64" and "string" in _parameters(node)
