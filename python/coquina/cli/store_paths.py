"""What the command line names in stores of python-blosc2: `FILE.b2z`, `FILE.b2d:/path`, `FILE:/path[3:5]`.

In: text. Out: the store, and what is at the path in it; facts of it.
"""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import coquina
from coquina.cli import attribute_text, tables
from coquina.cli.keys import key
from coquina.folder_members import STORE, has_member
from coquina.hdf5_names import Place

if TYPE_CHECKING:
    from collections.abc import Generator

#: Stores that are written.
WRITTEN = (".b2z", ".b2d")
SUFFIXES = (*WRITTEN, ".b2e")


def place(text: str) -> Place | None:
    """Return the place that `text` names in a store; None if it names no store."""
    if _is_store(text):
        return Place(text, "/")
    at = text.rfind(":")
    while at > 0:
        if _is_store(text[:at]):
            return Place(text[:at], text[at + 1 :] or "/")
        at = text.rfind(":", 0, at)
    return None


def new_place(text: str, default: str) -> Place | None:
    """Return the place that `text` names as an output; None if its file is no store that can be written.

    default: the path where the text has none.
    """
    if text.lower().endswith(WRITTEN):
        return Place(text, default)
    file, colon, path = text.rpartition(":")
    return Place(file, path) if colon and path.strip("/") and file.lower().endswith(WRITTEN) else None


def _is_store(path: str) -> bool:
    """Whether this is a store: a directory by what is in it, a file by its name and first bytes."""
    if os.path.isdir(path):
        return has_member(path, STORE)
    if not path.lower().endswith(SUFFIXES) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        head = file.read(10)
    return head.startswith(b"PK") or head.endswith(b"b2frame\0")


@contextmanager
def replaced(found: Place, *, is_forced: bool, is_new: bool = False) -> Generator[tuple[Any, str]]:
    """Give the store of an output, which is made if there is none, and the name to write under.

    is_new: all that is in the store is replaced. What is written is at the place at the end, and what was
    there is lost only then. Raises FileExistsError, and ValueError for a group, which is not replaced.
    """
    path = found.path.strip("/")
    has_store = os.path.lexists(found.file)
    mode = "x" if not has_store else "w" if is_new else "r+"
    with coquina.open(found.file, mode) as store:
        if path in store and is_group(store[path]):
            raise ValueError(f"{found.file}:{found.path} is a group, which is not replaced")
        if path in store and not is_forced:
            raise FileExistsError(f"{found.file}:{found.path} exists; --force replaces it")
        name = f"{path}_{secrets.token_hex(4)}"
        yield store, name
        if path in store:
            del store[path]
        store.move(name, path)


@contextmanager
def opened(found: Place, *, verify: bool = True) -> Generator[Any]:
    """Open what is at a place. verify: as in `coquina.open`. Raises ValueError if there is nothing."""
    top: Any = coquina.open(found.file, verify=verify)
    with top:
        if not found.path.strip("/"):
            yield top
        elif not is_group(top):
            raise ValueError(f"{found.file}: a table, which has nothing below it")
        elif found.path not in top:
            names = ", ".join(list(top)[:20])
            raise ValueError(f"{found.file}: there is no {found.path}; at the top it has: {names}")
        else:
            yield top[found.path]


def only_one(top: Any) -> Any:
    """Return the one array, table or list of values below a group; None if there are more, or none."""
    names: list[str] = []
    top.visit(names.append)
    nodes = (node for name in names if not is_group(node := top[name]))
    found = next(nodes, None)
    return found if next(nodes, None) is None else None


def is_group(node: Any) -> bool:
    """Whether a node is a group; nothing of stores is imported to know it."""
    return hasattr(cast("Any", type(node)), "visititems")


def with_key(found: Place) -> tuple[Place, Any]:
    """Return a place without the key that may follow its path in brackets, and that key or None."""
    name, bracket, rest = found.path.partition("[")
    if not bracket or not rest.endswith("]"):
        return found, None
    return Place(found.file, name or "/"), key(f"[{rest}")


def describe(found: Place) -> dict[str, Any]:
    """Return the facts of what is at a place, by name."""
    with opened(found) as node:
        where = {"file": found.file, "path": found.path}
        attrs = _attributes(node)
        if tables.is_table(node):
            return {
                **where,
                "format": "CTable",
                **tables.facts(node),
                "attrs": attrs,
            }
        if isinstance(node, coquina.Array):
            facts = {**node.info.to_dict(), "attrs": attrs}
            hidden = ("path", "blocks_decoded", "blocks_cached")
            shown = {name: value for name, value in facts.items() if name not in hidden}
            return {**where, "format": "Blosc2 array", **shown}
        if not is_group(node):
            return {
                **where,
                "format": type(node).__name__,
                **_sizes(node),
                "attrs": attrs,
            }
        rows = listed(node)
        kind = getattr(node, "kind", "group")
        counts = {
            name: sum(row["kind"] == one for row in rows)
            for name, one in (("groups", "group"), ("arrays", "dataset"), ("tables", "table"))
        }
        nbytes, cbytes = (sum(row.get(name, 0) for row in rows) for name in ("nbytes", "cbytes"))
        cratio = nbytes / cbytes if cbytes else None
        sizes = {"nbytes": nbytes, "cbytes": cbytes, "cratio": cratio}
        return {**where, "format": kind, **counts, **sizes, "attrs": attrs}


def _attributes(node: Any) -> dict[str, Any]:
    return attribute_text.of_table(node) if tables.is_table(node) else attribute_text.values(node.attrs)


def listed(top: Any, *, verbose: bool = False) -> list[dict[str, Any]]:
    """Return a row of facts for each node below what was found at a place. verbose: with attributes."""
    rows: list[dict[str, Any]] = []

    def note(name: str, node: Any) -> None:
        more = {"attributes": _attributes(node)} if verbose else {}
        rows.append({"path": f"/{name}", **_facts(node), **more})

    if is_group(top):
        top.visititems(note)
    else:
        note("", top)
    return rows


def _facts(node: Any) -> dict[str, Any]:
    head = {"kind": "dataset", "attrs": len(node.attrs)}
    if is_group(node):
        return {**head, "kind": "group", "members": len(node)}
    if tables.is_table(node):
        about = tables.facts(node)
        sizes = {name: about[name] for name in ("layout", "rows", "nbytes", "cbytes", "cratio")}
        return {**head, "kind": "table", **sizes, "columns": list(node.columns)}
    if isinstance(node, coquina.Array):
        filters = [*(name for name, _ in node.info.filters), str(node.info.codec)]
        items = {"shape": node.shape, "dtype": str(node.dtype), "chunks": node.chunks, "filters": filters}
        return {**head, **items, **_sizes(node)}
    what: dict[str, Any] = {
        "shape": (len(node),),
        "dtype": type(node).__name__,
        "chunks": None,
        "filters": [],
    }
    return {**head, **what, **_sizes(node)}


def _sizes(node: Any) -> dict[str, Any]:
    cratio = node.nbytes / node.cbytes if node.cbytes else None
    return {"nbytes": node.nbytes, "cbytes": node.cbytes, "cratio": cratio}


__all__ = [
    "Place",
    "describe",
    "is_group",
    "listed",
    "new_place",
    "only_one",
    "opened",
    "place",
    "replaced",
    "with_key",
]
