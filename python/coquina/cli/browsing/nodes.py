"""What the tree of `coquina browse` shows: folders, files, and the objects in them.

In: a path. Out: nodes with their facts, and objects that stay open while they are shown.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from coquina.server.describing import facts, tree
from coquina.server.objects import Found, find
from coquina.server.opened_files import OpenedFiles
from coquina.server.root import Root

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Formats of files that hold more than one object.
_TREES = ("hdf5", "store")


@dataclass(frozen=True, slots=True)
class Node:
    """A row of the tree. file: its name below the root. path: in the file; None for a folder."""

    name: str
    file: str
    path: str | None
    kind: str
    detail: str = ""

    @property
    def has_children(self) -> bool:
        """Whether something may be below it."""
        return self.kind in ("folder", "group") or (self.kind == "file" and self.detail in _TREES)


class Library:
    """A file or a folder, open for browsing."""

    def __init__(self, path: str) -> None:
        """path: of a file or a folder. Raises OSError, ValueError."""
        self._root = Root(path)
        self._files = OpenedFiles()
        self._shown = ExitStack()
        single = self._root.single
        name = os.path.basename(os.path.abspath(path)) or path
        self.top = Node(name, "", None, "folder")
        if single is not None:
            (entry,) = self._root.entries("")
            self.top = _of_entry(entry)

    def children(self, node: Node) -> list[Node]:
        """Return what is directly below a node. Raises RequestError, OSError, CoquinaError."""
        if node.path is None:
            entries = self._root.entries(node.file)
            return [_of_entry(one) for one in entries]
        with self._files.using(self._root.file(node.file)) as file:
            below = tree(find(file, node.path))["children"]
        return [Node(one["name"], node.file, one["path"], one["kind"], detail(one)) for one in below]

    def open(self, node: Node) -> Found:
        """Return the object of a node, which stays open until the next one is opened."""
        kept = ExitStack()
        found = find(kept.enter_context(self._files.using(self._root.file(node.file))), node.path)
        self._shown.close()
        self._shown = kept
        return found

    def listed(self) -> list[dict[str, Any]]:
        """Return the facts of all nodes, each before those below it."""
        return [self._facts(node) for node in self._walk(self.top)]

    def _facts(self, node: Node) -> dict[str, Any]:
        known: dict[str, Any] = {"file": node.file, "path": node.path, "kind": node.kind}
        if node.path is None or node.kind == "link":
            return known
        with self._files.using(self._root.file(node.file)) as file:
            return known | facts(find(file, node.path))

    def _walk(self, node: Node) -> Iterator[Node]:
        for child in self.children(node) if node.has_children else ():
            yield child
            yield from self._walk(child)
        if node is self.top and node.path is not None:
            yield node

    def __enter__(self) -> Self:
        """Return the library."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close all files."""
        self._shown.close()
        self._files.close_idle(forever=True)


def _of_entry(entry: dict[str, Any]) -> Node:
    is_folder = entry["kind"] == "folder"
    return Node(
        entry["name"], entry["path"], None if is_folder else "/", entry["kind"], entry.get("format") or ""
    )


def detail(known: dict[str, Any]) -> str:
    """Return the shape, or the number of rows, of an object."""
    if known["kind"] == "table":
        return f"{known['rows']} rows"
    shape = known.get("shape")
    return "" if shape is None else "x".join(map(str, shape))
