"""What `coquina diff` compares: an array, a table, or all nodes of a group by their paths.

In: what stands on the command line. Out: `Node`s by path, of HDF5 files, stores, and all that has items.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from coquina.cli import attribute_text, hdf5_paths, row_files, sources, store_paths, tables
from coquina.hdf5.references import described
from coquina.hdf5.trees import Walk
from coquina.hdf5.untyped import h5py
from coquina.tables.vlarrays import VLArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import ExitStack

#: How the names of attributes begin that belong to indexes.
_HIDDEN = ("_i_", "_p_")
Kind = Literal["group", "array", "table", "datatype", "link", "sequence"]


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that is compared. open: gives it; to: where a link leads."""

    kind: Kind
    open: Callable[[], Any]
    to: str = ""


def nodes(text: str, options: Namespace, stack: ExitStack) -> dict[str, Node]:
    """Return the nodes of what is named; anything but a group is one node `/`. `stack` closes what is open.

    Raises ValueError for what has no items.
    """
    if (place := hdf5_paths.place(text)) is not None:
        found = stack.enter_context(hdf5_paths.opened(place))
        return _of_hdf5(found, options.all) if _is_hdf5_group(found) else {"/": _node(found)}
    if (place := store_paths.place(text)) is not None:
        found = stack.enter_context(store_paths.opened(place))
        return _of_store(found) if store_paths.is_group(found) else {"/": _node(found)}
    if tables.is_directory(text):
        return {"/": _node(stack.enter_context(tables.opened(text)))}
    if row_files.is_rows(text):
        return {"/": _node(stack.enter_context(row_files.opened(text)))}
    asked = Namespace(file=text, dtype=options.dtype, shape=options.shape, threads=options.threads)
    return {"/": _node(sources.load(asked, stack))}


def matched(ours: dict[str, Node], theirs: dict[str, Node]) -> tuple[dict[str, Node], dict[str, Node]]:
    """Return both sides; of a file beside a table or an array the only one that it holds, if there is one."""
    return _as_one(ours, theirs), _as_one(theirs, ours)


def _as_one(side: dict[str, Node], other: dict[str, Node]) -> dict[str, Node]:
    wanted = other["/"].kind
    if side["/"].kind != "group" or wanted not in ("table", "array"):
        return side
    leaves = [node for node in side.values() if node.kind != "group"]
    return {"/": leaves[0]} if len(leaves) == 1 and leaves[0].kind == wanted else side


def _is_hdf5_group(found: Any) -> bool:
    return hasattr(found, "keys") and not tables.is_table(found)


def _node(found: Any) -> Node:
    return Node(_kind(found), lambda: found)


def _kind(found: Any) -> Kind:
    if tables.is_table(found):
        return "table"
    if hasattr(found, "shape") and not isinstance(found, VLArray):
        return "array"
    if hasattr(found, "keys"):
        return "group"
    return "sequence" if hasattr(found, "__getitem__") else "datatype"


def _of_hdf5(top: Any, is_all: bool) -> dict[str, Node]:
    """Return all below a group of an HDF5 file, itself first; tables whole, without what they are made of."""
    found = {"/": Node("group", lambda: top)}
    inside: list[str] = []
    for entry in Walk(top.h5):
        if entry.name.startswith(tuple(inside)) or (not is_all and tables.is_hidden(entry.name)):
            continue
        if entry.kind in ("soft", "external"):
            parts: Any = entry.to if entry.kind == "external" else (entry.to,)
            to = ":".join(part.decode("utf-8", "backslashreplace") for part in parts)
            found[entry.name] = Node("link", lambda: None, to)
            continue
        node = top[entry.name.strip("/")]
        if tables.is_table(node):
            inside.append(f"{entry.name}/")
        found[entry.name] = Node(_kind(node), lambda name=entry.name: top[name.strip("/")])
    return found


def _of_store(top: Any) -> dict[str, Node]:
    """Return all below a group of a store, itself first."""
    found = {"/": Node("group", lambda: top)}

    def note(name: str, node: Any) -> None:
        found[f"/{name.strip('/')}"] = Node(_kind(node), lambda: top[name])

    top.visititems(note)
    return found


def attributes_of(found: Any) -> Mapping[str, Any]:
    """Return the attributes that people gave something; none of what has none."""
    if tables.is_table(found):
        return attribute_text.of_table(found)
    attrs: Mapping[str, Any] = getattr(found, "attrs", {})
    return {name: readable(attrs[name], found) for name in attrs if not _is_ours(name)}


def readable(value: Any, found: Any) -> Any:
    """Return what was read, with references of HDF5 as text: those to one path are equal in all files."""
    h5 = found if isinstance(found, h5py.HLObject) else getattr(found, "h5", None)
    return value if h5 is None else described(value, h5)


def _is_ours(name: str) -> bool:
    """Whether an attribute says how something is stored, or refers to others by their places in a file."""
    return name.startswith(("coquina", *_HIDDEN)) or name in ("DIMENSION_LIST", "REFERENCE_LIST")
